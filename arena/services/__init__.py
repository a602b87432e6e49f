"""Actions by owners and operators on bots, challenges and the ladder."""
