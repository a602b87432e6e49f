"""News about bots and the ladder, for feeds and notifications: the topics and the texts."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

from arena.protocol.states import BotState
from arena.protocol.submissions import Cause


class Topic(StrEnum):
    """Events that authors can subscribe to."""

    BENCHED = "benched"
    OVERTAKEN = "overtaken"
    SUBMISSION = "submission"
    LADDER = "ladder"

    @property
    def text(self) -> str:
        """When a notification is sent, as the end of a sentence that begins with "When"."""
        return _TOPIC_TEXTS[self]


_TOPIC_TEXTS: Final = {
    Topic.BENCHED: "one of your bots is benched or disqualified",
    Topic.OVERTAKEN: "another bot takes the rank of one of your bots (reported at most once a day per bot)",
    Topic.SUBMISSION: "a submission is accepted or rejected, or a check ends",
    Topic.LADDER: "the ladder is paused or resumed",
}

TEST: Final = "test"
"""Used instead of a topic for a test that the author requested."""

CONFIRM: Final = "confirm"
"""Used instead of a topic for the request to confirm an email address."""


@dataclass(frozen=True, slots=True, kw_only=True)
class News:
    """Something that happened to a bot or the ladder. Its title and text may contain untrusted text."""

    bot: str  # the bot's name; empty if the news isn't about a bot
    place: str  # a path on the site, unique among the news about a bot and never reused
    title: str
    text: str  # a sentence
    at: datetime  # UTC


def version_joined(bot: str, number: int, at: datetime) -> News:
    """Return the news that a version has joined the ladder."""
    return News(
        bot=bot,
        place=f"/bots/{bot}?version={number}",
        title=f"{bot}: version {number} joined the ladder",
        text=f"Version {number} of {bot} joined the ladder.",
        at=at,
    )


def state_changed(bot: str, state: BotState, reason: str | None, at: datetime) -> News:
    """Return the news about a bot's new state."""
    return News(
        bot=bot,
        place=f"/bots/{bot}#{state}-{_stamp(at)}",
        title=f"{bot}: {state}",
        text=f"{bot} is {state}: {reason.removesuffix('.')}." if reason else f"{bot} is {state}.",
        at=at,
    )


def overtaken(bot: str, by: str, rank: int, at: datetime) -> News:
    """Return the news that another bot has overtaken a bot, which had this rank (from 1)."""
    return News(
        bot=bot,
        place=f"/bots/{bot}#overtaken-{_stamp(at)}",
        title=f"{bot}: overtaken by {by}",
        text=f"{by} overtook {bot}, which had rank {rank}.",
        at=at,
    )


def submission_done(  # noqa: PLR0913 - the outcome of a submission
    bot: str, submission: str, at: datetime, *, check_only: bool, version: int | None, cause: Cause | None
) -> News:
    """Return the news that a submission was accepted or rejected.

    ``submission`` is the submission's id. ``version`` is the number of the version that it became, if any.
    """
    what = "check" if check_only else "submission"
    if cause is not None:
        why = cause.text.partition("\n")[0].removesuffix(".")
        outcome, verb = ("failed", "failed") if check_only else ("rejected", "was rejected")
        text = f"The {what} of {bot} {verb}: {why}."
    elif version is None:
        outcome, text = "passed", f"{bot} passed its check: it would qualify."
    else:
        outcome, text = "accepted", f"Version {version} of {bot} joined the ladder."
    return News(
        bot=bot, place=f"/submissions/{submission}", title=f"{bot}: {what} {outcome}", text=text, at=at
    )


def ladder_changed(*, paused: bool, at: datetime) -> News:
    """Return the news that an operator has paused or resumed the ladder."""
    state = "paused" if paused else "resumed"
    text = (
        "waiting matches are still played, but no new ones are created"
        if paused
        else "new matches are created again"
    )
    return News(
        bot="",
        place=f"/status#{state}-{_stamp(at)}",
        title=f"Ladder {state}",
        text=f"The ladder has been {state}: {text}.",
        at=at,
    )


def sample(at: datetime) -> News:
    """Return the news that is sent to test a subscription."""
    return News(bot="", place="/account", title="Test notification", text="You asked for this test.", at=at)


def please_confirm(at: datetime) -> News:
    """Return the news that asks for confirmation of an email address."""
    return News(
        bot="",
        place="/account",
        title="Confirm your address",
        text="Someone, probably you, asked for Kaiten notifications to be sent to this address.",
        at=at,
    )


def _stamp(at: datetime) -> str:
    return f"{at:%Y%m%dT%H%M%SZ}"
