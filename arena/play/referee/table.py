"""One game in progress: which seats are asked for a decision, their answers, and the stand-in's moves.

It does no I/O and has no clock: the caller measures how long decisions take. Events go to a callback.
"""

import math
import struct
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2s
from typing import Final

from arena.play.referee.clock import SeatClock, SharedTime, Spent, uncounted_note
from arena.play.referee.player import (
    DecisionRequested,
    Event,
    FaultNoticed,
    GameEnded,
    GameStarted,
    Lost,
    PlayerAnswer,
    RoundScored,
    TurnRevealed,
)
from arena.protocol.faults import FAULTS_TO_TAKE_OVER, Fault, places_with_faults, stand_in
from arena.protocol.match import Clock, Decision, GameRecord, decision_of
from arena.rules import (
    ROUNDS,
    IllegalMove,
    Move,
    Rules,
    State,
    View,
    apply,
    check_move,
    new_game,
    seats_to_move,
    shuffled_deck,
    view,
)
from arena.rules.state import seat_in_control

Send = Callable[[int, Event], None]
"""Sends an event to a seat."""

EarlyAnswers = dict[tuple[int, int, int], str]
"""Descriptions of answers that arrived before their request, by seat, round and turn."""


_UNTIMED: Final = Spent(None, 0.0)


@dataclass(slots=True)
class _Seat:
    """The state of one seat in a game."""

    clock: SeatClock
    lost: Lost | None = None
    taken_over: int | None = None
    """The step at which the seat was taken over."""
    breaches: list[str] = field(default_factory=list)
    """Descriptions of unrequested messages. Each costs one decision."""
    faulted: set[tuple[int, int]] = field(default_factory=set)
    """Decisions with a fault, by round and turn."""
    answered: dict[tuple[int, int], Move] = field(default_factory=dict)


@dataclass(slots=True)
class _OpenDecision:
    """A decision that has been requested but not yet made."""

    view: View
    allowed: float
    nonce: int


