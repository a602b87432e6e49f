"""Bots whose messages are well formed but not allowed. Run in a bot's container."""

from collections.abc import Sequence
from typing import Final, cast

from arena.wire.v1 import referee_pb2 as pb
from tests.sandbox.hostile.bot import MOMENT, tell
from tests.sandbox.hostile.channel.play import (
    HELLO,
    Bot,
    Call,
    Ended,
    greeted,
    tell_of_the_notice,
    tell_whether_it_ends,
)
from tests.sandbox.hostile.channel.raw import Line

_NO_CARD: Final = cast("pb.Card.ValueType", 99)


def card_not_in_hand() -> None:
    """Play a card of a variant, which is in no hand."""
    bot, move = _mid_game()
    bot.answer(_like(move, cards=[pb.CARD_SOY_SAUCE]))
    tell_of_the_notice(bot, sent="soy sauce")


def two_cards_without_chopsticks() -> None:
    """Play two cards without chopsticks."""
    bot = greeted()
    move = bot.play_to((MOMENT[0], 1))
    bot.answer(_like(move, cards=[*move.cards, *move.cards]))
    tell_of_the_notice(bot, sent=2)


def card_for_a_dummy() -> None:
    """Choose a card for a dummy in a game without one."""
    bot, move = _mid_game()
    bot.answer(_like(move, dummy_card=move.cards[0]))
    tell_of_the_notice(bot, sent="dummy card")


def card_that_does_not_exist() -> None:
    """Play a card with an unknown number."""
    bot, move = _mid_game()
    bot.answer(_like(move, cards=[_NO_CARD]))
    tell_of_the_notice(bot, sent=_NO_CARD)


def no_card() -> None:
    """Answer without a card."""
    bot, move = _mid_game()
    bot.answer(_like(move, cards=[]))
    tell_of_the_notice(bot, sent=0)


def a_thousand_cards() -> None:
    """Play a thousand cards in one turn."""
    bot, move = _mid_game()
    bot.answer(_like(move, cards=[move.cards[0]] * 1_000))
    tell_of_the_notice(bot, sent=1_000)


def two_answers_in_a_message() -> None:
    """Answer, and choose another card in the same message."""
    bot, move = _mid_game()
    bot.answer(move, _like(move, cards=[_another_than(move)]))
    tell_of_the_notice(bot, sent=2)


def second_thoughts() -> None:
    """Answer, then choose another card in a second message."""
    bot, move = _mid_game()
    bot.answer(move)
    bot.answer(_like(move, cards=[_another_than(move)]))
    tell_of_the_notice(bot, sent=2)


def early() -> None:
    """Answer a future turn, then the open one."""
    bot, move = _mid_game()
    bot.answer(_like(move, turn=move.turn + 2))
    bot.answer(move)
    tell_of_the_notice(bot, turn=move.turn + 2)


def early_along_with_the_answer() -> None:
    """Answer the open turn and, in the same message, a future one."""
    bot, move = _mid_game()
    bot.answer(move, _like(move, turn=move.turn + 2))
    tell_of_the_notice(bot, turn=move.turn + 2)


def before_anything_was_asked() -> None:
    """Answer before the match has begun."""
    bot = greeted()
    bot.answer(pb.Move(game=0, round=3, turn=1, cards=[pb.CARD_TEMPURA]))
    tell_of_the_notice(bot, round=3)


def late() -> None:
    """Answer a turn that is over."""
    bot, move = _mid_game()
    bot.answer(_like(move, turn=move.turn - 1))
    tell_of_the_notice(bot, turn=move.turn - 1)


def wrong_game() -> None:
    """Answer for a game that doesn't exist."""
    bot, move = _mid_game()
    bot.answer(_like(move, game=7))
    tell_of_the_notice(bot, game=7)


def ten_strays() -> None:
    """Send ten answers for a game that doesn't exist, in one message."""
    bot, move = _mid_game()
    bot.answer(*[_like(move, game=7)] * 10)
    tell_of_the_notice(bot, sent=10)


def last_game_there_is() -> None:
    """Answer with the highest numbers of game, round and turn that fit into the message."""
    bot, move = _mid_game()
    bot.answer(_like(move, game=2**32 - 1, round_number=2**32 - 1, turn=2**32 - 1))
    tell_of_the_notice(bot, game=2**32 - 1)


def hello_twice() -> None:
    """Send a second Hello in the middle of the game."""
    bot, _ = _mid_game()
    bot.say(HELLO)
    tell_of_the_notice(bot, hellos=2)


def hello_twice_at_once() -> None:
    """Send a second Hello before the match has begun."""
    bot = greeted()
    bot.say(HELLO)
    tell_of_the_notice(bot, hellos=2)


def hello_with_an_answer() -> None:
    """Send a second Hello along with an answer."""
    bot, move = _mid_game()
    bot.say(pb.BotMessage(hello=HELLO.hello, moves=[move]))
    tell_of_the_notice(bot, hellos=2)


def wrong_games_to_the_end() -> None:
    """Break the protocol at every decision, until the referee sends no more requests."""
    bot, move = _mid_game()
    sent = 0
    try:
        while True:
            bot.answer(_like(move, game=7))
            sent += 1
            tell(sent=sent)
            move = bot.asked()
    except Ended:
        return


def protocol_of_another_version() -> None:
    """Send a Hello with another version of the protocol."""
    _greet_wrongly(pb.BotMessage(hello=pb.Hello(protocol=2)))


def name_too_long() -> None:
    """Send a Hello with a name that is one byte too long."""
    _greet_wrongly(pb.BotMessage(hello=pb.Hello(protocol=1, sdk="x" * 65)))


def huge_name() -> None:
    """Send a Hello with a name of 10 KB."""
    _greet_wrongly(pb.BotMessage(hello=pb.Hello(protocol=1, sdk="x" * 10_000)))


def moves_in_the_hello() -> None:
    """Send a Hello together with a move that nobody requested."""
    move = pb.Move(game=0, round=1, turn=1, cards=[pb.CARD_TEMPURA])
    _greet_wrongly(pb.BotMessage(hello=HELLO.hello, moves=[move]))


def no_hello() -> None:
    """Begin with a move."""
    _greet_wrongly(pb.BotMessage(moves=[pb.Move(game=0, round=1, turn=1, cards=[pb.CARD_TEMPURA])]))


def nothing_at_all() -> None:
    """Begin with an empty message."""
    _greet_wrongly(pb.BotMessage())


def _mid_game() -> tuple[Bot, pb.Move]:
    bot = greeted()
    return bot, bot.play_to()


def _another_than(move: pb.Move) -> "pb.Card.ValueType":
    return pb.CARD_SASHIMI if pb.CARD_TEMPURA in move.cards else pb.CARD_TEMPURA


def _like(  # noqa: PLR0913 - the fields of a move
    move: pb.Move,
    *,
    game: int | None = None,
    round_number: int | None = None,
    turn: int | None = None,
    cards: Sequence["pb.Card.ValueType"] | None = None,
    dummy_card: "pb.Card.ValueType" = pb.CARD_UNSPECIFIED,
) -> pb.Move:
    """Return a copy of a move with other values in some of its fields."""
    return pb.Move(
        game=move.game if game is None else game,
        round=move.round if round_number is None else round_number,
        turn=move.turn if turn is None else turn,
        cards=move.cards if cards is None else cards,
        dummy_card=dummy_card,
    )


def _greet_wrongly(message: pb.BotMessage) -> None:
    line = Line()
    line.greet()
    bot = Bot(Call(line))
    bot.say(message)
    tell_whether_it_ends(bot, sent=message.ByteSize())
