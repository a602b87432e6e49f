"""The analyst: who was winning a recorded game, and what each decision cost. Pure."""