class GameTable:
    """A game in progress, and its record once it is over.

    ``untimed`` seats have no clock. ``lost`` contains the seats whose bots were lost before the game began.
    ``breaches`` contains, per seat, a description of each message sent before the first request.
    ``early`` contains descriptions of answers that arrived before their request; the game adds to it.
    """

    def __init__(  # noqa: PLR0913 - everything that a game needs
        self,
        game: int,
        rules: Rules,
        seed: str,
        clock: Clock,
        *,
        lost: Mapping[int, Lost],
        breaches: Mapping[int, Sequence[str]],
        early: EarlyAnswers,
        send: Send,
        untimed: Collection[int] = (),
    ) -> None:
        self.game = game
        self._seed = seed
        self._early = early
        self._send = send
        self.state: State = new_game(rules, shuffled_deck(rules, bytes.fromhex(seed)))
        time = SeatClock.of(clock)
        no_clock = SeatClock(math.inf, 0.0)
        self._seats = [
            _Seat(
                no_clock if seat in untimed else time,
                lost.get(seat),
                breaches=list(breaches.get(seat, ())),
            )
            for seat in range(rules.players)
        ]
        self._pending: dict[int, _OpenDecision] = {}
        self._moves: list[Move | None] = []
        self._decisions: list[Decision | None] = []
        self._steps: list[tuple[Decision | None, ...]] = []
        self._round_ends: list[int] = []
        for seat in range(rules.players):
            send(seat, GameStarted(game, seat, rules, clock))
        self._request_decisions()
        self.advance()

    @property
    def over(self) -> bool:
        """True if the game has ended."""
        return self.state.over

    @property
    def finished_rounds(self) -> int:
        """Number of finished rounds."""
        return len(self._round_ends)

    def had_no_bot(self, seat: int) -> bool:
        """Return True if the stand-in made every decision for the seat."""
        return self._seats[seat].taken_over == 0

    def record(self) -> GameRecord:
        """Return the game as played so far."""
        result = self.state.result
        return GameRecord(
            seed=self._seed, steps=tuple(self._steps), totals=result.totals if result is not None else ()
        )

    def finished_steps(self) -> tuple[tuple[Decision | None, ...], ...]:
        """Return the decisions in the finished rounds, without the fields that are private to owners."""
        end = self._round_ends[-1] if self._round_ends else 0
        return tuple([tuple(map(_public, step)) for step in self._steps[:end]])

    def expects(self, seat: int, answer: PlayerAnswer) -> bool:
        """Return True if an answer belongs to the seat's open decision."""
        pending = self._pending.get(seat)
        return pending is not None and pending.view.turn == answer.turn and pending.view.round == answer.round

    def is_ignorable(self, seat: int, answer: PlayerAnswer) -> bool:
        """Return True if an answer must be ignored: it is a duplicate, or the stand-in has already moved."""
        player, decision = self._seats[seat], (answer.round, answer.turn)
        if player.taken_over is not None or decision in player.faulted:
            return True
        return answer.move is not None and player.answered.get(decision) == answer.move

    def is_future(self, seat: int, answer: PlayerAnswer) -> bool:
        """Return True if an answer is for a decision that hasn't been requested from the seat yet."""
        state = self.state
        decision = (answer.round, answer.turn)
        return (
            not state.over and (state.round, state.turn) < decision and will_ask(state.rules, seat, *decision)
        )

    def charge_early(self, seat: int, answer: PlayerAnswer) -> None:
        """Record a fault for the decision that an early answer is for."""
        self._early[seat, answer.round, answer.turn] = early_answer_text(answer)

    def allowed(self, seat: int) -> float | None:
        """Return the time limit of the seat's open decision in seconds, or None if none is open."""
        pending = self._pending.get(seat)
        return None if pending is None else pending.allowed

    def answer(self, seat: int, answer: PlayerAnswer, time: SharedTime) -> None:
        """Handle the answer to the seat's open decision."""
        pending = self._pending[seat]
        spent = time.take(self.game, pending.allowed)
        if spent.taken is None:
            self.expire(seat, spent.waited)
        elif answer.nonce not in (0, pending.nonce):
            self._fault(seat, Fault.PROTOCOL, early_answer_text(answer), answer, spent)
        elif answer.move is None or answer.broken is not None:
            self._fault(seat, Fault.PROTOCOL, answer.broken or "no move", answer, spent)
        elif (refusal := _illegal_reason(pending.view, answer.move)) is not None:
            self._fault(seat, Fault.ILLEGAL, refusal, answer, spent)
        else:
            del self._pending[seat]
            self._seats[seat].clock = self._seats[seat].clock.spend(spent.taken)
            self._moves[seat] = answer.move
            self._seats[seat].answered[answer.round, answer.turn] = answer.move
            self._decisions[seat] = _decision(answer.move, spent, answer.note or None)

    def charge_unrequested(self, seat: int, text: str, time: SharedTime) -> None:
        """Charge an unrequested message to the open decision, or to the next one if none is open."""
        pending = self._pending.get(seat)
        if pending is not None:
            # Like any answer, it costs time: otherwise a bot could exceed its bank at the cost of one fault.
            seen = pending.view
            self.answer(seat, PlayerAnswer(self.game, seen.round, seen.turn, None, broken=text), time)
        else:
            # Each message costs one decision even if none is open, so the penalty doesn't depend on how fast
            # other seats answer.
            self._seats[seat].breaches.append(text)

    def lose(self, seat: int, lost: Lost) -> None:
        """Mark a seat's bot as lost from the open decision on, or from the next one if none is open."""
        self._seats[seat].lost = lost
        if seat in self._pending:
            self._fault(seat, lost.fault, lost.why)

    def expire(self, seat: int, waited: float = 0.0) -> None:
        """Time out the seat's open decision. ``waited`` is the time that didn't count, in seconds."""
        limit = f"{self._pending[seat].allowed:.1f} s (the move time and the rest of the bank)"
        text = f"no answer within {limit}{uncounted_note(waited)}"
        self._fault(seat, Fault.TIMEOUT, text, spent=Spent(None, waited))

    @property
    def waiting(self) -> bool:
        """True if a decision is open."""
        return bool(self._pending)

    def advance(self) -> None:
        """Play turns until a decision is open or the game is over.

        Call this after each event, but not necessarily right away. Until then, no seat learns of another's
        answers.
        """
        while not self._pending and not self.state.over:
            before = self.state
            self._steps.append(tuple(self._decisions))
            self.state = apply(before, self._moves)
            chosen, *automatic = self.state.turns[len(before.turns) :]
            stand_ins = tuple([decision is not None and decision.standin for decision in self._decisions])
            self._send_all(TurnRevealed(self.game, chosen, stand_ins))
            for turn in automatic:
                self._send_all(TurnRevealed(self.game, turn, ()))
            for scores in self.state.rounds[len(before.rounds) :]:
                self._round_ends.append(len(self._steps))
                self._send_all(RoundScored(self.game, before.round, scores))
            if self.state.result is not None:
                takeover_steps = [seat.taken_over for seat in self._seats]
                result = self.state.result
                self._send_all(
                    GameEnded(self.game, result, places_with_faults(result.places, takeover_steps))
                )
            else:
                self._request_decisions()

    def _request_decisions(self) -> None:
        self._moves = [None] * self.state.rules.players
        self._decisions = [None] * self.state.rules.players
        nonces = self._nonces()
        for seat in seats_to_move(self.state):
            player = self._seats[seat]
            seen = view(self.state, seat)
            self._pending[seat] = _OpenDecision(seen, player.clock.allowance, nonces[seat])
            if player.taken_over is not None:
                self._stand_in(seat)
            elif player.lost is not None:
                self._fault(seat, player.lost.fault, player.lost.why)
            elif self._early and (text := self._early.get((seat, seen.round, seen.turn))):
                self._fault(seat, Fault.PROTOCOL, text)
            elif player.breaches:
                self._fault(seat, Fault.PROTOCOL, player.breaches.pop(0))
            else:
                self._send(seat, DecisionRequested(self.game, seen, player.clock.bank, nonces[seat]))

    def _nonces(self) -> tuple[int, ...]:
        """Return a number for each seat, which bots can't guess because they don't know the seed."""
        text = f"{self._seed}/{self.state.round}/{self.state.turn}"
        numbers = struct.unpack("<5I", blake2s(text.encode(), digest_size=20).digest())
        return tuple([number or 1 for number in numbers])  # 0 on the wire means no nonce

    def _fault(
        self,
        seat: int,
        fault: Fault,
        text: str,
        answer: PlayerAnswer | None = None,
        spent: Spent = _UNTIMED,
    ) -> None:
        """Have the stand-in make the open decision.

        It takes over the seat if the bot is lost, or has too many faults.
        """
        player, seen = self._seats[seat], self._pending[seat].view
        player.faulted.add((seen.round, seen.turn))
        if fault is Fault.TIMEOUT:
            player.clock = player.clock.spend(player.clock.allowance)
        elif spent.taken is not None:
            player.clock = player.clock.spend(spent.taken)
        taken_over = player.lost is not None or len(player.faulted) >= FAULTS_TO_TAKE_OVER
        if taken_over:
            player.taken_over = len(self._steps)
        self._stand_in(seat, fault, text, answer, spent)
        self._send(seat, FaultNoticed(self.game, seen.round, seen.turn, fault, text, taken_over))

    def _stand_in(
        self,
        seat: int,
        fault: Fault | None = None,
        text: str | None = None,
        answer: PlayerAnswer | None = None,
        spent: Spent = _UNTIMED,
    ) -> None:
        move = stand_in(self._pending.pop(seat).view)
        self._moves[seat] = move
        note = answer.note or None if answer else None
        self._decisions[seat] = replace(_decision(move, spent, note), fault=fault, standin=True, trouble=text)

    def _send_all(self, event: Event) -> None:
        for seat in range(len(self._seats)):
            self._send(seat, event)


