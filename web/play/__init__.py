"""Games of people against bots."""
