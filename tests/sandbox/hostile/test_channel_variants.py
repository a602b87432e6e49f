"""More attacks on the channel get the right verdicts, and succeed without their controls."""

from collections.abc import Iterator
from typing import Final

import pytest
from _pytest.mark import ParameterSet

from tests.sandbox.hostile.attack import Attack, title
from tests.sandbox.hostile.channel import connections, sizes
from tests.sandbox.hostile.channel_attacks import ATTACKS, without_fault
from tests.sandbox.hostile.channel_variants import CLOCK, VARIANTS
from tests.sandbox.hostile.judge import complaints
from tests.sandbox.hostile.quick import QuickStage

_MIB: Final = 1024 * 1024
_PEAK: Final = 100 * _MIB
"""A referee with two honest bots took 50 MiB."""


_ATTACKERS: Final = 4
"""Number of attackers at a table, which also has an honest bot."""

_ALLOWED: Final = (
    sizes.longest_message,
    sizes.longest_note,
    sizes.metadata_in_bounds,
    sizes.header_bombs,
    connections.speaks_when_all_is_over,
)
"""Bots without a fault: they reach a limit exactly, repeat headers by reference or connect after the end."""


def tables() -> list[ParameterSet]:
    """Return tables of all variants. The short run has only the bots without a fault."""
    allowed = [without_fault(program) for program in _ALLOWED]
    return [
        pytest.param(table, id=", ".join(map(title, table)), marks=marks)
        for attacks, marks in ((allowed, []), (VARIANTS, [pytest.mark.soak]))
        for table in (attacks[start : start + _ATTACKERS] for start in range(0, len(attacks), _ATTACKERS))
    ]


@pytest.fixture
def stage() -> Iterator[QuickStage]:
    """Yield a stage of plain processes."""
    stage = QuickStage()
    yield stage
    stage.close()


@pytest.mark.parametrize("attacks", tables())
def test_they_get_their_verdicts_and_nothing_else(stage: QuickStage, attacks: list[Attack]) -> None:
    """Exactly the expected decisions are faults; the honest bot plays as in a game with stand-ins there."""
    spec, outcomes = stage.play(attacks, CLOCK)
    assert complaints(attacks, outcomes, spec) == ()
    assert 10 * _MIB < outcomes[0].peak.referees < _PEAK


@pytest.mark.soak
@pytest.mark.parametrize("attack", VARIANTS, ids=title)
def test_without_its_control_it_succeeds(stage: QuickStage, attack: Attack) -> None:
    """Without its control the same program succeeds, so the control is what stops it."""
    outcome = stage.play_without_control(attack, CLOCK)
    assert attack.achieved(outcome) != "", outcome.told


@pytest.mark.soak
@pytest.mark.parametrize(
    ("name", "mebibytes"), [("an endless header block", 70), ("streams that stay open", 70)]
)
def test_without_the_guard_a_flood_costs_memory(stage: QuickStage, name: str, mebibytes: int) -> None:
    """Without the guard, a referee's memory grows with what it receives."""
    attack = next(attack for attack in VARIANTS if attack.name == name)
    outcome = stage.play_without_control(attack, CLOCK)
    assert outcome.peak.referees > mebibytes * _MIB


@pytest.mark.soak
@pytest.mark.parametrize("name", ["declares a 4 GiB message", "compressed bomb"])
def test_without_the_guard_a_message_costs_memory(stage: QuickStage, name: str) -> None:
    """Without the guard, two attacks of the catalog make a referee's memory grow as well."""
    attack = next(attack for attack in ATTACKS if attack.name == name)
    outcome = stage.play_without_control(attack, CLOCK)
    assert outcome.peak.referees > 70 * _MIB
