"""Converts messages to the rules' types and back.

For each message, the referee uses one direction, and bots use the other. This module is part of every
bot's image, so it imports only the rules and the generated messages.

Cards have the same numbers on the wire as in :class:`arena.rules.Card`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, fields
from typing import Final, cast

from arena.rules import Card, Hand, Move, Play, Result, RoundScore, Rules, Turn, View
from arena.wire.v1 import referee_pb2 as pb

# A lookup is about four times as fast as calling the enum class.
_CARDS: Final = {card.value: card for card in Card}


def rules_from_wire(message: pb.Rules) -> Rules:
    """Decode the rules of a game. Raises InvalidRules."""
    return Rules(**{field.name: getattr(message, field.name) for field in fields(Rules)})


def game_start(game: int, seat: int, rules: Rules, *, move_millis: int, bank_millis: int) -> pb.GameStart:
    """Build the message about the start of a game. ``game`` is its number in the match, from 0."""
    clock = pb.Clock(move_millis=move_millis, bank_millis=bank_millis)
    return pb.GameStart(game=game, seat=seat, rules=pb.Rules(**asdict(rules)), clock=clock)


def position_to_wire(view: View) -> pb.Position:
    """Encode the public part of a view, which is the same for every seat in that turn."""
    position = pb.Position(
        round=view.round,
        turn=view.turn,
        puddings=view.puddings,
        scores=view.scores,
        hand_sizes=view.hand_sizes,
    )
    add = position.tables.add
    for table in view.tables:
        add(cards=table)
    return position


def fill_turn_request(  # noqa: PLR0913 - the parts of a request
    request: pb.TurnRequest,  # empty; filled in place, because adding a message to another one copies it
    game: int,  # the game's number in the match
    view: View,  # the seat's view
    position: pb.Position,  # from `position_to_wire` in this turn; it is copied
    *,
    bank_millis: int,  # the remaining time in the seat's bank
    nonce: int,  # 32 bits that the answer must repeat
) -> None:
    """Fill in a request for a seat's move."""
    request.game = game
    request.position.CopyFrom(position)
    request.hand.extend(_numbers(view.hand))
    request.control = view.control
    request.drawn = _number(view.drawn)
    request.bank_millis = bank_millis
    request.nonce = nonce


def view_from_wire(
    request: pb.TurnRequest,
    *,
    rules: Rules,  # the game's rules, from its GameStart
    seat: int,  # this bot's seat, from GameStart
    turns: tuple[Turn, ...],  # every turn of the game so far, from its TurnResults
    past_hands: tuple[Hand, ...],  # the hands in this round's earlier requests
) -> View:
    """Decode a request into the view from which it was built.

    Raises ValueError if a number is not a card number.
    """
    position = request.position
    return View(
        rules,
        seat,
        position.round,
        position.turn,
        cards_from_wire(request.hand),
        tuple([cards_from_wire(table.cards) for table in position.tables]),
        tuple(position.puddings),
        tuple(position.scores),
        tuple(position.hand_sizes),
        request.control,
        _card(request.drawn),
        turns,
        past_hands,
    )


def move_to_wire(game: int, view: View, move: Move, note: str = "", nonce: int = 0) -> pb.Move:
    """Encode the answer to a request; ``note`` is for the bot's author, and ``nonce`` is the request's."""
    return pb.Move(
        game=game,
        round=view.round,
        turn=view.turn,
        cards=_numbers(move.cards),
        dummy_card=_number(move.dummy),
        note=note,
        nonce=nonce,
    )


def move_from_wire(message: pb.Move) -> Move:
    """Decode a bot's move without checking that it is legal.

    Raises ValueError if it has no cards, more than two, or a number that is not a card number.
    """
    count = len(message.cards)
    if not 1 <= count <= 2:  # noqa: PLR2004 - one card, or two with chopsticks
        raise ValueError(f"the move has {count} cards: it must have one, or two with chopsticks")
    return Move(cards_from_wire(message.cards), _card(message.dummy_card))


def turn_result(game: int, turn: Turn, stand_ins: Sequence[bool] = ()) -> pb.TurnResult:
    """Encode the cards placed in a turn, and the seats for which the stand-in chose."""
    result = pb.TurnResult(game=game, round=turn.round, turn=turn.turn)
    add = result.plays.add
    for play in turn.plays:
        add(cards=play)
    if any(stand_ins):
        result.stand_ins.extend(stand_ins)
    return result


def turn_from_wire(message: pb.TurnResult) -> Turn:
    """Decode the cards placed in a turn. Raises ValueError if a number is not a card number."""
    plays = tuple([cards_from_wire(play.cards) for play in message.plays])
    return Turn(message.round, message.turn, plays)


def round_result(game: int, round_number: int, scores: Sequence[RoundScore]) -> pb.RoundResult:
    """Encode the points for a round, one entry per participant."""
    result = pb.RoundResult(game=game, round=round_number)
    for score in scores:
        result.scores.add(**score._asdict())
    return result


def game_end(game: int, result: Result, places: Sequence[int]) -> pb.GameEnd:
    """Encode the result of a game.

    ``places`` has one entry per player, and differs from the rules' places after take-overs.
    """
    return pb.GameEnd(
        game=game,
        puddings=result.puddings,
        pudding_scores=result.pudding_scores,
        totals=result.totals,
        places=places,
    )


def result_from_wire(message: pb.GameEnd) -> Result:
    """Decode the result of a game, with the referee's places."""
    return Result(
        tuple(message.puddings),
        tuple(message.pudding_scores),
        tuple(message.totals),
        tuple(message.places),
    )


def cards_from_wire(numbers: Iterable[int]) -> Play:
    """Return the cards with these numbers. Raises ValueError if a number is not a card number."""
    try:
        return tuple([_CARDS[number] for number in numbers])
    except KeyError as error:
        raise ValueError(
            f"{error.args[0]} is not a card number: card numbers run from {min(_CARDS)} to {max(_CARDS)}"
        ) from None


def _card(number: int) -> Card | None:
    return cards_from_wire([number])[0] if number else None


def _numbers(cards: tuple[Card, ...]) -> tuple["pb.Card.ValueType", ...]:
    # The enum's members are integers already; the cast is for the type checker.
    return cast("tuple[pb.Card.ValueType, ...]", cards)


def _number(card: Card | None) -> "pb.Card.ValueType":
    return cast("pb.Card.ValueType", card or 0)
