"""Tests that version 0.1.0's conversations still work with the current library and referee."""

from collections import defaultdict, deque

import pytest

from arena.rules import Rules
from arena.wire.v1 import referee_pb2 as pb
from tests.wire.conversation import VARIANTS, hold, library, recorded

Lines = tuple[tuple[int, bytes, bytes], ...]
CONVERSATIONS = list(recorded())


@pytest.mark.parametrize(("rules", "lines"), CONVERSATIONS, ids=map(str, VARIANTS))
def test_the_library_gives_the_same_answers_to_a_referee_of_that_version(rules: Rules, lines: Lines) -> None:
    """The library's answers have the same bytes as in version 0.1.0."""
    assert rules in VARIANTS
    speak = library()
    assert [speak(seat, asked) for seat, asked, _ in lines] == [said for _, _, said in lines]


@pytest.mark.parametrize(("rules", "lines"), CONVERSATIONS, ids=map(str, VARIANTS))
def test_bots_of_that_version_play_to_the_end_without_a_fault(rules: Rules, lines: Lines) -> None:
    """The referee accepts their answers and sends the same messages, apart from later additions."""
    said: defaultdict[int, deque[bytes]] = defaultdict(deque)
    for seat, _, answer in lines:
        said[seat].append(answer)
    today = hold(rules, lambda seat, _: said[seat].popleft())
    assert [(seat, _of_that_time(asked)) for seat, asked, _ in today.lines] == [
        (seat, pb.RefereeMessage.FromString(asked)) for seat, asked, _ in lines
    ]
    assert all(game.totals for game in today.games)
    decisions = [decision for game in today.games for step in game.steps for decision in step]
    assert not [decision for decision in decisions if decision is not None and decision.fault]


def _of_that_time(data: bytes) -> pb.RefereeMessage:
    """Return a message without additions that version 0.1.0 doesn't know."""
    message = pb.RefereeMessage.FromString(data)
    for event in message.events:
        if event.HasField("turn_request"):
            assert event.turn_request.nonce
            event.turn_request.ClearField("nonce")
    events = [event for event in message.events if not event.HasField("match_end")]
    return pb.RefereeMessage(events=events)
