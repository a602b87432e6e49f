"""Whom a bot can be let play against, to choose from in the form of a challenge."""

from collections.abc import Iterator, Sequence
from typing import Final

from arena.store import KnownBot, Store
from web.board import Wanted
from web.boards import Boards
from web.text import NAME_LENGTH, plain

_MOST_OLDER: Final = 20
_MOST_OTHERS: Final = 50
"""Of those that are ahead. The form's script asks the board for others."""
_MOST_ALIKE: Final = 20
"""For each name that was typed."""


def read_opponents(store: Store, boards: Boards, bot: KnownBot, typed: Sequence[str] = ()) -> tuple[str, ...]:
    """Return names as a challenge takes them, of so many bots as a page can hold.

    Args:
        store: Where versions are.
        boards: Know who is on the ladder.
        bot: The one that challenges; its version that plays is at the table anyway.
        typed: Names that were typed and refused.

    Returns:
        Bots whose names are like what was typed, older and newer versions of the bot, then those ahead.
    """
    own = (
        f"{bot.name}@{version.number}"
        for version in store.bots.versions(bot.name, None, _MOST_OLDER)
        if version.available and not version.playing
    )
    alike = (
        name for text in typed for name in _listed(boards, Wanted(search=_searched(text), limit=_MOST_ALIKE))
    )
    ahead = _listed(boards, Wanted(limit=_MOST_OTHERS))
    names = dict.fromkeys((*alike, *own, *ahead))
    names.pop(bot.name, None)
    return tuple(names)


def _searched(typed: str) -> str:
    """Return the name in what was typed, which may name a version and be anything."""
    return plain(typed.partition("@")[0][:NAME_LENGTH])


def _listed(boards: Boards, wanted: Wanted) -> Iterator[str]:
    return (row.bot for row in boards.board(wanted).rows)
