"""Tests that golden games and conversations can be reproduced exactly and agree with the rules."""

import json

import pytest
from google.protobuf.json_format import ParseDict

from arena.wire.v1 import referee_pb2 as pb

from .make import CONVERSATIONS, HERE, VARIANTS, conversations, golden


def test_there_is_a_file_for_every_combination() -> None:
    """There are exactly twenty files, one for each combination of players and variants."""
    assert {path.stem for path in HERE.glob("*.jsonl")} == set(VARIANTS)
    assert len(VARIANTS) == 20


@pytest.mark.parametrize("name", VARIANTS)
def test_the_same_command_gives_the_same_bytes(name: str) -> None:
    """Any change to decks, dice, rules or the format changes the bytes."""
    assert golden(VARIANTS[name]).decode() == (HERE / f"{name}.jsonl").read_text()


def test_the_referee_still_sends_the_messages_of_the_golden_conversations() -> None:
    """All twenty combinations are tested, and there are no other files."""
    assert dict(conversations()) == {path.stem: path.read_text() for path in CONVERSATIONS.iterdir()}


def test_a_golden_conversation_answers_each_request_in_turn() -> None:
    """Answers have the nonce and cards of the hand. Conversations run from Hello to MatchEnd."""
    decisions = 0
    for path in CONVERSATIONS.iterdir():
        hello, *rest = [json.loads(line) for line in path.read_text().splitlines()]
        assert ParseDict(hello["from"], pb.BotMessage()).hello.protocol == 1
        request = None
        for line in rest:
            if "to" in line:
                assert request is None
                events = ParseDict(line["to"], pb.RefereeMessage()).events
                request = next((each.turn_request for each in events if each.HasField("turn_request")), None)
                continue
            (move,) = ParseDict(line["from"], pb.BotMessage()).moves
            assert request is not None
            assert (move.nonce, move.round, move.turn) == (
                request.nonce,
                request.position.round,
                request.position.turn,
            )
            assert set(move.cards) <= set(request.hand)
            request, decisions = None, decisions + 1
        assert "matchEnd" in rest[-1]["to"]["events"][-1]
    assert decisions == 462
