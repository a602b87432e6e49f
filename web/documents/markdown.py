"""Markdown becomes HTML in the site's look: sections, anchors, tables and code that scroll by themselves.

The anchors are those that the usual forges give. Raw HTML is text.
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
"""Tells where a link of a document leads on the site, or None where that is nowhere."""

_END: Final = re.compile(r"(?<=[.!?])\s(?=[A-Z])")
_WORDS: Final = 40
"""A cell with more characters holds sentences, and wants room."""

TITLE: Final = "title"
"""The anchor of a page's own heading, which its template writes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Heading:
    """A heading of a document.

    Attributes:
        level: 2, 3 and so on.
        anchor: Its fragment in the page's address.
        text: Without markup.
    """

    level: int
    anchor: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A part of a document.

    Attributes:
        headings: Its own, of level 2, and those below it; none in what comes before the first of these.
        html: All of it, its headings included. Nothing in it is markup but what this module made.
    """

    headings: tuple[Heading, ...]
    html: str

    @property
    def anchor(self) -> str:
        """Its fragment in the page's address; empty for what comes before the first heading."""
        return self.headings[0].anchor if self.headings else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A rendered document.

    Attributes:
        title: Its first heading, without markup.
        about: Its first sentence, without markup.
        sections: What comes before the first heading of level 2, then one for each of these.
    """

    title: str
    about: str
    sections: tuple[Section, ...]

    @property
    def headings(self) -> tuple[Heading, ...]:
        """All but the title."""
        return tuple(heading for section in self.sections for heading in section.headings)


def render(text: str, resolve: Resolve) -> Document:
    """Render a document.

    Args:
        text: In Markdown; it begins with its title, a heading of level 1.
        resolve: Where its links lead. Of a link that leads nowhere the text stays.

    Raises:
        ValueError: It has no title.
    """
    tokens = _MARKDOWN.parse(text)
    if not tokens or tokens[0].tag != "h1":
        raise ValueError(f"a document begins with its title, not with {text[:40]!r}")
    title, body = _plain(tokens[1]), tokens[3:]
    first = next((_plain(token) for token in body if token.type == "inline"), "")
    for token in body:
        token.children = _linked(token.children, resolve)
    headings = _anchored(body)
    _dress_cells(body)
    starts = [0, *(index for index, token in enumerate(body) if token.type + token.tag == "heading_openh2")]
    return Document(
        title=title,
        about=_sentence(first),
        sections=tuple(
            Section(
                headings=tuple(heading for index, heading in headings if start <= index < end),
                html=_MARKDOWN.renderer.render(body[start:end], _MARKDOWN.options, {}),
            )
            for start, end in pairwise([*starts, len(body)])
        ),
    )


def _plain(inline: Token) -> str:
    """Return the text of a paragraph or a heading without its markup."""
    texts = (child.content or " " for child in inline.children or () if not child.nesting)
    return " ".join("".join(texts).split())


def _sentence(text: str) -> str:
    """Return the first sentence, as one that ends."""
    first = _END.split(text, maxsplit=1)[0]
    return first[:-1] + "." if first.endswith(":") else first


def _linked(children: Sequence[Token] | None, resolve: Resolve) -> list[Token] | None:
    """Let links lead to where they lead on the site, and take those away that lead nowhere."""
    if children is None:
        return None
    kept: list[Token] = []
    address: str | None = None
    for child in children:
        if child.type == "link_open":
            address = resolve(str(child.attrs["href"]))
            child.attrs["href"] = address or ""
        if address is not None or child.type not in {"link_open", "link_close"}:
            kept.append(child)
    return kept


def _anchored(tokens: Sequence[Token]) -> list[tuple[int, Heading]]:
    """Give every heading its anchor and a link to itself, and every table its name; return the headings."""
    found: list[tuple[int, Heading]] = []
    seen = Counter[str]()
    for index, (token, inline) in enumerate(pairwise(tokens)):
        if token.type == "heading_open":
            slug = re.sub(r"[^\w\- ]", "", inline.content.lower()).replace(" ", "-")
            anchor = f"{slug}-{seen[slug]}" if seen[slug] else slug
            seen[slug] += 1
            token.attrs["id"] = anchor
            heading = Heading(level=int(token.tag[1:]), anchor=anchor, text=_plain(inline))
            (inline.children or []).append(Token("html_inline", "", 0, content=_self_link(heading)))
            found.append((index, heading))
        elif token.type == "table_open":
            token.meta["label"] = found[-1][1].anchor if found else TITLE
    return found


def _self_link(heading: Heading) -> str:
    return (
        f' <a class="anchor" href="#{heading.anchor}" aria-label="{escape("Link to " + heading.text)}">#</a>'
    )


def _dress_cells(tokens: Sequence[Token]) -> None:
    """Tell tables with sentences in them from those with words; say of heads of columns that they are."""
    table = None
    for index, token in enumerate(tokens):
        if token.type == "table_open":
            table = token
        if token.type not in {"th_open", "td_open"}:
            continue
        content = tokens[index + 1].content
        if token.attrs.pop("style", None) == "text-align:right":  # the site's policy forbids styles
            token.attrs["class"] = "number"
        if table is not None and len(content) > _WORDS:
            table.attrs["class"] = "wordy"
        if token.type == "th_open" and content:
            token.attrs["scope"] = "col"
        elif token.type == "th_open":  # an empty cell is the head of nothing
            token.tag = tokens[index + 2].tag = "td"


class _Renderer(RendererHTML):
    """Tables and code scroll by themselves, so the keyboard has to reach them."""

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
