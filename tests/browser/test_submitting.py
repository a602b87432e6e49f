"""Bots are submitted with the site's form and followed on its pages, in a real browser."""

import re
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

import pytest
from playwright.sync_api import FilePayload, Page, expect

from arena.db.store import Store
from arena.db.submissions import KnownSubmission
from arena.protocol.submissions import Cause, CauseKind, Stage
from arena.rules import Rules
from tests.accounts.world import PASSWORD
from tests.browser.visits import (
    WATCH_SHIFTS,
    Visit,
    Windows,
    check_that_nothing_moved,
    follow,
    hard_to_read,
    log_in,
)
from tests.builders import add_bots, fill, host_report, play_matches
from tests.databases import sqlite_store
from tests.soak import SOAK
from tests.web.site import opened
from tests.web.submitted import finish_game, queue

pytestmark = pytest.mark.chromium

ROOT = Path(__file__).parents[2]
BOT = b"print('hello')\n" * 20_000
LARGE = 24 * 1024 * 1024


@dataclass(frozen=True)
class Town:
    """A site and the store behind it."""

    port: str
    store: Store

    @property
    def here(self) -> str:
        """The site's address on its own host, which a browser trusts."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def there(self) -> str:
        """The site's address on a network: with plain HTTP, a browser offers no hashing."""
        return f"http://arena.example:{self.port}"

    def newest(self, bot: str) -> KnownSubmission:
        """Return a bot's latest submission."""
        (found,) = self.store.submissions.newest(bot=bot, limit=1)
        return found


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Town]:
    """Yield a running site that accepts bots."""
    folder = tmp_path_factory.mktemp("data")
    with closing(sqlite_store(folder / "arena.sqlite3")) as store:
        fill(store)
        store.activity.record_host(host_report(), ())
        with opened(folder) as site:
            yield Town(site.url.rpartition(":")[2], store)


def register(visit: Visit, name: str) -> None:
    """Register an account and log in."""
    log_in(visit.page, visit.url, name, door="register")


def look(visit: Visit, name: str) -> None:
    """Check the page's width and the contrast of its text. The soak run also takes a screenshot."""
    visit.keep(name)
    assert hard_to_read(visit.page) == [], name


def drop(page: Page, name: str, content: bytes) -> None:
    """Drop a file onto the page."""
    dragged = page.evaluate_handle(
        """([name, text]) => {
          const transfer = new DataTransfer();
          transfer.items.add(new File([text], name));
          return transfer;
        }""",
        [name, content.decode()],
    )
    page.dispatch_event("h1", "dragover", {"dataTransfer": dragged})
    expect(page.locator("form[data-over]")).to_be_visible()
    page.dispatch_event("h1", "drop", {"dataTransfer": dragged})


def zeros(file: Path, amount: int) -> Path:
    """Write a file of this size. Chromium opens it directly; bytes in memory would pass three processes."""
    with file.open("wb") as opened:
        opened.truncate(amount)
    return file


def qualify(town: Town, id_: str, games: int) -> None:
    """Move a received submission on to its qualification, and play this many of its games."""
    town.store.submissions.mark_inspected(id_, f"sha256:{id_}", datetime.now(UTC))
    town.store.submissions.mark_qualifying(id_, datetime.now(UTC))
    for number in range(games):
        queue(town.store, id_, number)
        finish_game(town.store)


def send_by_dropping(visit: Visit, town: Town, bot: str) -> KnownSubmission:
    """Drop a bot's file, fill in the form and submit it. Return the submission, whose page is then open."""
    page = visit.page
    drop(page, "mybot.py", BOT)
    expect(page.get_by_text("Python, 293.0 KiB")).to_be_visible()
    page.get_by_label("Bot", exact=True).fill(bot)
    page.get_by_label("Note").fill("likes wasabi")
    follow(page, page.get_by_role("button", name="Submit"))
    expect(page).to_have_url(re.compile(r"/submissions/[0-9a-f]{16}$"))
    sent = town.newest(bot)
    assert (sent.kind, sent.size, sent.note) == ("python", len(BOT), "likes wasabi")
    return sent


