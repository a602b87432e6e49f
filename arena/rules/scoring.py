"""Points and places.

Source: the sections "Scoring a round", "Puddings, at the end", "Variants" and
"Places" of docs/rules.md.
"""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from arena.rules.cards import MAKI_ICONS, NIGIRI_POINTS, VARIANTS, Card, Rules, Table

DUMPLING_POINTS: Final = (0, 1, 3, 6, 10, 15)
MAKI_FIRST: Final = 6
MAKI_SECOND: Final = 3
PUDDING_POINTS: Final = 6
SOY_POINTS: Final = 4
WASABI_FACTOR: Final = 3

COLOURS: Final[Mapping[Card, str]] = {
    Card.TEMPURA: "purple",
    Card.SASHIMI: "green",
    Card.DUMPLING: "blue",
    Card.MAKI_1: "red",
    Card.MAKI_2: "red",
    Card.MAKI_3: "red",
    Card.SALMON_NIGIRI: "yellow",
    Card.SQUID_NIGIRI: "yellow",
    Card.EGG_NIGIRI: "yellow",
    Card.PUDDING: "pink",
    Card.WASABI: "yellow",
    Card.CHOPSTICKS: "light blue",
    Card.SOY_SAUCE: "dark purple",
}

# Looked up once: attribute access on an enum class is slow in Python 3.11.
_TEMPURA: Final = Card.TEMPURA
_SASHIMI: Final = Card.SASHIMI
_DUMPLING: Final = Card.DUMPLING
_WASABI: Final = Card.WASABI
_SOY_SAUCE: Final = Card.SOY_SAUCE


class RoundScore(NamedTuple):
    """The points that one participant scored in one round, by kind."""

    tempura: int
    sashimi: int
    dumpling: int
    maki: int
    nigiri: int
    soy_sauce: int

    @classmethod
    def kinds(cls, rules: Rules) -> tuple[str, ...]:
        """Return the names of the fields that can have points in these rules."""
        return tuple(kind for kind in cls._fields if kind not in VARIANTS or kind in rules.variants)


def score_round(rules: Rules, tables: Sequence[Table]) -> tuple[RoundScore, ...]:
    """Score a finished round. ``tables`` has one entry per participant, with cards in the order placed."""
    maki = score_maki([sum([MAKI_ICONS.get(card, 0) for card in table]) for table in tables])
    soy = score_soy_sauce(tables) if rules.soy_sauce else (0,) * len(tables)
    return tuple(
        [
            RoundScore(
                table.count(_TEMPURA) // 2 * 5,
                table.count(_SASHIMI) // 3 * 10,
                DUMPLING_POINTS[min(table.count(_DUMPLING), 5)],
                maki[player],
                score_nigiri(table),
                soy[player],
            )
            for player, table in enumerate(tables)
        ]
    )


def score_nigiri(table: Table) -> int:
    """Return the points for all nigiri. Each uses the oldest unused wasabi before it."""
    points = free_wasabi = 0
    for card in table:
        if card is _WASABI:
            free_wasabi += 1
        elif value := NIGIRI_POINTS.get(card):
            if free_wasabi:
                free_wasabi -= 1
                value *= WASABI_FACTOR
            points += value
    return points


def score_maki(icons: Sequence[int]) -> tuple[int, ...]:
    """Return the maki points for these numbers of icons, one per participant."""
    most = max(icons)
    if not most:
        return (0,) * len(icons)
    first = icons.count(most)
    if first > 1:
        return tuple(MAKI_FIRST // first if count == most else 0 for count in icons)
    second_most = max(count for count in icons if count != most)
    second = MAKI_SECOND // icons.count(second_most) if second_most else 0
    return tuple(MAKI_FIRST if count == most else second if count == second_most else 0 for count in icons)


def score_soy_sauce(tables: Sequence[Table]) -> tuple[int, ...]:
    """Return the soy sauce points, which go to tables that have soy sauce and the most colours."""
    counts = [colours(table) for table in tables]
    most = max(counts)
    winners = [counts[player] == most and _SOY_SAUCE in table for player, table in enumerate(tables)]
    share = SOY_POINTS // max(1, winners.count(True))
    return tuple(share if winner else 0 for winner in winners)


def colours(table: Table) -> int:
    """Return the number of different colours on a table."""
    return len({COLOURS[card] for card in table})


def score_puddings(rules: Rules, puddings: Sequence[int]) -> tuple[int, ...]:
    """Return the points at the end of the game for these numbers of puddings."""
    most, fewest = max(puddings), min(puddings)
    if most == fewest:
        return (0,) * len(puddings)
    gain = PUDDING_POINTS // puddings.count(most)
    # Losses are rounded towards zero: -(6 // 4) is -1, whereas -6 // 4 would be -2.
    loss = 0 if rules.participants == 2 else PUDDING_POINTS // puddings.count(fewest)  # noqa: PLR2004 - the rule's own number
    return tuple(gain if count == most else -loss if count == fewest else 0 for count in puddings)


def places(totals: Sequence[int], puddings: Sequence[int]) -> tuple[int, ...]:
    """Rank by total, then by puddings. Players equal in total and puddings share a place (1, 1, 3)."""
    results = list(zip(totals, puddings, strict=True))
    return tuple(1 + sum(other > mine for other in results) for mine in results)
