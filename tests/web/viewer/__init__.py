"""The model of the replay viewer."""