def send_by_button(visit: Visit, town: Town, bot: str) -> KnownSubmission:
    """Register an author and submit a bot. Return the submission, whose page and script are then loaded."""
    page = visit.page
    register(visit, f"author-of-{bot}")
    visit.open(f"/submit?bot={bot}")
    page.set_input_files("#file", FilePayload(name="mybot.py", mimeType="", buffer=BOT))
    follow(page, page.get_by_role("button", name="Submit"))
    return town.newest(bot)


@pytest.mark.parametrize(
    ("size", "theme"), [("small", "dark"), pytest.param("desktop", "light", marks=pytest.mark.soak)]
)
def test_a_dropped_file_is_followed_to_its_first_game(
    windows: Windows, town: Town, size: str, theme: str
) -> None:
    """The open page shows and announces every stage, both on a network and on the site's own host."""
    visit = windows.open(town.here if theme == "light" else town.there, size, theme)
    page, end = visit.page, f"{size}-{theme}"
    page.add_init_script(WATCH_SHIFTS)
    register(visit, f"ann-{end}")
    bot = f"bot-{end}"
    visit.open("/submit")
    check_that_nothing_moved(page)
    sent = send_by_dropping(visit, town, bot)
    page.evaluate("document.body.dataset.same = 'yes'")
    now, said = page.locator("[aria-current=step]"), page.get_by_role("status")
    expect(now).to_contain_text("received")
    expect(said).to_be_empty()
    town.store.submissions.wait(sent.id, "no engine answers")
    expect(page.locator(".now")).to_contain_text("Waiting: no engine answers.")
    qualify(town, sent.id, 1)
    expect(now).to_contain_text("qualifying")
    expect(said).to_contain_text(f"{bot}: qualifying. The bot is playing three unrated games")
    expect(page.get_by_role("row", name="Game 1")).to_contain_text("of 3")
    page.reload()
    expect(now).to_contain_text("qualifying")
    page.evaluate("document.body.dataset.same = 'yes'")
    town.store.submissions.activate(sent.id, datetime.now(UTC))
    expect(page.get_by_role("heading", name=f"{bot}")).to_be_visible()
    expect(said).to_contain_text(f"{bot}: active. The bot has qualified")
    expect(page).to_have_title(re.compile("active"))
    version = town.store.bots.version_id(bot, 1)
    assert version is not None
    table = (version, *add_bots(town.store, [(f"rival-{end}", "house")]))
    play_matches(town.store, [table], Rules(players=2), name=f"rated-{end}")
    link = page.get_by_role("link", name="Watch its first rated game")
    expect(link).to_be_visible()
    assert page.evaluate("document.body.dataset.same") == "yes"
    page.get_by_role("link", name="Game 1").click()
    expect(page.get_by_text("wasabi first")).to_be_visible()


def test_progress_is_shown_and_a_transfer_can_be_stopped(
    windows: Windows, town: Town, tmp_path: Path
) -> None:
    """The page shows bytes and a percentage. Cancelling stores nothing, and shows the form again."""
    visit = windows.open(town.here, "small", "light")
    page = visit.page
    register(visit, "carl")
    network = page.context.new_cdp_session(page)
    network.send("Network.enable")
    slow = {"offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": 128 * 1024}
    network.send("Network.emulateNetworkConditions", slow)
    visit.open("/submit?bot=carls")
    page.set_input_files("#file", zeros(tmp_path / "mybot.tar.gz", LARGE))
    expect(page.get_by_text("An image archive, 24.0 MiB")).to_be_visible()
    page.get_by_role("button", name="Submit").click()
    bar = page.get_by_role("progressbar")
    expect(bar).to_be_visible()
    expect(page.get_by_text(re.compile(r"^[\d.]+ of 24\.0 MiB, [1-9]\d?%$"))).to_be_visible()
    assert 0 < bar.evaluate("bar => bar.position") < 1
    expect(page.get_by_role("button", name="Submit")).to_be_hidden()
    look(visit, "submit-sending")
    cancel = page.get_by_role("button", name="Cancel")
    expect(cancel).to_be_focused()
    cancel.click()
    expect(page.get_by_role("alert")).to_contain_text("Upload cancelled. Nothing was stored")
    expect(page.get_by_role("button", name="Submit")).to_be_focused()
    expect(bar).to_be_hidden()
    assert town.store.submissions.newest(bot="carls") == ()


