"""Tests of workers' progress reports: finished rounds that pass the checks are shown."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from arena.db.errors import DatabaseUnavailable
from arena.db.matches import Claim
from arena.db.store import Store
from arena.play.launcher import MatchVoid
from arena.play.replay.disclosed import parse_disclosed
from arena.protocol.faults import Fault
from arena.protocol.match import MAX_PROGRESS_BYTES, Decision, MatchSpec, Progress, decode, encode
from arena.scheduler.check import RecordRefused
from arena.scheduler.live import LiveMatches, check_progress
from tests.db.builders import START, add_bot, claimed, finished, present
from tests.patience import WAIT_SECONDS, wait_until
from tests.play.replay.twins import Steps
from tests.scheduler.test_coordinator import Notes, coordinator_of, ladder_of
from tests.scheduler.test_late import Slow
from tests.watched import progress_of, steps_of

NOTE = "I keep the wasabi"


@pytest.fixture
def claim(store: Store) -> Claim:
    """Claim a match of two games of three players."""
    return claimed(store, [add_bot(store, name) for name in ("a", "b", "c")])


def progress(claim: Claim, rounds: int, *, game: int = 0, steps: Steps | None = None) -> Progress:
    """Return a worker's progress report on a game. If ``steps`` are given, it has these, correct or not."""
    told = progress_of(claim.spec, rounds, game=game if steps is None else 0)
    return told if steps is None else replace(told, game=game, steps=steps)


def changed(steps: Steps, at: int, seat: int, **parts: Any) -> Steps:  # noqa: ANN401 - fields of a decision
    """Return steps with one decision changed."""
    row = list(steps[at])
    decision = row[seat]
    assert decision is not None
    row[seat] = replace(decision, **parts)
    return (*steps[:at], tuple(row), *steps[at + 1 :])


def test_true_progress_is_shown_without_private_data(claim: Claim) -> None:
    """Spectators see the deals and turns of finished rounds, but no seed, authors or notes."""
    steps = changed(steps_of(claim.spec, 0, 2), 3, 1, note=NOTE, trouble=NOTE)
    shown = check_progress(claim, progress(claim, 2, steps=steps))
    game = parse_disclosed(shown.text)
    assert (shown.game, shown.rounds) == (0, 2)
    assert (game.game, len(game.deals), len(game.turns), len(game.rounds)) == ("s-0-0", 2, 18, 2)
    assert [(seat.bot, seat.version) for seat in game.seats] == [("a", 1), ("b", 1), ("c", 1)]
    assert not game.over
    for secret in (NOTE, claim.spec.seeds[0], "ann", "seed", "author", "note", "trouble", "sha256"):
        assert secret not in shown.text


def altered(claim: Claim) -> Iterator[tuple[str, Progress]]:
    """Yield false progress reports, each with part of the expected error."""
    one, two = steps_of(claim.spec, 0, 1), steps_of(claim.spec, 0, 2)
    other = next(card for card in ("tempura", "wasabi") if one[0][0] and (card,) != one[0][0].cards)
    late = Decision(cards=("pudding",), fault=Fault.TIMEOUT, standin=True)
    yield "for match x", replace(progress(claim, 1), match="x")
    yield "attempt 2", replace(progress(claim, 1), attempt=2)
    yield "game 2, but the match has 2", progress(claim, 1, game=2, steps=one)
    yield "game -1", progress(claim, 1, game=-1, steps=one)
    yield "round 1, turn 1 is in progress", progress(claim, 0, steps=())
    yield "round 1, turn 8 is in progress", progress(claim, 0, steps=one[:-1])
    yield (
        "round 3, turn 2 is in progress",
        progress(claim, 0, steps=(*two, steps_of(claim.spec, 0, 3)[len(two)])),
    )
    yield "game 0", progress(claim, 0, steps=steps_of(claim.spec, 1, 1))
    yield "round 1, turn 1", progress(claim, 0, steps=changed(one, 0, 0, cards=(other,) * 2))
    yield (
        "the stand-in would have played another move",
        progress(claim, 0, steps=((late, *one[0][1:]), *one[1:])),
    )
    yield (
        "the stand-in must play after a fault",
        progress(claim, 0, steps=changed(one, 0, 0, fault=Fault.ILLEGAL)),
    )
    yield "millis", progress(claim, 0, steps=changed(one, 0, 0, millis=-1.0))
    yield "no sushi", progress(claim, 0, steps=changed(one, 0, 0, cards=("no sushi",)))
    yield "seats", progress(claim, 0, steps=((*one[0], None), *one[1:]))


