"""``arena league``: a rated league of the bots in a folder."""

import random
import secrets
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from msgspec import to_builtins

from arena.cli.compare import tables_of
from arena.cli.console import (
    EXIT_FAILURE,
    EXIT_INTERRUPTED,
    EXIT_USAGE,
    Json,
    fail,
    print_json,
    print_table,
    say,
    track,
)
from arena.cli.leaderboard import FIGURES, figures
from arena.cli.play import MoreCommands, Report, Seed, explain, player_of
from arena.ladder.matchmaking import TooFewBots
from arena.local.bots import LocalBot, UnusableBot, bot_of_command, bots_in, find_bot
from arena.local.games import LocalResult
from arena.local.resultsfile import ResultsFile, WrongResults
from arena.local.workers import PlayingFailed, WorkerEnded
from arena.platform.text import counted
from arena.play.replay.document import Variant
from arena.protocol.leaderboard import Row
from arena.rules import InvalidRules

if TYPE_CHECKING:
    from arena.local.league import League


def league(  # noqa: PLR0913 - one argument per option
    folder: Annotated[
        Path, typer.Argument(help="Folder that contains the league's bots: source files or subfolders.")
    ],
    *,
    house: Annotated[str, typer.Option(help="House bots to add, separated by commas.")] = "",
    commands: MoreCommands = None,
    games: Annotated[int, typer.Option("--games", "-n", min=0, help="Number of games to add.")] = 300,
    players: Annotated[str, typer.Option(help="Players per table: numbers separated by commas.")] = "2,3,4,5",
    results: Annotated[
        Path | None,
        typer.Option(help="The league's file. Default: league.jsonl in the folder.", dir_okay=False),
    ] = None,
    seed: Seed = None,
    as_json: Json = False,
) -> None:
    """Play a rated league between all bots in a folder, and print its table.

    Matchmaking and ratings work as on the ladder. Running the command again adds games.

    Example: arena league ./bots --house greedy,expected --games 600
    """
    from arena.local.league import League, LeagueRules, read_league

    path = results or folder / "league.jsonl"
    with ExitStack() as stack:
        try:
            bots = _bots(folder, house, commands or (), tables_of(players))
            wanted = LeagueRules(
                tables=tables_of(players), seed=secrets.randbits(32) if seed is None else seed
            )
            file = stack.enter_context(closing(ResultsFile(path)))
            rules, log = read_league(file, wanted, any_seed=seed is None)
            state = League(rules, bots)
            state.replay(log)
        except (InvalidRules, UnusableBot, WrongResults) as error:
            fail(str(error))
        except (KeyError, ValueError) as error:
            fail(f"{path} is not a league file: {error}")
        except OSError as error:
            fail(f"can't use {path}: {error.strerror}")
        code = _add(state, bots, games, file)
    _print(state, bots, path, as_json=as_json)
    if code:
        raise typer.Exit(code)


def _bots(
    folder: Path, house: str, commands: Sequence[str], tables: Sequence[Variant]
) -> tuple[LocalBot, ...]:
    bots = list(bots_in(folder))
    names = {bot.name for bot in bots}
    for word in filter(None, (word.strip() for word in house.split(","))):
        if word in names:
            raise UnusableBot(f"a bot in {folder} has the same name as the house bot {word}: rename yours")
        bots.append(find_bot(word))
    for bot in map(bot_of_command, commands):
        if any(bot.name == other.name for other in bots):
            raise UnusableBot(f"two bots in the league are called {bot.name}: rename one of them")
        bots.append(bot)
    needed = min(table.players for table in tables)
    if len(bots) < needed:
        raise UnusableBot(
            f"too few bots in the league: {len(bots)} found, {needed} needed. Add house bots with --house"
        )
    return tuple(bots)


def _add(state: "League", bots: tuple[LocalBot, ...], games: int, file: ResultsFile) -> int:
    """Play games, and return the exit code."""
    report = Report(bots)
    dice = random.Random(secrets.randbits(64))  # noqa: S311 - pairings need no secrecy
    try:
        new: tuple[object, ...] = state.enter_missing()
        with player_of(bots, max(1, games)).playing(state.plan(games, dice)) as played:
            for result in track(_report_mistakes(played, report), games, "league"):
                for line in (*new, state.played(result)):
                    file.write(line)
                new = ()
    except KeyboardInterrupt:
        say("stopped; run the same command again to add more games")
        return EXIT_INTERRUPTED
    except OSError as error:
        fail(f"can't continue: {error}")
    except (TooFewBots, UnusableBot) as error:
        fail(str(error))
    except WorkerEnded as error:
        report.report_mistake(error.mistake)
        return EXIT_FAILURE
    except PlayingFailed as error:
        explain(error, EXIT_USAGE)
    return 0


def _report_mistakes(played: Iterable[LocalResult], report: Report) -> Iterator[LocalResult]:
    for result in played:
        report.report_mistakes(result)
        yield result
        if report.too_slow:
            raise typer.Exit(EXIT_FAILURE)


def _print(state: "League", bots: Sequence[LocalBot], file: Path, *, as_json: bool) -> None:
    board = state.board()
    names = [row.bot for row in board.rows]
    if as_json:
        meetings = [
            {"bot": bot, "other": other, **state.meeting(bot, other)._asdict()}
            for bot in names
            for other in names
            if bot != other and state.meeting(bot, other).games
        ]
        print_json({**to_builtins(board), "games": state.games, "meetings": meetings})
        return
    columns = ("#", "bot", *FIGURES, "median ms")
    print_table(columns, map(_cells, board.rows), numbers=[column for column in columns if column != "bot"])
    typer.echo("\nShare of games finished ahead of each opponent, % (games):")
    meetings_table = [[bot, *(_meeting(state, bot, other) for other in names)] for bot in names]
    print_table(["", *names], meetings_table, numbers=names)
    say(f"{counted(state.games, 'game')} between {len(bots)} bots, recorded in {file}")


def _cells(row: Row) -> tuple[str, ...]:
    return (
        str(row.rank),
        f"{row.bot}@{row.version}",
        *figures(row),
        "-" if row.median_millis is None else f"{row.median_millis:.2g}",
    )


def _meeting(state: "League", bot: str, other: str) -> str:
    if bot == other:
        return ""
    meeting = state.meeting(bot, other)
    if not meeting.games:
        return "-"
    return f"{100 * (meeting.ahead + meeting.tied / 2) / meeting.games:.0f} ({meeting.games})"