@pytest.mark.parametrize("amount", [pytest.param(len(BOT), marks=pytest.mark.soak), LARGE])
def test_a_refusal_says_why_and_keeps_the_form(
    windows: Windows, town: Town, tmp_path: Path, amount: int
) -> None:
    """The form keeps its input even if the refusal arrives long before the last byte has been sent."""
    visit = windows.open(town.there, "small", "dark")
    page = visit.page
    register(visit, f"dora-{amount}")
    visit.open("/submit")
    page.get_by_label("Bot", exact=True).fill("greedy")
    page.get_by_label("Note").fill("mine is better")
    page.set_input_files("#file", zeros(tmp_path / "mybot.tar", amount))
    page.get_by_role("button", name="Submit").click()
    refusal = page.get_by_role("alert")
    expect(refusal).to_contain_text("the name greedy belongs to a bot by house")
    expect(refusal).to_contain_text("Use the exact name of one of your bots, or a new name.")
    look(visit, f"submit-refused-{amount}")
    page.get_by_label("Bot", exact=True).fill(f"doras-{amount}")
    page.get_by_role("button", name="Submit").click()
    expect(page.get_by_role("heading", name=f"doras-{amount}")).to_be_visible()
    assert town.newest(f"doras-{amount}").note == "mine is better"
    visit.forgive("409")


def test_wrong_files_are_not_sent(windows: Windows, town: Town) -> None:
    """The page itself refuses a file that is too large for its kind, an empty one, and two at a time."""
    visit = windows.open(town.here, "desktop", "light")
    page = visit.page
    register(visit, "emil")
    visit.open("/submit?bot=emils")
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.method))
    for content, why in ((bytes(1024 * 1024 + 1), "the limit is 1.0 MiB"), (b"", "This file is empty.")):
        page.set_input_files("#file", FilePayload(name="mybot.py", mimeType="", buffer=content))
        expect(page.locator("output")).to_contain_text(why)
        page.get_by_role("button", name="Submit").click()
        expect(page.locator("#file:invalid")).to_be_focused()
    two = page.evaluate_handle(
        """() => {
          const transfer = new DataTransfer();
          for (const name of ["a.py", "b.py"]) transfer.items.add(new File(["x"], name));
          return transfer;
        }"""
    )
    page.dispatch_event("main", "drop", {"dataTransfer": two})
    expect(page.get_by_role("alert")).to_contain_text("You dropped 2 files.")
    assert "PUT" not in requests


def test_an_author_who_was_logged_out_loses_nothing(windows: Windows, town: Town) -> None:
    """The form keeps its input, and can be submitted after another login."""
    visit = windows.open(town.here, "desktop", "light")
    page = visit.page
    register(visit, "olga")
    visit.open("/submit?bot=olgas")
    page.set_input_files("#file", FilePayload(name="mybot.py", mimeType="", buffer=BOT))
    tab = page.context.new_page()
    tab.goto(f"{visit.url}/account")
    tab.get_by_role("button", name="Log out").click()
    expect(tab.get_by_role("link", name="Log in")).to_be_visible()
    page.get_by_role("button", name="Submit").click()
    expect(page.get_by_role("alert")).to_contain_text("Your session has ended.")
    tab.goto(f"{visit.url}/login")
    tab.get_by_label("Name").fill("olga")
    tab.get_by_label("Password").fill(PASSWORD)
    tab.get_by_role("button", name="Log in").click()
    expect(tab.get_by_role("heading", name="olga")).to_be_visible()
    page.get_by_role("button", name="Submit").click()
    expect(page.get_by_role("heading", name="olgas")).to_be_visible()
    visit.forgive("401")


