"""Pages and data about bots."""
