"""Makes messages of events."""

from collections.abc import Sequence
from typing import Final

from arena.match import Fault
from arena.referee.events import (
    Ask,
    Event,
    FaultNoticed,
    GameEnded,
    GameStarted,
    Revealed,
    RoundScored,
    Welcome,
)
from arena.wire.convert import (
    fill_turn_request,
    game_end,
    game_start,
    position_to_wire,
    round_result,
    turn_result,
)
from arena.wire.v1 import referee_pb2 as pb

_FAULTS: Final = {
    Fault.TIMEOUT: pb.FAULT_KIND_TIMEOUT,
    Fault.ILLEGAL: pb.FAULT_KIND_ILLEGAL,
    Fault.PROTOCOL: pb.FAULT_KIND_PROTOCOL,
}


class Encoder:
    """Makes messages for all seats of a match, and what several seats are told only once.

    Args:
        protocol: The protocol's version.
        max_message_bytes: Told in Welcome.
        max_note_bytes: Told in Welcome.
    """

    def __init__(self, *, protocol: int, max_message_bytes: int, max_note_bytes: int) -> None:
        self._limits = {
            "protocol": protocol,
            "max_message_bytes": max_message_bytes,
            "max_note_bytes": max_note_bytes,
        }
        # Of every game the last position and the last turn: the seats are told one after another.
        self._positions: dict[int, tuple[object, pb.Position]] = {}
        self._shared: dict[int, tuple[Event, pb.Event]] = {}

    def message(self, events: Sequence[Event]) -> pb.RefereeMessage:
        """Return one message with these events, in this order."""
        message = pb.RefereeMessage()
        for event in events:
            if isinstance(event, Ask):
                request = message.events.add().turn_request
                position = self._position(event)
                fill_turn_request(request, event.game, event.view, position, int(event.bank * 1000))
            elif isinstance(event, Revealed):
                message.events.append(self._revealed(event))
            else:
                message.events.append(self._rare(event))
        return message

    def _revealed(self, event: Revealed) -> pb.Event:
        known = self._shared.get(event.game)
        if known is None or known[0] is not event:
            known = (event, pb.Event(turn_result=turn_result(event.game, event.turn)))
            self._shared[event.game] = known
        return known[1]

    def _position(self, ask: Ask) -> pb.Position:
        # The tables of a turn are one object in the views of all seats, and in those of no other turn.
        known = self._positions.get(ask.game)
        if known is None or known[0] is not ask.view.tables:
            known = (ask.view.tables, position_to_wire(ask.view))
            self._positions[ask.game] = known
        return known[1]

    def _rare(self, event: Event) -> pb.Event:
        match event:
            case Welcome():
                return pb.Event(welcome=pb.Welcome(**self._limits, **event._asdict()))
            case GameStarted(game, seat, rules, clock):
                return pb.Event(
                    game_start=game_start(
                        game, seat, rules, move_millis=clock.move_millis, bank_millis=clock.bank_millis
                    )
                )
            case RoundScored(game, round_number, scores):
                return pb.Event(round_result=round_result(game, round_number, scores))
            case GameEnded(game, result, places):
                return pb.Event(game_end=game_end(game, result, places))
            case FaultNoticed():
                return pb.Event(notice=pb.Notice(**{**event._asdict(), "fault": _FAULTS[event.fault]}))
            case _:
                raise TypeError(f"no message for {event!r}")
