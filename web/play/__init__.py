"""People's games against bots."""
