"""What a worker tells of itself."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerStatus:
    """Who could play matches.

    Attributes:
        name: Of it, at most 64 characters, unlike those of others that play for the same coordinator.
        host: Where it is.
        seats: How many bots it can run at a time.
        busy: How many of these seats are taken.
        doubted: Whether what it did last with a match was not to be believed or failed there, so that others
            play what they can.
    """

    name: str
    host: str
    seats: int
    busy: int
    doubted: bool = False
