"""What a tally says, card by card and turn by turn."""

from collections.abc import Mapping
from dataclasses import dataclass
from operator import add
from typing import Final

from arena.cardstats.counts import ALL_TURNS, WIN, Count, Games, Tally
from arena.cardstats.earned import POINT
from arena.cardstats.intervals import Estimate, WinRate, difference, win_rate
from arena.rules import Card, Rules

FEW: Final = 100
"""What fewer independent games than these say is not to be relied on."""

TABLES: Final = (2, 3, 4, 5)
"""Numbers of players."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What was counted of a card, and what follows from it. The page /cards/definitions says more.

    Attributes:
        turn: Of the round, from 1; None for all turns together.
        seen: Decisions whose hand held it.
        taken: Decisions that took it.
        copies: How many of it they took: with chopsticks a decision may take two.
        take_rate: Taken by seen; None where it was never seen.
        won_taken: Share of games won by those who took it; None where nobody did.
        won_passed: Share of games won by those who had it and took something else; None where nobody did.
        difference: The first less the second; None where one is missing.
        mean_points: What one of it earned; None where it was never taken, and of chopsticks.
        few: Whether it was taken, or left, too seldom to say anything of games won.
    """

    turn: int | None
    seen: int
    taken: int
    copies: int
    take_rate: float | None
    won_taken: WinRate | None
    won_passed: WinRate | None
    difference: Estimate | None
    mean_points: float | None
    few: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class CardLine:
    """The statistics of a kind of card.

    Attributes:
        card: Its name, as in replays.
        total: Over all turns.
        mean_turn_seen: Average turn of the decisions whose hand held it; None where there are none.
        mean_turn_taken: Average turn of those that took it; None where there are none.
        turns: Each turn in which bots decide, in order.
    """

    card: str
    total: Figures
    mean_turn_seen: float | None
    mean_turn_taken: float | None
    turns: tuple[Figures, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CardTable:
    """The statistics of all kinds of cards.

    Attributes:
        players: In games of so many; None for all.
        first_game: Number of the first rated game that was looked at; older ones are not counted yet.
        games: That were counted.
        seats: Of these games, without those that were taken over.
        decisions: Of these seats, without those that the stand-in made.
        win_rate: Share of games won by those who decided, one for each decision; None without a decision.
        cards: In the order of the deck. Soy sauce, which only a variant has, is there once it was seen.
    """

    players: int | None
    first_game: int
    games: int
    seats: int
    decisions: int
    win_rate: float | None
    cards: tuple[CardLine, ...]


def table_of(tally: Tally, players: int | None, *, first_game: int = 1) -> CardTable:
    """Return what a tally says of games of so many players, or of all.

    Args:
        tally: The sums.
        players: How many; None for all.
        first_game: Number of the first game that may be in them.
    """
    counts: dict[tuple[Card, int], Count] = {}
    for (number, card, turn), more in tally.counts.items():
        if players in {None, number}:
            counts[card, turn] = Count(*map(add, counts.get((card, turn), Count()), more))
    games = Games()
    for number, each in tally.games.items():
        if players in {None, number}:
            games = Games(*map(add, games, each))
    # The last card of a round is nobody's decision.
    turns = range(1, Rules(players=players or TABLES[0]).turns)
    return CardTable(
        players=players,
        first_game=first_game,
        games=games.games,
        seats=games.seats,
        decisions=games.decisions,
        win_rate=games.won / WIN / games.decisions if games.decisions else None,
        cards=tuple(
            _line(card, counts, turns)
            for card in Card
            if card is not Card.SOY_SAUCE or (card, ALL_TURNS) in counts
        ),
    )


def _line(card: Card, counts: Mapping[tuple[Card, int], Count], turns: range) -> CardLine:
    total = counts.get((card, ALL_TURNS), Count())
    by_turn = {turn: counts.get((card, turn), Count()) for turn in turns}
    return CardLine(
        card=card.label,
        total=_figures(card, None, total),
        mean_turn_seen=_mean(sum(turn * count.seen for turn, count in by_turn.items()), total.seen),
        mean_turn_taken=_mean(sum(turn * count.taken for turn, count in by_turn.items()), total.taken),
        turns=tuple(_figures(card, turn, count) for turn, count in by_turn.items()),
    )


def _figures(card: Card, turn: int | None, count: Count) -> Figures:
    taken = win_rate(count.won_taken, count.taken, count.taken_squares)
    passed = win_rate(count.won_passed, count.seen - count.taken, count.passed_squares)
    return Figures(
        turn=turn,
        seen=count.seen,
        taken=count.taken,
        copies=count.cards,
        take_rate=_mean(count.taken, count.seen),
        won_taken=taken,
        won_passed=passed,
        difference=difference(taken, passed) if taken and passed else None,
        mean_points=None if card is Card.CHOPSTICKS else _mean(count.points, count.cards * POINT),
        few=taken is None or passed is None or min(taken.effective, passed.effective) < FEW,
    )


def _mean(total: int, number: int) -> float | None:
    return total / number if number else None
