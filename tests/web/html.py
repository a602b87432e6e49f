"""A parser for pages: tables, links and tags."""

from html.parser import HTMLParser

from fastapi.testclient import TestClient

from web.http.static import STATIC

SITE_SCRIPTS = {f"{STATIC}/{script}.js" for script in ("theme", "times", "once")}
"""Scripts of every page."""


class Page(HTMLParser):
    """A parsed page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tables: list[list[list[str]]] = []  # the text of each cell, by table and row
        self.links: list[str] = []  # all values of ``href``
        self.ids: list[str] = []  # all values of ``id``
        self.tags: list[tuple[str, dict[str, str | None]]] = []  # every start tag, in order
        self._in_cell = False
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Record a tag."""
        attributes = dict(attrs)
        self.tags.append((tag, attributes))
        self.links += [attributes["href"] or ""] if "href" in attributes else []
        self.ids += [attributes["id"] or ""] if "id" in attributes else []
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in {"td", "th"}:
            self._in_cell = True
            self.tables[-1][-1].append("")

    def handle_endtag(self, tag: str) -> None:
        """At the end of a cell, normalise its whitespace."""
        if tag in {"td", "th"}:
            self._in_cell = False
            self.tables[-1][-1][-1] = " ".join(self.tables[-1][-1][-1].split())

    def handle_data(self, data: str) -> None:
        """Add text to the current cell."""
        if self._in_cell:
            self.tables[-1][-1][-1] += data


def read(visitor: TestClient, path: str) -> str:
    """Return a page with its whitespace normalised."""
    answer = visitor.get(path)
    assert answer.status_code == 200, answer.text
    return " ".join(answer.text.split())


def check(page: Page, *scripts: str) -> None:
    """Check that a page has one main heading, unique IDs, valid anchors and no inline code.

    Besides the site's own scripts, it may have ``scripts``, given by name.
    """
    names = [tag for tag, _ in page.tags]
    assert names.count("h1") == names.count("main") == 1
    assert len(page.ids) == len(set(page.ids))
    assert {link[1:] for link in page.links if link.startswith("#")} <= set(page.ids)
    allowed = {*SITE_SCRIPTS, *(f"{STATIC}/{script}.js" for script in scripts)}
    for tag, attributes in page.tags:
        assert tag != "style"
        assert tag != "script" or attributes.get("src") in allowed
        assert not any(name == "style" or name.startswith("on") for name in attributes)
