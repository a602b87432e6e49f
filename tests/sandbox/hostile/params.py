"""Attacks as parameters of tests: which are played when."""

from collections.abc import Iterable

import pytest
from _pytest.mark import ParameterSet

from tests.sandbox.hostile.attack import Attack


def once_each(attacks: Iterable[Attack]) -> list[ParameterSet]:
    """Return all of them."""
    return [_param(attack) for attack in attacks]


def once_a_control(attacks: Iterable[Attack]) -> list[ParameterSet]:
    """Return all of them; those whose control an earlier one has too are for the long run."""
    seen: set[str] = set()
    found = []
    for attack in attacks:
        found.append(_param(attack, *([pytest.mark.soak] if attack.control.name in seen else [])))
        seen.add(attack.control.name)
    return found


def _param(attack: Attack, *marks: pytest.MarkDecorator) -> ParameterSet:
    return pytest.param(attack, id=f"{attack.number}-{attack.name}", marks=marks)