def test_the_keyboard_alone_is_enough(windows: Windows, town: Town) -> None:
    """By keyboard, an author gets from the list of bots to the submission. The file field shows its focus."""
    visit = windows.open(town.here, "desktop", "light")
    page = visit.page
    page.on("filechooser", lambda _: None)  # makes the browser report file choosers from the start
    register(visit, "finn")
    visit.open("/mine")
    submit = page.get_by_role("link", name="Submit a bot")
    for _ in range(20):
        page.keyboard.press("Tab")
        if submit.evaluate("link => link === document.activeElement"):
            break
    page.keyboard.press("Enter")
    page.wait_for_url("**/submit")
    name = page.get_by_label("Bot", exact=True)
    for _ in range(20):
        page.keyboard.press("Tab")
        if name.evaluate("field => field === document.activeElement"):
            break
    page.keyboard.type("finns")
    page.keyboard.press("Tab")
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert (page.evaluate("document.activeElement.id"), outline) == ("file", "solid")
    with page.expect_file_chooser() as chosen:
        page.keyboard.press("Enter")
    chosen.value.set_files(FilePayload(name="mybot.py", mimeType="", buffer=BOT))
    page.keyboard.press("Tab")
    page.keyboard.type("by keys")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="finns")).to_be_visible()
    assert town.newest("finns").note == "by keys"


def test_the_page_reports_a_lost_connection_and_recovers(windows: Windows, town: Town) -> None:
    """The page shows the current stage as soon as the site can be reached again."""
    visit = windows.open(town.here, "small", "light")
    page = visit.page
    sent = send_by_button(visit, town, "guss")
    expect(page.locator("[aria-current=step]")).to_contain_text("received")
    note = page.get_by_text("Connection lost.")
    expect(note).to_be_hidden()
    if SOAK:
        page.route(page.url, lambda _: None)  # requests get no response
        expect(note).to_be_visible()
        page.unroute(page.url)
        expect(note).to_be_hidden()
    page.context.set_offline(True)
    expect(note).to_be_visible()
    qualify(town, sent.id, 0)
    page.context.set_offline(False)
    expect(page.locator("[aria-current=step]")).to_contain_text("qualifying")
    expect(note).to_be_hidden()
    visit.forgive("ERR_INTERNET_DISCONNECTED")


def test_a_part_with_the_focus_is_replaced_later(windows: Windows, town: Town) -> None:
    """After the verdict, the table of games keeps its focused link, and changes once the focus has left."""
    visit = windows.open(town.here, "small", "light")
    page = visit.page
    sent = send_by_button(visit, town, "halls")
    qualify(town, sent.id, 1)
    game = page.get_by_role("link", name="Game 1")
    game.focus()
    cause = Cause(stage=Stage.QUALIFYING, kind=CauseKind.START, text="it failed", hint="Fix it.")
    town.store.submissions.reject(sent.id, cause, datetime.now(UTC))
    expect(page.get_by_role("heading", name="Why it was rejected")).to_be_visible()
    expect(page.get_by_text("pending")).to_have_count(2)
    expect(game).to_be_focused()
    game.blur()
    expect(page.get_by_text("pending")).to_have_count(0)


def test_without_scripts_there_is_another_way(windows: Windows, town: Town) -> None:
    """The editor and the form say that they need scripts. Examples and commands replace them."""
    visit = windows.open(town.here, "small", "light", script=False)
    page = visit.page
    register(visit, "ida")
    visit.open("/start")
    expect(page.get_by_role("note")).to_contain_text("The editor needs JavaScript.")
    for language, file in (("Python", "greedy/bot.py"), ("JavaScript", "greedy-js/bot.js")):
        example = page.get_by_label(f"Example in {language}", exact=True)
        expect(example).to_have_value((ROOT / "bots" / file).read_text())
    for part in (
        page.locator("[data-editor]"),
        page.get_by_text("Tab indents"),
        page.get_by_text("What happens"),
    ):
        expect(part).to_be_hidden()
    expect(page.get_by_role("button", name="Submit")).to_be_hidden()
    follow(page, page.get_by_role("link", name="from a terminal"))
    expect(page.get_by_role("heading", name="From a terminal")).to_be_in_viewport()
    expect(page.get_by_role("note")).to_contain_text("The form needs JavaScript")
    expect(page.get_by_role("button", name="Submit")).to_be_hidden()
    expect(page.get_by_text("arena submit mybot.py")).to_be_visible()
    visit.keep("submit-no-script")


