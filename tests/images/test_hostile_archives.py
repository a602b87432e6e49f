"""Archives that mean harm are refused with words, or taken without the harm; cheaply, either way."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from arena.images.image import DEFAULT_LIMITS
from tests.images.archives import AMD64
from tests.images.hostile import ATTACKS, CANARY, Attack
from tests.images.measured import Outcome, measure

MEMORY_KIB = 256 * 1024
SECONDS = 10
PATIENT = msgspec.structs.replace(DEFAULT_LIMITS, wall_seconds=60.0)
"""A busy machine decides nothing here: processor time is measured. That time is up on the clock as well is
shown in test_reader.py."""


@pytest.fixture(autouse=True)
def canary() -> Iterator[None]:
    """Put a file where attacks aim at, and see that nobody touched it."""
    CANARY.parent.mkdir()
    CANARY.write_text("untouched")
    yield
    assert [path.name for path in CANARY.parent.iterdir()] == ["file"]
    assert CANARY.read_text() == "untouched"
    shutil.rmtree(CANARY.parent)


def _name(attack: Attack) -> str:
    return attack.name


def _assert_cheap(outcome: Outcome) -> None:
    assert outcome.memory_kib <= MEMORY_KIB
    assert outcome.cpu_seconds <= SECONDS


def test_there_are_forty_of_them() -> None:
    """There are at least forty attacks, each with a name of its own, one outcome and a control."""
    assert len({attack.name for attack in ATTACKS}) == len(ATTACKS) >= 40
    assert all((attack.refused is None) != (attack.harmless is None) for attack in ATTACKS)
    assert all(attack.control or attack.raised for attack in ATTACKS)


@pytest.mark.parametrize("attack", ATTACKS, ids=_name)
def test_hostile_archive(attack: Attack, tmp_path: Path) -> None:
    """It is refused or made harmless, within 256 MiB and 10 s, and leaves nothing behind."""
    archive, output = tmp_path / "archive", tmp_path / "output"
    attack.build(archive)
    outcome = measure(archive, output, AMD64, PATIENT)
    _assert_cheap(outcome)
    assert (outcome.trouble, outcome.notes) == (None, [])
    if attack.harmless is not None:
        assert outcome.image is not None, outcome.refusal
        attack.harmless(outcome.image, output)
    else:
        assert re.search(attack.refused or "", outcome.refusal or ""), outcome.refusal
        assert list(tmp_path.iterdir()) == [archive]


@pytest.mark.soak
@pytest.mark.parametrize("attack", [attack for attack in ATTACKS if attack.control], ids=_name)
def test_the_same_archive_without_its_hostile_part(attack: Attack, tmp_path: Path) -> None:
    """It is taken: the refusal was of that part."""
    assert attack.control is not None
    attack.control(tmp_path / "archive")
    outcome = measure(tmp_path / "archive", tmp_path / "output", AMD64, PATIENT)
    assert outcome.image is not None, outcome
    _assert_cheap(outcome)


@pytest.mark.soak
@pytest.mark.parametrize("attack", [attack for attack in ATTACKS if attack.raised], ids=_name)
def test_the_same_archive_with_the_limit_raised(attack: Attack, tmp_path: Path) -> None:
    """It is taken: the refusal was by that limit."""
    attack.build(tmp_path / "archive")
    limits = msgspec.structs.replace(PATIENT, cpu_seconds=60, **attack.raised)
    outcome = measure(tmp_path / "archive", tmp_path / "output", AMD64, limits)
    assert outcome.image is not None, outcome
