"""All documents of the site, rendered, and what they tell their readers to take along."""

import posixpath
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from arena.shared import shared_folder
from web.documents.catalogue import CHAPTERS, FILES, address_of
from web.documents.markdown import Document, render

_ADDRESSES: Final = {
    **{path: address_of(path) for _, paths in CHAPTERS for path in paths},
    **{path: f"/docs/{name}" for name, path in FILES.items()},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A document and where it is.

    Attributes:
        address: Of its page.
        chapter: Title of its chapter.
        document: It.
    """

    address: str
    chapter: str
    document: Document


@dataclass(frozen=True, slots=True, kw_only=True)
class Chapter:
    """Pages that belong together, in the order in which to read them."""

    title: str
    pages: tuple[Page, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shelf:
    """All documents.

    Attributes:
        chapters: In order.
        files: What documents refer to, by its address.
    """

    chapters: tuple[Chapter, ...]
    files: dict[str, str]

    def find(self, address: str) -> Page | None:
        """Return the page of an address, or None where there is none."""
        return next(
            (page for chapter in self.chapters for page in chapter.pages if page.address == address), None
        )

    def beside(self, page: Page) -> tuple[Page | None, Page | None]:
        """Return the pages before and after one, in its chapter."""
        pages = next(chapter.pages for chapter in self.chapters if page in chapter.pages)
        place = pages.index(page)
        return pages[place - 1] if place else None, pages[place + 1] if place + 1 < len(pages) else None


@cache
def open_shelf() -> Shelf:
    """Read and render all documents, once."""
    return read_shelf(shared_folder())


def read_shelf(root: Path) -> Shelf:
    """Read and render all documents.

    Args:
        root: The folder they are in, laid out as the repository.

    Raises:
        FileNotFoundError: One isn't there.
    """
    return Shelf(
        chapters=tuple(
            Chapter(title=title, pages=tuple(_page(root, path, title) for path in paths))
            for title, paths in CHAPTERS
        ),
        files={
            address: (root / path).read_text()
            for path, address in _ADDRESSES.items()
            if path in FILES.values()
        },
    )


def _page(root: Path, path: str, chapter: str) -> Page:
    text = (root / path).read_text()
    document = render(text, lambda link: resolve(link, path))
    return Page(address=address_of(path), chapter=chapter, document=document)


def resolve(link: str, path: str) -> str | None:
    """Return where a link of a document leads on the site.

    Args:
        link: As the document has it.
        path: Of the document in the repository.

    Returns:
        The link itself where it leads to this page or elsewhere on the web; None where it leads to what the
        site doesn't show.
    """
    if link.startswith("#") or "://" in link:
        return link
    target, mark, anchor = link.partition("#")
    address = _ADDRESSES.get(posixpath.normpath(posixpath.join(posixpath.dirname(path), target)))
    return address and address + mark + anchor
