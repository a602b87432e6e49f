"""The protocol between referee and bot: generated messages in ``v1``, and conversion to the rules' types."""
