"""Verification of replays: it finds and names every change, and no text makes it fail otherwise."""

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.play.replay.document import InvalidReplay, encode, parse
from arena.play.replay.verify import Difference, verify
from arena.protocol.faults import FINAL_FAULTS, Fault
from arena.rules import Rules
from tests.rules.helpers import VARIANTS

from .games import faulty, replay_of

THREE = Rules(players=3)
DUMMY = Rules(players=2, dummy=True)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=8,
)
FREE = {"game", "bot", "version", "author", "millis"}
"""Keys whose values don't follow from the rules."""


def document(rules: Rules = THREE) -> dict[str, Any]:
    """Return the replay of a random game as plain JSON."""
    return dict(json.loads(encode(replay_of(rules))))


def holder(changed: dict[str, Any], path: Sequence[str | int]) -> Any:  # noqa: ANN401 - an object or a list
    """Return the part of a document that holds the value at this path."""
    inner: Any = changed
    for key in path[:-1]:
        inner = inner[key]
    return inner


def check(changed: dict[str, Any]) -> str:
    """Parse and verify a document; return the difference as text."""
    return str(verify(parse(json.dumps(changed))))


@pytest.mark.parametrize("rules", VARIANTS, ids=str)
def test_a_true_record_has_no_difference(rules: Rules) -> None:
    """True records have no differences, in many games of every combination of players and variants."""
    for game in range(20):
        assert verify(parse(encode(replay_of(rules, game.to_bytes(16, "big"))))) is None


@given(
    st.sampled_from([THREE, DUMMY, Rules(players=5)]),
    st.dictionaries(st.tuples(st.integers(0, 16), st.integers(0, 4)), st.sampled_from(Fault), max_size=8),
)
def test_a_true_record_with_faults_has_no_difference(
    rules: Rules, faults: dict[tuple[int, int], Fault]
) -> None:
    """As in a referee's record, only seats that are asked and not yet taken over have faults."""
    noted: dict[tuple[int, int], Fault] = {}
    counts = dict.fromkeys(range(5), 0)
    for (step, seat), fault in sorted(faults.items()):
        if seat < rules.players and counts[seat] < 3 and not (rules.dummy and step % 9 == 8):
            noted[step, seat] = fault
            counts[seat] += 3 if fault in FINAL_FAULTS else 1
    assert verify(faulty(rules, noted)) is None


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        (["shuffle"], "mine/1", 'shuffle: is "mine/1", but the rules give "sha256-fisher-yates/1"'),
        (["seed"], "0" * 32, 'deals[0][0][0]: is "{first}", but the rules give "{zero}"'),
        (["rules", "players"], 6, "rules: 6 players: Sushi Go! is for 2 to 5"),
        (["rules", "dummy"], True, "rules: 3 players with a dummy: the dummy variant is for exactly 2"),
        (["rules", "players"], 4, "seats: has 3 entries, but the rules give 4"),
        (["deals", 1, 2, 3], "banana", 'deals[1][2][3]: is "banana", but the rules give "{dealt}"'),
        (["turns", 4, "round"], 2, "turns[4].round: is 2, but the rules give 1"),
        (["turns", 4, "turn"], 9, "turns[4].turn: is 9, but the rules give 5"),
        (["turns", 4, "plays", 1], ["egg"], 'turns[4].plays[1][0]: is "egg", which is not a kind of card'),
        (["turns", 0, "plays", 1], ["soy_sauce"], "turns[0].plays[1]: the rules forbid it: seat 1: soy"),
        (["turns", 0, "plays"], [["wasabi"]], "turns[0].plays: has 1 entry, but the rules give 3"),
        (["turns", 8, "plays", 1], ["soy"], 'turns[8].plays[1][0]: is "soy", but the rules give "{last}"'),
        (["turns", 4, "standin", 2], True, "turns[4].standin[2]: is true, but the faults give false"),
        (["turns", 4, "standin"], [False], "turns[4].standin: has 1 entry, but the rules give 3"),
        (["turns", 4, "fault"], [None] * 4, "turns[4].fault: has 4 entries, but the rules give 3"),
        (["turns", 4, "millis"], [1.0], "turns[4].millis: has 1 entry, but the rules give 3"),
        (["turns", 4, "fault", 0], "timeout", "turns[4].standin[0]: is false, but the faults give true"),
        (["turns", 8, "fault", 0], "timeout", 'turns[8].fault[0]: is "timeout", but the seat had no'),
        (["rounds", 1, "scores", 0], -1, "rounds[1].scores[0]: is -1, but the rules give {score}"),
        (["rounds", 1, "breakdown", 0, "maki"], 99, "rounds[1].breakdown[0].maki: is 99, but the rules give"),
        (["rounds", 1, "breakdown", 0, "bonus"], 0, 'rounds[1].breakdown[0]: has the keys ["bonus",'),
        (["rounds"], [], "rounds: has 0 entries, but the rules give 3"),
        (["puddings", "counts", 0], 99, "puddings.counts[0]: is 99, but the rules give {puddings}"),
        (["puddings", "scores", 0], 99, "puddings.scores[0]: is 99, but the rules give"),
        (["totals", 2], 0, "totals[2]: is 0, but the rules give {total}"),
        (["totals"], [], "totals: has 0 entries, but the rules give 3"),
        (["places", 0], 9, "places[0]: is 9, but the rules give {place}"),
        (["rules_places", 0], 9, "rules_places[0]: is 9, but the rules give {place}"),
        (["turns"], [], "turns: has 0 entries, but the game doesn't end there"),
    ],
)  # fmt: skip
def test_a_difference_is_named_with_its_path(path: list[str | int], value: object, said: str) -> None:
    """The text of a difference has the path, the value, and the value that the rules give."""
    changed = document()
    words = {
        "first": changed["deals"][0][0][0],
        "zero": replay_of(THREE, bytes(16)).deals[0][0][0],
        "dealt": changed["deals"][1][2][3],
        "last": changed["turns"][8]["plays"][1][0],
        "score": changed["rounds"][1]["scores"][0],
        "puddings": changed["puddings"]["counts"][0],
        "total": changed["totals"][2],
        "place": changed["places"][0],
    }
    holder(changed, path)[path[-1]] = value
    assert check(changed).startswith(said.format(**words))


