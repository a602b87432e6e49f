"""What a picture shows: cards in front of players with the points they make, or a turn step by step."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import repeat

from arena.rules import (
    Card,
    Hand,
    Moment,
    Move,
    Rules,
    Table,
    colours,
    moments,
    new_game,
    places,
    score_puddings,
    score_round,
    unshuffled_deck,
)
from web.text import signed
from web.viewer.hands import HandCard, Mark
from web.viewer.stacks import Stack, earned, stacks, with_points


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """What lies in front of one player.

    Attributes:
        name: Whose it is; empty where that says nothing.
        stacks: The cards, as they lie.
        says: What they are worth, in words.
    """

    name: str
    stacks: tuple[Stack, ...]
    says: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """Lines below each other: players of one table, or each for itself.

    Attributes:
        caption: What is to be seen.
        lines: From the top.
    """

    caption: str
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnSeat:
    """One participant in a turn.

    Attributes:
        name: Of the seat, or the dummy.
        hand: Before the reveal, with the choice marked; empty for the dummy.
        stacks: In front after it, with what is new marked.
        next: The hand for the next turn; empty for the dummy.
    """

    name: str
    hand: tuple[HandCard, ...]
    stacks: tuple[Stack, ...]
    next: tuple[HandCard, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A turn: the choices, what they become, and the hands of the next turn."""

    caption: str
    seats: tuple[TurnSeat, ...]


def worth(caption: str, *tables: Table) -> Picture:
    """Return tables that have nothing to do with each other, with the points of their sets and nigiri."""
    rules = Rules(players=2)
    lines = (
        Line(name="", stacks=stacks(rules, table), says=_count(earned(rules, table), "point"))
        for table in tables
    )
    return Picture(caption=caption, lines=tuple(lines))


def maki(caption: str, *tables: Table) -> Picture:
    """Return the tables of a round with the points of their maki."""
    rules = Rules(players=len(tables))
    scores = [score.maki for score in score_round(rules, tables)]
    laid = [stacks(rules, table) for table in tables]
    icons = [sum(stack.rolls for stack in stacks_of_one) for stacks_of_one in laid]
    return _side_by_side(
        caption,
        map(with_points, laid, repeat(Card.MAKI_1), scores),
        (
            f"{_count(many, 'icon')}: {_count(score, 'point')}"
            for many, score in zip(icons, scores, strict=True)
        ),
    )


def soy_sauce(caption: str, *tables: Table) -> Picture:
    """Return the tables of a round with the points of their soy sauce alone."""
    rules = Rules(players=len(tables), soy_sauce=True)
    scores = [score.soy_sauce for score in score_round(rules, tables)]
    laid = [tuple(replace(stack, points=None) for stack in stacks(rules, table)) for table in tables]
    return _side_by_side(
        caption,
        map(with_points, laid, repeat(Card.SOY_SAUCE), scores),
        (
            f"{_count(colours(table), 'colour')}: {_count(score, 'point')}"
            for table, score in zip(tables, scores, strict=True)
        ),
    )


def puddings(caption: str, *counts: int) -> Picture:
    """Return so many puddings at the end of a game, with their points."""
    scores = score_puddings(Rules(players=len(counts)), counts)
    return _side_by_side(
        caption,
        map(_puddings, counts),
        (
            f"{_count(count, 'pudding')}: {signed(score, 0)}"
            for count, score in zip(counts, scores, strict=True)
        ),
    )


def ranking(caption: str, *results: tuple[int, int]) -> Picture:
    """Return the places of these totals and numbers of puddings."""
    totals, counts = zip(*results, strict=True)
    return _side_by_side(
        caption,
        map(_puddings, counts),
        (
            f"{_count(total, 'point')}, {_count(count, 'pudding')}: place {place}"
            for (total, count), place in zip(results, places(totals, counts), strict=True)
        ),
    )


def turn(
    caption: str,
    rules: Rules,
    players: Sequence[tuple[Hand, Table, Move]],
    *,
    dummy: Table = (),
    drawn: Card | None = None,
) -> Turn:
    """Return a turn in the middle of round 1.

    Args:
        caption: What is to be seen.
        rules: What is played.
        players: Of each the hand, in the order of the deck's table, what lies in front, and the choice.
        dummy: What lies in front of the dummy.
        drawn: What seat 0, in control of the dummy, has drawn.
    """
    hands, tables, moves = zip(*players, strict=True)
    # The first turn of round 1 and all its odd ones are seat 0's to control.
    state = new_game(rules, unshuffled_deck(rules))._replace(
        hands=hands, tables=(*tables, dummy) if rules.dummy else tables, drawn=drawn
    )
    moment = moments(state, moves)[0]
    seats = [
        TurnSeat(
            name="The dummy" if seat == rules.players else f"Seat {seat}",
            hand=() if seat == rules.players else _marked(hands[seat], moves[seat]),
            stacks=stacks(rules, table, new=len(moment.plays[seat])),
            next=() if seat == rules.players else _passed(moment, (seat - 1) % rules.players),
        )
        for seat, table in enumerate(moment.tables)
    ]
    return Turn(caption=caption, seats=tuple(seats))


def _side_by_side(caption: str, laid: Iterable[tuple[Stack, ...]], says: Iterable[str]) -> Picture:
    """Return the players of one table."""
    lines = (
        Line(name=f"Seat {seat}", stacks=stacks_of_one, says=words)
        for seat, (stacks_of_one, words) in enumerate(zip(laid, says, strict=True))
    )
    return Picture(caption=caption, lines=tuple(lines))


def _puddings(count: int) -> tuple[Stack, ...]:
    return stacks(Rules(players=2), (), kept=count)


def _marked(hand: Hand, move: Move) -> tuple[HandCard, ...]:
    """Return a hand with the choice marked in it."""
    picked, given = list(move.cards), [move.dummy]
    found = []
    for card in hand:
        mark = Mark.NONE
        for wanted, of_these in ((picked, Mark.PICKED), (given, Mark.GIVEN)):
            if not mark and card in wanted:
                wanted.remove(card)
                mark = of_these
        found.append(HandCard(card, mark))
    return tuple(found)


def _passed(moment: Moment, giver: int) -> tuple[HandCard, ...]:
    """Return the hand that somebody passes on, with chopsticks marked that have just gone back into it."""
    hand = moment.hands[giver]
    returned = hand.index(Card.CHOPSTICKS) if len(moment.plays[giver]) > 1 else None
    return tuple(
        HandCard(card, Mark.RETURNED if place == returned else Mark.NONE) for place, card in enumerate(hand)
    )


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
