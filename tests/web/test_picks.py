"""A bot's first picks, with the hands from which it took them."""

import re

from fastapi.testclient import TestClient

from arena.play.replay.document import parse
from arena.rules import Card
from tests.web.html import Page

ALL = "&".join(f"with={card.label}" for card in Card)


def first_picks(client: TestClient, bot: str) -> list[tuple[str, int]]:
    """Return a bot's cards in the first turn of each round, from the replays, newest game first."""
    games = client.get(f"/api/v1/games?bot={bot}&limit=100").json()["games"]
    found = []
    for game in games:
        replay = parse(client.get(f"/games/{game['game']}/replay.json").text)
        seat = next(number for number, seat in enumerate(replay.seats) if seat.bot == bot)
        found += [
            (turn.plays[seat][0], turn.round)
            for turn in replay.turns
            if turn.turn == 1 and not turn.standin[seat]
        ]
    return found


def test_the_shares_are_those_of_the_replays(client: TestClient) -> None:
    """Each hand has one pick. Hands can be filtered by the cards they contain."""
    expected = first_picks(client, "greedy")
    text = client.get("/bots/greedy/picks").text
    taken = re.findall(r'class="card k-(\w+) taken"', text)
    assert taken == [card for card, _ in expected[:20]]
    [table] = Page(text).tables
    hands = {row[0]: int(row[1]) for row in table[1:]}
    shares = {row[0]: row[2] for row in table[1:]}
    tempura = sum(card == "tempura" for card, _ in expected)
    assert shares["Tempura"] == f"{round(100 * tempura / hands['Tempura'])}%"
    narrowed = client.get("/bots/greedy/picks?with=tempura&with=wasabi").text
    assert 'value="wasabi" checked' in narrowed
    assert 'href="/bots/greedy/picks">All hands' in narrowed
    shown = re.findall(r'<span class="hand">(.*?)</li>', narrowed, re.DOTALL)
    assert shown
    for hand in shown:
        assert "k-tempura" in hand
        assert "k-wasabi" in hand


def test_unusual_requests(client: TestClient) -> None:
    """Unknown bots are not found, unknown cards are refused, and an unseen hand has no picks."""
    assert client.get("/bots/no-such-bot/picks").status_code == 404
    refused = client.get("/bots/greedy/picks?with=<b>")
    assert refused.status_code == 422
    assert "is not a kind of card" in refused.text
    assert "<b>'" not in refused.text
    assert "No recent hand contained all of these cards." in client.get(f"/bots/greedy/picks?{ALL}").text


def test_without_games_there_is_no_form(client: TestClient) -> None:
    """There are no hands to filter."""
    text = client.get("/bots/newcomer/picks").text
    assert "No games yet" in text
    assert "<form" not in text.partition("<main")[2]
