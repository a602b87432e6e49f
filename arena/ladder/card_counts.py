"""Counts the decisions in games, by card."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice, repeat
from math import lcm
from operator import add
from typing import Final, NamedTuple

from arena.protocol.match import Decision
from arena.rules import ROUNDS, Card, Hand, Play, RoundScore, State
from arena.rules.cards import MAKI_ICONS, NIGIRI_POINTS

_MAX_ICONS: Final = 28
"""Most maki icons that a player can have in a round: ten cards, eight of them with three icons."""

POINT: Final = lcm(*range(1, _MAX_ICONS + 1))
"""Number of units in a point, chosen so that every card's share is a whole number of units."""

_DUMPLINGS: Final = 5
"""Maximum number of dumplings that score."""

Earned = dict[tuple[int, int], tuple[int, ...]]
"""For each round and turn, the points of each card placed, in order, in units of 1 / ``POINT``."""


def earned(end: State, seat: int) -> Earned:
    """Return the points that each of a seat's cards earned in a finished game without a dummy.

    Cards that were played automatically are included.

    Raises ValueError if the game is not over.
    """
    if end.result is None:
        raise ValueError("the game is not over")
    pudding = _equal_share(max(end.result.pudding_scores[seat], 0), end.result.puddings[seat])
    plays: list[list[Play]] = [[] for _ in range(ROUNDS)]
    for turn in end.turns:
        plays[turn.round - 1].append(turn.plays[seat])
    found: Earned = {}
    for number, (placed, scores) in enumerate(zip(plays, end.rounds, strict=True), start=1):
        shares = iter(_round_shares([*chain.from_iterable(placed)], scores[seat], pudding))
        for turn_number, cards in enumerate(placed, start=1):
            found[number, turn_number] = tuple(islice(shares, len(cards)))
    return found


def _round_shares(cards: Sequence[Card], score: RoundScore, pudding: int) -> list[int]:
    """Return the cards' shares of a round's points, in the order of the cards."""
    tempura, sashimi = cards.count(Card.TEMPURA), cards.count(Card.SASHIMI)
    dumplings = min(cards.count(Card.DUMPLING), _DUMPLINGS)
    icons = sum(MAKI_ICONS.get(card, 0) for card in cards)
    sets = {
        Card.TEMPURA: _set_shares(score.tempura, tempura - tempura % 2),
        Card.SASHIMI: _set_shares(score.sashimi, sashimi - sashimi % 3),
        Card.DUMPLING: _set_shares(score.dumpling, dumplings),
        Card.SOY_SAUCE: _set_shares(score.soy_sauce, cards.count(Card.SOY_SAUCE)),
        Card.PUDDING: repeat(pudding),
    }
    an_icon = _equal_share(score.maki, icons)
    shares = [next(sets[card]) if card in sets else MAKI_ICONS.get(card, 0) * an_icon for card in cards]
    _add_nigiri(cards, shares)
    return shares


def _add_nigiri(cards: Sequence[Card], shares: list[int]) -> None:
    free_wasabi: list[int] = []
    for place, card in enumerate(cards):
        if card is Card.WASABI:
            free_wasabi.append(place)
        elif value := NIGIRI_POINTS.get(card):
            shares[place] = value * POINT
            if free_wasabi:
                # The wasabi triples the nigiri, so it earns the other two thirds.
                shares[free_wasabi.pop(0)] = 2 * value * POINT


def _set_shares(points: int, members: int) -> Iterator[int]:
    """Yield the share of each card of a kind: equal shares for the cards in sets, and 0 for the rest."""
    return chain(repeat(_equal_share(points, members), members), repeat(0))


def _equal_share(points: int, members: int) -> int:
    return points * POINT // members if members else 0


WIN: Final = 60
"""Number of units in a win, chosen so that each share of a win is a whole number for two to five winners."""

ALL_TURNS: Final = 0
"""Key for the totals over all turns in a round."""

Key = tuple[int, Card, int]
"""Number of players, kind of card, and turn in the round (numbered from 1) or ``ALL_TURNS``."""


class Count(NamedTuple):
    """The counts for one kind of card."""

    seen: int = 0  # decisions with at least one such card in the hand
    taken: int = 0  # decisions that placed at least one such card
    cards: int = 0  # cards placed; more than `taken` if bots used chopsticks to take two of a kind
    won_taken: int = 0  # wins of the seats that took the card, added once per decision, in units of 1 / `WIN`
    won_passed: int = 0  # the same for decisions that passed the card
    points: int = 0  # points of the cards taken, in units of 1 / `POINT`
    taken_squares: int = 0  # sum, over seats and games, of the square of how often the seat took the card
    passed_squares: int = 0  # the same for how often the seat passed the card


class Games(NamedTuple):
    """Totals over all cards."""

    games: int = 0
    seats: int = 0  # except seats that the stand-in took over
    decisions: int = 0  # except the stand-in's
    won: int = 0  # wins of the deciding seats, added once per decision, in units of 1 / `WIN`


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """The counts for a set of games; ``games`` is keyed by number of players."""

    games: Mapping[int, Games]
    counts: Mapping[Key, Count]


class _OwnDecision(NamedTuple):
    """A bot's own decision; ``points`` has the points of each card taken."""

    turn: int
    hand: Hand
    cards: tuple[Card, ...]
    points: tuple[int, ...]


def nothing() -> Tally:
    """Return an empty tally."""
    return Tally(games={}, counts={})


def count_game(
    states: Sequence[State],
    steps: Sequence[Sequence[Decision | None]],
    places: Sequence[int],
    taken_over: Sequence[bool],
) -> Tally:
    """Count the decisions in a game, except those of seats that the stand-in took over.

    ``states`` covers the whole game: step ``i`` begins in state ``i``. ``places`` are the final places.
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
        own = list(_own_decisions(states, steps, seat))
        _add_seat(sums, own, wins)
        seats += 1
        decisions += len(own)
        won += wins * len(own)
    return Tally(
        games={players: Games(1, seats, decisions, won)},
        counts={(players, *key): Count(*each) for key, each in sums.items()},
    )


def merged(tallies: Iterable[Tally]) -> Tally:
    """Add up tallies."""
    games: dict[int, Games] = {}
    counts: dict[Key, Count] = {}
    for tally in tallies:
        for players, more in tally.games.items():
            games[players] = Games(*map(add, games.get(players, Games()), more))
        for key, count in tally.counts.items():
            before = counts.get(key)
            counts[key] = count if before is None else Count(*map(add, before, count))
    return Tally(games=games, counts=counts)


def _own_decisions(
    states: Sequence[State], steps: Sequence[Sequence[Decision | None]], seat: int
) -> Iterator[_OwnDecision]:
    end = states[-1]
    points = earned(end, seat)
    for before, step in zip(states, steps, strict=False):
        decision = step[seat]
        if decision is not None and not decision.standin:
            turn = end.turns[len(before.turns)]
            yield _OwnDecision(turn.turn, before.hands[seat], turn.plays[seat], points[turn.round, turn.turn])


def _add_seat(sums: dict[tuple[Card, int], list[int]], decisions: Iterable[_OwnDecision], wins: int) -> None:
    """Add a seat's decisions to ``sums``, whose rows become Counts. ``wins`` is the seat's share of a win."""
    # For each card and turn, the seat's counts: `seen`, `taken`, `cards` and `points`.
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
        passed = seen - taken
        row = [seen, taken, placed, taken * wins, passed * wins, earnings, taken * taken, passed * passed]
        before = sums.get(key)
        sums[key] = row if before is None else [*map(add, before, row)]