@pytest.mark.parametrize("size", ["phone", "desktop"])
def test_other_ways_are_next_to_the_editor(windows: Windows, town: Town, size: str) -> None:
    """On a desktop they are beside it, on a phone below it. Nothing moves while the editor loads."""
    visit = windows.open(town.here, size, "light")
    page = visit.page
    page.add_init_script(WATCH_SHIFTS)
    visit.open("/start")
    ways = page.get_by_role("region", name="Other ways")
    expect(ways).to_contain_text(f"arena login {town.here}")
    editor, box = page.locator("[data-editor]").bounding_box(), ways.bounding_box()
    assert editor is not None
    assert box is not None
    beside = box["x"] > editor["x"] + editor["width"] and box["y"] < editor["y"]
    assert beside == (size == "desktop")
    check_that_nothing_moved(page)


def test_a_closed_arena_lets_nobody_submit(windows: Windows, town: Town) -> None:
    """The buttons are disabled, and a note says why."""
    visit = windows.open(town.here, "phone", "dark")
    page = visit.page
    register(visit, "otto")
    town.store.activity.record_host(host_report("swap"), ())
    try:
        for path, buttons in (("/start", ("Check", "Submit")), ("/submit", ("Submit",))):
            visit.open(path)
            expect(page.get_by_text("isn't running submitted bots")).to_be_visible()
            for name in buttons:
                expect(page.get_by_role("button", name=name)).to_be_disabled()
    finally:
        town.store.activity.record_host(host_report(), ())


def test_a_bot_waits_for_its_author_to_register(windows: Windows, town: Town) -> None:
    """After registration, the form still has the bot's name, language and source."""
    visit = windows.open(town.here, "phone", "light")
    page = visit.page
    visit.open("/start")
    page.get_by_label("Language").select_option("javascript")
    page.get_by_label("Bot name").fill("veras")
    page.get_by_role("textbox", name="Source").press_sequentially("// mine")
    page.get_by_role("link", name="Register").click()
    page.get_by_label("Name").fill("vera")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Register").click()
    expect(page).to_have_url(f"{town.here}/start")
    expect(page.get_by_label("Bot name")).to_have_value("veras")
    expect(page.get_by_label("Language")).to_have_value("javascript")
    expect(page.get_by_role("textbox", name="Source")).to_contain_text("// mine")
    expect(page.get_by_role("button", name="Check")).to_be_enabled()


def checked(visit: Visit, town: Town) -> None:
    """Check a bot in the editor: its progress, its games and the verdict appear below the editor.

    They appear even if the site is briefly unavailable when the check begins and when it ends.
    """
    page = visit.page
    visit.forgive("503")
    page.route("**/events", lambda route: route.fulfill(status=503), times=1)
    page.get_by_label("Bot name").fill("wendys")
    page.get_by_role("button", name="Check").click()
    below = page.get_by_role("region", name="Check")
    expect(below.locator("[aria-current=step]")).to_contain_text("received")
    check = town.newest("wendys")
    qualify(town, check.id, 3)
    expect(below.get_by_role("link", name="Game 3")).to_be_visible()
    page.route("**/submissions/*", lambda route: route.fulfill(status=503), times=1)
    town.store.submissions.mark_passed(check.id, datetime.now(UTC))
    expect(below.get_by_role("heading", name="The check passed")).to_be_visible()
    expect(below.get_by_role("status")).to_contain_text("wendys: passed.")
    for line, text in (("5", "TypeError: x (bot.js, line 5)"), ("7", "KeyError: 1 (bot.py, line 7: x)")):
        page.get_by_role("button", name="Check").click()
        cause = Cause(stage=Stage.RECEIVED, kind=CauseKind.FILE, text=text, hint="Fix it.")
        expect(below.locator("[aria-current=step]")).to_contain_text("received")
        town.store.submissions.reject(town.newest("wendys").id, cause, datetime.now(UTC))
        expect(below.get_by_role("heading", name="What went wrong")).to_be_visible()
        expect(below).to_contain_text(f"{text}.")
        below.get_by_role("button", name=f"Go to line {line}").click()
        expect(page.get_by_role("textbox", name="Source")).to_be_focused()
        expect(page.locator(".cm-activeLineGutter")).to_have_text(line)
    expect(page).to_have_url(f"{town.here}/start")


