"""A badge: a small picture with a bot's rank and rating, for pages elsewhere."""

from dataclasses import dataclass
from typing import Final

from web.board import Row
from web.text import fixed

_NARROW: Final = frozenset("fijlrtI.,:;'|!()[]- ")
_WIDE: Final = frozenset("mwMWOQ@#%\N{PLUS-MINUS SIGN}")
_WIDTHS: Final = (4.2, 7.0, 9.4)
"""Of narrow, other and wide letters, at 11 px. The picture fits the letters to them, whatever the font."""
_PADDING: Final = 7
_MARK: Final = 15


@dataclass(frozen=True, slots=True, kw_only=True)
class Badge:
    """What a badge is drawn from, in pixels.

    Attributes:
        label: Whose it is.
        value: What it says.
        title: The same in words, for who can't see it.
        label_width: Of the left part, with the mark.
        value_width: Of the right part.
        label_length: Of the label's text.
        value_length: Of the value's text.
    """

    label: str
    value: str
    title: str
    label_width: int
    value_width: int
    label_length: int
    value_length: int


def badge_of(bot: str, row: Row | None, bots: int, state: str) -> Badge:
    """Return the badge of a bot.

    Args:
        bot: Its name.
        row: Its line of the leaderboard; None where it is not on it.
        bots: How many are on it.
        state: Why it is not on it, in a word.
    """
    if row is None:
        return _badge(bot, state, f"{bot} on Kaiten: {state}")
    if not row.games:
        return _badge(bot, "no game yet", f"{bot} on Kaiten: no rated game yet")
    rating = f"{fixed(row.mean, 1)} \N{PLUS-MINUS SIGN} {fixed(row.spread, 1)}"
    provisional = ", provisional" if row.provisional else ""
    return _badge(
        bot,
        f"#{row.rank} \N{MIDDLE DOT} {rating}{provisional}",
        f"{bot} on Kaiten: rank {row.rank} of {bots}, rating {rating}{provisional}",
    )


def _badge(label: str, value: str, title: str) -> Badge:
    label_length, value_length = _length(label), _length(value)
    return Badge(
        label=label,
        value=value,
        title=title,
        label_width=label_length + _MARK + 2 * _PADDING,
        value_width=value_length + 2 * _PADDING,
        label_length=label_length,
        value_length=value_length,
    )


def _length(text: str) -> int:
    narrow, other, wide = _WIDTHS
    return round(sum(narrow if letter in _NARROW else wide if letter in _WIDE else other for letter in text))
