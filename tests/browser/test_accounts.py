"""Accounts in a real browser: in, a token, out, over plain HTTP as on a network."""

from collections.abc import Iterator
from contextlib import closing

import httpx2
import pytest
from playwright.sync_api import Browser, expect

from tests.browser.visits import visit_of
from tests.builders import fill
from tests.databases import sqlite_store
from tests.web.site import opened

pytestmark = pytest.mark.chromium

PASSWORD = "correct horse battery staple"  # noqa: S105 - a test's


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Give the port of a running site."""
    folder = tmp_path_factory.mktemp("data")
    with closing(sqlite_store(folder / "arena.sqlite3")) as store:
        fill(store)
    with opened(folder) as site:
        yield site.url.rpartition(":")[2]


def test_in_a_token_and_out(browser: Browser, port: str) -> None:
    """Everything by forms and links; nothing that the browser complains about."""
    visit = visit_of(browser, f"http://arena.example:{port}", "phone", "dark")
    page = visit.page
    visit.open("/login")
    page.get_by_role("link", name="Register").click()
    page.get_by_label("Name").fill("ann")
    page.get_by_label("Password").fill("password1")
    page.get_by_role("button", name="Register").click()
    expect(page.get_by_role("alert")).to_contain_text("most common passwords")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Register").click()
    expect(page.get_by_role("heading", name="ann")).to_be_visible()

    page.get_by_label("Name").fill("my laptop")
    page.get_by_label("Your password").fill(PASSWORD)
    page.get_by_role("button", name="Create token").click()
    secret = page.locator(".secret code").inner_text()
    answer = httpx2.get(
        f"http://127.0.0.1:{port}/api/v1/account", headers={"Authorization": f"Bearer {secret}"}
    )
    assert (answer.json()["name"], answer.json()["scopes"]) == ("ann", ["read", "submit"])
    page.get_by_role("link", name="Done").click()
    expect(page.get_by_role("checkbox", name="my laptop")).not_to_be_checked()
    expect(page.get_by_role("rowheader", name="my laptop")).to_be_visible()
    assert secret not in page.content()

    page.get_by_role("button", name="Log out").click()
    expect(page.get_by_role("link", name="Log in")).to_be_visible()
    visit.open("/account")
    expect(page).to_have_url(f"{visit.url}/login?next=/account")
    page.go_back()
    expect(page.get_by_text("my laptop")).to_have_count(0)
    # What was refused on purpose is the one thing that Chromium notes.
    assert [text for text in visit.complaints if "422" not in text] == []
    page.context.close()