def test_a_changed_play_that_is_legal_is_found() -> None:
    """If another legal card was played, the difference appears only later, where that card is missing."""
    changed = document()
    hand = sorted(set(changed["deals"][0][0]) - {changed["turns"][0]["plays"][0][0]})
    changed["turns"][0]["plays"][0] = [hand[0]]
    assert check(changed) != "None"


def test_a_turn_too_many_or_too_few() -> None:
    """An additional or missing turn is a difference, even if it is only the automatic last one."""
    changed = document()
    changed["turns"].append(changed["turns"][-1])
    assert check(changed) == "turns[27]: is one turn more than the game has"
    changed = document()
    changed["turns"].pop()
    assert check(changed) == "turns: has 26 entries, but the game doesn't end there"


def test_the_dummys_play_is_one_card() -> None:
    """No card and two cards for the dummy are differences."""
    for play in ([], ["wasabi", "wasabi"]):
        changed = document(DUMMY)
        changed["turns"][3]["plays"][2] = play
        assert check(changed).startswith(f"turns[3].plays[2]: has {len(play)} entries, but the rules give 1")


@pytest.mark.parametrize(
    ("faults", "place"),
    [({(4, 0): Fault.CRASH}, 3), ({(step, 0): Fault.TIMEOUT for step in (1, 9, 11)}, 3)],
    ids=["crash", "third fault"],
)
def test_places_follow_from_the_faults(faults: dict[tuple[int, int], Fault], place: int) -> None:
    """Places that ignore a takeover are a difference."""
    replay = faulty(THREE, faults)
    assert replay.places[0] == place
    changed = json.loads(encode(replay))
    assert check(changed) == "None"
    changed["places"] = [2, 2, 1]
    assert check(changed).startswith("places[")


def test_a_seat_that_was_taken_over_has_no_more_faults() -> None:
    """A fault after a seat was taken over is a difference, since the stand-in plays that seat to the end."""
    changed = json.loads(encode(faulty(THREE, {(2, 1): Fault.CRASH})))
    changed["turns"][5]["fault"][1] = "timeout"
    assert check(changed) == 'turns[5].fault[1]: is "timeout", but the seat had been taken over'
    changed = json.loads(encode(faulty(THREE, {(2, 1): Fault.CRASH})))
    changed["turns"][5]["standin"][1] = False
    assert check(changed) == "turns[5].standin[1]: is false, but the faults give true"


