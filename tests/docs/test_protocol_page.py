"""Tests that docs/protocol.md agrees with the protocol and with the referee's messages."""

from google.protobuf import text_format

from arena.play.referee import frames, grpc_player
from arena.play.referee.grpc_player import Encoder
from arena.play.referee.match import RefereedMatch
from arena.play.referee.player import Hello, PlayerAnswer
from arena.protocol.match import Clock
from arena.rules import Card, Move, Rules, simulation_seed
from arena.wire.v1 import referee_pb2 as pb
from tests.docs.documents import DOCS, blocks, rows

PAGE = DOCS / "protocol.md"


def test_the_first_turn_has_the_referees_messages() -> None:
    """A match accepts the page's two messages from the bot and sends the other two."""
    hello, begin, move, after = blocks(PAGE, "textproto")
    greeting = text_format.Parse(hello, pb.BotMessage())
    answer = text_format.Parse(move, pb.BotMessage())
    encoder = Encoder()
    match = RefereedMatch(Rules(players=2), [simulation_seed(1, 0).hex()], Clock())
    for seat in (0, 1):
        match.greeted(seat, Hello(greeting.hello.games_at_once, greeting.hello.sdk), 0.0)
    assert encoder.message(dict(match.outbox())[0]) == text_format.Parse(begin, pb.RefereeMessage())
    (sent,) = answer.moves
    for seat in (0, 1):
        chosen = Move(tuple(Card(card) for card in sent.cards))
        match.answered(
            seat,
            [PlayerAnswer(sent.game, sent.round, sent.turn, chosen, nonce=0 if seat else sent.nonce)],
            0.0,
        )
    assert encoder.message(dict(match.outbox())[0]) == text_format.Parse(after, pb.RefereeMessage())


def test_limits_are_those_of_the_code() -> None:
    """The page's table has the code's limits."""
    table = {row[0]: row[1] for row in rows(PAGE) if row[0]}
    options = dict(grpc_player._OPTIONS)  # noqa: SLF001 - the page has these numbers
    assert table["message from a bot"] == f"{frames.MAX_MESSAGE_BYTES // 1024} KiB"
    assert table["note with a move"] == f"{grpc_player.MAX_NOTE_BYTES} bytes of UTF-8"
    assert table["`Hello.sdk`"] == f"{grpc_player.MAX_SDK_BYTES} bytes"
    assert table["metadata per call"] == f"{options['grpc.max_metadata_size'] // 1024} KiB"
    assert table["simultaneous connections"] == str(frames.MAX_CONNECTIONS)


def test_every_kind_of_message_is_mentioned() -> None:
    """The page introduces each kind of message in the proto file."""
    text = PAGE.read_text()
    events = {field.message_type.name for field in pb.Event.DESCRIPTOR.fields if field.message_type}
    spelled = {
        "Welcome": "welcome",
        "GameStart": "game_start",
        "TurnRequest": "turn_request",
        "TurnResult": "turn_result",
    }
    for message in events | {"Hello", "Move", "BotMessage", "RefereeMessage"}:
        assert message in text or spelled[message] in text


def test_allowances_are_those_of_the_code() -> None:
    """The columns are the initial allowance, and what each message and each request add."""
    table = {row[0]: row[1:] for row in rows(PAGE) if len(row) == 4}

    def cells(limit: frames.Limit) -> list[str]:
        return [str(number or "") for number in limit[1:]]

    frames_ = frames.FRAME_LIMITS
    assert table["messages"] == cells(frames.MESSAGE_LIMIT)
    assert table["moves"] == cells(frames.MOVE_LIMIT)
    first, _, each = frames.MESSAGE_BYTES_LIMIT[1:]
    assert table["bytes of messages"] == [f"{first // 1024} KiB", "", f"{each // 1024} KiB"]
    assert table["HTTP/2 frames: DATA"] == cells(frames_[frames.DATA])
    assert table["SETTINGS, including acknowledgements"] == cells(frames_[frames.SETTINGS])
    assert table["PING, including acknowledgements"] == cells(frames_[frames.PING])
    assert table["WINDOW_UPDATE"] == cells(frames_[frames.WINDOW_UPDATE])
    assert table["RST_STREAM"] == cells(frames_[frames.RST_STREAM])
    times = [f"{micros / 1000:g} ms" for micros in frames.PROCESSOR_TIME_LIMIT[1:]]
    assert table["processor time for reading from the bot and sending to it"] == times
    flat = ("HEADERS", "GOAWAY", "PRIORITY", "EMPTY_DATA")
    assert {frames_[getattr(frames, name)][1:] for name in flat} == {(64, 0, 0)}
    assert table["HEADERS, GOAWAY, PRIORITY, empty DATA"] == ["64 each", "", ""]
    most = frames.MAX_PAYLOAD_BYTES
    assert most[frames.HEADERS] == most[frames.GOAWAY]
    assert (
        f"The payload limits are {most[frames.DATA] // 1024} KiB for a DATA frame, "
        f"{most[frames.HEADERS] // 1024} KiB for a HEADERS or GOAWAY frame, "
        f"and {most[frames.SETTINGS]} bytes for a SETTINGS frame."
    ) in " ".join(PAGE.read_text().split())
