"""Games between bots in this process, with the ladder's clock, faults and stand-in, but without a sandbox.

They are played on the referee's own table (:mod:`arena.play.referee.table`). The bots are called in turn.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median_low
from traceback import StackSummary, extract_tb
from typing import Final, NamedTuple

from arena.local import timing
from arena.local.puzzle import Puzzle, puzzle_of
from arena.local.timing import DecisionTimer, TimeLimitExceeded
from arena.play.referee.clock import SharedTime
from arena.play.referee.player import DecisionRequested, Event, FaultNoticed, Lost, PlayerAnswer
from arena.play.referee.table import GameTable
from arena.play.replay.document import Seat, build, encode
from arena.protocol.faults import Fault, places_with_faults, taken_over
from arena.protocol.match import Clock, Decision
from arena.rules import Result, Rules, State, View
from arena.sdk.bot import Bot, Chooser, GameOver, as_move, new_chooser

_ARENA: Final = Path(__file__).parents[1]
_CRASHED: Final = "its code failed"

Steps = Sequence[Sequence[Decision | None]]
"""A game's decisions, in order, as in a record."""


class LocalGame(NamedTuple):
    """A game to play."""

    number: int  # from 0, in order of play
    name: str  # in its replay
    rules: Rules
    seed: str  # 32 hexadecimal digits; determines the deck
    dice: int  # seed for `random`, set before the game
    bots: tuple[int, ...]  # the index of the bot in each seat; a bot may have several seats


class LocalSeatResult(NamedTuple):
    """A seat's result. Times are in milliseconds on the ladder's clock; None if there was no answer."""

    place: int
    points: int
    faults: tuple[str, ...]
    is_taken_over: bool
    median_millis: float | None
    slowest_millis: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Mistake:
    """A fault, described for the bot's author."""

    game: int  # number of the game
    bot: int  # index of the bot
    fault: Fault
    what: str  # description
    where: str = ""  # file, line and function in the author's code, or empty
    trace: str = ""  # a traceback that starts in the author's code, a program's stderr, or empty
    puzzle: Puzzle | None = None  # the position; None if unknown


class LocalResult(NamedTuple):
    """A finished game and its results. ``replay`` is encoded, or None if it wasn't requested."""

    game: LocalGame
    seats: tuple[LocalSeatResult, ...]
    mistakes: tuple[Mistake, ...]
    replay: bytes | None


class LoadedBot(NamedTuple):
    """A bot in this process. ``folder`` contains its author's code."""

    seat: Seat
    bot: Bot
    folder: Path


