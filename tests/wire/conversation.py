"""Matches between the referee's state machine and the Python library, as bytes on the wire.

``python -m tests.wire.conversation FILE`` records them. The committed file was recorded with version 0.1.0
and must not change, since it represents existing bots.
"""

import base64
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Final, NamedTuple

from arena.play.referee.grpc_player import Encoder, answer_from_wire
from arena.play.referee.match import RefereedMatch
from arena.play.referee.player import Hello
from arena.protocol.match import Clock, GameRecord
from arena.rules import Rules, View
from arena.sdk import Answer
from arena.sdk.match import Match as BotSide
from arena.wire.v1 import referee_pb2 as pb

FILE: Final = Path(__file__).with_name("conversation-0.1.0.json")
SEEDS: Final = tuple(f"{number:032x}" for number in (1, 2))
VARIANTS: Final = (
    Rules(players=2),
    Rules(players=3, pass_both_ways=True),
    Rules(players=5, soy_sauce=True),
    Rules(players=2, dummy=True),
)

Speaker = Callable[[int, bytes], bytes]
"""A function that returns a seat's answer to a message from the referee, or empty bytes for no answer."""


class Conversation(NamedTuple):
    """The messages of one match."""

    rules: Rules
    lines: tuple[tuple[int, bytes, bytes], ...]  # seat, referee's message, bot's answer or empty bytes
    games: tuple[GameRecord, ...]


def choose(view: View) -> Answer:
    """Play the last legal move, with a note if it has two cards."""
    move = view.legal_moves()[-1]
    return Answer(move.cards, move.dummy, "two!" if len(move.cards) > 1 else "")


def library() -> Speaker:
    """Return a speaker that uses the Python library for all seats."""
    sides: dict[int, BotSide] = {}

    def speak(seat: int, data: bytes) -> bytes:
        side = sides.setdefault(seat, BotSide(choose))
        return pb.BotMessage(moves=side.answers(pb.RefereeMessage.FromString(data))).SerializeToString()

    return speak


def hold(rules: Rules, speak: Speaker) -> Conversation:
    """Play a match of two simultaneous games."""
    match = RefereedMatch(rules, SEEDS, Clock())
    encoder = Encoder()
    for seat in range(rules.players):
        match.greeted(seat, Hello(2, "recorded"), 0.0)
    lines = []
    while outbox := match.outbox():
        for seat, events in outbox:
            data = encoder.message(events).SerializeToString()
            said = speak(seat, data)
            lines.append((seat, data, said))
            answers = [answer_from_wire(move) for move in pb.BotMessage.FromString(said).moves]
            match.answered(seat, answers, 0.0)
    return Conversation(rules, tuple(lines), match.games())


def record(path: Path) -> None:
    """Write conversations of all variants to this file."""
    told = [
        {
            "rules": asdict(rules),
            "lines": [
                [seat, base64.b85encode(asked).decode(), base64.b85encode(said).decode()]
                for seat, asked, said in hold(rules, library()).lines
            ],
        }
        for rules in VARIANTS
    ]
    path.write_text(json.dumps(told, separators=(",", ":")) + "\n")


def recorded(path: Path = FILE) -> Iterator[tuple[Rules, tuple[tuple[int, bytes, bytes], ...]]]:
    """Yield the rules and lines of each conversation in this file."""
    for told in json.loads(path.read_text()):
        lines = tuple(
            (seat, base64.b85decode(asked), base64.b85decode(said)) for seat, asked, said in told["lines"]
        )
        yield Rules(**told["rules"]), lines


if __name__ == "__main__":
    record(Path(sys.argv[1]))
