"""Actions of players, owners and operators on bots, challenges and the ladder."""