def will_ask(rules: Rules, seat: int, round_number: int, turn: int) -> bool:
    """Return True if a seat has to decide in this round and turn of a game."""
    if not (1 <= round_number <= ROUNDS and 1 <= turn <= rules.turns):
        return False
    # The last card of a hand is played automatically. The seat that controls the dummy has one more card.
    return turn < rules.turns or (rules.dummy and seat_in_control(rules, round_number, turn) == seat)


def early_answer_text(answer: PlayerAnswer) -> str:
    """Describe an answer that arrived before its request."""
    where = f"game {answer.game}, round {answer.round}, turn {answer.turn}"
    return answer.broken or f"an answer for {where}, sent before the request"


def _decision(move: Move, spent: Spent, note: str | None) -> Decision:
    return replace(
        decision_of(move),
        millis=None if spent.taken is None else round(spent.taken * 1000, 3),
        note=note,
        waited_millis=round(spent.waited * 1000, 3) if spent.waited else None,
    )


def _public(decision: Decision | None) -> Decision | None:
    """Leave out what is private to the bot's owner."""
    if decision is None or (decision.note is None and decision.trouble is None):
        return decision
    return replace(decision, note=None, trouble=None)


def _illegal_reason(seen: View, move: Move) -> str | None:
    try:
        check_move(seen.seat, seen.hand, seen.table, move, control=seen.control)
    except IllegalMove as error:
        return str(error)
    return None
