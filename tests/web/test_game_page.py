"""The page of a game: what everybody sees of it, and what only those see whose bots played it."""

from fastapi.testclient import TestClient

from arena.store import NewAuditEntry, Store
from tests.builders import START, fill
from tests.web.app import site_of
from tests.web.html import Page


def disqualify(store: Store, bot: str, why: str = "it plays for another") -> None:
    """Take a bot off the ladder for good."""
    entry = NewAuditEntry(at=START, who="terminal:test", what="disqualify", subject=f"bot:{bot}")
    store.bots.disqualify(bot, why, START, entry)


def test_a_game_with_a_disqualified_bot_is_shown_as_not_rated(empty_store: Store) -> None:
    """It keeps its result and its replay; in place of ratings it says why there are none."""
    fill(empty_store)
    client = TestClient(site_of(empty_store))
    rated = Page(client.get("/games/faulty-0-0").text)
    disqualify(empty_store, "<b>bold</b>")
    answer = client.get("/games/faulty-0-0")
    assert answer.status_code == 200
    assert "<b>Not rated:</b>" in answer.text
    page = Page(answer.text)
    assert page.tables == [rated.tables[0], *rated.tables[3:]]
    assert "Not rated" not in client.get("/games/dummy-0-0").text
