"""A match that is watched in a real browser while it is being played."""

import re
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import APIResponse, Page, Route, ViewportSize, expect

from arena.db.matches import Claim
from arena.db.store import Store
from tests.browser.test_viewer import shown
from tests.browser.visits import Visit, Windows, come, log_in, stop_time
from tests.databases import sqlite_store
from tests.db.builders import START, add_bot, bot_of, claim_one, claimed, finished, present
from tests.db.test_challenge_rows import challenge
from tests.patience import wait_until
from tests.watched import show
from tests.web.site import opened

pytestmark = pytest.mark.chromium

MATCH = "slow-0"


@dataclass
class Hall:
    """A site with a running match, whose rounds end when the test calls ``end``."""

    url: str
    store: Store
    claim: Claim

    def end(self, game: int, round_: int) -> None:
        """End a round of a game."""
        show(self.store, self.claim, round_, game=game - 1)


@pytest.fixture
def hall(tmp_path: Path) -> Iterator[Hall]:
    """Yield a site with a running match of two games."""
    with closing(sqlite_store(tmp_path / "arena.sqlite3")) as store, opened(tmp_path) as site:
        versions = [add_bot(store, name) for name in ("eel", "tuna")]
        yield Hall(site.url, store, claimed(store, versions, id_="slow"))


def state(page: Page, words: str) -> None:
    """Wait until the page says this about the match."""
    come(page, page.locator('[data-live="state"]').filter(has_text=words))


def ready(page: Page) -> None:
    """Wait until the viewer's controls can be used."""
    page.locator("#film[data-ready]").wait_for()


def test_a_match_is_watched_from_its_first_round_to_its_replay(windows: Windows, hall: Hall) -> None:
    """The viewer appears once a round is over, plays it from its first turn, and adds each further round.

    A visitor who has stepped back stays at that frame, and one who has seen everything is shown the new
    round. At the end, links lead to the same frame of the replay and to the next table.
    """
    visit = windows.open(hall.url, "desktop", "light")
    page = visit.page
    wait_for_the_table(visit)
    page.locator(".tables").get_by_role("link", name="Watch").click()
    expect(page.locator("main")).to_contain_text("Round 1 is being played")
    hall.end(1, 1)
    come(page, page.locator("#film[data-ready]"))
    assert page.evaluate("scrollY") == 0
    come(page, page.locator('#film[data-at="29"]'))
    expect(page).to_have_url(f"{hall.url}/live/{MATCH}/1/1/10?step=score")
    state(page, "Round 2 is being played.")
    visit.keep("live-desktop-light")

    late = without_frames(windows, hall)
    stepped_back(page, hall)
    with_frames(late)
    sent_elsewhere(page)
    followed(page, hall)
    visit.forgive("Failed to load resource")
    state(page, "This game is over. The next one is being played.")
    hall.end(2, 1)
    state(page, "Watch game 2")
    page.get_by_role("link", name="Watch game 2").click()
    expect(page).to_have_url(re.compile(rf"/live/{MATCH}/2/1/"))
    ready(page)
    assert page.evaluate("scrollY") == 0
    assert hall.store.results.record(finished(hall.claim, [(1, 2)] * 2))
    state(page, "This match is over.")
    to_the_replay(page, hall)


def without_frames(windows: Windows, hall: Hall) -> Visit:
    """Open the match while its frames can't be loaded. The page reports that, and still works."""
    visit = windows.open(hall.url, "phone", "light")
    visit.page.clock.install()
    visit.page.route("**/frames.json?*", lambda route: route.abort())
    visit.open(f"/live/{MATCH}")
    expect(
        visit.page.get_by_text("Retrying. Until they are loaded, every step loads a page.")
    ).to_be_visible()
    visit.keep("live-trying-phone-light")
    visit.page.get_by_role("link", name="Step forward").click()
    expect(visit.page).to_have_url(f"{hall.url}/live/{MATCH}/1/1/1?step=reveal")
    expect(visit.page.get_by_text("Retrying")).to_be_visible()
    return visit


def with_frames(visit: Visit) -> None:
    """Let the frames load. The page stays at the frame that it shows, and receives all new ones."""
    state(visit.page, "Round 3 is being played.")
    moments = visit.page.locator("[data-event]").count()
    visit.page.unroute_all()
    come(visit.page, visit.page.locator("#film[data-ready]"))
    expect(visit.page.get_by_text("Retrying")).not_to_be_attached()
    assert shown(visit.page) == 1
    expect(visit.page.locator("#position")).to_have_attribute("max", "59")
    visit.page.keyboard.press("End")
    assert shown(visit.page) == 59
    assert visit.page.locator("[data-event]").count() == moments
    visit.forgive("Failed to load resource")


