"""Visits to the site in a real browser: window sizes, themes, and the browser's complaints."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any, Final

from playwright.sync_api import Browser, Locator, Page, ViewportSize, expect, sync_playwright

from tests import ports
from tests.accounts.world import PASSWORD
from tests.patience import WAIT_SECONDS, wait_until
from tests.soak import SOAK

SCREENSHOTS = Path(__file__).parents[2] / "build" / "screenshots"
SIZES = {
    "phone": ViewportSize(width=390, height=844),
    "small": ViewportSize(width=360, height=640),
    "zoomed": ViewportSize(width=320, height=512),
    "tablet": ViewportSize(width=850, height=1100),
    "desktop": ViewportSize(width=1440, height=900),
    "wide": ViewportSize(width=2560, height=1440),
}
"""``zoomed`` is a window of 1280 by 2048 at 400%."""
NAME = "arena.example"
"""A name that browsers resolve to this host, but treat like a site on a network if it uses plain HTTP."""

_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    # Otherwise Chromium exits if its GPU process misses a few deadlines, which may happen on a busy host.
    "--disable-gpu-watchdog",
    "--disable-gpu-process-crash-limit",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    f"--host-resolver-rules=MAP {NAME} 127.0.0.1",
]
# Features to disable: Playwright's own list, which this one replaces, and the pages that Chromium loads into
# each window's address bar, which cost more than the page under test.
_WITHOUT = (
    "AvoidUnnecessaryBeforeUnloadCheckSync",
    "DestroyProfileOnBrowserClose",
    "HttpsUpgrades",
    "HttpsFirstBalancedModeAutoEnable",
    "LensOverlay",
    "MediaRouter",
    "PaintHolding",
    "ThirdPartyStoragePartitioning",
    "AvoidCorsURLLoaderRestartOnRedirect",
    "OptimizationHints",
    "NetworkTimeServiceQuerying",
    "AimEnabled",
    "PreconnectToSearch",
    "WebUIOmniboxPopup",
    "WebUIOmniboxAimPopup",
    "WebUIOmniboxFullPopup",
)

_PATIENCE: Final = 1000 * WAIT_SECONDS
"""Time limit in milliseconds. The defaults are 5 and 30 seconds, in which a busy host may not even draw."""

expect.set_options(timeout=_PATIENCE)


@contextmanager
def chromium(path: str) -> Iterator[Browser]:
    """Run the Chromium at this path."""
    flags = [*_FLAGS, f"--disable-features={','.join(_WITHOUT)}"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=flags, timeout=_PATIENCE)
        yield browser
        browser.close()


def new_page(browser: Browser, **options: Any) -> Page:  # noqa: ANN401 - of the page's context
    """Return a page in a new context, which waits for as long as a busy host needs."""
    context = browser.new_context(**options)
    context.set_default_timeout(_PATIENCE)
    return context.new_page()


@dataclass
class Visit:
    """An open page, and the browser's complaints."""

    page: Page
    url: str
    complaints: list[str] = field(default_factory=list)
    forgiven: list[str] = field(default_factory=list)

    def open(self, path: str) -> None:
        """Go to a page of the site."""
        self.page.goto(self.url + path)

    def resize(self, size: str) -> None:
        """Give the window this size."""
        self.page.set_viewport_size(SIZES[size])

    def forgive(self, what: str) -> None:
        """Ignore complaints with these words, whenever they arrive: the test provokes them."""
        self.forgiven.append(what)

    def unforgiven(self) -> list[str]:
        """Return the complaints that the test didn't provoke."""
        return [text for text in self.complaints if not any(what in text for what in self.forgiven)]

    def keep(self, name: str) -> None:
        """Check that the page isn't wider than its window. The soak run also takes a screenshot."""
        self.page.wait_for_load_state("load")
        if SOAK:
            self.page.screenshot(path=SCREENSHOTS / f"{name}.png", full_page=True)
        size = self.page.viewport_size
        assert size is not None
        assert self.page.evaluate("document.documentElement.scrollWidth") <= size["width"], name


def follow(page: Page, link: Locator) -> None:
    """Click a link or button that leads to another page, and wait until that page is loaded.

    Right after a plain click, a test could still read the previous page, or half of the next one.
    """
    with page.expect_event("load"):
        link.click()


def stop_time(page: Page) -> None:
    """Stop the clock of pages that are opened here from now on. Only the test advances it."""
    now = datetime.now(UTC)
    page.clock.install(time=now)
    page.clock.pause_at(now + timedelta(minutes=1))


def come(page: Page, part: Locator) -> None:
    """Advance the page's installed clock in steps of its polling interval (4 s) until this part appears."""

    def there() -> bool:
        page.clock.fast_forward(4000)
        return part.count() > 0

    wait_until(there, str(part), pause=0.1)  # each attempt makes the page poll the site


