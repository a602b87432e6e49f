"""The pages of the project's documents, each rendered once."""

import pathlib
import posixpath
import re
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from html import escape
from typing import Annotated, Final

import structlog
from fastapi import APIRouter, HTTPException, Path, Request, Response
from fastapi.responses import PlainTextResponse

from arena.platform.files import shared_folder
from web.docs.markdown import Document, render
from web.docs.rules import PICTURES, with_faces
from web.http.caching import tagged
from web.http.rendering import PageRouter, origin, page

RULES: Final = "docs/rules.md"
PLACEHOLDER: Final = "https://arena.example"
"""Stands for the site's address in documents. Pages replace it, so that visitors can copy the commands."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Downloads:
    """Addresses of the arena's source and package, safe in a shell; None if not offered."""

    source: str | None = None  # for `git clone`
    package: str | None = None  # for `pip install`


CHAPTERS: Final = (
    ("Tutorials", ("docs/first-bot.md", "docs/javascript.md")),
    (
        "How-to guides",
        (
            "docs/play.md",
            "docs/at-home.md",
            "docs/analysis.md",
            "docs/search.md",
            "docs/learning.md",
            "docs/submitting.md",
            "docs/operating.md",
            "docs/compose.md",
            "docs/cluster.md",
            "docs/monitoring.md",
            "docs/backup.md",
            "docs/upgrading.md",
        ),
    ),
    (
        "Reference",
        (
            RULES,
            "docs/arena-rules.md",
            "docs/glossary.md",
            "docs/cli.md",
            "docs/commands.md",
            "docs/protocol.md",
            "docs/messages.md",
            "docs/base-images.md",
            "docs/leaderboard.md",
            "docs/bot-pages.md",
            "docs/viewer.md",
            "docs/replay.md",
            "docs/api.md",
            "docs/data.md",
            "docs/accounts.md",
            "docs/notifications.md",
            "docs/settings.md",
        ),
    ),
    (
        "Explanation",
        (
            "docs/sandbox.md",
            "docs/canary.md",
            "docs/security.md",
            "docs/channels.md",
            "docs/intake.md",
            "docs/reliability.md",
            "docs/matchmaking.md",
        ),
    ),
    (
        "Sample bots",
        (
            "bots/README.md",
            "bots/random/README.md",
            "bots/greedy/README.md",
            "bots/greedy-js/README.md",
            "bots/spoiler/README.md",
            "bots/expected/README.md",
            "bots/rollout/README.md",
            "bots/mcts/README.md",
        ),
    ),
)
"""Chapters, by kind of document, and their documents in reading order."""

FILES: Final = {
    "referee.proto": "proto/arena/wire/v1/referee.proto",
    "shuffle-vectors.json": "docs/shuffle-vectors.json",
    "greedy.py": "bots/greedy/bot.py",
    "greedy.js": "bots/greedy-js/bot.js",
}
"""Files that documents offer for download, keyed by their names on the site."""


def address_of(path: str) -> str:
    """Return the address of a document's page."""
    if path == RULES:
        return "/rules"
    name = pathlib.PurePosixPath(path)
    return f"/docs/{name.parent.name if name.stem == 'README' else name.stem}"


_log = structlog.get_logger()

