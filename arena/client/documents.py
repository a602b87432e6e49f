"""What a site answers of accounts, submissions and bots, as far as commands use it. Plain, frozen data."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

_YEARS: Final = range(1970, 9999)
"""In which a time can be shown by any clock; beyond, one of another zone may be in no year at all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """A token of an account.

    Attributes:
        id: With which it is revoked.
        expires: UTC.
    """

    id: int
    expires: datetime

    def __post_init__(self) -> None:
        """Check the time."""
        _check(self.expires)


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
class Asked:
    """A request for a decision.

    Attributes:
        game: From 1.
        players: How many.
        seat: From 0.
        round: From 1.
        turn: From 1.
        hand: Names of cards.
    """

    game: int
    players: int
    seat: int
    round: int
    turn: int
    hand: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """Why a submission was rejected.

    Attributes:
        stage: What it had reached.
        kind: What went wrong, in a word.
        text: The same in words.
        hint: What to try.
        request: What the bot was asked last, or None.
    """

    stage: str
    kind: str
    text: str
    hint: str
    request: Asked | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """How a submission did in a game.

    Attributes:
        place: 1 is best.
        slowest_millis: Of its decisions; None where there was none.
        late: Decisions that came too late.
    """

    place: int
    slowest_millis: float | None = None
    late: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Game:
    """A game that a submission plays, or has played, to qualify.

    Attributes:
        players: How many.
        seat: The bot's, from 0.
        figures: How the bot did; None before the end.
    """

    players: int
    seat: int
    figures: Figures | None = None


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
        games: Those to qualify, in their order; none where the site does not tell them.
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
    games: tuple[Game, ...] = ()

    def __post_init__(self) -> None:
        """Check the times."""
        _check(self.received, self.ended)


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

    def __post_init__(self) -> None:
        """Check the time."""
        _check(self.created)


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

    def __post_init__(self) -> None:
        """Check the time."""
        _check(self.last_played)


def _check(*times: datetime | None) -> None:
    """Raise ValueError for a time that can't be."""
    for time in times:
        if time is not None and time.year not in _YEARS:
            raise ValueError(f"a time in the year {time.year}")
