"""Whom a bot can be let play against, to choose from in the form of a challenge."""

from typing import Final

from arena.store import KnownBot, Store

_MOST_OLDER: Final = 20


def read_opponents(store: Store, bot: KnownBot) -> tuple[str, ...]:
    """Return names as a challenge takes them: older and newer versions of the bot, then others by score.

    Args:
        store: Where they are.
        bot: The one that challenges; its version that plays is at the table anyway.
    """
    own = tuple(
        f"{bot.name}@{version.number}"
        for version in store.bots.versions(bot.name, None, _MOST_OLDER)
        if version.available and not version.playing
    )
    others = tuple(standing.bot for standing in store.reads.leaderboard() if standing.bot != bot.name)
    return own + others
