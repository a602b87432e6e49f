"""Why the arena can't be put together."""


class CannotStart(Exception):
    """The arena can't be put together. The text says why and what to do."""
