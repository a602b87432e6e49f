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
        unjudged: Seats of matches that it was given here and of which the coordinator has not said yet what
            came of them. Who answers at once shall not spoil a queue before the first answer is checked.
        rests_until: Moment before which it is given nothing, since it could not run bots.
        doubted_until: Moment before which it is given nothing that others could play, and after which only
            one match at a time, since one was spoilt there: three such are one too many for a match, and one
            worker shall not make all of them. None where it is not doubted.
    """

    member: Member
    given: int = 0
    unjudged: int = 0
    rests_until: float = 0.0
    doubted_until: float | None = None

    def busy(self, session: str) -> int:
        """Return the taken seats. Of its own matches a coordinator knows better than any heartbeat."""
        return min(self.given + self._others(session), self.member.card.seats)

    def free(self, session: str) -> int:
        """Return the seats for more matches."""
        return self.member.card.seats - self._others(session) - max(self.given, self.unjudged)

    def open(self, now: float) -> bool:
        """Whether it takes matches at all."""
        return self.member.state.takes_matches and self.rests_until <= now

    def trusted(self, now: float) -> bool:
        """Whether it takes matches that others could play."""
        return self.doubted_until is None or (self.doubted_until <= now and not self.unjudged)

    def _others(self, session: str) -> int:
        return sum(seats for whose, seats in self.member.state.busy.items() if whose != session)


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
        # Those who are not doubted are waited for, whatever keeps them.
        if any(
            room.doubted_until is None and room.member.card.seats >= seats for room in self._rooms.values()
        ):
            used = {run: room for run, room in used.items() if room.trusted(now)}
        free = {run: room.free(self._session) for run, room in used.items()}
        run = max(free, key=free.__getitem__, default=None)
        if run is None or free[run] < seats:
            return None
        self._count(run, given=seats, unjudged=seats)
        return self._rooms[run].member

    def give_back(self, run: str, seats: int) -> None:
        """Free seats that were not used; here and below nothing happens where the worker has gone."""
        self._count(run, given=-seats, unjudged=-seats)

    def answered(self, run: str, seats: int) -> None:
        """Take note that a match has left its seats."""
        self._count(run, given=-seats)

    def judged(self, run: str, seats: int) -> None:
        """Take note that the coordinator knows what came of a match."""
        self._count(run, unjudged=-seats)

    def rest(self, run: str, until: float) -> None:
        """Give a worker nothing before this moment."""
        if run in self._rooms:
            self._rooms[run] = replace(self._rooms[run], rests_until=until)

    def doubt(self, run: str, until: float) -> None:
        """Give a worker nothing that others could play before this moment, and then one match at a time."""
        if run in self._rooms:
            self._rooms[run] = replace(self._rooms[run], doubted_until=until)

    def trust(self, run: str) -> None:
        """Doubt a worker no longer: it has played a match."""
        if run in self._rooms:
            self._rooms[run] = replace(self._rooms[run], doubted_until=None)

    def doubts(self, run: str) -> bool:
        """Tell whether a worker is doubted."""
        return run in self._rooms and self._rooms[run].doubted_until is not None

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
                doubted=room.doubted_until is not None,
            )
            for room in self._rooms.values()
        )
        return tuple(sorted(known, key=lambda worker: worker.name))

    def _count(self, run: str, *, given: int = 0, unjudged: int = 0) -> None:
        if run in self._rooms:
            room = self._rooms[run]
            # One that was out of sight is known anew, and may be judged for a match of before.
            unjudged = max(0, room.unjudged + unjudged)
            self._rooms[run] = replace(room, given=room.given + given, unjudged=unjudged)
