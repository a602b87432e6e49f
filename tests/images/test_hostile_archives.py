"""Hostile archives are rejected with a reason, or made harmless; both use few resources."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from _pytest.mark import ParameterSet

from tests.images.archives import AMD64, PATIENT
from tests.images.hostile import ATTACKS, CANARY, Attack
from tests.images.hostile.attack import complaints, costs
from tests.images.measured import measure


@pytest.fixture(autouse=True)
def canary() -> Iterator[None]:
    """Create the file that attacks aim at, and check that it wasn't touched."""
    CANARY.parent.mkdir()
    CANARY.write_text("untouched")
    yield
    assert [path.name for path in CANARY.parent.iterdir()] == ["file"]
    assert CANARY.read_text() == "untouched"
    shutil.rmtree(CANARY.parent)


def _name(attack: Attack) -> str:
    return attack.name


def test_there_are_forty_attacks() -> None:
    """Each attack has its own name, one expected outcome, and a control or raised limits."""
    assert len({attack.name for attack in ATTACKS}) == len(ATTACKS) >= 40
    assert all((attack.refused is None) != (attack.harmless is None) for attack in ATTACKS)
    assert all(attack.control or attack.raised for attack in ATTACKS)


def _variants() -> list[ParameterSet]:
    """Return all attacks. ``make test`` tries only the first of those rejected with the same text."""
    first: dict[str, Attack] = {}
    return [
        pytest.param(
            attack,
            marks=()
            if attack.refused is None or first.setdefault(attack.refused, attack) is attack
            else pytest.mark.soak,
        )
        for attack in ATTACKS
    ]


@pytest.mark.parametrize("attack", _variants(), ids=_name)
def test_hostile_archive(attack: Attack, tmp_path: Path) -> None:
    """The archive is rejected or made harmless within 256 MiB and 10 s. A rejection leaves no file behind."""
    archive, output = tmp_path / "archive", tmp_path / "output"
    attack.build(archive)
    outcome = measure(archive, output, AMD64, PATIENT)
    assert complaints(attack, outcome, output) == []
    if attack.refused is not None:
        assert list(tmp_path.iterdir()) == [archive]


@pytest.mark.soak
@pytest.mark.parametrize("attack", [attack for attack in ATTACKS if attack.control], ids=_name)
def test_the_same_archive_without_its_hostile_part(attack: Attack, tmp_path: Path) -> None:
    """An archive without its hostile part is accepted, so the hostile part caused the rejection."""
    assert attack.control is not None
    attack.control(tmp_path / "archive")
    outcome = measure(tmp_path / "archive", tmp_path / "output", AMD64, PATIENT)
    assert outcome.image is not None, outcome
    assert costs(outcome) == []


@pytest.mark.soak
@pytest.mark.parametrize("attack", [attack for attack in ATTACKS if attack.raised], ids=_name)
def test_the_same_archive_with_the_limit_raised(attack: Attack, tmp_path: Path) -> None:
    """With the limit raised the archive is accepted, so this limit caused the rejection."""
    attack.build(tmp_path / "archive")
    limits = msgspec.structs.replace(PATIENT, cpu_seconds=60, **attack.raised)
    outcome = measure(tmp_path / "archive", tmp_path / "output", AMD64, limits)
    assert outcome.image is not None, outcome
