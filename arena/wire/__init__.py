"""The protocol between referee and bot: generated messages in ``v1``, and their conversion to the rules."""