def poll(page: Page) -> None:
    """Advance the page's installed clock by its polling interval, and wait for the response to its poll."""
    with page.expect_response(page.url):
        page.clock.run_for(4000)


class Windows:
    """Opens windows in which the browser must not complain."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._visits: list[Visit] = []

    def open(self, url: str, size: str, theme: str, *, script: bool = True, touch: bool = False) -> Visit:
        """Open a window of this size and theme."""
        page = new_page(
            self._browser,
            viewport=SIZES[size],
            color_scheme="dark" if theme == "dark" else "light",
            java_script_enabled=script,
            has_touch=touch,
        )
        visit = Visit(page, url)
        visit.page.on("console", lambda message: visit.complaints.append(message.text))
        visit.page.on("pageerror", lambda error: visit.complaints.append(str(error)))
        self._visits.append(visit)
        return visit

    def close(self) -> None:
        """Close all windows, and check that the browser had no complaints."""
        for visit in self._visits:
            visit.page.context.close()
        complaints = [text for visit in self._visits for text in visit.unforgiven()]
        assert not complaints, f"the browser complained: {complaints}"


def log_in(page: Page, url: str, name: str, *, door: str = "login") -> None:
    """Log in, or register, without opening a page.

    Only the browser knows the site as ``arena.example``, so the data is sent to the host's address, and the
    cookies are copied.
    """
    here = url.replace(NAME, "127.0.0.1")
    answer = page.request.post(
        f"{here}/{door}", form={"name": name, "password": PASSWORD}, headers={"Origin": here}
    )
    assert answer.url == f"{here}/account"
    if here != url:
        page.context.add_cookies(
            [
                {"name": each["name"], "value": each["value"], "domain": NAME, "path": "/"}
                for each in page.context.cookies()
            ]
        )


def elsewhere(page: str = "") -> AbstractContextManager[str]:
    """Serve another site with this HTML at every address, and yield the site's address."""

    def answer(request: BaseHTTPRequestHandler) -> None:
        request.send_response(200)
        request.send_header("Content-Type", "text/html")
        request.end_headers()
        request.wfile.write(page.encode())

    return serving(answer)


@contextmanager
def serving(answer: Callable[[BaseHTTPRequestHandler], None]) -> Iterator[str]:
    """Serve a site whose responses are sent by ``answer``, and yield its address."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            answer(self)

    with ports.serving(Handler) as port:
        yield f"http://127.0.0.1:{port}"


WATCH_SHIFTS = """
  window.moved = [];
  const box = ({ x, y, width, height }) => `${width} by ${height} at ${x}, ${y}`;
  new PerformanceObserver((list) => {
    for (const { value, sources } of list.getEntries()) {
      window.moved.push(`a layout shift of ${value}:`);
      for (const { node, previousRect, currentRect } of sources) {
        const what = (node?.outerHTML ?? node?.parentElement?.outerHTML ?? "a removed node").slice(0, 100);
        window.moved.push(`${what} was ${box(previousRect)}, is ${box(currentRect)}`);
      }
    }
  }).observe({ type: "layout-shift", buffered: true });
"""
"""Lists the layout shifts, as browsers measure them, and up to five elements that each shift moved."""


def check_that_nothing_moved(page: Page) -> None:
    """Check that there were no layout shifts since the page, which watches them, began to load."""
    moved = page.evaluate("window.moved")
    assert not moved, "\n".join(moved)


_CONTRAST = """() => {
  const numbers = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const light = (colour) => {
    const linear = (v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
    const [r, g, b] = numbers(colour).map((v) => linear(v / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (element) => {
    for (let e = element; e; e = e.parentElement) {
      const colour = getComputedStyle(e).backgroundColor;
      if ((numbers(colour)[3] ?? 1) > 0) return colour;
    }
  };
  const bad = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !element.checkVisibility()) continue;
    const style = getComputedStyle(element);
    const [a, b] = [light(element.closest("svg") ? style.fill : style.color), light(ground(element))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) bad.push(`${walker.currentNode.data.trim()}: ${ratio.toFixed(2)}`);
  }
  return bad;
}"""


def hard_to_read(page: Page) -> list[str]:
    """Return the texts whose contrast with their background is below 4.5 to 1.

    Waits until the page is loaded. After a click, it may have only begun to arrive, and nothing has a
    background without the style sheet.
    """
    page.wait_for_load_state("load")
    bad: list[str] = page.evaluate(_CONTRAST)
    return bad


ONCE_SCROLLED = """(element, way) => new Promise((done) => {
  const look = () => element[way] > 0 ? done() : requestAnimationFrame(look);
  look();
})"""
"""Waits until an element has been scrolled. Playwright's own waiting needs eval, which the site forbids."""
