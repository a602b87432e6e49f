"""Write the golden games and conversations: ``python -m tests.golden.make``.

Run this only if the rules or the format were wrong. The differences from the previous files must be reviewed.
"""

import json
from collections.abc import Iterator
from pathlib import Path

from google.protobuf.json_format import MessageToDict

from arena.local.ask_program import GameToAsk, conversation
from arena.local.conformance import conformance_games
from arena.play.botfiles import load_bot
from arena.play.referee.grpc_player import PROTOCOL, Encoder
from arena.play.replay.document import Seat, encode
from arena.play.simulate import SimulatedPlayer, simulate
from arena.protocol.match import Clock
from arena.rules import Rules
from arena.sdk.bot import new_chooser
from arena.wire.convert import move_to_wire
from arena.wire.v1 import referee_pb2 as pb
from tests.rules import helpers

HERE = Path(__file__).parent
CONVERSATIONS = HERE / "conversations"
SEED = 20_000
GAMES = 2

VARIANTS = {helpers.name(rules).replace("pass_", ""): rules for rules in helpers.VARIANTS}


def golden(rules: Rules) -> bytes:
    """Play the golden games of one combination of players and variants."""
    bot = load_bot(HERE / "dice" / "bot.py")
    table = [
        SimulatedPlayer(seat=Seat(bot="dice", version=1, author="house"), factory=lambda: new_chooser(bot))
        for _ in range(rules.players)
    ]
    return b"".join(encode(replay) + b"\n" for replay in simulate(rules, table, SEED, GAMES))


def conversations() -> Iterator[tuple[str, str]]:
    """For each combination, yield the name and text of a one-game match with one bot."""
    names = {rules: name for name, rules in VARIANTS.items()}
    for game in conformance_games():
        yield names[game.rules], "".join(_line(*each) for each in _messages(game))


def _messages(game: GameToAsk) -> Iterator[tuple[str, pb.RefereeMessage | pb.BotMessage]]:
    encoder = Encoder()
    yield "from", pb.BotMessage(hello=pb.Hello(protocol=PROTOCOL, games_at_once=1))
    moves = (move for step in game.moves if (move := step[game.seat]) is not None)
    for events, ask in conversation((game,), Clock()):
        yield "to", encoder.message(events)
        if ask is not None:
            answer = move_to_wire(ask.game, ask.view, next(moves), nonce=ask.nonce)
            yield "from", pb.BotMessage(moves=[answer])


def _line(direction: str, message: pb.RefereeMessage | pb.BotMessage) -> str:
    # In the format of the bridge and of `arena referee --json`.
    content = MessageToDict(message, always_print_fields_with_no_presence=True)
    return json.dumps({direction: content}) + "\n"


if __name__ == "__main__":
    for name, rules in VARIANTS.items():
        (HERE / f"{name}.jsonl").write_bytes(golden(rules))
    CONVERSATIONS.mkdir(exist_ok=True)
    for name, text in conversations():
        (CONVERSATIONS / f"{name}.jsonl").write_text(text)
