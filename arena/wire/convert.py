"""Messages to rules and back.

The referee uses one direction and bots the other, so this imports the rules
and the generated messages and nothing else: it is part of every bot's image.

Cards are the same numbers on the wire as in :class:`arena.rules.Card`.
"""

from collections.abc import Iterable, Sequence
from typing import Final, cast

from arena.rules import Card, Hand, Move, Play, Result, RoundScore, Rules, Turn, View
from arena.wire.v1 import referee_pb2 as pb

# Looking a number up is some four times as fast as calling the enum class.
_CARDS: Final = {card.value: card for card in Card}


def rules_to_wire(rules: Rules) -> pb.Rules:
    """Say what is played."""
    return pb.Rules(
        players=rules.players,
        pass_both_ways=rules.pass_both_ways,
        soy_sauce=rules.soy_sauce,
        dummy=rules.dummy,
    )


def rules_from_wire(message: pb.Rules) -> Rules:
    """Read what is played.

    Raises:
        InvalidRules: There is no such game.
    """
    return Rules(
        players=message.players,
        pass_both_ways=message.pass_both_ways,
        soy_sauce=message.soy_sauce,
        dummy=message.dummy,
    )


def game_start(game: int, seat: int, rules: Rules, *, move_millis: int, bank_millis: int) -> pb.GameStart:
    """Tell a seat that a game begins.

    Args:
        game: The game's number in the match, from 0.
        seat: The seat that is told, from 0.
        rules: What is played.
        move_millis: Free time of every decision.
        bank_millis: The bank of the game.
    """
    clock = pb.Clock(move_millis=move_millis, bank_millis=bank_millis)
    return pb.GameStart(game=game, seat=seat, rules=rules_to_wire(rules), clock=clock)


def position_to_wire(view: View) -> pb.Position:
    """Say what everybody sees: the same for every seat, so one view's is every view's of that turn."""
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


def fill_turn_request(
    request: pb.TurnRequest, game: int, view: View, position: pb.Position, bank_millis: int
) -> None:
    """Ask a seat for a move.

    Args:
        request: Empty. It is filled where it is, because a message that is put into another one is copied.
        game: The game's number in the match.
        view: What the seat may see.
        position: From :func:`position_to_wire` in this turn; it is copied.
        bank_millis: What is left of the seat's bank.
    """
    request.game = game
    request.position.CopyFrom(position)
    request.hand.extend(_numbers(view.hand))
    request.control = view.control
    request.drawn = _number(view.drawn)
    request.bank_millis = bank_millis


def view_from_wire(
    request: pb.TurnRequest,
    *,
    rules: Rules,
    seat: int,
    turns: tuple[Turn, ...],
    past_hands: tuple[Hand, ...],
) -> View:
    """Read a request back into the view that it was made of.

    Args:
        request: The request.
        rules: Of its game, from GameStart.
        seat: Of this bot, from GameStart.
        turns: Everything revealed in the game, from its TurnResults.
        past_hands: The hands of this round's requests before this one.

    Raises:
        ValueError: A number is not that of a card.
    """
    position = request.position
    drawn = request.drawn
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
        _card(drawn) if drawn else None,
        turns,
        past_hands,
    )


def move_to_wire(game: int, view: View, move: Move, note: str = "") -> pb.Move:
    """Answer a request.

    Args:
        game: The game that asked.
        view: What it showed.
        move: The choice.
        note: Free text for the bot's owner.
    """
    return pb.Move(
        game=game,
        round=view.round,
        turn=view.turn,
        cards=_numbers(move.cards),
        dummy_card=_number(move.dummy),
        note=note,
    )


def move_from_wire(message: pb.Move) -> Move:
    """Read a bot's choice. Whether it is legal is the rules' business.

    Raises:
        ValueError: It holds no card, more than two, or a number that is not a card's.
    """
    count = len(message.cards)
    if not 1 <= count <= 2:  # noqa: PLR2004 - one card, or two with chopsticks
        raise ValueError(f"the move names {count} cards: it is one, or two with chopsticks")
    dummy = message.dummy_card
    return Move(cards_from_wire(message.cards), _card(dummy) if dummy else None)


def turn_result(game: int, turn: Turn) -> pb.TurnResult:
    """Tell what was placed in a turn."""
    result = pb.TurnResult(game=game, round=turn.round, turn=turn.turn)
    add = result.plays.add
    for play in turn.plays:
        add(cards=play)
    return result


def turn_from_wire(message: pb.TurnResult) -> Turn:
    """Read what was placed in a turn.

    Raises:
        ValueError: A number is not that of a card.
    """
    plays = tuple([cards_from_wire(play.cards) for play in message.plays])
    return Turn(message.round, message.turn, plays)


def round_result(game: int, round_number: int, scores: Sequence[RoundScore]) -> pb.RoundResult:
    """Tell the points of a round, one entry a participant."""
    result = pb.RoundResult(game=game, round=round_number)
    for score in scores:
        result.scores.add(**score._asdict())
    return result


def scores_from_wire(message: pb.RoundResult) -> tuple[RoundScore, ...]:
    """Read the points of a round."""
    return tuple(
        RoundScore(score.tempura, score.sashimi, score.dumpling, score.maki, score.nigiri, score.soy_sauce)
        for score in message.scores
    )


def game_end(game: int, result: Result, places: Sequence[int]) -> pb.GameEnd:
    """Tell how a game ended.

    Args:
        game: The game's number in the match.
        result: By the rules.
        places: One a player; where seats were taken over, not those of the rules.
    """
    return pb.GameEnd(
        game=game,
        puddings=result.puddings,
        pudding_scores=result.pudding_scores,
        totals=result.totals,
        places=places,
    )


def result_from_wire(message: pb.GameEnd) -> Result:
    """Read how a game ended, with the places as the referee gave them."""
    return Result(
        tuple(message.puddings),
        tuple(message.pudding_scores),
        tuple(message.totals),
        tuple(message.places),
    )


def cards_from_wire(numbers: Iterable[int]) -> Play:
    """Return the cards of these numbers.

    Raises:
        ValueError: A number is not that of a card.
    """
    try:
        return tuple([_CARDS[number] for number in numbers])
    except KeyError as error:
        raise ValueError(_no_card(error.args[0])) from None


def _card(number: int) -> Card:
    try:
        return _CARDS[number]
    except KeyError:
        raise ValueError(_no_card(number)) from None


def _no_card(number: int) -> str:
    return f"{number} is not the number of a card: they go from {min(_CARDS)} to {max(_CARDS)}"


def _numbers(cards: tuple[Card, ...]) -> tuple["pb.Card.ValueType", ...]:
    # The enum's members are integers already; only the type checker needs telling.
    return cast("tuple[pb.Card.ValueType, ...]", cards)


def _number(card: Card | None) -> "pb.Card.ValueType":
    return cast("pb.Card.ValueType", card or 0)
