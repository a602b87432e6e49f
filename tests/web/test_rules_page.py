"""The rules page: the document with pictures, whose numbers agree with the rules."""

from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from fastapi.testclient import TestClient

import web
from arena.rules import Card
from tests.web.html import Page
from web.docs.pages import Downloads, open_documentation
from web.docs.rules import PICTURES, ExampleTurn, Picture, TurnSeat, with_faces
from web.http.static import STATIC
from web.viewer.scene import Mark

CARDS = Path(web.__file__).parent / "static" / "cards.svg"


@pytest.fixture(scope="module")
def text(client: TestClient) -> str:
    """Return the page."""
    return client.get("/rules").text


def says(anchor: str) -> list[list[str]]:
    """Return the captions of each line in a section's pictures."""
    return [[line.says for line in it.lines] for it in PICTURES[anchor] if isinstance(it, Picture)]


def turns() -> list[ExampleTurn]:
    """Return all example turns."""
    return [it for pictures in PICTURES.values() for it in pictures if isinstance(it, ExampleTurn)]


def placed(seat: TurnSeat) -> list[Card]:
    """Return the cards that were placed in the turn."""
    pairs = [pair for stack in seat.stacks for pair in zip(stack.cards, stack.new, strict=True)]
    return [card for card, new in pairs if new]


def test_every_card_has_its_face_in_the_table_of_the_deck(text: str) -> None:
    """The face is next to the card's name, and the sprite contains all faces."""
    (deck,) = [table for table in Page(text).tables if table[0][:2] == ["number", "name"]]
    assert [row[1] for row in deck[1:]] == [card.label for card in Card]
    for card in Card:
        assert f'<use href="{STATIC}/cards.svg#{card.label}"/></svg>{card.label}</td>' in text
    drawn = {each.get("id") for each in ET.parse(CARDS).iter()}  # noqa: S314 - our own file
    assert {card.label for card in Card} <= drawn


def test_faces_are_added_only_to_cells() -> None:
    """Names in sentences get no faces."""
    assert with_faces("<p>tempura</p><td>maki</td>") == "<p>tempura</p><td>maki</td>"


def test_every_picture_is_below_an_existing_section(text: str) -> None:
    """No picture is missing on the page."""
    rules = open_documentation(Downloads()).find("/rules")
    assert rules is not None
    assert PICTURES.keys() <= {section.anchor for section in rules.document.sections}
    assert text.count('<figure class="picture">') == sum(map(len, PICTURES.values()))


def test_the_pictures_say_what_the_rules_give() -> None:
    """The expected numbers were counted by hand."""
    assert says("wasabi") == [["9 points", "3 points", "6 points", "15 points"]]
    assert says("scoring-a-round") == [
        ["0 points", "5 points", "5 points", "10 points"],
        ["0 points", "10 points", "10 points"],
        ["1 point", "3 points", "6 points", "10 points", "15 points", "15 points"],
        ["1 point", "2 points", "3 points", "6 points"],
        ["5 icons: 6 points", "3 icons: 3 points", "1 icon: 0 points", "0 icons: 0 points"],
        ["4 icons: 3 points", "4 icons: 3 points", "3 icons: 0 points"],
        ["6 icons: 6 points", "3 icons: 1 point", "3 icons: 1 point"],
    ]
    minus = "\N{MINUS SIGN}"
    assert says("puddings-at-the-end") == [
        ["4 puddings: +6", "2 puddings: 0", f"1 pudding: {minus}3", f"1 pudding: {minus}3"],
        ["3 puddings: +6", *[f"0 puddings: {minus}1"] * 4],
        ["3 puddings: +6", "1 pudding: 0"],
    ]
    assert says("variants") == [["5 colours: 4 points", "5 colours: 0 points", "4 colours: 0 points"]]
    assert says("places") == [
        [
            "41 points, 2 puddings: place 3",
            "52 points, 1 pudding: place 1",
            "41 points, 3 puddings: place 2",
            "41 points, 2 puddings: place 3",
        ]
    ]


def test_a_turn_moves_every_card_and_loses_none() -> None:
    """Chosen cards are on the table. The others, and returned chopsticks, are in the next seat's hand."""
    for shown in turns():
        players = [seat for seat in shown.seats if seat.hand]
        for giver, taker in zip(players, players[1:] + players[:1], strict=True):
            left = [held.card for held in giver.hand if not held.mark]
            got = [held.card for held in taker.next if not held.mark]
            assert got == left
            picked = [held.card for held in giver.hand if held.mark is Mark.PICKED]
            assert sorted(placed(giver)) == sorted(card for card in picked if card)
            back = [held.card for held in taker.next if held.mark is Mark.RETURNED]
            assert back == [Card.CHOPSTICKS] * (len(picked) - 1)


def test_the_dummy_gets_the_card_it_was_given() -> None:
    """The card comes from seat 0's hand."""
    (shown,) = [shown for shown in turns() if shown.seats[-1].name == "The dummy"]
    given = [held.card for held in shown.seats[0].hand if held.mark is Mark.GIVEN]
    assert placed(shown.seats[-1]) == given == [Card.CHOPSTICKS]
