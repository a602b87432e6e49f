"""What a test reads of a page: its tables, its links, its tags."""

from html.parser import HTMLParser

from web.http.static import STATIC

SITE_SCRIPTS = {f"{STATIC}/theme.js", f"{STATIC}/times.js"}
"""Of every page."""


class Page(HTMLParser):
    """A parsed page.

    Attributes:
        tables: Of every table its rows, of every row the texts of its cells.
        links: All ``href``.
        ids: All ``id``.
        tags: Every start tag with its attributes, in order.
    """

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tables: list[list[list[str]]] = []
        self.links: list[str] = []
        self.ids: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self._in_cell = False
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take note of a tag."""
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
        """Leave a cell; tidy its text."""
        if tag in {"td", "th"}:
            self._in_cell = False
            self.tables[-1][-1][-1] = " ".join(self.tables[-1][-1][-1].split())

    def handle_data(self, data: str) -> None:
        """Collect the text of a cell."""
        if self._in_cell:
            self.tables[-1][-1][-1] += data
