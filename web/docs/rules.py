"""Illustrations of the rules: scored cards on tables, and turns step by step."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import repeat
from typing import Final

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
from web.http.rendering import signed
from web.http.static import STATIC
from web.viewer.film import earned
from web.viewer.scene import HandCard, Mark, marked, returned
from web.viewer.stacks import Stack, stacks, with_points
from web.viewer.words import number


@dataclass(frozen=True, slots=True, kw_only=True)
class ExampleLine:
    """A player's table."""

    name: str  # the player's name; empty if irrelevant
    stacks: tuple[Stack, ...]
    says: str  # what the cards are worth, in words


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A caption with a line per player in a game, or per independent example."""

    caption: str
    lines: tuple[ExampleLine, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnSeat:
    """A participant in a turn."""

    name: str  # the name of the seat or of the dummy
    hand: tuple[HandCard, ...]  # before the reveal, with the choice marked; empty for the dummy
    stacks: tuple[Stack, ...]  # the table after the reveal, with new cards marked
    next: tuple[HandCard, ...]  # the hand for the next turn; empty for the dummy


@dataclass(frozen=True, slots=True, kw_only=True)
class ExampleTurn:
    """A turn: the choices, their results, and the hands for the next turn."""

    caption: str
    seats: tuple[TurnSeat, ...]


def worth(caption: str, *tables: Table) -> Picture:
    """Return independent tables with the points for their sets and nigiri."""
    rules = Rules(players=2)
    lines = (
        ExampleLine(name="", stacks=stacks(rules, table), says=number(earned(rules, table), "point"))
        for table in tables
    )
    return Picture(caption=caption, lines=tuple(lines))


def maki(caption: str, *tables: Table) -> Picture:
    """Return the tables in a round with the points for their maki."""
    rules = Rules(players=len(tables))
    scores = [score.maki for score in score_round(rules, tables)]
    laid = [stacks(rules, table) for table in tables]
    icons = [sum(stack.rolls for stack in stacks_of_one) for stacks_of_one in laid]
    return _side_by_side(
        caption,
        map(with_points, laid, repeat(Card.MAKI_1), scores),
        (
            f"{number(many, 'icon')}: {number(score, 'point')}"
            for many, score in zip(icons, scores, strict=True)
        ),
    )


def soy_sauce(caption: str, *tables: Table) -> Picture:
    """Return the tables in a round with only the points for their soy sauce."""
    rules = Rules(players=len(tables), soy_sauce=True)
    scores = [score.soy_sauce for score in score_round(rules, tables)]
    laid = [tuple(replace(stack, points=None) for stack in stacks(rules, table)) for table in tables]
    return _side_by_side(
        caption,
        map(with_points, laid, repeat(Card.SOY_SAUCE), scores),
        (
            f"{number(colours(table), 'colour')}: {number(score, 'point')}"
            for table, score in zip(tables, scores, strict=True)
        ),
    )


def puddings(caption: str, *counts: int) -> Picture:
    """Return the players' puddings at the end of a game, with their points."""
    scores = score_puddings(Rules(players=len(counts)), counts)
    return _side_by_side(
        caption,
        map(_puddings, counts),
        (
            f"{number(count, 'pudding')}: {signed(score, 0)}"
            for count, score in zip(counts, scores, strict=True)
        ),
    )


def ranking(caption: str, *results: tuple[int, int]) -> Picture:
    """Return the places of players with these totals and numbers of puddings."""
    totals, counts = zip(*results, strict=True)
    return _side_by_side(
        caption,
        map(_puddings, counts),
        (
            f"{number(total, 'point')}, {number(count, 'pudding')}: place {place}"
            for (total, count), place in zip(results, places(totals, counts), strict=True)
        ),
    )


