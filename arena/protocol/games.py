"""Games with their results and logs, as the API returns them and commands print them."""

from dataclasses import dataclass
from datetime import datetime

from arena.protocol.faults import Fault


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatResult:
    """One seat's result in a game.

    Attributes:
        bot: The bot's name.
        version: Version number, from 1.
        points: Final points.
        place: Place, from 1. Seats that the stand-in took over come last.
    """

    bot: str
    version: int
    points: int
    place: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GameLine:
    """An entry in the list of games.

    Attributes:
        game: Id of the game.
        number: The game's position in the order of rating, from 1.
        players: Number of players.
        ended: When the game ended.
        seats: In seat order.
    """

    game: str
    number: int
    players: int
    ended: datetime
    seats: tuple[SeatResult, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class GameList:
    """A page of games.

    Attributes:
        games: In the requested order, by default newest first.
        next: The URL of the next page; null on the last page.
    """

    games: tuple[GameLine, ...]
    next: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatDecision:
    """A decision with a note, a fault, an error or a long host delay.

    Attributes:
        round: Round number, from 1.
        turn: Turn number in its round, from 1.
        note: The bot's note; None if it left none.
        fault: The fault that made the stand-in play instead of the bot; None if there was none.
        trouble: Description of the error; None if there was none.
        millis: Time from request to answer; None if no answer came in time.
        waited_millis: Time that ``millis`` excludes because the host kept the bot waiting or the referee was
            late; None if zero.
    """

    round: int
    turn: int
    note: str | None
    fault: Fault | None
    trouble: str | None
    millis: float | None
    waited_millis: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedSeat:
    """The log for one seat.

    Attributes:
        seat: Seat number, from 0.
        bot: The bot's name.
        version: Version number; null for a submission that was not yet a version.
        exit_code: Exit code of the bot's program; null if it ran until the end of the match.
        out_of_memory: Whether the kernel killed the program for using too much memory.
        trouble: Description of a sandbox error; null if there was none.
        stderr: The beginning and end of its stderr from the whole match.
        decisions: Decisions with a note, a fault, an error or a long host delay.
    """

    seat: int
    bot: str
    version: int | None
    exit_code: int | None
    out_of_memory: bool
    trouble: str | None
    stderr: str
    decisions: tuple[SeatDecision, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Logs:
    """The logs for a game.

    Attributes:
        game: Id of the game.
        match: Id of its match.
        seats: Seats whose logs the caller may read.
    """

    game: str
    match: str
    seats: tuple[LoggedSeat, ...]
