"""What travels beside specifications and records: plain bytes, read with their types checked."""

from typing import Annotated, Final

import msgspec

from arena.match import RuntimeName

EXTRA: Final = "kaiten"
"""Under this name a worker tells the scheduler, and so every coordinator, of itself."""


Name = Annotated[str, msgspec.Meta(min_length=1, max_length=64, pattern="^[^\\x00]*$")]
"""What the store can keep as a name."""


class Card(msgspec.Struct, frozen=True, kw_only=True):
    """What a worker says of itself when it joins.

    Attributes:
        run: Unlike that of any other worker, or of this one before it left and came back.
        name: Of the worker; no other at its scheduler has it.
        host: Where it is.
        seats: How many bots it can run at a time.
        cpus: So much of its cores each of them may use.
        runtime: How it runs bots.
        report: A :class:`arena.controls.HostReport` as JSON: what its host can hold.
        accepted: Controls whose absence there its operator accepts.
        version: Of the arena there; nothing where that is too old to say so.
    """

    run: str
    name: Name
    host: Name
    seats: Annotated[int, msgspec.Meta(ge=1, le=1024)]
    cpus: Annotated[float, msgspec.Meta(gt=0)]
    runtime: RuntimeName
    report: bytes
    accepted: tuple[str, ...] = ()
    version: str = ""


class State(msgspec.Struct, frozen=True, kw_only=True):
    """What a worker says of itself with every heartbeat.

    Attributes:
        busy: How many of its seats are taken, by whose matches: the session of a coordinator.
        leaving: Whether it takes no more matches.
        trouble: Why it can't run bots now, or None.
    """

    busy: dict[str, Annotated[int, msgspec.Meta(ge=0)]]
    leaving: bool = False
    trouble: str | None = None

    @property
    def takes_matches(self) -> bool:
        """Whether it may be given matches at all."""
        return not self.leaving and self.trouble is None


class Record(msgspec.Struct, frozen=True, tag=True):
    """The match was played; ``data`` are the bytes of a :class:`arena.match.MatchRecord`."""

    data: bytes


class Void(msgspec.Struct, frozen=True, tag=True):
    """The arena failed; where ``host`` is set the worker can't run bots at all now."""

    reason: str
    host: bool = False


class Dropped(msgspec.Struct, frozen=True, tag=True):
    """The worker did not play it, or not to its end, because it leaves or has no room."""

    reason: str


Answer = Record | Void | Dropped


def write(message: Card | State | Answer) -> bytes:
    """Return the bytes of a message."""
    return msgspec.msgpack.encode(message)


def read_answer(data: bytes) -> Answer:
    """Read what came of a match.

    Raises:
        ValueError: The bytes are no answer.
    """
    answer: Answer = msgspec.msgpack.decode(data, type=Answer)
    return answer


def read_card(data: bytes) -> Card:
    """Read what a worker says of itself.

    Raises:
        ValueError: The bytes are no card.
    """
    return msgspec.msgpack.decode(data, type=Card)


def read_state(data: bytes) -> State:
    """Read what a worker says of itself with a heartbeat.

    Raises:
        ValueError: The bytes are no state.
    """
    return msgspec.msgpack.decode(data, type=State)


def topic_of(session: str) -> str:
    """Return the topic under which workers tell a coordinator of games in progress."""
    return f"kaiten-progress-{session}"