def reset_after_a_question(page: Page) -> None:
    """Reset the source to the example. Dismissing the question keeps the source."""
    source = page.get_by_role("textbox", name="Source")
    reset = page.get_by_role("button", name="Reset to the example")
    page.once("dialog", lambda dialog: dialog.dismiss())
    reset.click()
    expect(source).to_contain_text("# mine")
    page.once("dialog", lambda dialog: dialog.accept())
    reset.click()
    expect(source).to_be_focused()
    expect(source).not_to_contain_text("# mine")


def test_a_bot_is_written_in_the_browser_and_submitted(windows: Windows, town: Town) -> None:
    """The source survives reloads, a login and a refusal. Each language has its own example."""
    visit = windows.open(town.here, "desktop", "dark")
    page = visit.page
    visit.open("/start")
    source = page.get_by_role("textbox", name="Source")
    expect(source).to_contain_text("def choose(view: View)")
    expect(page.get_by_role("button", name="Submit")).to_have_count(0)
    source.focus()
    page.keyboard.press("Control+End")
    page.keyboard.type("# mine")
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")
    expect(source).not_to_be_focused()
    page.reload()
    expect(source).to_contain_text("# mine")
    register(visit, "wendy")
    visit.open("/start")
    expect(source).to_contain_text("# mine")
    page.get_by_label("Language").select_option("javascript")
    expect(source).to_contain_text("function choose(view)")
    page.get_by_label("Language").select_option("python")
    checked(visit, town)
    page.get_by_label("Bot name").fill("greedy")
    page.get_by_role("button", name="Submit").click()
    expect(page.get_by_role("alert")).to_contain_text("the name greedy belongs to a bot by house")
    page.get_by_label("Bot name").fill("wendys")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/submissions/[0-9a-f]{16}$"))
    sent = town.newest("wendys")
    expected = (ROOT / "bots/greedy/bot.py").read_bytes() + b"# mine"
    assert (sent.kind, sent.sha256) == ("python", sha256(expected).hexdigest())
    qualify(town, sent.id, 0)
    town.store.submissions.activate(sent.id, datetime.now(UTC))
    visit.open("/start")
    page.get_by_role("button", name="Submit").click()
    refusal = page.get_by_role("alert")
    expect(refusal.locator("code").first).to_have_text("arena rollback")
    expect(refusal).not_to_contain_text("`")
    page.locator("[data-start]").evaluate("form => { form.dataset.maxBytes = 99; form.requestSubmit(); }")
    expect(refusal).to_have_text("The code is too long: the limit is 99 bytes.")
    reset_after_a_question(page)
    source.press("Control+a")
    source.press("Delete")
    page.get_by_label("Bot name").fill("wendys")
    page.get_by_role("button", name="Submit").click()
    expect(page.get_by_role("alert")).to_contain_text("There is no code yet")
    look(visit, "start-refused")
    visit.forgive("409")


def test_two_tabs_show_the_same_source(windows: Windows, town: Town) -> None:
    """What is typed in one appears in the other, which would otherwise overwrite it at the next input."""
    visit = windows.open(town.here, "desktop", "light")
    tabs = [visit.page, visit.page.context.new_page()]
    first, second = (page.get_by_role("textbox", name="Source") for page in tabs)
    for page in tabs:
        page.goto(f"{town.here}/start")
        expect(page.get_by_role("textbox", name="Source")).to_contain_text("def choose(view: View)")
    for typed, other, text in ((first, second, "# one "), (second, first, "# two ")):
        typed.press("Control+Home")
        typed.press_sequentially(text)
        expect(other).to_contain_text(text)
    expect(first).to_contain_text("# two # one")
