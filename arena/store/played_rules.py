"""What a set's matches play, as columns and as rules."""

from typing import Any, Final

from sqlalchemy import Row

from arena.rules import Rules
from arena.store.models import MatchSet

RULES: Final = (MatchSet.players, MatchSet.pass_both_ways, MatchSet.soy_sauce, MatchSet.dummy)
"""What :func:`rules_of` needs of a set."""


def rules_of(row: Row[*tuple[Any, ...]]) -> Rules:
    """Return the rules from a row that has ``RULES``."""
    return Rules(
        players=row.players,
        pass_both_ways=row.pass_both_ways,
        soy_sauce=row.soy_sauce,
        dummy=row.dummy,
    )
