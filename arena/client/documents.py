"""What a site answers of accounts, submissions and bots, as far as commands use it. Plain, frozen data."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """A token of an account.

    Attributes:
        id: With which it is revoked.
        expires: UTC.
    """

    id: int
    expires: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """Whose token it is.

    Attributes:
        name: Of the account.
        scopes: What the token may do.
        token: It.
    """

    name: str
    scopes: tuple[str, ...]
    token: Token | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """Why a submission was rejected.

    Attributes:
        stage: What it had reached.
        kind: What went wrong, in a word.
        text: The same in words.
        hint: What to try.
    """

    stage: str
    kind: str
    text: str
    hint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """A file that was sent.

    Attributes:
        id: Its own.
        bot: Name.
        size: Bytes.
        sha256: Of the file, hexadecimal.
        stage: How far it is.
        waiting: What the arena itself lacks to go on with it, or None.
        version: The number of the version that it became, or None.
        received: UTC.
        ended: UTC; None while it is on its way.
        cause: Why it was rejected, or None.
    """

    id: str
    bot: str
    size: int
    sha256: str
    stage: str
    waiting: str | None
    version: int | None
    received: datetime
    ended: datetime | None
    cause: Cause | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Bot:
    """A bot.

    Attributes:
        name: Its own.
        state: ``active``, ``benched``, ``retired`` or ``disqualified``.
        reason: Of that state, or None.
        version: The number of the version that plays.
        newest: The highest number.
    """

    name: str
    state: str
    reason: str | None
    version: int
    newest: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """How a version did.

    Attributes:
        players: Games of so many; 0 for all.
        games: Rated.
        wins: Games in which it was first, alone or shared.
        mean_place: 1 is best; None without a game.
        score: μ - 3σ.
    """

    players: int
    games: int
    wins: int
    mean_place: float | None
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """A version of a bot.

    Attributes:
        number: From 1.
        playing: Whether it is the one that plays.
        created: UTC.
        note: Its author's words; None where they are not for the caller.
        available: Whether its image is still kept.
        results: One for all games, and one a number of players.
    """

    number: int
    playing: bool
    created: datetime
    note: str | None
    available: bool
    results: tuple[Result, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A line of the leaderboard. See :class:`arena.store.Standing`; shares are of its games."""

    rank: int
    bot: str
    version: int
    author: str
    mean: float
    deviation: float
    score: float
    games: int
    win_share: float | None
    mean_place: float | None
    fault_share: float | None
    last_played: datetime | None
    benched: bool = False
