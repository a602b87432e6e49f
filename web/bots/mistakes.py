"""A bot's costliest decisions, for its page."""

from collections import Counter
from dataclasses import dataclass
from typing import Final

from arena.db.analyses import CostlyDecision
from arena.db.store import Store

SHOWN_MISTAKES: Final = 10
_SHOWN_KINDS: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Mistakes:
    """The costly decisions of a version, and what they have in common.

    ``rounds`` are pairs of a round and the number of costly decisions in it. ``missed`` and ``taken`` are
    pairs of a kind of card and a count, largest first: how often only the best move had the card, or only
    the played one.
    """

    costliest: tuple[CostlyDecision, ...]
    count: int
    rounds: tuple[tuple[int, int], ...]
    missed: tuple[tuple[str, int], ...]
    taken: tuple[tuple[str, int], ...]


def read_mistakes(store: Store, bot: str, version: int) -> Mistakes:
    """Read a version's costly decisions."""
    found = store.analyses.costly(bot, version)
    missed: Counter[str] = Counter()
    taken: Counter[str] = Counter()
    for each in found:
        missed.update(set(each.best) - set(each.played))
        taken.update(set(each.played) - set(each.best))
    return Mistakes(
        costliest=found[:SHOWN_MISTAKES],
        count=len(found),
        rounds=tuple(sorted(Counter(each.round for each in found).items())),
        missed=tuple(missed.most_common(_SHOWN_KINDS)),
        taken=tuple(taken.most_common(_SHOWN_KINDS)),
    )
