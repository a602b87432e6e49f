"""What a bot's page says about its costliest decisions."""

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

    ``rounds`` are pairs of a round and their number in it; ``missed`` and ``taken`` of a kind of card and how
    often the best move had it and the played one not, or the other way round, most first.
    """

    costliest: tuple[CostlyDecision, ...]
    count: int
    rounds: tuple[tuple[int, int], ...]
    missed: tuple[tuple[str, int], ...]
    taken: tuple[tuple[str, int], ...]


def read_mistakes(store: Store, bot: str, version: int) -> Mistakes:
    """Read them."""
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
