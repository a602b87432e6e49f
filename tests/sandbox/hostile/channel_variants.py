"""More attacks on the channel. They are played with plain processes, which are faster than containers."""

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from arena.protocol.faults import Fault
from arena.protocol.match import Clock
from tests.sandbox.hostile.attack import Attack, Control, FaultAt, Outcome
from tests.sandbox.hostile.bot import MOMENT
from tests.sandbox.hostile.channel import connections, floods, garbage, moves, silence, sizes
from tests.sandbox.hostile.channel_attacks import (
    CONNECTIONS,
    FIRST,
    GONE_FOR_GOOD,
    GREETING,
    GUARD,
    NEXT,
    NO_FILES,
    ONE_STREAM,
    OUT_OF_BAND,
    ROUND_BEGINS,
    attack,
    breach,
    cut_off,
    not_ended,
)

CLOCK: Final = Clock(start_millis=30_000, move_millis=500, bank_millis=2_000)
"""Shorter than the clock of attacks in containers, except for the start, since other tests are running."""

_SLOW: Final = Control(name="the bank", clock=Clock(start_millis=30_000, move_millis=500, bank_millis=30_000))
_MUCH_SECONDS: Final = 28.0
"""Longer than a match takes with the usual bank, even if a busy host takes seconds to start bots, but
shorter than it takes with the bank of ``_SLOW``."""

_LINES: Final = 500


def _timed_out(
    name: str, program: Callable[[], object], first: tuple[int, int], achieved: Callable[[Outcome], str]
) -> Attack:
    """Describe a bot that stops answering in time."""
    round_number, turn = first
    return Attack(
        number=11,
        name=name,
        program=program,
        verdicts="T",
        faults=tuple(FaultAt(round_number, turn + more, Fault.TIMEOUT) for more in range(3)),
        control=_SLOW,
        achieved=achieved,
    )


def _held_up(outcome: Outcome) -> str:
    return f"{outcome.seconds:.1f} s of the others' time" if outcome.seconds > _MUCH_SECONDS else ""


def _counted(outcome: Outcome) -> str:
    return "" if outcome.faults else "its answer accepted"


def _greeting(name: str, program: Callable[[], object]) -> Attack:
    return attack(18, name, program, FIRST, Fault.EXPELLED, GREETING, not_ended)


def _left(name: str, program: Callable[[], object], at: tuple[int, int] = MOMENT) -> Attack:
    """Describe a bot that ends its stream, or sends something that ends it."""
    return attack(17, name, program, at, Fault.CRASH, GONE_FOR_GOOD, not_ended)


def _without_effect(
    name: str,
    program: Callable[[], object],
    control: Control,
    achieved: Callable[[Outcome], str],
) -> Attack:
    return attack(15, name, program, None, None, control, achieved)


