"""Matches with their players, either in this process or connected to a real socket."""

import asyncio
from collections.abc import Sequence

import pytest

from arena.play.referee.clock import RefereeClock
from arena.play.referee.conductor import Conductor, RefereePaused
from arena.play.referee.match import RefereedMatch
from arena.play.referee.player import Listener
from arena.protocol.faults import Fault
from arena.protocol.match import Clock, Decision, GameRecord
from arena.rules import Rules
from tests.play.referee.lines import CHOOSERS, bots_over_sockets, conduct, last
from tests.play.referee.players import InProcessPlayer


def without_times(games: Sequence[GameRecord]) -> list[list[list[tuple[object, ...] | None]]]:
    """Return the decisions without their times."""

    def plain(decision: Decision | None) -> tuple[object, ...] | None:
        if decision is None:
            return None
        return (decision.cards, decision.dummy, decision.fault, decision.standin)

    return [[[plain(decision) for decision in step] for step in game.steps] for game in games]


@pytest.mark.parametrize(
    ("rules", "games_at_once"),
    [
        (Rules(players=2, dummy=True), 3),
        pytest.param(Rules(players=3, soy_sauce=True), 1, marks=pytest.mark.soak),
        pytest.param(Rules(players=5), 3, marks=pytest.mark.soak),
    ],
    ids=str,
)
def test_players_in_process_and_over_sockets_play_the_same_games(rules: Rules, games_at_once: int) -> None:
    """The connection between a match and its bots doesn't affect the games."""
    names = ["last"] * rules.players
    here = conduct([InProcessPlayer(last, games_at_once) for _ in names], rules, 3)
    with bots_over_sockets(names, games_at_once) as players:
        there = conduct(players, rules, 3)
    assert without_times(here) == without_times(there)
    assert len(here) == 3


def test_a_crash_in_process_and_over_sockets_is_the_same() -> None:
    """The stand-in plays from the crash in round 2 to the game's end, and then one complete game."""
    names = ["last", "fails", "last"]
    rules = Rules(players=3)
    here = conduct([InProcessPlayer(CHOOSERS[name]) for name in names], rules, 3)
    with bots_over_sockets(names, 1) as players:
        there = conduct(players, rules, 3)
    assert without_times(here) == without_times(there)
    faults = [step[1].fault for step in here[0].steps if step[1]]
    assert faults.count(Fault.CRASH) == 1
    assert len(here) == 2


def test_every_player_is_closed_at_the_end() -> None:
    """After the last game, the conductor closes every player."""
    players = [InProcessPlayer(last) for _ in range(4)]
    conduct(players, Rules(players=4), 2)
    assert all(player.closed for player in players)


def test_a_defect_in_the_match_is_raised_and_not_blamed_on_a_bot() -> None:
    """An error on the arena's side ends the match and is raised."""

    class Broken(InProcessPlayer):
        def send(self, events: Sequence[object]) -> None:
            raise ZeroDivisionError(f"{len(events)} events")

    with pytest.raises(ZeroDivisionError):
        conduct([Broken(last), InProcessPlayer(last)], Rules(players=2), 1)


def test_a_failure_after_the_end_does_not_make_the_match_void() -> None:
    """A connection may fail while the players are being closed."""

    class FailsToClose(InProcessPlayer):
        listener: Listener

        async def open(self, seat: int, listener: Listener) -> None:
            """Keep the listener."""
            await super().open(seat, listener)
            self.listener = listener

        async def close(self, void: str | None = None) -> None:
            """Report a failure."""
            await super().close(void)
            self.listener.failed(OSError())

    assert len(conduct([FailsToClose(last) for _ in range(2)], Rules(players=2), 1)) == 1


class Silent(InProcessPlayer):
    """A player that never greets."""

    async def open(self, seat: int, listener: object) -> None:
        """Do nothing."""


@pytest.mark.parametrize("started_before", [True, False])
def test_a_bot_that_exits_while_the_referee_stands_still_is_not_blamed(*, started_before: bool) -> None:
    """The match is void even if the referee learns of the bot's start only after its pause."""
    moment = 100.0
    players = [Silent(last), Silent(last)]

    async def play() -> None:
        nonlocal moment
        match = RefereedMatch(Rules(players=2), ["1" * 32], Clock())
        now = RefereeClock(lambda: moment, lambda: 0.0)
        conductor = Conductor(match, players, start_seconds=10, now=now)
        if started_before:
            conductor.started(0)
        moment += 6
        if not started_before:
            conductor.started(0)
        conductor.ended(0, "nobody answered")
        async with asyncio.timeout(60):
            await conductor.run()

    why = r"not running for 6\.0 s while the bot in seat 0 was starting, and the bot then exited: nobody"
    with pytest.raises(RefereePaused, match=why):
        asyncio.run(play())


def test_a_pause_before_the_sockets_exist_excuses_no_bot() -> None:
    """A pause before the sockets exist excuses no bot, since none can have started by then."""
    moment = 100.0
    match = RefereedMatch(Rules(players=2), ["1" * 32], Clock())

    class Slow(Silent):
        async def open(self, seat: int, listener: object) -> None:
            nonlocal moment
            await super().open(seat, listener)
            moment += 6

    async def play() -> None:
        now = RefereeClock(lambda: moment, lambda: 0.0)
        conductor = Conductor(match, [Slow(last), Silent(last)], start_seconds=10, now=now)
        await conductor.open()
        for seat in range(2):
            conductor.ended(seat, "it ended")
        await conductor.run()

    asyncio.run(play())
    assert [seat.lost for seat in match.seats()] == ["it ended"] * 2


def test_a_bot_that_never_greets_is_absent() -> None:
    """The time to greet runs from the bot's start. The game is played by the others and a stand-in."""
    (game,) = conduct([Silent(last), InProcessPlayer(last)], Rules(players=2), 3, Clock(start_millis=200))
    assert game.steps[0][0] is not None
    assert game.steps[0][0].fault is Fault.ABSENT
