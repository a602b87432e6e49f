"""Workers' messages, encoded as MessagePack. Decoding checks their types."""

from typing import Annotated, Final, TypeVar

import msgspec

from arena.protocol.decoding import prepared
from arena.protocol.match import RuntimeName

EXTRA: Final = "kaiten"
"""Key under which the scheduler stores a worker's card and state for the coordinators."""


Name = Annotated[str, msgspec.Meta(min_length=1, max_length=64, pattern="^[^\\x00]*$")]
"""A name that the store accepts."""


class WorkerCard(msgspec.Struct, frozen=True, kw_only=True):
    """Sent by a worker when it joins."""

    run: str  # unique per join
    name: Name  # unique per scheduler
    host: Name
    seats: Annotated[int, msgspec.Meta(ge=1, le=1024)]  # maximum number of running bots
    cpus: Annotated[float, msgspec.Meta(gt=0)]  # cores per bot
    runtime: RuntimeName
    report: bytes  # an `arena.protocol.sandbox_controls.HostReport` as JSON
    accepted: tuple[str, ...] = ()  # missing controls that the operator accepts
    version: str = ""  # the worker's version of the arena; empty if the worker is too old to report it
    format: int = 0  # `arena.protocol.match.FORMAT`; 0 if not reported


NO_SESSION: Final = ""
"""Key in ``WorkerState.busy`` for the slots of sandboxes that could not be removed."""


class WorkerState(msgspec.Struct, frozen=True, kw_only=True):
    """Sent by a worker with every heartbeat."""

    busy: dict[str, Annotated[int, msgspec.Meta(ge=0)]]  # seats in use, by session or `NO_SESSION`
    leaving: bool = False
    trouble: str | None = None  # why the worker can't run bots now, or None
    # Number of seats that may be used under the host's current load; None for all.
    usable: Annotated[int, msgspec.Meta(ge=0)] | None = None

    @property
    def takes_matches(self) -> bool:
        """True if the worker accepts matches."""
        return not self.leaving and self.trouble is None


class Record(msgspec.Struct, frozen=True, tag=True):
    """The match was played; ``data`` is an encoded :class:`arena.protocol.match.MatchRecord`."""

    data: bytes


class Void(msgspec.Struct, frozen=True, tag=True):
    """The arena failed; ``host`` is True if the worker can't run any bots now."""

    reason: str
    host: bool = False


class Dropped(msgspec.Struct, frozen=True, tag=True):
    """The match was not finished: the worker is leaving, has no free slots or was told to stop the match."""

    reason: str


Answer = Record | Void | Dropped

T = TypeVar("T", WorkerCard, WorkerState)


def write(message: WorkerCard | WorkerState | Answer) -> bytes:
    """Encode a message."""
    return msgspec.msgpack.encode(message)


def read_answer(data: bytes) -> Answer:
    """Decode an answer; raise ValueError if it is invalid."""
    answer: Answer = msgspec.msgpack.decode(data, type=prepared(Answer))
    return answer


def read(data: bytes, kind: type[T]) -> T:
    """Decode a card or a state; raise ValueError if it is invalid."""
    return msgspec.msgpack.decode(data, type=prepared(kind))


def topic_of(session: str) -> str:
    """Return the topic for progress messages to a coordinator."""
    return f"kaiten-progress-{session}"