class GameInThisProcess:
    """Plays one game."""

    def __init__(
        self,
        game: LocalGame,  # what to play
        players: Sequence[LoadedBot],  # one per seat
        clock: Clock,  # the ladder's
        timer: DecisionTimer,  # running
        # Called before each decision, with the seat to move and the earlier decisions. Also called with None
        # instead of the decisions before a bot begins the game or receives the result.
        asking: Callable[[int, Steps | None], None] = lambda _seat, _steps: None,
    ) -> None:
        self._game = game
        self._players = players
        self._move_seconds = clock.move_millis / 1000
        self._timer = timer
        self._asking = asking
        self._mistakes: list[Mistake] = []
        self._asks: list[tuple[int, DecisionRequested]] = []
        self._seen: dict[int, View] = {}
        self._errors: dict[int, BaseException | None] = {}
        self._steps: Steps = ()
        random.seed(game.dice)
        self._choosers = [self._begin(seat, clock) for seat in range(len(players))]
        self._table = GameTable(
            game.number,
            game.rules,
            game.seed,
            clock,
            lost={seat: Lost(Fault.CRASH, _CRASHED) for seat in self._errors},
            breaches={},
            early={},
            send=self._on_event,
        )

    def play(self, *, with_replay: bool) -> LocalResult:
        """Play the game to its end."""
        while self._asks:
            self._ask(*self._asks.pop(0))
            self._table.advance()
        state = self._table.state
        if state.result is None:
            raise RuntimeError(f"game {self._game.name} stopped in round {state.round}, turn {state.turn}")
        end = local_result(self._game, state.result, self._table.record().steps, self._mistakes)
        for seat, chooser in enumerate(self._choosers):
            if chooser and chooser.game_over and not end.seats[seat].is_taken_over:
                self._send_result(
                    seat, chooser.game_over, GameOver(state.rules, seat, state.turns, state.result)
                )
        end = end._replace(mistakes=tuple(self._mistakes))
        seats = [player.seat for player in self._players]
        return with_its_replay(end, state, self._table.record().steps, seats) if with_replay else end

    def _begin(self, seat: int, clock: Clock) -> Chooser | None:
        allowed = (clock.move_millis + clock.bank_millis) / 1000
        self._asking(seat, None)
        try:
            return self._timer.call(allowed, lambda: new_chooser(self._players[seat].bot))
        except (Exception, SystemExit, TimeLimitExceeded) as error:  # noqa: BLE001 - whatever the author's code raises
            self._errors[seat] = error
            return None

    def _ask(self, seat: int, ask: DecisionRequested) -> None:
        chooser, seen = self._choosers[seat], ask.view
        if chooser is None:
            return
        self._steps, self._seen[seat] = self._table.record().steps, seen
        self._errors[seat] = None
        self._asking(seat, self._steps)
        try:
            move = self._timer.call(
                self._move_seconds + ask.bank, lambda: as_move(chooser.choose(seen), seen)
            )
        except TimeLimitExceeded as error:
            self._errors[seat] = error
            self._table.expire(seat)
            return
        except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever the author's code raises
            self._errors[seat] = error
            self._choosers[seat] = None
            self._table.lose(seat, Lost(Fault.CRASH, _CRASHED))
            return
        count = len(move.cards)
        broken = None if count in {1, 2} else f"{count} cards given: give one, or two with chopsticks"
        answer = PlayerAnswer(self._game.number, seen.round, seen.turn, move, "", broken, ask.nonce)
        self._table.answer(seat, answer, SharedTime({}, self._timer.seconds))

    def _on_event(self, seat: int, event: Event) -> None:
        if type(event) is DecisionRequested:
            self._asks.append((seat, event))
        elif type(event) is FaultNoticed:
            self._record_fault(seat, event.fault, event.text, self._errors.get(seat))

    def _record_fault(self, seat: int, fault: Fault, text: str, error: BaseException | None) -> None:
        where, trace = "", ""
        if error is not None:
            where, trace = locate(error, self._players[seat].folder)
            if not isinstance(error, TimeLimitExceeded):
                message = " ".join(str(error).split())
                text = f"{type(error).__name__}: {message}" if message else type(error).__name__
        seen = self._seen.get(seat)
        puzzle = None if seen is None else puzzle_of(seen, self._game.seed, self._steps)
        self._mistakes.append(
            Mistake(
                game=self._game.number,
                bot=self._game.bots[seat],
                fault=fault,
                what=text,
                where=where,
                trace=trace,
                puzzle=puzzle,
            )
        )

    def _send_result(self, seat: int, tell: Callable[[GameOver], object], end: GameOver) -> None:
        """Pass the result to a bot. On the ladder, a failure here ends the program, but the game counts."""
        self._asking(seat, None)
        try:
            self._timer.call(self._move_seconds, lambda: tell(end))
        except (Exception, SystemExit, TimeLimitExceeded) as error:  # noqa: BLE001 - whatever the author's code raises
            self._seen.pop(seat, None)
            self._record_fault(seat, Fault.CRASH, "game_over took too long", error)


def local_result(game: LocalGame, result: Result, steps: Steps, mistakes: Sequence[Mistake]) -> LocalResult:
    """Return a finished game's result, computed from its recorded decisions, without a replay."""
    faults = [[None if each is None else each.fault for each in step] for step in steps]
    moments = taken_over(faults, game.rules.players)
    places = places_with_faults(result.places, moments)
    seats = []
    for seat in range(game.rules.players):
        decisions = [each for step in steps if (each := step[seat]) is not None]
        times = [each.millis for each in decisions if each.millis is not None]
        seats.append(
            LocalSeatResult(
                place=places[seat],
                points=result.totals[seat],
                faults=tuple([each.fault.value for each in decisions if each.fault is not None]),
                is_taken_over=moments[seat] is not None,
                median_millis=median_low(times) if times else None,
                slowest_millis=max(times, default=None),
            )
        )
    return LocalResult(game, tuple(seats), tuple(mistakes), None)


def with_its_replay(end: LocalResult, state: State, steps: Steps, seats: Sequence[Seat]) -> LocalResult:
    """Return a copy of a result with the game's encoded replay."""
    places = [seat.place for seat in end.seats]
    replay = build(
        game=end.game.name, seed=end.game.seed, state=state, seats=seats, places=places, steps=steps
    )
    return end._replace(replay=encode(replay))


def locate(error: BaseException, folder: Path) -> tuple[str, str]:
    """Return the location of an error in the author's code, and the traceback, starting in that code.

    Both are empty if none of the author's code was running.
    """
    frames = [frame for frame in extract_tb(error.__traceback__) if frame.filename != timing.__file__]
    # The arena itself may be in the bot's folder, for example in a virtual environment.
    inside = [{folder, _ARENA} & {*Path(frame.filename).parents} for frame in frames]
    own = [index for index, found in enumerate(inside) if found == {folder}]
    if not own:
        return "", ""
    last = frames[own[-1]]
    where = f"{Path(last.filename).name}, line {last.lineno}, in {last.name}"
    return where, "".join(StackSummary.from_list(frames[own[0] :]).format()).rstrip()
