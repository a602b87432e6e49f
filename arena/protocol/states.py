"""States of bots and matches, kinds of matches, account roles and token scopes."""

from enum import StrEnum


class BotState(StrEnum):
    """State of a bot."""

    ACTIVE = "active"
    BENCHED = "benched"
    """Paused by the arena or an operator, for a public reason. The bot stays on the leaderboard."""
    RETIRED = "retired"
    """Off the ladder until the owner, an operator or a new version reactivates it."""
    DISQUALIFIED = "disqualified"
    """An operator took the bot off the ladder. Its games don't count."""


class MatchKind(StrEnum):
    """Purpose of a match."""

    RATED = "rated"
    QUALIFICATION = "qualification"
    """Tests a submission before it is rated. Its games are stored but never rated."""
    CHALLENGE = "challenge"
    """Requested by an account. Its games are stored but never rated."""


class MatchState(StrEnum):
    """State of a match."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    QUARANTINED = "quarantined"
    """Void or lost too often; only an operator can release it."""


class PersonGameState(StrEnum):
    """State of a person's game."""

    WAITING = "waiting"
    PLAYING = "playing"
    OVER = "over"
    LEFT = "left"
    """The person left, or did not respond for a while."""
    FAILED = "failed"
    """The arena could not finish the game."""


class Role(StrEnum):
    """Role of an account."""

    USER = "user"
    OPERATOR = "operator"


class Scope(StrEnum):
    """Permission of a token."""

    READ = "read"
    SUBMIT = "submit"
    TOKENS = "tokens"
    OPERATE = "operate"
