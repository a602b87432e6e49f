"""What can be refused."""


class OperationRefused(Exception):
    """What an operator wants can't be done; the text says why."""