def wait_for_the_table(visit: Visit) -> None:
    """Open the front page and wait until it shows the match."""
    visit.page.clock.install()
    visit.open("/")
    come(visit.page, visit.page.locator(".tables").get_by_role("link", name="Watch"))


def stepped_back(page: Page, hall: Hall) -> None:
    """A new round changes neither the frame nor the view that is shown. Its moments are added."""
    for key in ("ArrowLeft", "ArrowLeft", "ArrowLeft", "q"):
        page.keyboard.press(key)
    expect(page.locator("#film")).to_have_attribute("data-view", "seat:0")
    assert shown(page) == 26
    moments = page.locator("[data-event]").count()
    hall.end(1, 2)
    state(page, "Round 3 is being played.")
    expect(page.locator("#position")).to_have_attribute("max", "59")
    assert shown(page) == 26
    expect(page).to_have_url(re.compile(rf"/live/{MATCH}/1/1/9\?step=pass&view=seat:0$"))
    assert page.locator("[data-event]").count() > moments
    page.keyboard.press("]")
    assert shown(page) == 30
    page.locator("[data-event]").last.click()
    assert shown(page) == 59


def sent_elsewhere(page: Page) -> None:
    """A redirect by a proxy, for example to its login page, doesn't mean that the match is over."""
    asked: list[str] = []

    def send(route: Route) -> None:
        asked.append(route.request.url)
        route.fulfill(status=302, headers={"Location": "/login"})

    def has_asked() -> bool:
        page.clock.fast_forward(4000)
        return sum("/api/" in address for address in asked) > 1

    page.route(re.compile(rf"/live/{MATCH}"), send)
    wait_until(has_asked, "requests that ask whether the match is over", pause=0.1)
    page.unroute_all()
    expect(page.locator('[data-live="state"]')).to_contain_text("Round 3 is being played.")


def followed(page: Page, hall: Hall) -> None:
    """A visitor who has seen the last frame is shown the next round, even if its first request fails."""
    page.keyboard.press("End")
    assert shown(page) == 59
    page.route("**/frames.json?*", lambda route: route.abort(), times=1)
    hall.end(1, 3)
    come(page, page.locator('#film:not([data-at="59"])'))
    page.keyboard.press(" ")
    assert shown(page) < 90
    page.keyboard.press("End")
    assert shown(page) == 90
    expect(page.locator("#where")).to_contain_text("End")


def to_the_replay(page: Page, hall: Hall) -> None:
    """The link leads to the frame that is shown, in the same view."""
    for key in ("Home", "ArrowRight", "q"):
        page.keyboard.press(key)
    expect(page.locator("#film")).to_have_attribute("data-view", "seat:0")
    expect(page.get_by_role("link", name="Watch another match")).to_have_attribute(
        "href", f"/live?after={MATCH}"
    )
    page.get_by_role("link", name="Watch the replay from here").click()
    expect(page).to_have_url(f"{hall.url}/games/{MATCH}-1/1/1?step=reveal&view=seat:0")
    ready(page)
    assert page.locator("#film").get_attribute("data-seed") == hall.claim.spec.seeds[1]


def test_frames_that_arrive_after_a_new_round_contain_it(windows: Windows, hall: Hall) -> None:
    """If a round ends while the page fetches the frames, the page fetches them again."""
    hall.end(1, 1)
    visit = windows.open(hall.url, "desktop", "light")
    page = visit.page
    page.clock.install()
    held: list[tuple[Route, APIResponse]] = []
    page.route("**/frames.json?*", lambda route: held.append((route, route.fetch())), times=1)
    visit.open(f"/live/{MATCH}")
    wait_until(lambda: page.title() and held, "the response with the first round")
    hall.end(1, 2)
    state(page, "Round 3 is being played.")
    route, old = held[0]
    route.fulfill(response=old)
    come(page, page.locator("#film[data-ready]"))
    expect(page.locator("#position")).to_have_attribute("max", "59")
    page.close()  # before the site closes, which the page would keep polling


def test_a_match_that_could_not_be_finished_is_over_too(windows: Windows, hall: Hall) -> None:
    """The page reports that the match is being played again, and links to where it will be shown."""
    hall.end(1, 1)
    visit = windows.open(hall.url, "desktop", "light")
    visit.forgive("404 (Not Found)")
    page = visit.page
    page.clock.install()
    visit.open(f"/live/{MATCH}")
    ready(page)
    hall.store.leases.record_void(MATCH, 1, "engine gone", START)
    state(page, "The arena could not finish this match and is playing it again.")
    expect(page.get_by_role("link", name="Watch it")).to_have_attribute("href", f"/live/{MATCH}")
    page.close()  # before the site closes, which the page would keep polling


