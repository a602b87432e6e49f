"""More ways to attack the channel, each with its right verdict, and each a success without its control."""

from collections.abc import Callable, Iterator
from typing import Final

import pytest
from _pytest.mark import ParameterSet

from arena.scheduler.check import check_record
from tests.sandbox.hostile.attack import Attack, title
from tests.sandbox.hostile.channel import connections, sizes
from tests.sandbox.hostile.channel_attacks import ATTACKS, without_fault
from tests.sandbox.hostile.channel_variants import CLOCK, VARIANTS
from tests.sandbox.hostile.expected import differences
from tests.sandbox.hostile.quick import QuickStage

_MIB: Final = 1024 * 1024
_PEAK: Final = 100 * _MIB
"""A referee that plays two honest bots has had 50 MiB."""


def first_of_each_kind() -> list[ParameterSet]:
    """Return all variants; those held by an earlier one's control, with its faults, are for the long run."""
    kinds: set[object] = set()
    found = []
    for attack in VARIANTS:
        kind = attack.control.name, attack.faults
        found.append(
            pytest.param(attack, id=title(attack), marks=[pytest.mark.soak] if kind in kinds else [])
        )
        kinds.add(kind)
    return found


@pytest.fixture
def stage() -> Iterator[QuickStage]:
    """Give a launcher of plain processes."""
    stage = QuickStage()
    yield stage
    stage.close()


def check(stage: QuickStage, attack: Attack) -> None:
    """Play an attack, and see that it gets its verdict and nothing else."""
    spec, outcome = stage.play(attack, CLOCK, control=True)
    assert outcome.faults == attack.faults, outcome.record.seats[0]
    assert outcome.verdict in attack.verdicts
    assert outcome.told
    assert attack.achieved(outcome) == ""
    game = check_record(spec, outcome.record)[0]
    assert differences(spec, game.record, game.places) == ()
    assert outcome.record.seats[1].trouble is None
    assert outcome.left == ()
    assert 10 * _MIB < outcome.peak.referees < _PEAK


@pytest.mark.parametrize("attack", first_of_each_kind())
def test_it_gets_its_verdict_and_nothing_else(stage: QuickStage, attack: Attack) -> None:
    """The fault falls where it must, and the other seat's game is that of the same seed with the stand-in."""
    check(stage, attack)


@pytest.mark.soak
@pytest.mark.parametrize("attack", VARIANTS, ids=title)
def test_without_its_control_it_succeeds(stage: QuickStage, attack: Attack) -> None:
    """The same program gets what it is after, so it is the control that holds it."""
    _, outcome = stage.play(attack, CLOCK, control=False)
    assert attack.achieved(outcome) != "", outcome.told


@pytest.mark.soak
@pytest.mark.parametrize(
    ("name", "mebibytes"), [("a header block without end", 70), ("streams that stay open", 70)]
)
def test_without_the_guard_a_flood_costs_memory(stage: QuickStage, name: str, mebibytes: int) -> None:
    """A referee that is not guarded grows with what it is sent."""
    attack = next(attack for attack in VARIANTS if attack.name == name)
    _, outcome = stage.play(attack, CLOCK, control=False)
    assert outcome.peak.referees > mebibytes * _MIB


@pytest.mark.soak
@pytest.mark.parametrize("name", ["declares a 4 GiB message", "compressed bomb"])
def test_without_the_guard_a_message_costs_memory(stage: QuickStage, name: str) -> None:
    """As above, for two of the reference's own."""
    attack = next(attack for attack in ATTACKS if attack.name == name)
    _, outcome = stage.play(attack, CLOCK, control=False)
    assert outcome.peak.referees > 70 * _MIB


@pytest.mark.parametrize(
    "program",
    [
        sizes.longest_message,
        sizes.longest_note,
        sizes.metadata_in_bounds,
        sizes.header_bombs,
        connections.speaks_when_all_is_over,
    ],
    ids=lambda program: program.__name__,
)
def test_what_is_allowed_is_no_fault(stage: QuickStage, program: Callable[[], object]) -> None:
    """Limits hold at exactly their number; what gets past them costs nothing; a late call harms nobody."""
    check(stage, without_fault(program))
