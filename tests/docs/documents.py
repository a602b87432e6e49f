"""The documents, and functions that extract parts of them."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
DOCUMENTS = sorted([*ROOT.glob("*.md"), *DOCS.glob("*.md"), *ROOT.glob("bots/**/README.md")])

_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
_INLINE = re.compile(r"`([^`\n]+)`")
_ROW = re.compile(r"^\|(.+)\|$", re.MULTILINE)


def name(document: Path) -> str:
    """Return a document's path in the repository."""
    return document.relative_to(ROOT).as_posix()


def blocks(document: Path, language: str) -> list[str]:
    """Return the fenced code blocks in a language."""
    return [text for kind, text in _FENCE.findall(document.read_text()) if kind == language]


def headings(document: Path) -> list[str]:
    """Return the headings, except lines in fenced code blocks."""
    return _HEADING.findall(_FENCE.sub("", document.read_text()))


def code_lines(document: Path) -> list[str]:
    """Return the lines of indented code blocks, and all texts between backticks."""
    text = _FENCE.sub("", document.read_text())
    indented = [line.strip() for line in text.splitlines() if line.startswith("    ")]
    return indented + _INLINE.findall(text)


def rows(document: Path) -> list[list[str]]:
    """Return the rows of all tables as lists of cells, without the separator rows below headings."""
    cells = [[cell.strip() for cell in row.split("|")] for row in _ROW.findall(document.read_text())]
    return [row for row in cells if not set("".join(row)) <= set("-: ")]
