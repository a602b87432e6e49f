"""The protocol between referee and bot: generated messages in ``v1``, and what they mean to the rules."""
