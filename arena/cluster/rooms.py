"""Who has room for how much: what workers say of themselves, and what was given to them since. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from arena.cluster.messages import Card, State
from arena.workers.status import WorkerStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A worker as the scheduler sees it.

    Attributes:
        address: Where it is.
        card: What it said when it joined.
        state: What it said last.
    """

    address: str
    card: Card
    state: State


@dataclass(frozen=True, slots=True)
class _Room:
    """A worker that is used.

    Attributes:
        member: It.
        given: Seats of matches that it was given here and has not answered.
        rests_until: Moment before which it is given nothing, since it could not run bots.
        doubted_until: Moment before which it is given nothing that others could play, since matches were void
            there: three such are one too many for a match, and one worker shall not make all of them.
    """

    member: Member
    given: int = 0
    rests_until: float = 0.0
    doubted_until: float = 0.0

    def busy(self, session: str) -> int:
        """Return the taken seats. Of its own matches a coordinator knows better than any heartbeat."""
        others = sum(seats for whose, seats in self.member.state.busy.items() if whose != session)
        return min(self.given + others, self.member.card.seats)

    def open(self, now: float) -> bool:
        """Whether it takes matches at all."""
        return self.member.state.takes_matches and self.rests_until <= now


class Rooms:
    """The workers that are used. Not thread-safe.

    Args:
        session: Of the coordinator.
    """

    def __init__(self, session: str) -> None:
        self._session = session
        self._rooms: dict[str, _Room] = {}

    def __contains__(self, run: str) -> bool:
        return run in self._rooms

    def update(self, members: Iterable[Member]) -> None:
        """Take note of who is there now and what they say; those who are not there are forgotten.

        Args:
            members: Those that may be used.
        """
        self._rooms = {
            member.card.run: replace(self._rooms.get(member.card.run, _Room(member)), member=member)
            for member in members
        }

    def take(self, seats: int, now: float) -> Member | None:
        """Reserve seats where most are free, or return None where nobody has as many.

        Args:
            seats: How many.
            now: A moment of a clock that never goes back, in seconds.
        """
        used = {run: room for run, room in self._rooms.items() if room.open(now)}
        # Room at those who are not doubted is waited for.
        used = {run: room for run, room in used.items() if room.doubted_until <= now} or used
        free = {run: room.member.card.seats - room.busy(self._session) for run, room in used.items()}
        run = max(free, key=free.__getitem__, default=None)
        if run is None or free[run] < seats:
            return None
        self._give(run, seats)
        return self._rooms[run].member

    def give_back(self, run: str, seats: int) -> None:
        """Free seats; nothing happens where the worker has gone."""
        self._give(run, -seats)

    def rest(self, run: str, until: float) -> None:
        """Give a worker nothing before this moment."""
        if run in self._rooms:
            self._rooms[run] = replace(self._rooms[run], rests_until=until)

    def doubt(self, run: str, until: float) -> None:
        """Give a worker nothing that others could play before this moment, or until it has played a match."""
        if run in self._rooms:
            self._rooms[run] = replace(self._rooms[run], doubted_until=until)

    def trouble(self) -> str | None:
        """Return why nobody takes matches, however much room there is, or None where somebody does."""
        members = [room.member for room in self._rooms.values()]
        if not members:
            return "no worker is there that may be used"
        if any(member.state.takes_matches for member in members):
            return None
        reasons = sorted({f"{member.card.name}: {member.state.trouble or 'it leaves'}" for member in members})
        return f"of {len(members)} workers none takes matches: {', '.join(reasons)}"

    def status(self) -> tuple[WorkerStatus, ...]:
        """Return who there is, by name."""
        known = (
            WorkerStatus(
                name=room.member.card.name,
                host=room.member.card.host,
                seats=room.member.card.seats,
                busy=room.busy(self._session),
            )
            for room in self._rooms.values()
        )
        return tuple(sorted(known, key=lambda worker: worker.name))

    def _give(self, run: str, seats: int) -> None:
        if run in self._rooms:
            room = self._rooms[run]
            self._rooms[run] = replace(room, given=room.given + seats)