def test_altered_progress_is_refused(claim: Claim) -> None:
    """A report may name another match, game or deal, or have an unfinished round or an impossible move."""
    for words, wrong in altered(claim):
        with pytest.raises(RecordRefused, match=words):
            check_progress(claim, wrong)


def test_only_checked_progress_is_shown_and_the_rest_harms_no_match(store: Store, claim: Claim) -> None:
    """Altered, oversized or unreadable reports are dropped and logged. The match continues."""
    live = LiveMatches(store.live)
    for _, wrong in altered(claim):
        live.add(claim, encode(wrong))
        with capture_logs():
            live.publish()
    with capture_logs() as logs:
        live.add(claim, b"[]")
        live.add(claim, encode(progress(claim, 1)) + b" " * MAX_PROGRESS_BYTES)
    assert [line["event"] for line in logs] == ["progress dropped"] * 2
    assert present(store.live.find("s-0")).shown == ()

    live.add(claim, encode(progress(claim, 1)))
    live.add(claim, encode(progress(claim, 2)))
    live.add(claim, encode(progress(claim, 1, game=1)))
    live.publish()
    assert present(store.live.find("s-0")).shown == ((0, 2), (1, 1))
    assert store.results.record(finished(claim, [(1, 2, 3)] * 2))


def test_the_newest_progress_is_kept_while_the_database_is_away(
    store: Store, claim: Claim, tmp_path: Path
) -> None:
    """When the database is available again, the latest report on each game is shown."""
    live, away = LiveMatches(store.live), tmp_path.with_name(tmp_path.name + "-away")
    live.add(claim, encode(progress(claim, 1)))
    live.add(claim, encode(progress(claim, 1, game=1)))
    store.close()  # open files would keep working
    tmp_path.rename(away)
    with pytest.raises(DatabaseUnavailable):
        live.publish()
    live.add(claim, encode(progress(claim, 2)))
    away.rename(tmp_path)
    live.publish()
    assert present(store.live.find("s-0")).shown == ((0, 2), (1, 1))


def test_a_stale_attempt_shows_nothing(store: Store, claim: Claim) -> None:
    """When a match is played again, reports from the previous attempt's worker are ignored."""
    live = LiveMatches(store.live)
    live.add(claim, encode(progress(claim, 1)))
    live.publish()
    store.leases.release("here")
    again = present(store.leases.claim("other", "w", START, claim.spec.runtime))
    live.add(claim, encode(progress(claim, 2)))
    live.publish()
    found = present(store.live.find("s-0"))
    assert (found.attempt, found.shown) == (2, ())
    live.add(again, encode(progress(again, 1)))
    live.publish()
    assert present(store.live.find("s-0")).shown == ((0, 1),)


class Reporting(Slow):
    """A worker that immediately reports a round, and then plays on until the test ends the match."""

    def play(self, spec: bytes, progress: Callable[[bytes], None]) -> Future[bytes]:
        """Report the round, and return the result that the test will set."""
        progress(encode(progress_of(decode(spec, MatchSpec), 1)))
        return self.future


def test_the_coordinator_shows_rounds_of_a_match_that_is_played(store: Store) -> None:
    """The coordinator passes on the progress that the match's worker reports."""
    assert ladder_of(store).add_match()
    notes, workers = Notes(), Reporting()
    coordinator = coordinator_of(store, workers, notes)

    def shown() -> list[tuple[tuple[int, int], ...]]:
        return [present(store.live.find(match)).shown for match in notes.claims]

    with ThreadPoolExecutor(1) as thread:
        run = thread.submit(coordinator.run, lambda: False)
        try:
            wait_until(lambda: shown() == [((0, 1),)], "the round")
        finally:
            coordinator.stop()
            workers.future.set_exception(MatchVoid("the test is over"))
        run.result(WAIT_SECONDS)
