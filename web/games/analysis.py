"""A game's analysis for its page: graphs, a summary of each seat, and the costliest decisions."""

from dataclasses import dataclass
from typing import Final

from arena.protocol.analysis import COSTLY, AnalysedDecision, Analysis, Option

_CARD_NAMES: Final = {
    "salmon_nigiri": "Salmon",
    "squid_nigiri": "Squid",
    "egg_nigiri": "Egg",
    "soy_sauce": "Soy sauce",
    "maki_1": "Maki 1",
    "maki_2": "Maki 2",
    "maki_3": "Maki 3",
}


@dataclass(frozen=True, slots=True)
class Placed:
    """A placed or held card."""

    kind: str  # its name in records, such as `maki_2`
    name: str  # its display name
    tripled: bool  # whether it is a nigiri on wasabi


def card(kind: str, *, tripled: bool = False) -> Placed:
    """Return a card by its name in records."""
    return Placed(kind, _CARD_NAMES.get(kind, kind.capitalize()), tripled)


MAX_COSTLY: Final = 10
"""Maximum number of costly decisions shown."""

HEIGHT: Final = 100
"""Height of graphs: one unit per percentage point, with 100% at the top."""


@dataclass(frozen=True, slots=True)
class Graph:
    """Chances by turn, as paths with one unit per turn."""

    lines: tuple[str, ...]  # one per seat
    width: int
    rounds: str  # marks the start of each round except the first
    turning_points: str  # marks the turns that mattered most


@dataclass(frozen=True, slots=True)
class ShownMove:
    """A move with its value."""

    cards: tuple[Placed, ...]  # in the order in which they were placed
    dummy: Placed | None  # the dummy's card, or None
    chance: float  # expected share of first place
    points: float  # expected points at the end of the game


@dataclass(frozen=True, slots=True)
class ShownDecision:
    """A decision with all its options, best first."""

    decision: AnalysedDecision
    played: ShownMove
    options: tuple[ShownMove, ...]
    house: tuple[tuple[ShownMove, tuple[str, ...]], ...]  # house bots' choices and bot names, best first


@dataclass(frozen=True, slots=True)
class ShownAnalysis:
    """An analysis, laid out."""

    whole: Analysis
    known: Graph  # computed from what each seat could know
    dealt: Graph  # computed from all hands
    costly: tuple[ShownDecision, ...]  # costliest first


def lay_out(analysis: Analysis) -> ShownAnalysis:
    """Lay out an analysis."""
    found = [each for each in analysis.decisions if each.grade in COSTLY]
    found.sort(key=lambda each: -each.lost_chance)
    return ShownAnalysis(
        whole=analysis,
        known=_graph(analysis, [[it.chance for it in turn.known] for turn in analysis.turns]),
        dealt=_graph(analysis, [[it.chance for it in turn.dealt] for turn in analysis.turns]),
        costly=tuple(map(shown_decision, found[:MAX_COSTLY])),
    )


def _graph(analysis: Analysis, chances: list[list[float]]) -> Graph:
    rows = [*chances, list(analysis.result)]
    begins = [number for number, turn in enumerate(analysis.turns) if number and turn.turn == 1]
    return Graph(
        lines=tuple(
            "M" + "L".join(f"{at} {HEIGHT * (1 - row[seat]):.4g}" for at, row in enumerate(rows))
            for seat in range(len(analysis.seats))
        ),
        width=len(analysis.turns),
        rounds="".join(f"M{at} 0V{HEIGHT}" for at in begins),
        turning_points="".join(f"M{at} 0V{HEIGHT}" for at in analysis.turning_points),
    )


def decisions_of(analysis: Analysis, seat: int) -> tuple[ShownDecision, ...]:
    """Lay out all of a seat's decisions, in order."""
    return tuple([shown_decision(each) for each in analysis.decisions if each.seat == seat])


def shown_decision(decision: AnalysedDecision) -> ShownDecision:
    """Lay out a decision."""
    options = tuple(map(_move, decision.options))
    house = tuple(
        [
            (options[choice], tuple([name for name, chosen in decision.house.items() if chosen == choice]))
            for choice in sorted(set(decision.house.values()))
        ]
    )
    return ShownDecision(decision, options[decision.played], options, house)


def _move(option: Option) -> ShownMove:
    return ShownMove(
        tuple(map(card, option.cards)),
        card(option.dummy) if option.dummy else None,
        option.chance,
        option.points,
    )
