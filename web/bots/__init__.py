"""Pages and data of bots."""
