"""What happens to bots, in words."""

from dataclasses import dataclass
from datetime import datetime

from arena.protocol.states import BotState


@dataclass(frozen=True, slots=True, kw_only=True)
class News:
    """Something that happened to a bot. Texts may contain untrusted text."""

    bot: str  # name
    place: str  # a path of the site, different for each piece of news of a bot, and never reused
    title: str
    text: str  # a sentence
    at: datetime  # UTC


def version_joined(bot: str, number: int, at: datetime) -> News:
    """Return the news that a version plays rated games."""
    return News(
        bot=bot,
        place=f"/bots/{bot}?version={number}",
        title=f"{bot}: version {number}",
        text=f"Version {number} of {bot} joined the ladder.",
        at=at,
    )


def state_changed(bot: str, state: BotState, reason: str | None, at: datetime) -> News:
    """Return the news of a bot's new state."""
    return News(
        bot=bot,
        place=f"/bots/{bot}#{state}-{at:%Y%m%dT%H%M%SZ}",
        title=f"{bot}: {state}",
        text=f"{bot} is {state}: {reason}." if reason else f"{bot} is {state}.",
        at=at,
    )