VARIANTS: Final = (
    _timed_out("falls silent", silence.falls_silent, MOMENT, _held_up),
    _timed_out("gives the referee no window", silence.gives_the_referee_no_room, FIRST, _held_up),
    _timed_out("never reads", silence.never_reads, NEXT, _held_up),
    _timed_out("answers byte by byte", silence.slow_answer, MOMENT, _counted),
    cut_off(13, "a message one byte too long", sizes.message_too_long_by_a_byte),
    cut_off(13, "a note of 100 KB", sizes.note_of_100_kb),
    attack(
        14,
        "8,192 moves in a message",
        sizes.thousands_of_moves,
        MOMENT,
        Fault.EXPELLED,
        GUARD,
        lambda outcome: f"{outcome.told['moves']} moves read" if outcome.told["heard"] else "",
    ),
    _without_effect(
        "1,000 connections, each closed again",
        connections.connects_and_closes,
        CONNECTIONS,
        lambda outcome: f"{outcome.told['opened']} connections" if outcome.told["opened"] > _LINES else "",
    ),
    _without_effect(
        "a second stream",
        connections.second_stream,
        ONE_STREAM,
        lambda outcome: "" if outcome.told["refused"] else "a second stream",
    ),
    _without_effect(
        "passes open files",
        connections.passes_files,
        NO_FILES,
        lambda outcome: "its files kept" if outcome.told["kept"] else "",
    ),
    _without_effect(
        "an out-of-band byte",
        connections.out_of_band,
        OUT_OF_BAND,
        lambda outcome: "" if "passed_over" in outcome.told else "its byte in the stream",
    ),
    cut_off(16, "streams that stay open", floods.streams),
    cut_off(16, "an endless header block", floods.continuations),
    cut_off(16, "a flood of settings", floods.settings),
    cut_off(16, "a flood of pings", floods.pings),
    cut_off(16, "a flood of pings before the Hello", floods.pings_before_the_hello, FIRST),
    cut_off(16, "a flood of window updates", floods.windows),
    cut_off(16, "a flood of empty data", floods.empty_data),
    cut_off(16, "a flood of priorities", floods.priorities),
    cut_off(16, "a flood of unknown frames", floods.unknown_frames),
    cut_off(16, "a flood of GOAWAY frames", floods.goaways),
    cut_off(17, "data without a call", garbage.data_without_a_call),
    _left("meaningless bytes instead of a Hello", garbage.garbage_for_a_hello, FIRST),
    _left("meaningless bytes", garbage.garbage_frames),
    _left("a message that is not protobuf", garbage.garbage_messages),
    _left("headers with invalid references", garbage.garbage_headers),
    _left("ends its stream", garbage.ends_the_stream),
    _left("ends its stream with the Hello", garbage.ends_the_stream_with_the_hello, FIRST),
    _left("cancels its stream and starts again", garbage.cancels_and_comes_back),
    _left("closes half its connection", garbage.closes_half_the_line),
    breach("two cards without chopsticks", moves.two_cards_without_chopsticks, ROUND_BEGINS, Fault.ILLEGAL),
    breach("a card for a missing dummy", moves.card_for_a_dummy, fault=Fault.ILLEGAL),
    breach("a card that does not exist", moves.card_that_does_not_exist),
    breach("no card", moves.no_card),
    breach("a thousand cards", moves.a_thousand_cards),
    breach("a note one byte too long", sizes.note_too_long_by_a_byte),
    breach("two answers in one message", moves.two_answers_in_a_message, NEXT),
    breach("an early move with the right one", moves.early_along_with_the_answer, (MOMENT[0], MOMENT[1] + 2)),
    breach("a move before any request", moves.before_anything_was_asked, (3, 1)),
    breach("a move of a turn that is over", moves.late),
    breach("the highest numbers", moves.last_game_there_is),
    breach("Hello twice", moves.hello_twice),
    breach("Hello twice at the start", moves.hello_twice_at_once, FIRST),
    breach("Hello with an answer", moves.hello_with_an_answer),
    replace(
        breach("ten stray moves in a message", moves.ten_strays),
        faults=tuple(FaultAt(MOMENT[0], MOMENT[1] + more, Fault.PROTOCOL) for more in range(3)),
    ),
    replace(
        breach("a stray move at every decision", moves.wrong_games_to_the_end),
        faults=tuple(FaultAt(MOMENT[0], MOMENT[1] + more, Fault.PROTOCOL) for more in range(3)),
        achieved=lambda outcome: f"{outcome.told['sent']} of them sent" if outcome.told["sent"] > 3 else "",
    ),
    _greeting("another version of the protocol", moves.protocol_of_another_version),
    _greeting("a name one byte too long", moves.name_too_long),
    _greeting("a name of 10 KB", moves.huge_name),
    _greeting("a Hello with moves", moves.moves_in_the_hello),
    _greeting("no Hello", moves.no_hello),
    _greeting("an empty message instead of a Hello", moves.nothing_at_all),
    cut_off(19, "much metadata", sizes.much_metadata, FIRST),
    cut_off(20, "a deflate bomb", sizes.deflate_bomb, FIRST),
)
