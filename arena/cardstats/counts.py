"""Counting the decisions of a game, and adding up what was counted."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import add
from typing import Final, NamedTuple

from arena.cardstats.earned import earned
from arena.match import Decision
from arena.rules import Card, Hand, State

WIN: Final = 60
"""A game won alone, in the unit in which wins are counted: shared by two to five it is a whole number."""

ALL_TURNS: Final = 0
"""Stands for every turn of a round together."""

Key = tuple[int, Card, int]
"""Number of players, kind of card, and turn of the round from 1, or ``ALL_TURNS``."""


class Count(NamedTuple):
    """What was counted of one kind of card.

    A decision has a card where its hand holds one or more of that kind, and takes it where it places one or
    more.

    Attributes:
        seen: Decisions that had it.
        taken: Decisions that took it.
        cards: Cards that were taken; more than ``taken`` where chopsticks took two of a kind.
        won_taken: Wins of those who took it, one for each decision, in 1 / ``WIN``.
        won_passed: Wins of those who had it and didn't take it, in the same way.
        points: What the cards taken earned, in 1 / ``POINT``.
        taken_squares: For each seat of each game how often it took it, squared, and added up.
        passed_squares: The same of how often it had it and didn't take it.
    """

    seen: int = 0
    taken: int = 0
    cards: int = 0
    won_taken: int = 0
    won_passed: int = 0
    points: int = 0
    taken_squares: int = 0
    passed_squares: int = 0


class Games(NamedTuple):
    """What was counted, as a whole.

    Attributes:
        games: How many.
        seats: How many seats of theirs; without those that were taken over.
        decisions: How many decisions were a bot's own.
        won: Wins of those who decided, one for each decision, in 1 / ``WIN``.
    """

    games: int = 0
    seats: int = 0
    decisions: int = 0
    won: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """What was counted of some games.

    Attributes:
        games: By number of players.
        counts: What was never seen is not there.
    """

    games: Mapping[int, Games]
    counts: Mapping[Key, Count]


class _Own(NamedTuple):
    """A decision that was the bot's own: what it had, what it took, and what each of these cards earned."""

    turn: int
    hand: Hand
    cards: tuple[Card, ...]
    points: tuple[int, ...]


def nothing() -> Tally:
    """Return what is counted of no games."""
    return Tally(games={}, counts={})


def count_game(
    states: Sequence[State],
    steps: Sequence[Sequence[Decision | None]],
    places: Sequence[int],
    taken_over: Sequence[bool],
) -> Tally:
    """Count a game.

    Args:
        states: Of the whole game; each step begins in the one of the same index.
        steps: Who decided what, as recorded.
        places: Those that count, one a seat.
        taken_over: Whether the stand-in played a seat to the end, one a seat.
    """
    players = states[0].rules.players
    if states[0].rules.dummy:
        return nothing()
    share = WIN // places.count(1)
    sums: dict[tuple[Card, int], list[int]] = {}
    seats = decisions = won = 0
    for seat, place in enumerate(places):
        if taken_over[seat]:
            continue
        wins = share if place == 1 else 0
        own = list(_own(states, steps, seat))
        _add_seat(sums, own, wins)
        seats += 1
        decisions += len(own)
        won += wins * len(own)
    return Tally(
        games={players: Games(1, seats, decisions, won)},
        counts={(players, *key): Count(*each) for key, each in sums.items()},
    )


def merged(tallies: Iterable[Tally]) -> Tally:
    """Add tallies up."""
    games: dict[int, Games] = {}
    counts: dict[Key, Count] = {}
    for tally in tallies:
        for players, more in tally.games.items():
            games[players] = Games(*map(add, games.get(players, Games()), more))
        for key, count in tally.counts.items():
            before = counts.get(key)
            counts[key] = count if before is None else Count(*map(add, before, count))
    return Tally(games=games, counts=counts)


def _own(states: Sequence[State], steps: Sequence[Sequence[Decision | None]], seat: int) -> Iterator[_Own]:
    end = states[-1]
    points = earned(end, seat)
    for before, step in zip(states, steps, strict=False):
        decision = step[seat]
        if decision is not None and not decision.standin:
            turn = end.turns[len(before.turns)]
            yield _Own(turn.turn, before.hands[seat], turn.plays[seat], points[turn.round, turn.turn])


def _add_seat(sums: dict[tuple[Card, int], list[int]], decisions: Iterable[_Own], wins: int) -> None:
    """Add what one seat decided, whose game counts for so many wins, to the sums that become a Count each."""
    # Seen, taken, cards, points: of this seat.
    counted: dict[tuple[Card, int], list[int]] = {}
    for turn, hand, cards, points in decisions:
        for card in set(hand):
            counted.setdefault((card, turn), [0, 0, 0, 0])[0] += 1
        for card in set(cards):
            counted[card, turn][1] += 1
        for card, more in zip(cards, points, strict=True):
            counted[card, turn][2] += 1
            counted[card, turn][3] += more
    for (card, _), each in list(counted.items()):
        total = counted.setdefault((card, ALL_TURNS), [0, 0, 0, 0])
        total[:] = map(add, total, each)
    for key, (seen, taken, placed, earnings) in counted.items():
        left = seen - taken
        whole = [seen, taken, placed, taken * wins, left * wins, earnings, taken * taken, left * left]
        before = sums.get(key)
        sums[key] = whole if before is None else [*map(add, before, whole)]