def test_a_match_of_a_challenge_can_be_watched_by_its_owner(windows: Windows, hall: Hall) -> None:
    """If the owner logs out, the page says that the match can't be shown any more, not that it failed.

    After the match, it doesn't link to a replay, because the challenge's games are published together.
    """
    visit = windows.open(hall.url, "desktop", "light")
    visit.forgive("404 (Not Found)")
    page = visit.page
    page.clock.install()
    log_in(page, hall.url, "ben", door="register")
    owner = present(hall.store.accounts.account("ben")).account
    bots = bot_of(hall.store, "mine", owner), present(hall.store.bots.version_id("tuna", 1))
    hall.store.challenges.add(challenge("c", owner, bots), max_a_day=9)
    claim = claim_one(hall.store)
    show(hall.store, claim, 1)
    address = f"/live/{claim.spec.match}"
    visit.open(address)
    ready(page)
    page.context.clear_cookies()
    state(page, "This match can't be shown any more.")
    log_in(page, hall.url, "ben")
    visit.open(address)
    ready(page)
    assert hall.store.results.record(finished(claim, [(1, 2)]))
    state(page, "This match is over. Its games will be shown when all matches in its challenge are over.")
    expect(page.get_by_role("link", name="Watch the replay")).to_have_count(0)
    expect(page.get_by_role("link", name="About this match")).to_have_attribute("href", address)
    page.close()  # before the site closes, which the page would keep polling


def test_kaiten_tv_waits_for_the_first_game(windows: Windows, hall: Hall) -> None:
    """The page reloads automatically. Without scripts, it has a link for reloading."""
    plain = windows.open(hall.url, "phone", "dark", script=False)
    plain.open("/tv")
    expect(plain.page.get_by_role("link", name="Reload")).to_be_visible()
    visit = windows.open(hall.url, "desktop", "light")
    visit.page.clock.install()
    visit.open("/tv")
    expect(visit.page.get_by_role("heading", name="Nothing to show yet")).to_be_visible()
    expect(visit.page.get_by_role("link", name="Reload")).not_to_be_visible()
    hall.end(1, 1)
    come(visit.page, visit.page.locator("#film[data-ready]"))
    expect(visit.page).to_have_url(f"{hall.url}/tv/live/{MATCH}/1")
    visit.page.close()  # before the site closes, which the page would keep polling


def test_a_match_of_many_games_fits_on_a_phone(windows: Windows, hall: Hall) -> None:
    """The links to the match's games wrap. Kaiten TV, which chooses games itself, leaves them out."""
    versions = [add_bot(hall.store, name) for name in ("crab", "squid")]
    long = claimed(hall.store, versions, id_="long", deals=24)
    for game in range(24):
        show(hall.store, long, 1, game=game)
    visit = windows.open(hall.url, "phone", "light")
    links = visit.page.get_by_role("navigation", name="Games in this match").get_by_role("link")
    for width in (320, 390):
        visit.page.set_viewport_size(ViewportSize(width=width, height=844))
        for address, count in (("/live/long-0/24/1/1", 24), ("/tv/live/long-0/24", 0)):
            visit.open(address)
            ready(visit.page)
            expect(links).to_have_count(count)
            assert visit.page.evaluate("document.documentElement.scrollWidth") == width, address


def test_kaiten_tv_plays_a_round_to_its_end(windows: Windows, hall: Hall) -> None:
    """If the match ends meanwhile, the next game follows 15 seconds after the last frame."""
    hall.end(1, 1)
    visit = windows.open(hall.url, "desktop", "light")
    page = visit.page
    stop_time(page)
    visit.open(f"/tv/live/{MATCH}/1")
    ready(page)
    assert hall.store.results.record(finished(hall.claim, [(1, 2)] * 2))
    state = page.locator('[data-live="state"]')

    def over() -> bool:
        page.clock.run_for(1000)  # the page may have to ask more than once
        return "This match is over." in state.inner_text()

    wait_until(over, "the end of the match", pause=0.2)
    while shown(page) < 29:
        page.clock.run_for(1000)
    expect(page).to_have_url(f"{hall.url}/tv/live/{MATCH}/1")
    replay = page.get_by_role("link", name="Watch the replay from here")
    expect(replay).to_have_attribute("href", re.compile(f"^/live/{MATCH}/1/"))
    page.clock.run_for(15_000)
    expect(page).to_have_url(re.compile(f"{hall.url}/tv/games/"))
    page.close()  # before the site closes, which the page would keep polling
