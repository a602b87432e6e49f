"""What a site answers of games, as far as commands use it. Plain, frozen data."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedDecision:
    """A decision with something to tell.

    Attributes:
        round: From 1.
        turn: From 1.
        note: The bot's own, or empty.
        fault: Its kind, or None.
        trouble: What was wrong with the answer, or None.
        millis: What the answer took; None where none came.
    """

    round: int
    turn: int
    note: str | None
    fault: str | None
    trouble: str | None
    millis: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedSeat:
    """What one's own bot left of a game.

    Attributes:
        seat: From 0.
        bot: Name.
        version: Number; None for a submission that is no version.
        exit_code: Of its match; None where the bot ran until it was ended.
        out_of_memory: Whether the kernel ended it for memory.
        trouble: What went wrong with its sandbox, or None.
        stderr: What it printed there, as it printed it.
        decisions: Those with a note, a fault or trouble.
    """

    seat: int
    bot: str
    version: int | None
    exit_code: int | None
    out_of_memory: bool
    trouble: str | None
    stderr: str
    decisions: tuple[LoggedDecision, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Logs:
    """What one's own bots left of a game.

    Attributes:
        game: Its id.
        seats: One's own.
    """

    game: str
    seats: tuple[LoggedSeat, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayedSeat:
    """How a seat came off.

    Attributes:
        bot: Name.
        version: Number.
        points: At the end.
        place: 1 is best.
    """

    bot: str
    version: int
    points: int
    place: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayedGame:
    """A game of a challenge.

    Attributes:
        game: Its id.
        seats: In their order.
    """

    game: str
    seats: tuple[PlayedSeat, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Entrant:
    """How a bot did in a challenge.

    Attributes:
        bot: Name.
        version: Number.
        games: That it has played.
        wins: Games in which it was first, alone or shared.
        mean_place: 1 is best; None without a game.
        points: On average; None without a game.
    """

    bot: str
    version: int
    games: int
    wins: int
    mean_place: float | None
    points: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Challenge:
    """Unrated games that somebody asked for.

    Attributes:
        id: Its own.
        state: ``waiting``, ``running``, ``done`` or ``failed``.
        entrants: Who plays.
        games: What has been played.
    """

    id: str
    state: str
    entrants: tuple[Entrant, ...]
    games: tuple[PlayedGame, ...]

    @property
    def over(self) -> bool:
        """Whether no more games come."""
        return self.state in {"done", "failed"}
