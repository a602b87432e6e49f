"""Whole games against bots in a real browser: by touch, by keyboard, by roles and names, without scripts."""

import re
from collections.abc import Callable, Iterator
from contextlib import closing

import pytest
from playwright.sync_api import Locator, Page, expect

from arena.play.botfiles import samples
from tests.browser.visits import Windows, come, follow
from tests.databases import sqlite_store
from tests.db.builders import add_bot
from tests.folders import short_folder
from tests.scheduler.test_person_games import host
from tests.web.site import opened

pytestmark = pytest.mark.chromium

FOUR = ["greedy", "greedy", "random", "spoiler"]
HURRY = "patient = AbortSignal.timeout; AbortSignal.timeout = () => patient.call(AbortSignal, 1)"
"""Script that makes fetches time out after a millisecond instead of 10 s."""

CARDS_DEALT = {2: 10, 4: 8, 5: 7}
"""Number of cards dealt to each player, by the number of players."""


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Yield the address of a site on which people can play against house bots."""
    folder = tmp_path_factory.mktemp("play")
    with short_folder() as run_dir, closing(sqlite_store(folder / "arena.sqlite3")) as store:
        for name in ("greedy", "random", "spoiler"):
            add_bot(store, name, source=str(samples() / name), author="house")
        with host(store, run_dir), opened(folder, ARENA_ANALYSIS_PLAYOUTS="0") as site:
            yield site.url


def table(page: Page) -> Locator:
    """Return the part of the page that changes."""
    return page.locator("#table")


def sit_down(page: Page, url: str, *bots: str) -> None:
    """Choose opponents and begin."""
    page.goto(f"{url}/play")
    for number, bot in enumerate(bots, start=1):
        page.get_by_label(f"Bot {number}").select_option(bot)
    follow(page, page.get_by_role("button", name="Start game"))


def begin(page: Page, url: str, *bots: str) -> None:
    """Choose opponents and wait for the first decision."""
    page.clock.install()
    sit_down(page, url, *bots)
    come(page, page.locator('#table[data-state="decide"]'))


def leave(page: Page) -> None:
    """Leave the table, which otherwise stays taken for 45 s."""
    follow(page, page.get_by_role("button", name="Leave the table"))


def play(page: Page, choose: Callable[[Page], None], end: str = "") -> list[str]:
    """Play until this step, or to the end. Return the steps at which a card was chosen."""
    steps: list[str] = []
    ready = re.compile("decide|over")
    while True:
        expect(table(page)).to_have_attribute("data-state", ready)
        step = table(page).get_attribute("data-step")
        if table(page).get_attribute("data-state") == "over" or step == end:
            return steps
        assert step is not None
        steps.append(step)
        choose(page)
        expect(page.locator(f'#table[data-state="decide"][data-step="{step}"]')).to_have_count(0)


def by_touch(page: Page) -> None:
    """Tap the last card and, with chopsticks, also the first."""
    cards = page.locator("#hand button.pick")
    if cards.count():
        cards.last.tap()
        return
    page.get_by_role("radiogroup", name="Your card").locator("label").last.tap()
    if page.get_by_role("radiogroup", name="Your card").locator("label").count() > 1:
        page.get_by_role("radiogroup", name="A second card").locator("label").nth(1).tap()
    page.get_by_role("button", name="Play", exact=True).tap()


def by_keyboard(page: Page) -> None:
    """Play the first card, which has the focus."""
    if page.locator("#hand button.pick").count():
        page.keyboard.press("1")
    else:
        page.keyboard.press("Space")
        page.keyboard.press("Enter")


def by_role(page: Page) -> None:
    """Play the first card, found only by roles and names."""
    hand = page.get_by_role("group", name=re.compile("card"))
    cards = hand.get_by_role("button")
    if hand.get_by_role("radio").count():
        page.get_by_role("radiogroup", name="Your card").get_by_role("radio").first.check(force=True)
        page.get_by_role("button", name="Play", exact=True).click()
    else:
        assert cards.first.inner_text() or cards.first.get_attribute("value")
        cards.first.click()


def asked_turns(players: int) -> list[str]:
    """Return the steps of a whole game; the last card of a round is played automatically."""
    return [f"{round_}.{turn}" for round_ in (1, 2, 3) for turn in range(1, CARDS_DEALT[players])]


@pytest.mark.parametrize(
    ("size", "bots", "choose"),
    [
        pytest.param("phone", ["greedy"], by_touch, id="phone", marks=pytest.mark.soak),
        pytest.param("desktop", FOUR, by_keyboard, id="keyboard"),
        pytest.param("desktop", FOUR, by_role, id="roles", marks=pytest.mark.soak),
    ],
)
def test_a_whole_game(
    windows: Windows, url: str, size: str, bots: list[str], choose: Callable[[Page], None]
) -> None:
    """Every decision is requested once, without a reload, until the result, which links to the replay."""
    visit = windows.open(url, size, "light", touch=choose is by_touch)
    page = visit.page
    begin(page, url, *bots)
    visit.keep(f"play-{size}-{len(bots)}")
    page.evaluate("document.body.dataset.same = 'yes'")
    steps = play(page, choose)
    assert steps == asked_turns(len(bots) + 1)
    expect(page.locator("#turn")).to_contain_text("points")
    expect(page.get_by_role("row")).to_have_count(len(bots) + 2)
    visit.keep(f"play-{size}-{len(bots)}-over")
    page.get_by_role("link", name="Watch the replay").click()
    expect(page.locator("#film")).to_be_visible()


def test_two_turns_by_touch(windows: Windows, url: str) -> None:
    """Every decision is requested once. The soak run plays a whole game."""
    page = windows.open(url, "phone", "light", touch=True).page
    begin(page, url, "greedy")
    assert play(page, by_touch, "1.3") == ["1.1", "1.2"]
    page.get_by_role("button", name="Leave the table").click()
    expect(page).to_have_url(f"{url}/play")


def test_a_choice_that_was_made_in_another_tab_leads_to_the_game(windows: Windows, url: str) -> None:
    """The tab shows the current table instead of an error."""
    visit = windows.open(url, "desktop", "light")
    visit.forgive("409")
    page = visit.page
    begin(page, url, "greedy")
    address = page.url
    other = page.context.new_page()
    other.goto(address)
    expect(table(other)).to_have_attribute("data-step", "1.1")
    assert play(page, by_role, "1.2") == ["1.1"]
    by_role(other)
    expect(table(other)).to_have_attribute("data-step", "1.2")
    expect(other).to_have_url(address)
    leave(page)


@pytest.mark.parametrize("connection", ["offline", "dead"])
def test_a_choice_that_does_not_reach_the_site_can_be_repeated(
    windows: Windows, url: str, connection: str
) -> None:
    """The table remains visible, with a warning. On a dead connection, the request times out."""
    visit = windows.open(url, "phone", "light")
    visit.forgive("ERR_INTERNET_DISCONNECTED")
    page = visit.page
    if connection != "offline":
        # Before the page is loaded: on a busy host, an open page may still send requests past a new route.
        page.route("**/move", lambda _: None)
    begin(page, url, "greedy")
    address = page.url
    if connection == "offline":
        page.context.set_offline(True)
    else:
        page.evaluate(HURRY)
    by_role(page)
    expect(page.get_by_role("alert")).to_have_text("The site can't be reached. Choose again in a moment.")
    assert page.evaluate("document.activeElement.matches('.pick')")
    if connection == "offline":
        visit.keep("play-offline")
        page.context.set_offline(False)
    else:
        page.evaluate("AbortSignal.timeout = patient")
        page.unroute("**/move")
    assert play(page, by_role, "1.3") == ["1.1", "1.2"]
    expect(page).to_have_url(address)
    leave(page)


def test_an_illegal_choice_can_be_repeated(windows: Windows, url: str) -> None:
    """The table remains visible, with the reason why the choice was refused."""
    visit = windows.open(url, "desktop", "light")
    visit.forgive("422")
    page = visit.page
    begin(page, url, "greedy")
    card = page.locator("#hand button.pick").first
    held = card.get_attribute("value")
    card.evaluate("button => { button.value = 'sushi'; }")
    card.click()
    expect(page.get_by_role("alert")).to_contain_text("This move isn't legal: 'sushi' is not a kind of card")
    card.evaluate("(button, held) => { button.value = held; }", held)
    assert play(page, by_role, "1.2") == ["1.1"]
    leave(page)


def test_a_double_click_chooses_once(windows: Windows, url: str) -> None:
    """The second click chooses nothing, even if it arrives when the next hand is already shown."""
    page = windows.open(url, "desktop", "light").page
    page.emulate_media(reduced_motion="reduce")  # otherwise the next hand is still moving
    begin(page, url, "greedy")
    page.locator("#hand button.pick").first.hover()
    for count, step in ((1, "1.2"), (2, "1.2"), (1, "1.3")):
        page.mouse.down(click_count=count)
        page.mouse.up(click_count=count)
        if count == 2:
            assert not page.locator("#hand :disabled").count()
        expect(page.locator('#table[data-state="decide"]')).to_have_attribute("data-step", step)
    leave(page)


@pytest.mark.parametrize("key", ["1", "Enter"])
def test_a_held_key_chooses_once(windows: Windows, url: str, key: str) -> None:
    """The keyboard may repeat it when the next hand is already there."""
    page = windows.open(url, "desktop", "light").page
    begin(page, url, "greedy")
    page.locator("#hand button.pick").first.focus()
    page.keyboard.down(key)
    expect(page.locator('#table[data-state="decide"]')).to_have_attribute("data-step", "1.2")
    page.keyboard.down(key)
    assert not page.locator("#hand :disabled").count()
    page.keyboard.up(key)
    page.keyboard.down(key)
    expect(page.locator('#table[data-state="decide"]')).to_have_attribute("data-step", "1.3")
    leave(page)


def test_each_turn_is_announced_and_needs_no_other_page(windows: Windows, url: str) -> None:
    """The page says what everyone took, then whose turn it is.

    The first card has the focus again, unless the focus was elsewhere.
    """
    visit = windows.open(url, "desktop", "dark")
    page = visit.page
    begin(page, url, "greedy")
    page.evaluate("document.body.dataset.same = 'yes'")
    by_keyboard(page)
    said = page.locator("#announcement")
    expect(said).to_have_text(re.compile(r"You took .*\. Round 1, turn 2 of 10\. Your turn\."))
    assert page.evaluate("document.body.dataset.same") == "yes"
    assert page.evaluate("document.activeElement.matches('.pick, .pick input')")
    page.get_by_role("button", name="Leave the table").focus()
    page.keyboard.press("1")
    expect(said).to_have_text(re.compile(r"Round 1, turn 3 of 10\. Your turn\."))
    expect(page.get_by_role("button", name="Leave the table")).to_be_focused()
    page.reload()
    expect(table(page)).to_have_attribute("data-step", "1.3")
    page.goto(f"{url}/play")
    page.get_by_role("link", name="Continue").click()
    page.get_by_role("button", name="Leave the table").click()
    expect(page).to_have_url(f"{url}/play")
    page.go_back()
    expect(page.locator("#turn")).to_have_text("You left this table.")


def test_without_scripts_the_same_forms_work(windows: Windows, url: str) -> None:
    """The forms also choose the dummy's card. The page reloads automatically."""
    visit = windows.open(url, "phone", "light", script=False)
    page = visit.page
    page.goto(f"{url}/play")
    page.get_by_label("Bot 1").select_option("random")
    page.get_by_role("checkbox", name="A dummy").check()
    page.get_by_role("button", name="Start game").click()
    seen: set[str | None] = set()
    while len(seen) < 2:
        expect(table(page)).to_have_attribute("data-state", "decide")
        page.wait_for_load_state()  # its cards arrive after its state
        step = table(page).get_attribute("data-step")
        seen.add(step)
        cards = page.locator("#hand button.pick")
        if cards.count():
            cards.first.click()
        else:
            for group in page.get_by_role("radiogroup").all():
                if group.get_attribute("aria-label") == "The dummy's card":
                    group.get_by_role("radio").last.check(force=True)
                elif group.get_attribute("aria-label") == "Your card":
                    group.get_by_role("radio").first.check(force=True)
            page.get_by_role("button", name="Play", exact=True).click()
        expect(page.locator(f'#table[data-state="decide"][data-step="{step}"]')).to_have_count(0)
    page.get_by_role("button", name="Leave the table").click()
    expect(page).to_have_url(f"{url}/play")
