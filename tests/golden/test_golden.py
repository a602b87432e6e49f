"""Golden games: played again they are the same to the byte, and the rules agree with them."""

import pytest

from arena.replay import parse, verify

from .make import HERE, VARIANTS, golden


def test_there_is_a_file_for_every_combination() -> None:
    """Twenty combinations of players and variants, and no stray file."""
    assert {path.stem for path in HERE.glob("*.jsonl")} == set(VARIANTS)
    assert len(VARIANTS) == 20


@pytest.mark.parametrize("name", VARIANTS)
def test_the_same_command_gives_the_same_bytes(name: str) -> None:
    """Decks, dice, rules and format together: any change shows as a difference in the text."""
    assert golden(VARIANTS[name]).decode() == (HERE / f"{name}.jsonl").read_text()


@pytest.mark.parametrize("name", VARIANTS)
def test_the_rules_agree_with_every_golden_game(name: str) -> None:
    """Each is verified from its seed."""
    for line in (HERE / f"{name}.jsonl").read_bytes().splitlines():
        assert verify(parse(line)) is None
