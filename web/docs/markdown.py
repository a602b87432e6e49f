"""Renders Markdown as HTML for the site: sections, anchors, scrollable tables and code.

Anchors match those of common code hosts. Comment lines are left out; other raw HTML is escaped.
"""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict

Resolve = Callable[[str], str | None]
"""Maps a link in a document to its target's address, or to None if the target isn't on the site."""

_COMMENT: Final = re.compile(r"^<!--.*-->\n", re.MULTILINE)
_END: Final = re.compile(r"(?<=[.!?])\s(?=[A-Z])")
_MAX_SHORT_CELL: Final = 40
"""Longer cells contain sentences and need room."""

TITLE: Final = "title"
"""The anchor of the heading that the page's template writes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Heading:
    """A heading: its level (at least 2), its fragment, and its text without markup."""

    level: int
    anchor: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A part of a document."""

    # Its level-2 heading and the headings below it; empty before the first level-2 heading.
    headings: tuple[Heading, ...]
    html: str  # its content with headings; all markup in it comes from this module

    @property
    def anchor(self) -> str:
        """The heading's fragment; empty before the first heading."""
        return self.headings[0].anchor if self.headings else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A rendered document."""

    title: str  # its first heading, without markup
    about: str  # its first sentence, without markup
    sections: tuple[Section, ...]  # the part before the first level-2 heading, then one per level-2 heading

    @property
    def headings(self) -> tuple[Heading, ...]:
        """All headings except the title."""
        return tuple(heading for section in self.sections for heading in section.headings)


def render(text: str, resolve: Resolve) -> Document:
    """Render a document.

    ``text`` begins with a level-1 heading. ``resolve`` maps links to addresses; a link mapped to None becomes
    text. Raises ValueError if there is no title.
    """
    tokens = _MARKDOWN.parse(_COMMENT.sub("", text))
    if not tokens or tokens[0].tag != "h1":
        raise ValueError(f"a document must begin with its title, not with {text[:40]!r}")
    title, body = _plain_text(tokens[1]), tokens[3:]
    first = next((_plain_text(token) for token in body if token.type == "inline"), "")
    for token in body:
        token.children = _resolve_links(token.children, resolve)
    headings = _add_anchors(body)
    _style_cells(body)
    starts = [0, *(index for index, token in enumerate(body) if token.type + token.tag == "heading_openh2")]
    return Document(
        title=title,
        about=_first_sentence(first),
        sections=tuple(
            Section(
                headings=tuple(heading for index, heading in headings if start <= index < end),
                html=_MARKDOWN.renderer.render(body[start:end], _MARKDOWN.options, {}),
            )
            for start, end in pairwise([*starts, len(body)])
        ),
    )


def _plain_text(inline: Token) -> str:
    """Return the text of a paragraph or a heading without markup."""
    texts = (child.content or " " for child in inline.children or () if not child.nesting)
    return " ".join("".join(texts).split())


def _first_sentence(text: str) -> str:
    """Return the first sentence, with a full stop."""
    first = _END.split(text, maxsplit=1)[0]
    return first[:-1] + "." if first.endswith(":") else first


def _resolve_links(children: Sequence[Token] | None, resolve: Resolve) -> list[Token] | None:
    """Resolve links; those without an address are replaced by their text."""
    if children is None:
        return None
    resolved: list[Token] = []
    address: str | None = None
    for child in children:
        if child.type == "link_open":
            address = resolve(str(child.attrs["href"]))
            child.attrs["href"] = address or ""
        if address is not None or child.type not in {"link_open", "link_close"}:
            resolved.append(child)
    return resolved


def _add_anchors(tokens: Sequence[Token]) -> list[tuple[int, Heading]]:
    """Add anchors and links to headings, and labels to tables. Return the headings with their indices."""
    found: list[tuple[int, Heading]] = []
    seen = Counter[str]()
    for index, (token, inline) in enumerate(pairwise(tokens)):
        if token.type == "heading_open":
            slug = re.sub(r"[^\w\- ]", "", inline.content.lower()).replace(" ", "-")
            anchor = f"{slug}-{seen[slug]}" if seen[slug] else slug
            seen[slug] += 1
            token.attrs["id"] = anchor
            heading = Heading(level=int(token.tag[1:]), anchor=anchor, text=_plain_text(inline))
            (inline.children or []).append(Token("html_inline", "", 0, content=_self_link(heading)))
            found.append((index, heading))
        elif token.type == "table_open":
            token.meta["label"] = found[-1][1].anchor if found else TITLE
    return found


def _self_link(heading: Heading) -> str:
    return (
        f' <a class="anchor" href="#{heading.anchor}" aria-label="{escape("Link to " + heading.text)}">#</a>'
    )


def _style_cells(tokens: Sequence[Token]) -> None:
    """Mark column headers, and tables that contain sentences."""
    table = None
    for index, token in enumerate(tokens):
        if token.type == "table_open":
            table = token
        if token.type not in {"th_open", "td_open"}:
            continue
        content = tokens[index + 1].content
        if token.attrs.pop("style", None) == "text-align:right":  # the site's CSP forbids inline styles
            token.attrs["class"] = "number"
        if table is not None and len(content) > _MAX_SHORT_CELL:
            table.attrs["class"] = "wordy"
        if token.type == "th_open" and content:
            token.attrs["scope"] = "col"
        elif token.type == "th_open":  # an empty cell is not a header
            token.tag = tokens[index + 2].tag = "td"


class _Renderer(RendererHTML):
    """Makes scrollable tables and code reachable by keyboard."""

    def table_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        label = escape(tokens[idx].meta["label"])
        opened = self.renderToken(tokens, idx, options, env)
        return f'<div class="scroll" role="group" aria-labelledby="{label}" tabindex="0">\n{opened}'

    def table_close(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        return f"{self.renderToken(tokens, idx, options, env)}</div>\n"

    def fence(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        return _CODE + super().fence(tokens, idx, options, env).removeprefix("<pre>")

    def code_block(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        return _CODE + super().code_block(tokens, idx, options, env).removeprefix("<pre>")


_CODE: Final = '<pre role="group" aria-label="Code" tabindex="0">'
_MARKDOWN: Final = MarkdownIt("commonmark", {"html": False}, renderer_cls=_Renderer).enable("table")
