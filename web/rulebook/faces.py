"""The cards' faces in the table of the deck."""

from typing import Final

from arena.rules import Card

_FACE: Final = (
    '<td class="named"><svg class="face" viewBox="0 0 40 56" aria-hidden="true">'
    '<use href="/static/cards.svg#{0}"/></svg>{0}</td>'
)


def with_faces(html: str) -> str:
    """Return HTML in which each cell that holds the name of a kind has its face too."""
    for card in Card:
        html = html.replace(f"<td>{card.label}</td>", _FACE.format(card.label))
    return html