_ADDRESSES: Final = {
    **{path: address_of(path) for _, paths in CHAPTERS for path in paths},
    **{path: f"/docs/{name}" for name, path in FILES.items()},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A document, its page's address and its chapter's title."""

    address: str
    chapter: str
    document: Document


@dataclass(frozen=True, slots=True, kw_only=True)
class Chapter:
    """A chapter, with its pages in reading order."""

    title: str
    pages: tuple[Page, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Documentation:
    """All documents."""

    chapters: tuple[Chapter, ...]  # in order
    files: dict[str, str]  # files that documents refer to, by address

    def find(self, address: str) -> Page | None:
        """Return the page at an address; None if there is none."""
        return next(
            (page for chapter in self.chapters for page in chapter.pages if page.address == address), None
        )

    def neighbours_of(self, page: Page) -> tuple[Page | None, Page | None]:
        """Return the previous and the next page in a page's chapter."""
        pages = next(chapter.pages for chapter in self.chapters if page in chapter.pages)
        place = pages.index(page)
        return pages[place - 1] if place else None, pages[place + 1] if place + 1 < len(pages) else None


@cache
def open_documentation(downloads: Downloads) -> Documentation:
    """Read and render all documents, once."""
    return read_documentation(shared_folder(), downloads)


def read_documentation(root: pathlib.Path, downloads: Downloads) -> Documentation:
    """Read and render all documents. Unreadable ones are logged, and links to them become text.

    ``root`` is laid out like the repository.
    """
    texts = {path: with_downloads(text, downloads) for path, text in _texts(root)}
    chapters = (
        Chapter(title=title, pages=tuple(_page(texts, path, title) for path in paths if path in texts))
        for title, paths in CHAPTERS
    )
    return Documentation(
        chapters=tuple(chapter for chapter in chapters if chapter.pages),
        files={_ADDRESSES[path]: texts[path] for path in FILES.values() if path in texts},
    )


def _texts(root: pathlib.Path) -> Iterator[tuple[str, str]]:
    for path in _ADDRESSES:
        try:
            yield path, (root / path).read_text()
        except OSError as error:
            _log.warning("document unreadable", error=str(error))


def with_downloads(text: str, downloads: Downloads) -> str:
    """Insert download addresses into a document, and remove parts about downloads that aren't offered.

    Such a part is between the lines ``<!-- NAME -->`` and ``<!-- end of NAME -->``. In it,
    ``https://NAME.example`` stands for the address.
    """
    for name, address in (("source", downloads.source), ("package", downloads.package)):
        if address is None:
            text = re.sub(rf"<!-- {name} -->\n.*?<!-- end of {name} -->\n\n", "", text, flags=re.DOTALL)
        else:
            text = text.replace(f"https://{name}.example", address)
    return text


def _page(texts: Mapping[str, str], path: str, chapter: str) -> Page:
    document = render(texts[path], lambda link: resolve(link, path, texts))
    return Page(address=address_of(path), chapter=chapter, document=document)


def resolve(link: str, path: str, there: Container[str] = _ADDRESSES) -> str | None:
    """Return where a document's link leads on the site.

    ``path`` is the document's path, and ``there`` contains the paths of all documents on the site. Links
    within the page and to other sites are returned unchanged. Return None for a file that isn't on the site.
    """
    if link.startswith("#") or "://" in link:
        return link
    target, mark, anchor = link.partition("#")
    wanted = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
    return _ADDRESSES[wanted] + mark + anchor if wanted in _ADDRESSES and wanted in there else None


Name = Annotated[str, Path(pattern=r"^[a-z0-9][a-z0-9.-]{0,63}$")]


def document_pages(documentation: Documentation) -> APIRouter:
    """Return the routes for documents."""
    router = PageRouter()

    @router.get("/docs")
    def index(request: Request) -> Response:
        return page(request, "docs.html", chapters=documentation.chapters)

    @router.get("/docs/{page}")
    def one(request: Request, name: Annotated[Name, Path(alias="page")]) -> Response:
        address = f"/docs/{name}"
        if address in documentation.files:
            # Browsers display the file and don't run it, because nosniff makes them respect its type.
            kind = "application/json" if address.endswith(".json") else None
            return tagged(request, PlainTextResponse(documentation.files[address], media_type=kind))
        found = _find(documentation, address)
        here = escape(origin(request))
        return page(
            request,
            "doc.html",
            shown=found,
            sections=[part.html.replace(PLACEHOLDER, here) for part in found.document.sections],
            neighbours=documentation.neighbours_of(found),
        )

    @router.get("/rules")
    def rules(request: Request) -> Response:
        shown = _find(documentation, "/rules")
        return page(
            request,
            "rules.html",
            shown=shown,
            neighbours=documentation.neighbours_of(shown),
            pictures=PICTURES,
            with_faces=with_faces,
        )

    return router


def _find(documentation: Documentation, address: str) -> Page:
    found = documentation.find(address)
    if found is None:
        raise HTTPException(404, "There is no such documentation page. The index at /docs lists all pages.")
    return found
