"""Plays a match's games in order. Concurrent games advance together, turn by turn.

Bots are numbered within a match. A bot's seat may differ from game to game.

Like ``GameTable``, ``RefereedMatch`` does no I/O and has no clock.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import TypeVar

from arena.platform.cpu_time import CpuSample
from arena.play.referee.clock import SharedTime, Stopwatch
from arena.play.referee.player import Event, Hello, Lost, MatchEnded, PlayerAnswer, Welcome
from arena.play.referee.spec import RoundsOver, SeatEnd
from arena.play.referee.table import EarlyAnswers, GameTable, early_answer_text, will_ask
from arena.protocol.match import Clock, GameRecord, seated
from arena.rules import Rules

T = TypeVar("T")


class RefereedMatch:
    """A table of bots that plays a series of deals.

    Feed it events (:meth:`greeted`, :meth:`lose`, :meth:`answered`, :meth:`tick`), each with the monotonic
    time in seconds, then send the contents of :meth:`outbox`. ``seeds``, ``seatings`` and ``person`` are as
    in :class:`arena.protocol.match.MatchSpec`. A person has no clock.
    """

    def __init__(
        self,
        rules: Rules,
        seeds: Sequence[str],
        clock: Clock,
        seatings: Sequence[tuple[int, ...]] = (),
        *,
        person: int | None = None,
    ) -> None:
        self._rules = rules
        self._seeds = tuple(seeds)
        self._seatings = tuple(seatings)
        self._clock = clock
        self._person = person
        self._stopwatches = [Stopwatch(0.0) for _ in range(rules.players)]  # one per bot
        self._hellos: dict[int, Hello] = {}
        self._lost: dict[int, Lost] = {}
        self._tables: list[GameTable] = []
        self._active: dict[int, GameTable] = {}
        self._breaches: dict[int, list[str]] = {}
        self._early: dict[int, EarlyAnswers] = {}
        self._outbox: list[list[Event]] = [[] for _ in range(rules.players)]
        self._games_at_once = 0
        self._ended = False
        self._reported: dict[int, int] = {}

    @property
    def begun(self) -> bool:
        """True if every bot has sent its Hello or is lost."""
        return bool(self._tables)

    @property
    def over(self) -> bool:
        """True if the last game has ended."""
        return self.begun and not self._active

    def games(self) -> tuple[GameRecord, ...]:
        """Return the games as played so far."""
        return tuple(table.record() for table in self._tables)

    def seats(self) -> tuple[SeatEnd, ...]:
        """Return a report on every bot."""
        return tuple(
            SeatEnd(
                sdk=self._hellos[bot].sdk if bot in self._hellos else "",
                lost=self._lost[bot].why if bot in self._lost else None,
            )
            for bot in range(self._rules.players)
        )

    def newly_finished_rounds(self) -> tuple[RoundsOver, ...]:
        """Return all finished rounds of each game in which a round has ended since the last call.

        Only the latest game and games that were reported before are included, because fast bots can play many
        games between two calls.
        """
        begun = {table.game: table.finished_rounds for table in self._tables if table.finished_rounds}
        latest = max(begun, default=None)
        new = [
            game
            for game, rounds in begun.items()
            if rounds > self._reported.get(game, 0) and (game in self._reported or game == latest)
        ]
        self._reported.update((game, begun[game]) for game in new)
        return tuple(RoundsOver(game, self._tables[game].finished_steps()) for game in new)

    def outbox(self) -> list[tuple[int, list[Event]]]:
        """Return and remove the events to send: (bot, events in order)."""
        taken = [(bot, events) for bot, events in enumerate(self._outbox) if events]
        for bot, _ in taken:
            self._outbox[bot] = []
        return taken

    def greeted(self, bot: int, hello: Hello, now: float) -> None:
        """Handle a bot's Hello."""
        self._hellos[bot] = hello
        self._begin_if_ready(now)

    def lose(self, bot: int, lost: Lost, now: float) -> None:
        """Mark a bot as lost: it never connected, it exited, or its stream ended."""
        if bot in self._lost:
            return
        self._lost[bot] = lost
        if not self.begun:
            self._begin_if_ready(now)
            return
        for table in list(self._active.values()):
            table.lose(self._seat(bot, table.game), lost)
        self._advance(now)

    def answered(self, bot: int, answers: Sequence[PlayerAnswer], now: float) -> None:
        """Handle a bot's answers in one or more games.

        They share the time since the bot's clock began to run. If a clock ran in every open game instead,
        each decision would cost time in all of them.
        """
        stopwatch = self._stopwatches[bot]
        limits = {
            answer.game: limit for answer in answers if (limit := self._limit_of(bot, answer)) is not None
        }
        time = SharedTime(limits, stopwatch.seconds(now), stopwatch.uncounted)
        for answer in answers:
            table = self._table(answer)
            if table is None:
                self._charge_unrequested(bot, answer, time)
                continue
            seat = self._seat(bot, answer.game)
            if table.expects(seat, answer):
                table.answer(seat, answer, time)
            elif not table.is_ignorable(seat, answer):
                self._charge_unrequested(bot, answer, time)
        if time.ended:
            # After a timeout, the bot has been thinking about its next decision.
            stopwatch.restart(now - time.excess)
        self._advance(now)

    def clock_began(self, bot: int) -> float | None:
        """Return when the bot's clock began to run, or None if none of its decisions is open."""
        return self._stopwatches[bot].began if self._limits(bot) else None

    def deduct(self, bot: int, sample: CpuSample, now: float) -> None:
        """Exclude the host's delay from the time counted for the bot's open decisions."""
        self._stopwatches[bot].deduct(sample, now)

    def late(self, now: float, grace: float = 0.0) -> frozenset[int]:
        """Return the bots whose time for a decision ran out more than ``grace`` seconds ago.

        It is unknown which of its decisions a bot is making, so it gets the highest of their limits.
        """
        return frozenset(
            bot
            for bot, stopwatch in enumerate(self._stopwatches)
            if stopwatch.seconds(now) > max(self._limits(bot).values(), default=math.inf) + grace
        )

    def tick(self, now: float, grace: float = 0.0, exempt: Collection[int] = ()) -> None:
        """Time out one decision of each late bot, except of ``exempt`` bots.

        A timeout is charged ``grace`` seconds after it is due. An answer during that time is late.
        """
        for bot in self.late(now, grace).difference(exempt):
            limits = self._limits(bot)
            game = max(limits, key=limits.__getitem__)
            self._active[game].expire(self._seat(bot, game), self._stopwatches[bot].uncounted)
            self._stopwatches[bot].restart(now)
        self._advance(now)

    def _bots(self, game: int) -> tuple[int, ...]:
        return seated(self._seatings, game, self._rules.players)

    def _seat(self, bot: int, game: int) -> int:
        return self._bots(game).index(bot)

    def _limits(self, bot: int) -> dict[int, float]:
        """Return the time limit of each open decision of a bot, by game."""
        limits = {game: table.allowed(self._seat(bot, game)) for game, table in self._active.items()}
        return {game: limit for game, limit in limits.items() if limit is not None}

    def _limit_of(self, bot: int, answer: PlayerAnswer) -> float | None:
        """Return the time limit of the open decision that an answer is for, or None if there is none."""
        table = self._active.get(answer.game)
        if table is None:
            return None
        seat = self._seat(bot, answer.game)
        return table.allowed(seat) if table.expects(seat, answer) else None

    def _table(self, answer: PlayerAnswer) -> GameTable | None:
        return self._tables[answer.game] if 0 <= answer.game < len(self._tables) else None

    def _charge_unrequested(self, bot: int, answer: PlayerAnswer, time: SharedTime) -> None:
        """Charge a fault for an unrequested answer.

        The fault is charged to the decision that the answer is for, if that decision is still to come;
        otherwise to the open decision, or to the next one if no decision is open.
        """
        if not 0 <= answer.game < len(self._seeds):
            self._charge_to_open_decision(bot, answer, time)
            return
        table = self._active.get(answer.game)
        seat = self._seat(bot, answer.game)
        if table is not None and table.is_future(seat, answer):
            table.charge_early(seat, answer)
        elif answer.game >= len(self._tables) and will_ask(self._rules, seat, answer.round, answer.turn):
            early = self._early.setdefault(answer.game, {})
            early[seat, answer.round, answer.turn] = early_answer_text(answer)
        else:
            self._charge_to_open_decision(bot, answer, time)

    def _charge_to_open_decision(self, bot: int, answer: PlayerAnswer, time: SharedTime) -> None:
        where = f"game {answer.game}, round {answer.round}, turn {answer.turn}"
        text = answer.broken or f"an unrequested answer for {where}"
        table = self._active.get(answer.game) or next(iter(self._active.values()), None)
        if table is not None:
            table.charge_unrequested(self._seat(bot, table.game), text, time)
        elif not self.begun:
            # The fault counts against this bot's first decision.
            self._breaches.setdefault(bot, []).append(text)

    def _begin_if_ready(self, now: float) -> None:
        if len(self._hellos.keys() | self._lost.keys()) < self._rules.players:
            return
        wanted = [hello.games_at_once for hello in self._hellos.values()]
        self._games_at_once = max(1, min(wanted, default=1))
        for bot in self._hellos:
            self._send(bot, Welcome(len(self._seeds), min(self._games_at_once, len(self._seeds))))
        self._start(now)
        self._advance(now)

    def _advance(self, now: float) -> None:
        """Once no decision is open in any game, play the turns, remove finished games and start new ones.

        If each game advanced on its own, the order of a bot's answers could carry a message to another bot.
        """
        while self._active and not any(table.waiting for table in self._active.values()):
            for table in self._active.values():
                table.advance()
            self._active = {game: table for game, table in self._active.items() if not table.over}
            self._start(now)
        if self.over and not self._ended:
            self._ended = True
            for bot in range(self._rules.players):
                self._send(bot, MatchEnded(len(self._tables)))

    def _may_start(self) -> bool:
        if len(self._tables) == len(self._seeds):
            return False
        if not self._lost:
            return len(self._active) < self._games_at_once
        # After losing a bot, a match only finishes the games that have begun. But a bot that leaves must lose
        # one whole game: otherwise it could quit at no cost between games, or in a game that it is losing.
        penalized = {
            bot
            for table in self._tables
            for bot in self._lost
            if table.had_no_bot(self._seat(bot, table.game))
        }
        return not self._active and penalized != self._lost.keys()

    def _start(self, now: float) -> None:
        for stopwatch in self._stopwatches:
            stopwatch.restart(now)
        while self._may_start():
            game = len(self._tables)
            bots = self._bots(game)
            table = GameTable(
                game,
                self._rules,
                self._seeds[game],
                self._clock,
                untimed=() if self._person is None else (bots.index(self._person),),
                lost=_by_seat(self._lost, bots),
                breaches=_by_seat(self._breaches, bots),
                early=self._early.pop(game, {}),
                send=partial(self._send_to_seat, bots),
            )
            self._breaches = {}
            self._tables.append(table)
            self._active[game] = table

    def _send_to_seat(self, bots: Sequence[int], seat: int, event: Event) -> None:
        self._send(bots[seat], event)

    def _send(self, bot: int, event: Event) -> None:
        if bot not in self._lost:
            self._outbox[bot].append(event)


def _by_seat(of_bots: Mapping[int, T], bots: Sequence[int]) -> dict[int, T]:
    """Return the values keyed by seat instead of by bot."""
    return {seat: of_bots[bot] for seat, bot in enumerate(bots) if bot in of_bots}