def paths(value: object, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """Return the paths of all values in a document."""
    inner: list[tuple[Any, object]] = []
    if isinstance(value, dict):
        inner = list(value.items())
    elif isinstance(value, list):
        inner = list(enumerate(value))
    return [path, *(found for key, part in inner for found in paths(part, (*path, key)))]


PLACES = [path for path in paths(document()) if path]


@given(st.sampled_from(PLACES), JSON)
def test_any_changed_value_is_found_or_allowed(path: tuple[str | int, ...], value: object) -> None:
    """A changed value is an error or a difference, unless it is equal or its field is free."""
    changed = document()
    inner = holder(changed, path)
    before, inner[path[-1]] = inner[path[-1]], value
    try:
        found = verify(parse(json.dumps(changed)))
    except InvalidReplay:
        return
    same = value == before and type(value) is type(before)
    free = FREE & set(path) or (path[0] == "seats" and len(path) > 1)
    assert isinstance(found, Difference) or same or free


@given(st.sampled_from(PLACES))
def test_a_missing_part_is_found(path: tuple[str | int, ...]) -> None:
    """A document that lacks any key or entry is refused."""
    changed = document()
    del holder(changed, path)[path[-1]]
    try:
        found = verify(parse(json.dumps(changed)))
    except InvalidReplay:
        return
    assert found is not None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"", "not JSON: Input data was truncated"),
        (b"hello", "not JSON: JSON is malformed"),
        (b"{", "not JSON: Input data was truncated"),
        (b'{"format": "\xff"}', "not JSON: 'utf-8' codec"),
        (b"[" * 100_000, "not a replay: Expected `object`, got `array`"),
        (b'{"a":' * 100_000, "not JSON: "),
        (b"[]", "not a replay: Expected `object`, got `array`"),
        (b"17", "not a replay: Expected `object`, got `int`"),
        (b"{}", "not a replay: Object missing required field `format`"),
        (b'{"format": 1}', "not a replay: Expected `str`, got `int` - at `$.format`"),
        (b'{"format": "sushigo-replay/2"}', 'the format is "sushigo-replay/2"; this program reads only "'),
        (b'{"format": "sushigo-replay/1"}', "not a replay: Object missing required field `game`"),
    ],
    ids=range(12),
)  # fmt: skip
def test_other_texts_are_refused_with_the_reason(text: bytes, said: str) -> None:
    """The error says that the JSON, its type or version is wrong, or which field is missing."""
    with pytest.raises(InvalidReplay) as caught:
        parse(text)
    assert str(caught.value).startswith(said)


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        (["seed"], "xyz", "Expected `str` matching regex '^[0-9a-fA-F]{32}$' - at `$.seed`"),
        (["turns", 0, "fault", 0], "tired", "Invalid enum value 'tired' - at `$.turns[0].fault[0]`"),
        (["turns", 0, "plays", 0], "wasabi", "Expected `array`, got `str` - at `$.turns[0].plays[0]`"),
        (["turns", 0, "millis"], [-1.0], "Expected `float` >= 0.0 - at `$.turns[0].millis[0]`"),
        (["rules", "players"], True, "Expected `int`, got `bool` - at `$.rules.players`"),
        (["totals", 0], 1.5, "Expected `int`, got `float` - at `$.totals[0]`"),
    ],
)
def test_a_wrong_type_is_named_with_its_path(path: list[str | int], value: object, said: str) -> None:
    """The error for a wrong type has its path and the expected type."""
    changed = document()
    holder(changed, path)[path[-1]] = value
    with pytest.raises(InvalidReplay) as caught:
        check(changed)
    assert str(caught.value) == f"not a replay: {said}"


@given(st.binary(max_size=200))
def test_any_bytes_are_refused_without_another_error(text: bytes) -> None:
    """The parser raises only InvalidReplay."""
    with pytest.raises(InvalidReplay):
        parse(text)
