"""Workers that return false records, which must be rejected, not rated, and shown to the operator."""

import random
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Final

from structlog.testing import capture_logs

from arena.db.store import open_store
from arena.play.launcher.launcher import Launcher
from arena.play.launcher.slots import SlotPool
from arena.protocol.match import MatchRecord, MatchSpec, RuntimeName, WorkerStatus, decode, encode
from arena.protocol.sandbox_controls import Gate
from arena.protocol.status import RefusedWorker
from arena.sandbox.process.runtime import ProcessRuntime
from arena.scheduler.coordinator import Coordinator
from arena.scheduler.workers import Reservation, Workers, local_workers
from tests.faults.installation import Installation
from tests.faults.killing import installed
from tests.faults.tally import Tally

Lie = Callable[[MatchRecord], MatchRecord]

_SLOTS: Final = 4


def _first_game(record: MatchRecord, **changes: object) -> MatchRecord:
    game = replace(record.games[0], **changes)  # type: ignore[arg-type]  # fields of a game, by name
    return replace(record, games=(game, *record.games[1:]))


def _another_score(record: MatchRecord) -> MatchRecord:
    first, *others = record.games[0].totals
    return _first_game(record, totals=(first + 1, *others))


def _illegal_move(record: MatchRecord) -> MatchRecord:
    steps = record.games[0].steps
    decision, *others = steps[0]
    assert decision is not None
    untrue = replace(decision, cards=("soy_sauce",))  # the card is not in this game
    return _first_game(record, steps=((untrue, *others), *steps[1:]))


LIES: Final[dict[str, tuple[Lie, str]]] = {
    "an altered score": (_another_score, "points, but the rules give"),
    "an illegal move": (_illegal_move, "soy_sauce is not in the hand"),
    "another match's id": (
        lambda record: replace(record, match="another"),
        "the record is for match another",
    ),
    "a stale attempt": (
        lambda record: replace(record, attempt=record.attempt - 1),
        "the record is for match",
    ),
}
"""Changes to a true record, each with part of the reason for its rejection."""

_STUBBORN: Final = "an altered score"


@dataclass
class LyingWorkers:
    """Workers that tell each lie about a different match, and one about every attempt of another match."""

    honest: Workers  # they play the matches
    stubborn: str  # the match about which they always lie
    left: list[str] = field(default_factory=lambda: list(LIES))  # lies not yet told
    told: list[tuple[str, str]] = field(default_factory=list)  # lies told, each with its match

    def reserve(self, seats: int) -> "_LyingPlace | None":
        """Reserve a place with the honest workers."""
        place = self.honest.reserve(seats)
        return None if place is None else _LyingPlace(self, place)

    def status(self) -> tuple[WorkerStatus, ...]:
        """Return the honest workers' status."""
        return self.honest.status()

    def refused(self) -> tuple[RefusedWorker, ...]:
        """Return the rejected workers."""
        return self.honest.refused()

    def stop(self) -> None:
        """Abort all matches."""
        self.honest.stop()

    def tell(self, match: str, data: bytes) -> bytes:
        """Return the record to hand in for a finished match."""
        if match == self.stubborn:
            name = _STUBBORN
        elif self.left and match not in {told for _, told in self.told}:
            name = self.left.pop()
        else:
            return data
        self.told.append((name, match))
        return encode(LIES[name][0](decode(data, MatchRecord)))


class _LyingPlace:
    """A place at a lying worker."""

    def __init__(self, workers: LyingWorkers, place: Reservation) -> None:
        self.worker, self.seats, self.cpus = place.worker, place.seats, place.cpus
        self.release, self.report = place.release, place.report
        self._workers = workers
        self._place = place

    def play(self, spec: bytes, progress: Callable[[bytes], None]) -> Future[bytes]:
        """Play the match, and hand in its record, true or false."""
        match = decode(spec, MatchSpec).match
        said: Future[bytes] = Future()

        def hand_in(played: Future[bytes]) -> None:
            if error := played.exception():
                said.set_exception(error)
            else:
                said.set_result(self._workers.tell(match, played.result()))

        self._place.play(spec, progress).add_done_callback(hand_in)
        return said


def lie(tally: Tally, dice: random.Random, times: int) -> None:
    """Tell each lie about a different match, and one about another match until it is quarantined."""
    for _ in range(times):
        with installed(RuntimeName.PROCESS) as arena:
            arena.queue(dice, 3)
            _lie(tally, arena)


def _lie(tally: Tally, arena: Installation) -> None:
    slots = SlotPool(_SLOTS, 1.0)
    launcher = Launcher(ProcessRuntime(), arena.name, arena.folder / "run" / arena.name)
    with (
        closing(open_store(arena.url)) as store,
        local_workers(launcher, slots, "liar") as honest,
        capture_logs() as log,
    ):
        workers = LyingWorkers(honest, stubborn=min(arena.ledger.waiting()))
        Coordinator(
            name=arena.name,
            store=store,
            workers=workers,
            runtime=RuntimeName.PROCESS,
            now=lambda: datetime.now(UTC),
            gate=Gate(own=True),
        ).run(lambda: False)
        aside = store.queue.quarantined()
    told = {(entry["match"], entry["reason"]) for entry in log if entry["event"] == "match void"}
    tally.times += len(workers.told)
    for name, match in workers.told:
        if not any(match == about and LIES[name][1] in why for about, why in told):
            tally.wrong.append(f"{name} about match {match} is not in the log")
    if {name for name, _ in workers.told} != set(LIES):
        tally.wrong.append(f"these lies were told: {workers.told}")
    if [each.match for each in aside] != [workers.stubborn] or LIES[_STUBBORN][1] not in aside[0].reason:
        tally.wrong.append(f"quarantined: {aside}; expected only {workers.stubborn}")
    tally.close(arena, aside=frozenset({workers.stubborn}))