def turn(
    caption: str,
    rules: Rules,
    # For each player: the hand (sorted by kind), the table and the choice.
    players: Sequence[tuple[Hand, Table, Move]],
    *,
    dummy: Table = (),
    drawn: Card | None = None,  # the card that seat 0, in control of the dummy, has drawn
) -> ExampleTurn:
    """Return a turn in the middle of round 1."""
    hands, tables, moves = zip(*players, strict=True)
    # Seat 0 controls the dummy in the odd turns of round 1.
    state = new_game(rules, unshuffled_deck(rules))._replace(
        hands=hands, tables=(*tables, dummy) if rules.dummy else tables, drawn=drawn
    )
    moment = moments(state, moves)[0]
    seats = [
        TurnSeat(
            name="The dummy" if seat == rules.players else f"Seat {seat}",
            hand=() if seat == rules.players else _hand_with_choice(hands[seat], moves[seat]),
            stacks=stacks(rules, table, new=len(moment.plays[seat])),
            next=() if seat == rules.players else _passed_hand(moment, (seat - 1) % rules.players),
        )
        for seat, table in enumerate(moment.tables)
    ]
    return ExampleTurn(caption=caption, seats=tuple(seats))


def _side_by_side(caption: str, laid: Iterable[tuple[Stack, ...]], says: Iterable[str]) -> Picture:
    """Return a picture with a line per player in a game."""
    lines = (
        ExampleLine(name=f"Seat {seat}", stacks=stacks_of_one, says=words)
        for seat, (stacks_of_one, words) in enumerate(zip(laid, says, strict=True))
    )
    return Picture(caption=caption, lines=tuple(lines))


def _puddings(count: int) -> tuple[Stack, ...]:
    return stacks(Rules(players=2), (), kept=count)


def _hand_with_choice(hand: Hand, move: Move) -> tuple[HandCard, ...]:
    given = [] if move.dummy is None else [(move.dummy, Mark.GIVEN)]
    return marked(hand, [*((card, Mark.PICKED) for card in move.cards), *given])


def _passed_hand(moment: Moment, giver: int) -> tuple[HandCard, ...]:
    """Return the hand that a player passes on, with returned chopsticks marked."""
    return marked(moment.hands[giver], returned(moment.plays[giver]))


_TEMPURA: Final = Card.TEMPURA
_SASHIMI: Final = Card.SASHIMI
_DUMPLING: Final = Card.DUMPLING
_MAKI: Final = (Card.MAKI_1, Card.MAKI_2, Card.MAKI_3)
_SALMON: Final = Card.SALMON_NIGIRI
_SQUID: Final = Card.SQUID_NIGIRI
_EGG: Final = Card.EGG_NIGIRI
_PUDDING: Final = Card.PUDDING
_WASABI: Final = Card.WASABI
_CHOPSTICKS: Final = Card.CHOPSTICKS
_SOY: Final = Card.SOY_SAUCE

_A_TURN: Final = turn(
    "Three players. Each choice stays in front of its player; the rest of the hand goes to the next seat.",
    Rules(players=3),
    (
        ((_TEMPURA, _MAKI[2], _WASABI), (_TEMPURA,), Move((_TEMPURA,))),
        ((_SASHIMI, _DUMPLING, _SQUID), (_WASABI,), Move((_SQUID,))),
        ((_DUMPLING, _MAKI[1], _PUDDING), (_DUMPLING,), Move((_PUDDING,))),
    ),
)

_TWO_AT_ONCE: Final = turn(
    "Seat 0 uses chopsticks and plays wasabi first, then squid nigiri. The chopsticks go back into the hand.",
    Rules(players=2),
    (
        ((_MAKI[1], _SQUID, _PUDDING, _WASABI), (_SASHIMI, _CHOPSTICKS), Move((_WASABI, _SQUID))),
        ((_TEMPURA, _DUMPLING, _DUMPLING, _EGG), (_DUMPLING,), Move((_DUMPLING,))),
    ),
)

