"""The JavaScript and Python libraries give the same results for many positions."""

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from arena.rules import (
    DECK_COUNTS,
    ROUNDS,
    Card,
    Rules,
    View,
    apply,
    new_game,
    seats_to_move,
    shuffled_deck,
    view,
)
from arena.sdk import direction, known_hands, score_nigiri, score_puddings, score_round, unseen_cards
from tests.rules.helpers import VARIANTS
from tests.sdk.javascript import as_javascript, evaluate
from tests.sdk.referee import first_state
from tests.soak import many

pytestmark = pytest.mark.docker

TELL = """
import { readFileSync } from "node:fs";
import * as kaiten from "kaiten";
const views = JSON.parse(readFileSync("views.json", "utf8"));
console.log(JSON.stringify(views.map((seen) => {
  const view = new kaiten.View(seen);
  return {
    legal: view.legalMoves(),
    table: view.table,
    direction: kaiten.direction(view),
    known: kaiten.knownHands(view),
    unseen: kaiten.unseenCards(view),
    nigiri: view.tables.map(kaiten.scoreNigiri),
    round: kaiten.scoreRound(view.rules, view.tables),
    puddings: kaiten.scorePuddings(view.rules, view.puddings),
  };
})));
"""


def games() -> Iterator[View]:
    """Yield every decision of some random games in every variant. Moves with chopsticks are preferred."""
    dice = random.Random(31)  # noqa: S311 - not a secret
    for rules in VARIANTS:
        for _ in range(many(1, 4)):
            state = new_game(rules, shuffled_deck(rules, dice.randbytes(16)))
            while not state.over:
                moves: list[Any] = [None] * rules.players
                for seat in seats_to_move(state):
                    seen = view(state, seat)
                    yield seen
                    legal = seen.legal_moves()
                    moves[seat] = legal[-1 - dice.randrange(min(10, len(legal)))]
                state = apply(state, moves)


def labels(cards: tuple[Card, ...]) -> list[str]:
    """Return the names of cards."""
    return [card.label for card in cards]


def told(seen: View) -> dict[str, Any]:
    """Return the Python library's results for a position, with the names of the JavaScript library."""
    rounds = [
        {("soySauce" if name == "soy_sauce" else name): value for name, value in score._asdict().items()}
        | {"total": sum(score)}
        for score in score_round(seen.rules, seen.tables)
    ]
    return {
        "legal": [
            {"cards": labels(move.cards), "dummy": move.dummy.label if move.dummy else None}
            for move in seen.legal_moves()
        ],
        "table": labels(seen.table),
        "direction": direction(seen),
        "known": [labels(hand) for hand in known_hands(seen)],
        "unseen": labels(unseen_cards(seen)),
        "nigiri": [score_nigiri(table) for table in seen.tables],
        "round": rounds,
        "puddings": list(score_puddings(seen.rules, seen.puddings)),
    }


def test_both_languages_give_the_same_results_for_every_position(
    javascript_container: str, tmp_path: Path
) -> None:
    """The test compares every decision of a game in each variant, including the order of the legal moves."""
    seen = list(games())
    assert any(len(move.cards) == 2 and move.dummy for one in seen for move in one.legal_moves())
    (tmp_path / "views.json").write_text(json.dumps([as_javascript(one) for one in seen]))
    answers = json.loads(evaluate(javascript_container, TELL, tmp_path))
    assert len(answers) == len(seen) > 500
    for one, answer in zip(seen, answers, strict=True):
        assert answer == told(one), one


def test_the_kinds_and_the_deck_are_the_same(javascript_container: str, tmp_path: Path) -> None:
    """The order of the names, the number of cards of each kind, and the number of rounds are the same."""
    source = """
import { CARDS, Card, DECK_COUNTS, ROUNDS } from "kaiten";
console.log(JSON.stringify({ CARDS, Card, DECK_COUNTS, ROUNDS }));
"""
    answer = json.loads(evaluate(javascript_container, source, tmp_path))
    assert answer["CARDS"] == labels(tuple(Card))
    assert answer["Card"] == {card.name: card.label for card in Card}
    assert answer["DECK_COUNTS"] == {card.label: count for card, count in DECK_COUNTS.items()}
    assert answer["ROUNDS"] == ROUNDS


def test_a_bot_can_not_change_a_view(javascript_container: str, tmp_path: Path) -> None:
    """The view and its lists of legal moves are frozen, so a bot can't damage later views."""
    (tmp_path / "view.json").write_text(json.dumps(as_javascript(view(first_state(Rules(players=2)), 0))))
    source = """
import { readFileSync } from "node:fs";
import { View } from "kaiten";
const view = new View(JSON.parse(readFileSync("view.json", "utf8")));
const tries = [() => { view.hand = []; }, () => view.legalMoves()[0].cards.push("wasabi")];
console.log(tries.map((attempt) => { try { attempt(); } catch (error) { return error.name; } }).join(" "));
"""
    assert evaluate(javascript_container, source, tmp_path) == "TypeError TypeError\n"
