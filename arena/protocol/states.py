"""States of bots and matches, kinds of matches, and what accounts and tokens may do."""

from enum import StrEnum


class BotState(StrEnum):
    """Whether a bot plays."""

    ACTIVE = "active"
    BENCHED = "benched"
    """Its games kept failing. Its owner or a new version reactivates it."""
    RETIRED = "retired"
    """Its owner took it off the ladder, and may reactivate it."""
    DISQUALIFIED = "disqualified"
    """An operator took it off the ladder; its games don't count."""


class MatchKind(StrEnum):
    """What a match is for."""

    RATED = "rated"
    QUALIFICATION = "qualification"
    """Tests a submission before it is rated. Its games are stored but never rated."""
    CHALLENGE = "challenge"
    """Requested by an account. Its games are stored but never rated."""


class MatchState(StrEnum):
    """How far a match is."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    QUARANTINED = "quarantined"
    """Voided too often; only an operator can release it."""


class PersonGameState(StrEnum):
    """How far a game of a person is."""

    WAITING = "waiting"
    PLAYING = "playing"
    OVER = "over"
    LEFT = "left"
    """The person left it, or was not heard of for a while."""
    FAILED = "failed"
    """The arena could not play it to its end."""


class Role(StrEnum):
    """What an account may do."""

    USER = "user"
    OPERATOR = "operator"


class Scope(StrEnum):
    """What a token may do."""

    READ = "read"
    SUBMIT = "submit"
    TOKENS = "tokens"
    OPERATE = "operate"