_FOR_THE_DUMMY: Final = turn(
    "With a dummy: seat 0 is in control and gives it the dashed card. Then the hands are swapped.",
    Rules(players=2, dummy=True),
    (
        (
            (_TEMPURA, _SASHIMI, _SASHIMI, _CHOPSTICKS),
            (_SASHIMI,),
            Move((_SASHIMI,), _CHOPSTICKS),
        ),
        ((_MAKI[0], _MAKI[2], _SALMON), (_MAKI[1],), Move((_MAKI[2],))),
    ),
    dummy=(_EGG,),
    drawn=_CHOPSTICKS,
)

PICTURES: Final[dict[str, tuple[Picture | ExampleTurn, ...]]] = {
    "course-of-a-game": (_A_TURN,),
    "wasabi": (
        worth(
            "Cards from left to right, in the order in which they were placed.",
            (_WASABI, _SQUID),
            (_SQUID, _WASABI),
            (_WASABI, _EGG, _SQUID),
            (_WASABI, _WASABI, _SALMON, _SQUID),
        ),
    ),
    "chopsticks": (_TWO_AT_ONCE,),
    "scoring-a-round": (
        worth(
            "Tempura: only complete pairs count.",
            (_TEMPURA,),
            (_TEMPURA,) * 2,
            (_TEMPURA,) * 3,
            (_TEMPURA,) * 4,
        ),
        worth(
            "Sashimi: only complete sets of three count.",
            (_SASHIMI,) * 2,
            (_SASHIMI,) * 3,
            (_SASHIMI,) * 5,
        ),
        worth(
            "Dumplings: each is worth more than the one before, up to five.",
            *((_DUMPLING,) * n for n in range(1, 7)),
        ),
        worth("Nigiri.", (_EGG,), (_SALMON,), (_SQUID,), (_EGG, _SALMON, _SQUID)),
        maki(
            "Maki: most icons and second most icons.",
            (_MAKI[2], _MAKI[1]),
            (_MAKI[0], _MAKI[1]),
            (_MAKI[0],),
            (),
        ),
        maki(
            "Two tie for the most and share the points; nobody is second.",
            (_MAKI[2], _MAKI[0]),
            (_MAKI[1], _MAKI[1]),
            (_MAKI[2],),
        ),
        maki(
            "Two tie for second and share the points; the remainder is dropped.",
            (_MAKI[2], _MAKI[2]),
            (_MAKI[2],),
            (_MAKI[0], _MAKI[1]),
        ),
    ),
    "puddings-at-the-end": (
        puddings("Four players. The two with the fewest share the loss.", 4, 2, 1, 1),
        puddings("Five players. Four have none and lose 1 each.", 3, 0, 0, 0, 0),
        puddings("Two players. Nobody loses.", 3, 1),
    ),
    "variants": (
        soy_sauce(
            "Soy sauce: seats 0 and 1 have the most colours; of the two, only seat 0 has soy sauce.",
            (_TEMPURA, _SASHIMI, _MAKI[1], _PUDDING, _SOY),
            (_TEMPURA, _DUMPLING, _MAKI[0], _CHOPSTICKS, _WASABI),
            (_TEMPURA, _SASHIMI, _WASABI, _SALMON, _SOY),
        ),
        _FOR_THE_DUMMY,
    ),
    "places": (
        ranking(
            "Puddings break ties between equal totals. Seats that also tie in puddings share a place.",
            (41, 2),
            (52, 1),
            (41, 3),
            (41, 2),
        ),
    ),
}
"""Illustrations, keyed by the anchor of the section that they follow."""


_FACE: Final = (
    '<td class="named"><svg class="face" viewBox="0 0 40 56" aria-hidden="true">'
    f'<use href="{STATIC}/cards.svg#{{0}}"/></svg>{{0}}</td>'
)


def with_faces(html: str) -> str:
    """Add a card's face to each cell that contains a kind's name."""
    for card in Card:
        html = html.replace(f"<td>{card.label}</td>", _FACE.format(card.label))
    return html
