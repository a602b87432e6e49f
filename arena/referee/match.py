"""A match: its games in order, some of them at once, until the last has ended.

Like a table it has no input or output and no clock of its own, so the same
code plays in a test, in process and with containers.
"""

from collections.abc import Sequence

from arena.match import Clock, GameRecord
from arena.referee.events import Event, Welcome
from arena.referee.player import Answer, Hello, Lost
from arena.referee.spec import RoundsOver, SeatEnd
from arena.referee.table import GameTable
from arena.rules import Rules


class Match:
    """One seating that plays some deals.

    Feed it what happens (:meth:`greeted`, :meth:`lose`, :meth:`answered`,
    :meth:`tick`), each with the time in seconds of a monotonic clock, then
    take what is to be sent from :meth:`outbox`.

    Args:
        rules: What is played.
        seeds: One a game, 32 hexadecimal digits each.
        clock: The time limits.
    """

    def __init__(self, rules: Rules, seeds: Sequence[str], clock: Clock) -> None:
        self._rules = rules
        self._seeds = tuple(seeds)
        self._clock = clock
        self._hellos: dict[int, Hello] = {}
        self._lost: dict[int, Lost] = {}
        self._tables: list[GameTable] = []
        self._active: dict[int, GameTable] = {}
        self._early: dict[int, list[str]] = {}
        self._outbox: list[list[Event]] = [[] for _ in range(rules.players)]
        self._games_at_once = 0
        self._told: dict[int, int] = {}

    @property
    def begun(self) -> bool:
        """Whether every seat has greeted or is lost."""
        return bool(self._tables)

    @property
    def over(self) -> bool:
        """Whether the last game has ended."""
        return self.begun and not self._active

    @property
    def rounds(self) -> tuple[tuple[int, int], ...]:
        """The games under way and their rounds: (game from 0, round from 1)."""
        return tuple((table.game, table.round) for table in self._active.values())

    def games(self) -> tuple[GameRecord, ...]:
        """Return the games as played so far."""
        return tuple(table.record() for table in self._tables)

    def seats(self) -> tuple[SeatEnd, ...]:
        """Return what became of every seat."""
        return tuple(
            SeatEnd(
                sdk=self._hellos[seat].sdk if seat in self._hellos else "",
                lost=self._lost[seat].why if seat in self._lost else None,
            )
            for seat in range(self._rules.players)
        )

    def news(self) -> tuple[RoundsOver, ...]:
        """Take what may be watched since the last call: the newest game, and those that were told of before.

        So games that pass in between, as those of quick bots do, cost nobody anything.
        """
        begun = {table.game: table.rounds_over for table in self._tables if table.rounds_over}
        newest = max(begun, default=None)
        news = [
            game
            for game, rounds in begun.items()
            if rounds > self._told.get(game, 0) and (game in self._told or game == newest)
        ]
        self._told.update((game, begun[game]) for game in news)
        return tuple(RoundsOver(game, self._tables[game].over_so_far()) for game in news)

    def outbox(self) -> list[tuple[int, list[Event]]]:
        """Take what is to be sent: (seat, events in order)."""
        taken = [(seat, events) for seat, events in enumerate(self._outbox) if events]
        for seat, _ in taken:
            self._outbox[seat] = []
        return taken

    def greeted(self, seat: int, hello: Hello, now: float) -> None:
        """Take a bot's greeting."""
        self._hellos[seat] = hello
        self._begin(now)

    def lose(self, seat: int, lost: Lost, now: float) -> None:
        """Note that a bot is gone: it never came, it ended, or its stream did."""
        if seat in self._lost:
            return
        self._lost[seat] = lost
        if not self.begun:
            self._begin(now)
            return
        for table in list(self._active.values()):
            table.lose(seat, lost, now)
        self._turn_over(now)

    def answered(self, seat: int, answers: Sequence[Answer], now: float) -> None:
        """Take a bot's answers, to one game or several."""
        for answer in answers:
            table = self._tables[answer.game] if 0 <= answer.game < len(self._tables) else None
            if table is not None and table.expects(seat, answer):
                table.answer(seat, answer, now)
            elif table is None or not table.settled(seat, answer):
                self._breach(seat, answer, now)
        self._turn_over(now)

    def tick(self, now: float) -> None:
        """Let time pass."""
        for table in list(self._active.values()):
            table.tick(now)
        self._turn_over(now)

    def _breach(self, seat: int, answer: Answer, now: float) -> None:
        where = f"game {answer.game}, round {answer.round}, turn {answer.turn}"
        text = answer.broken or f"an answer to {where}, which was not asked"
        table = self._active.get(answer.game) or next(iter(self._active.values()), None)
        if table is not None:
            table.breach(seat, text, now)
        elif not self.begun:
            # It counts against the first decision that is asked of this seat.
            self._early.setdefault(seat, []).append(text)

    def _begin(self, now: float) -> None:
        if len(self._hellos.keys() | self._lost.keys()) < self._rules.players:
            return
        wishes = [hello.games_at_once for hello in self._hellos.values()]
        self._games_at_once = max(1, min(wishes, default=1))
        for seat in self._hellos:
            self._tell(seat, Welcome(len(self._seeds), min(self._games_at_once, len(self._seeds))))
        self._start(now)
        self._turn_over(now)

    def _turn_over(self, now: float) -> None:
        """Put ended games away and start the next ones."""
        ended = [game for game, table in self._active.items() if table.over]
        while ended:
            for game in ended:
                del self._active[game]
            self._start(now)
            ended = [game for game, table in self._active.items() if table.over]

    def _may_start(self) -> bool:
        if len(self._tables) == len(self._seeds):
            return False
        if not self._lost:
            return len(self._active) < self._games_at_once
        # Without all its bots a match plays what has begun, and no more. But who leaves pays with one
        # game: else a bot could choose after each game whether it goes on.
        paid = {seat for table in self._tables for seat in self._lost if table.was_taken_over(seat)}
        return not self._active and paid != self._lost.keys()

    def _start(self, now: float) -> None:
        while self._may_start():
            game = len(self._tables)
            table = GameTable(
                game,
                self._rules,
                self._seeds[game],
                self._clock,
                lost=self._lost,
                breaches=self._early,
                tell=self._tell,
                now=now,
            )
            self._early = {}
            self._tables.append(table)
            self._active[game] = table

    def _tell(self, seat: int, event: Event) -> None:
        if seat not in self._lost:
            self._outbox[seat].append(event)
