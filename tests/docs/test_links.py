"""Tests that links and paths in the documents have targets."""

import re
from pathlib import Path

import pytest

from tests.docs.documents import DOCUMENTS, ROOT, code_lines, headings, name

LINK = re.compile(r"\]\(([^)\s]+)\)")


def anchors(document: Path) -> set[str]:
    """Return the anchors that common code hosting sites give a document's headings."""
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings(document)}


@pytest.mark.parametrize("document", DOCUMENTS, ids=name)
def test_every_relative_link_leads_to_a_file_and_a_heading(document: Path) -> None:
    """The file of a link within the repository exists, and so does the heading of its anchor."""
    for link in LINK.findall(document.read_text()):
        if "://" in link:
            continue
        path, _, anchor = link.partition("#")
        target = (document.parent / path).resolve() if path else document
        assert target.exists(), f"{link}: no such file"
        assert not anchor or anchor in anchors(target), f"{link}: {name(target)} has no such heading"


@pytest.mark.parametrize("document", DOCUMENTS, ids=name)
def test_every_path_between_backticks_exists(document: Path) -> None:
    """Every path in the repository that is between backticks exists."""
    tops = {path.name for path in ROOT.iterdir() if path.is_dir()} - {
        "build",
        "data",
        "mybot",
        "node_modules",
    }
    for text in code_lines(document):
        top, slash, rest = text.partition("/")
        # bots/mybot is the reader's own folder, and kaiten/… are images.
        if slash and top in tops and re.fullmatch(r"[\w./-]+", rest) and rest != "mybot":
            assert (ROOT / text).exists(), f"{text}: no such file"


def test_every_page_of_docs_is_linked_from_the_readme() -> None:
    """The README links every page, since it serves as the table of contents."""
    linked = set(LINK.findall((ROOT / "README.md").read_text()))
    assert {name(page) for page in DOCUMENTS if page.parent == ROOT / "docs"} <= {
        link.partition("#")[0] for link in linked
    }
