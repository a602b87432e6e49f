"""One game in progress: who is asked, what came in, what the stand-in plays.

No input or output, and no clock of its own: times come in as seconds of a
monotonic clock, events go out through a function.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from arena.match import Clock, Decision, Fault, GameRecord
from arena.referee.clock import SeatClock
from arena.referee.events import Ask, Event, FaultNoticed, GameEnded, GameStarted, Revealed, RoundScored
from arena.referee.faults import FAULTS_TO_TAKE_OVER, stand_in
from arena.referee.places import places_with_faults
from arena.referee.player import Answer, Lost
from arena.rules import (
    IllegalMove,
    Move,
    Rules,
    View,
    apply,
    asked,
    check_move,
    new_game,
    shuffled_deck,
    view,
)

Tell = Callable[[int, Event], None]
"""Sends an event to a seat."""


@dataclass(slots=True)
class _Seat:
    """What a game remembers of one seat."""

    clock: SeatClock
    lost: Lost | None = None
    taken_over: int | None = None
    """The step at which the stand-in took the seat over for good."""
    breaches: list[str] = field(default_factory=list)
    """What it sent that answers nothing and is yet to be punished: a decision each."""
    faulted: set[tuple[int, int]] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class _Pending:
    """A decision that has been asked for and not been made."""

    view: View
    asked_at: float
    deadline: float


class GameTable:
    """A game between its start and its end.

    Args:
        game: Its number in the match, from 0.
        rules: What is played.
        seed: 32 hexadecimal digits.
        clock: The time limits.
        lost: The seats whose bots are gone before the game begins.
        breaches: What seats have sent before anything was asked, in words, one each.
        tell: Where events go.
        now: The time of the start.
    """

    def __init__(  # noqa: PLR0913 - a game is made of these
        self,
        game: int,
        rules: Rules,
        seed: str,
        clock: Clock,
        *,
        lost: Mapping[int, Lost],
        breaches: Mapping[int, Sequence[str]],
        tell: Tell,
        now: float,
    ) -> None:
        self.game = game
        self._seed = seed
        self._tell = tell
        self._state = new_game(rules, shuffled_deck(rules, bytes.fromhex(seed)))
        time = SeatClock(clock.move_millis / 1000, clock.bank_millis / 1000)
        self._seats = [
            _Seat(time, lost.get(seat), breaches=list(breaches.get(seat, ())))
            for seat in range(rules.players)
        ]
        self._pending: dict[int, _Pending] = {}
        self._moves: list[Move | None] = []
        self._decisions: list[Decision | None] = []
        self._steps: list[tuple[Decision | None, ...]] = []
        self._round_ends: list[int] = []
        for seat in range(rules.players):
            tell(seat, GameStarted(game, seat, rules, clock))
        self._ask(now)
        self._advance(now)

    @property
    def over(self) -> bool:
        """Whether the game has ended."""
        return self._state.over

    @property
    def round(self) -> int:
        """The round that is played, from 1."""
        return self._state.round

    @property
    def rounds_over(self) -> int:
        """How many rounds have been played to their end."""
        return len(self._round_ends)

    def was_taken_over(self, seat: int) -> bool:
        """Tell whether the stand-in plays the seat for good."""
        return self._seats[seat].taken_over is not None

    def record(self) -> GameRecord:
        """Return the game as played so far."""
        result = self._state.result
        return GameRecord(
            seed=self._seed, steps=tuple(self._steps), totals=result.totals if result is not None else ()
        )

    def over_so_far(self) -> tuple[tuple[Decision | None, ...], ...]:
        """Return the decisions of the rounds that are over, without notes and what was wrong in words."""
        end = self._round_ends[-1] if self._round_ends else 0
        return tuple([tuple(map(_public, step)) for step in self._steps[:end]])

    def expects(self, seat: int, answer: Answer) -> bool:
        """Tell whether an answer belongs to the seat's open decision."""
        pending = self._pending.get(seat)
        return pending is not None and pending.view.turn == answer.turn and pending.view.round == answer.round

    def settled(self, seat: int, answer: Answer) -> bool:
        """Tell whether an answer comes after the stand-in's, so that it is dropped without a word."""
        player = self._seats[seat]
        return player.taken_over is not None or (answer.round, answer.turn) in player.faulted

    def answer(self, seat: int, answer: Answer, now: float) -> None:
        """Take the answer to the seat's open decision."""
        pending = self._pending[seat]
        taken = now - pending.asked_at
        if now > pending.deadline:
            self._fault(seat, Fault.TIMEOUT, _late(pending))
        elif answer.move is None or answer.broken is not None:
            self._fault(seat, Fault.PROTOCOL, answer.broken or "no move", answer, taken)
        elif (refusal := _refusal(pending.view, answer.move)) is not None:
            self._fault(seat, Fault.ILLEGAL, refusal, answer, taken)
        else:
            del self._pending[seat]
            self._seats[seat].clock = self._seats[seat].clock.spend(taken)
            self._moves[seat] = answer.move
            self._decisions[seat] = _decision(answer.move, millis=taken * 1000, note=answer.note or None)
        self._advance(now)

    def breach(self, seat: int, text: str, now: float) -> None:
        """Punish a message that answers nothing: with the open decision, or else with the next one."""
        if seat in self._pending:
            # The time counts all the same: else a bot could sit out its bank and then pay with a fault.
            self._fault(seat, Fault.PROTOCOL, text, taken=now - self._pending[seat].asked_at)
            self._advance(now)
        else:
            # Each costs a decision, so that it does not matter how far the others are.
            self._seats[seat].breaches.append(text)

    def lose(self, seat: int, lost: Lost, now: float) -> None:
        """Note that a seat's bot is gone. It counts from the open decision, or else from the next one."""
        self._seats[seat].lost = lost
        if seat in self._pending:
            self._fault(seat, lost.fault, lost.why)
            self._advance(now)

    def tick(self, now: float) -> None:
        """Let the stand-in make every decision that is late."""
        for seat, pending in list(self._pending.items()):
            if now > pending.deadline:
                self._fault(seat, Fault.TIMEOUT, _late(pending))
        self._advance(now)

    def _advance(self, now: float) -> None:
        """Play turns for as long as nobody has to be waited for."""
        while not self._pending and not self._state.over:
            before = self._state
            self._steps.append(tuple(self._decisions))
            self._state = apply(before, self._moves)
            for turn in self._state.turns[len(before.turns) :]:
                self._tell_all(Revealed(self.game, turn))
            for scores in self._state.rounds[len(before.rounds) :]:
                self._round_ends.append(len(self._steps))
                self._tell_all(RoundScored(self.game, before.round, scores))
            if self._state.result is not None:
                moments = [seat.taken_over for seat in self._seats]
                result = self._state.result
                self._tell_all(GameEnded(self.game, result, places_with_faults(result.places, moments)))
            else:
                self._ask(now)

    def _ask(self, now: float) -> None:
        self._moves = [None] * self._state.rules.players
        self._decisions = [None] * self._state.rules.players
        for seat in asked(self._state):
            player = self._seats[seat]
            seen = view(self._state, seat)
            self._pending[seat] = _Pending(seen, now, now + player.clock.allowance)
            if player.taken_over is not None:
                self._stand_in(seat)
            elif player.lost is not None:
                self._fault(seat, player.lost.fault, player.lost.why)
            elif player.breaches:
                self._fault(seat, Fault.PROTOCOL, player.breaches.pop(0))
            else:
                self._tell(seat, Ask(self.game, seen, player.clock.bank))

    def _fault(
        self, seat: int, fault: Fault, text: str, answer: Answer | None = None, taken: float | None = None
    ) -> None:
        """Let the stand-in make the seat's open decision, and take the seat over where that is due."""
        player, seen = self._seats[seat], self._pending[seat].view
        player.faulted.add((seen.round, seen.turn))
        if fault is Fault.TIMEOUT:
            player.clock = player.clock.spend(player.clock.allowance)
        elif taken is not None:
            player.clock = player.clock.spend(taken)
        taken_over = player.lost is not None or len(player.faulted) >= FAULTS_TO_TAKE_OVER
        if taken_over:
            player.taken_over = len(self._steps)
        self._stand_in(seat, fault, text, taken, answer)
        self._tell(seat, FaultNoticed(self.game, seen.round, seen.turn, fault, text, taken_over))

    def _stand_in(
        self,
        seat: int,
        fault: Fault | None = None,
        text: str | None = None,
        taken: float | None = None,
        answer: Answer | None = None,
    ) -> None:
        move = stand_in(self._pending.pop(seat).view)
        self._moves[seat] = move
        self._decisions[seat] = _decision(
            move,
            millis=None if taken is None else taken * 1000,
            note=answer.note or None if answer else None,
            fault=fault,
            standin=True,
            trouble=text,
        )

    def _tell_all(self, event: Event) -> None:
        for seat in range(len(self._seats)):
            self._tell(seat, event)


def _decision(  # noqa: PLR0913 - the parts of a decision
    move: Move,
    *,
    millis: float | None,
    note: str | None,
    fault: Fault | None = None,
    standin: bool = False,
    trouble: str | None = None,
) -> Decision:
    return Decision(
        cards=tuple([card.label for card in move.cards]),
        dummy=None if move.dummy is None else move.dummy.label,
        millis=None if millis is None else round(millis, 3),
        fault=fault,
        standin=standin,
        trouble=trouble,
        note=note,
    )


def _public(decision: Decision | None) -> Decision | None:
    """Leave out what is private to the bot's owner."""
    if decision is None or (decision.note is None and decision.trouble is None):
        return decision
    return replace(decision, note=None, trouble=None)


def _refusal(seen: View, move: Move) -> str | None:
    try:
        check_move(seen.seat, seen.hand, seen.table, move, control=seen.control)
    except IllegalMove as error:
        return str(error)
    return None


def _late(pending: _Pending) -> str:
    allowed = pending.deadline - pending.asked_at
    return f"no answer in {allowed:.1f} s (the free time and what was left of the bank)"
