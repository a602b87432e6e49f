"""A public replay (``sushigo-replay/1``), laid out turn by turn for the game page."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from arena.replay import parse
from arena.replay.document import PublicReplay, ReplayTurn
from web.text import bot_address, clean_name

_NIGIRI: Final = frozenset({"salmon_nigiri", "squid_nigiri", "egg_nigiri"})
_CARD_NAMES: Final = {
    "salmon_nigiri": "Salmon",
    "squid_nigiri": "Squid",
    "egg_nigiri": "Egg",
    "soy_sauce": "Soy sauce",
    "maki_1": "Maki 1",
    "maki_2": "Maki 2",
    "maki_3": "Maki 3",
}
_KINDS: Final = ("tempura", "sashimi", "dumpling", "maki", "nigiri", "soy_sauce")


@dataclass(frozen=True, slots=True)
class Placed:
    """A card that was placed, or is held.

    Attributes:
        kind: Its name in records, such as ``maki_2``.
        name: Its name on the page.
        tripled: Whether it is a nigiri that went on wasabi.
    """

    kind: str
    name: str
    tripled: bool


@dataclass(frozen=True, slots=True)
class Cell:
    """What one participant did in one turn.

    Attributes:
        cards: In the order of placing.
        chopsticks: Whether chopsticks went back for the second card.
        standin: Whether the stand-in played.
        fault: Why, or None.
        millis: From request to answer; None where nobody was asked or nothing came.
    """

    cards: tuple[Placed, ...]
    chopsticks: bool
    standin: bool
    fault: str | None
    millis: float | None


@dataclass(frozen=True, slots=True)
class TurnLine:
    """One turn; ``anchor`` is its fragment in the page's address."""

    anchor: str
    number: int
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class RoundTable:
    """One round: its turns, its points by kind, the points of it and of all so far."""

    number: int
    turns: tuple[TurnLine, ...]
    kinds: tuple[tuple[str, tuple[int, ...]], ...]
    scores: tuple[int, ...]
    so_far: tuple[int, ...]


class Participant(NamedTuple):
    """Who took part: a name, the version, and the address of the bot's page, as far as there are these."""

    name: str
    version: int | None
    address: str | None


@dataclass(frozen=True, slots=True)
class ReplayTable:
    """A whole game. The dummy is the last participant; numbers have one entry each."""

    seed: str
    shuffle: str
    participants: tuple[Participant, ...]
    rounds: tuple[RoundTable, ...]
    puddings: tuple[int, ...]
    pudding_scores: tuple[int, ...]
    totals: tuple[int, ...]
    places: tuple[int, ...]
    """One a seat, without the dummy."""
    faults: tuple[tuple[str, str], ...]
    """Anchor and text of every fault, in order."""

    @property
    def ranking(self) -> tuple[int, ...]:
        """Seats, the best first."""
        return tuple(sorted(range(len(self.places)), key=self.places.__getitem__))


def replay_table(text: str, *, candidate: int | None = None) -> ReplayTable:
    """Lay out a replay.

    Args:
        text: The replay as JSON.
        candidate: The seat of what was no version yet, so that no page has it.

    Raises:
        InvalidReplay: It is no ``sushigo-replay/1``; the text says where.
    """
    replay = parse(text)
    seats = [
        Participant(clean_name(each.bot), each.version, None if seat == candidate else bot_address(each.bot))
        for seat, each in enumerate(replay.seats)
    ]
    rounds = tuple(_rounds(replay))
    return ReplayTable(
        seed=replay.seed,
        shuffle=replay.shuffle,
        participants=(*seats, Participant("dummy", None, None)) if replay.rules.dummy else tuple(seats),
        rounds=rounds,
        puddings=tuple(replay.puddings.counts),
        pudding_scores=tuple(replay.puddings.scores),
        totals=tuple(replay.totals),
        places=replay.places,
        faults=tuple(_faults(rounds, [f"{seat.name}@{seat.version}" for seat in seats])),
    )


def card(kind: str, *, tripled: bool = False) -> Placed:
    """Return a card by its name in records."""
    return Placed(kind, _CARD_NAMES.get(kind, kind.capitalize()), tripled)


def _rounds(replay: PublicReplay) -> Iterator[RoundTable]:
    so_far = [0] * len(replay.totals)
    for number, result in enumerate(replay.rounds, start=1):
        so_far = [before + now for before, now in zip(so_far, result.scores, strict=True)]
        turns = [turn for turn in replay.turns if turn.round == number]
        yield RoundTable(
            number=number,
            turns=tuple(_lines(turns)),
            kinds=tuple(_points_by_kind(result.breakdown, soy_sauce=replay.rules.soy_sauce)),
            scores=tuple(result.scores),
            so_far=tuple(so_far),
        )


def _lines(turns: Sequence[ReplayTurn]) -> Iterator[TurnLine]:
    free_wasabi = [0] * len(turns[0].plays)
    for turn in turns:
        cells = []
        for seat, cards in enumerate(turn.plays):
            placed = []
            for kind in cards:
                tripled = kind in _NIGIRI and free_wasabi[seat] > 0
                free_wasabi[seat] += (kind == "wasabi") - tripled
                placed.append(card(kind, tripled=tripled))
            cells.append(_cell(turn, seat, tuple(placed)))
        yield TurnLine(f"r{turn.round}t{turn.turn}", turn.turn, tuple(cells))


def _cell(turn: ReplayTurn, seat: int, placed: tuple[Placed, ...]) -> Cell:
    chopsticks = len(placed) > 1
    if seat >= len(turn.standin):  # the dummy, which nobody times
        return Cell(placed, chopsticks, standin=False, fault=None, millis=None)
    millis = turn.millis[seat] if turn.millis else None
    return Cell(placed, chopsticks, turn.standin[seat], turn.fault[seat], millis)


def _points_by_kind(
    breakdown: Sequence[dict[str, int]], *, soy_sauce: bool
) -> Iterator[tuple[str, tuple[int, ...]]]:
    for kind in _KINDS:
        if kind != "soy_sauce" or soy_sauce:
            name = _CARD_NAMES.get(kind, kind.capitalize())
            yield name, tuple(points.get(kind, 0) for points in breakdown)


def _faults(rounds: Sequence[RoundTable], names: Sequence[str]) -> Iterator[tuple[str, str]]:
    for played in rounds:
        for line in played.turns:
            for name, cell in zip(names, line.cells, strict=False):  # the dummy has no faults
                if cell.fault:
                    yield line.anchor, f"{name}: {cell.fault}, round {played.number}, turn {line.number}"
