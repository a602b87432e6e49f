"""``arena play`` and ``arena puzzle``: games and single positions on this machine."""

import logging
import secrets
import sys
from collections.abc import Sequence
from contextlib import nullcontext, redirect_stdout
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from shlex import quote
from typing import Annotated, Final, NoReturn

import typer
from platformdirs import user_cache_path

from arena.cli.console import (
    EXIT_FAILURE,
    EXIT_INTERRUPTED,
    Json,
    exit_on_write_error,
    fail,
    millis,
    open_output,
    print_json,
    print_table,
    say,
    show,
    track,
)
from arena.local.bots import LocalBot, UnusableBot, bot_of_command, find_bot, with_distinct_names
from arena.local.games import LocalResult, Mistake
from arena.local.puzzle import InvalidPuzzle, Puzzle, encode_puzzle, move_text, parse_puzzle, position_lines
from arena.local.solving import Solution, answers
from arena.local.tally import BotTally, schedule, tallies
from arena.local.workers import BotUnloadable, GamePlayer, PlayingFailed, PythonPlayer, WorkerEnded, cores
from arena.platform.text import counted, visible
from arena.protocol.faults import Fault
from arena.rules import InvalidRules, Rules

Seed = Annotated[
    int | None,
    typer.Option(
        min=0,
        max=2**64 - 1,
        help="Seed for decks and, unless bots run as programs, Python's random module. Default: random.",
    ),
]
SoySauce = Annotated[bool, typer.Option("--soy-sauce", help="Variant: soy sauce.")]
PassBothWays = Annotated[
    bool, typer.Option("--pass-both-ways", help="Variant: pass to the right in round 2.")
]
Dummy = Annotated[bool, typer.Option("--dummy", help="Variant: two players with a dummy.")]
Out = Annotated[
    str | None, typer.Option("--out", "-o", help="File for the replays, one per line; - for stdout.")
]
MoreCommands = Annotated[
    list[str] | None,
    typer.Option("--bot", help="An additional bot in any language, as a quoted command.", metavar="COMMAND"),
]
OneCommand = Annotated[
    str | None,
    typer.Option(
        "--bot", help="A bot in any language, as a quoted command, instead of BOT.", metavar="COMMAND"
    ),
]

_BOTS_PER_GAME: Final = range(2, 6)


def play(  # noqa: PLR0913 - one argument per option
    bots: Annotated[
        list[str] | None,
        typer.Argument(help="Two to five bots: files, folders or house bots.", metavar="BOT"),
    ] = None,
    *,
    commands: MoreCommands = None,
    games: Annotated[int, typer.Option("--games", "-n", min=1, help="Number of games.")] = 100,
    processes: Annotated[
        bool,
        typer.Option("--processes", help="Run even Python bots as separate processes, as the ladder does."),
    ] = False,
    seed: Seed = None,
    out: Out = None,
    soy_sauce: SoySauce = False,
    pass_both_ways: PassBothWays = False,
    dummy: Dummy = False,
    as_json: Json = False,
) -> None:
    """Play games between bots on this machine, and print a table of the results.

    Every deal is played once in each rotation of the seats, with the ladder's clock. Nothing is isolated: run
    only bots that you trust.

    Example: arena play mybot.py greedy expected --games 300
    """
    if as_json and out == "-":
        fail("--json and the replays can't both go to stdout: specify a file with -o")
    seed = secrets.randbits(32) if seed is None else seed
    try:
        table = with_distinct_names([*map(find_bot, bots or ()), *map(bot_of_command, commands or ())])
        rules = _rules(table, soy_sauce=soy_sauce, pass_both_ways=pass_both_ways, dummy=dummy)
    except (InvalidRules, UnusableBot) as error:
        fail(str(error))
    report = Report(table)
    plan = player_of(table, games, with_replays=out is not None, processes=processes)
    code = 0
    try:
        with (
            exit_on_write_error(out),
            open_output(out) if out else nullcontext() as file,
            plan.playing(schedule(rules, seed, games, "play")) as played,
        ):
            for result in track(played, games, "play"):
                if file is not None and result.replay is not None:
                    file.write(result.replay + b"\n")
                report.add(result)
                if report.too_slow:
                    break
    except KeyboardInterrupt:
        say_stopped(len(report.results), games, out)
        code = EXIT_INTERRUPTED
    except WorkerEnded as error:
        report.report_mistake(error.mistake)
        say_stopped(len(report.results), games, out)
    except PlayingFailed as error:
        explain(error)
    report.print(seed, rules, as_json=as_json, table=out != "-")
    if code or report.faults:
        raise typer.Exit(code or EXIT_FAILURE)


def say_stopped(played: int, games: int, out: str | None) -> None:
    """Say that a command stopped early, and that it didn't write its file ``out``."""
    unwritten = f"; {out} was not written" if out and out != "-" else ""
    say(f"stopped after {played} of {games} games{unwritten}")


def player_of(
    bots: tuple[LocalBot, ...], games: int, *, with_replays: bool = False, processes: bool = False
) -> GamePlayer:
    """Return a player for games between these bots.

    If all bots are in Python and ``processes`` is False, the player runs them in its own processes, which
    is faster. Otherwise, it runs each bot as a program.
    """
    at_once = min(cores(), games)
    if not processes and all(bot.in_process for bot in bots):
        return PythonPlayer(bots=bots, with_replays=with_replays, processes=at_once)
    # Slow to import, and needed only for programs.
    from arena.local.processes import ProgramPlayer
    from arena.platform.logs import configure_logs
    from arena.platform.settings import LogFormat, LogLevel

    configure_logs(LogFormat.CONSOLE, LogLevel.ERROR)
    return ProgramPlayer(bots=bots, with_replays=with_replays, processes=at_once)


def explain(error: PlayingFailed, code: int = EXIT_FAILURE) -> NoReturn:
    """Print why games can't be played, and exit."""
    if isinstance(error, BotUnloadable) and error.trace:
        show(error.trace)
    fail(str(error), code)


def _rules(bots: Sequence[LocalBot], **variants: bool) -> Rules:
    if len(bots) not in _BOTS_PER_GAME:
        given = ", ".join(bot.name for bot in bots) or "none"
        raise UnusableBot(
            f"a game needs two to five bots, but you gave {given}. Example: arena play mybot.py greedy"
        )
    return Rules(players=len(bots), **variants)


class Report:
    """Collects results, and reports each kind of mistake when it first happens."""

    def __init__(self, bots: Sequence[LocalBot]) -> None:
        self._bots = bots
        self._names = [bot.name for bot in bots]
        self._kinds: dict[tuple[int, Fault, str], int] = {}
        self.results: list[LocalResult] = []  # in order
        self.mistakes: list[dict[str, object]] = []
        self.faults = 0  # number of mistakes
        self.too_slow = False  # whether to stop because a bot was taken over after a timeout

    def add(self, result: LocalResult) -> None:
        """Add a game to the table, and report its mistakes."""
        self.results.append(result)
        self.report_mistakes(result)

    def report_mistakes(self, result: LocalResult) -> None:
        """Report a game's mistakes."""
        late = set()
        for mistake in result.mistakes:
            self.report_mistake(mistake)
            if mistake.fault is Fault.TIMEOUT:
                late.add(mistake.bot)
        for seat, bot in zip(result.seats, result.game.bots, strict=True):
            if seat.is_taken_over and bot in late:
                self.too_slow = True
                say(f"{self._names[bot]} was taken over after a timeout: stopping")

    def report_mistake(self, mistake: Mistake) -> None:
        """Count a mistake, and report it if it is the first of its kind."""
        self.faults += 1
        kind = (mistake.bot, mistake.fault, mistake.where)
        self._kinds[kind] = self._kinds.get(kind, 0) + 1
        if self._kinds[kind] > 1:
            return
        name = self._names[mistake.bot]
        where = f" ({mistake.where})" if mistake.where else ""
        say(f"{name}: {mistake.fault} in game {mistake.game}: {mistake.what}{where}", logging.ERROR)
        saved = None
        if mistake.trace:
            show(mistake.trace)
        if mistake.puzzle is not None:
            show("\n".join(position_lines(mistake.puzzle.views()[-1])))
            saved = save_puzzle(name, mistake.puzzle)
        if saved is not None:
            say(f"to reproduce: {puzzle_command(saved, self._bots[mistake.bot])}")
        self.mistakes.append(
            {
                "bot": name,
                "game": mistake.game,
                "fault": mistake.fault.value,
                "what": mistake.what,
                "where": mistake.where or None,
                "puzzle": None if saved is None else str(saved),
            }
        )

    def print(self, seed: int, rules: Rules, *, as_json: bool, table: bool) -> None:
        """Print a summary of the games so far; with ``table``, also print a table on stdout."""
        found = tallies(self._names, self.results)
        if as_json:
            rest = {
                "rules": asdict(rules),
                "bots": [asdict(each) for each in found],
                "mistakes": self.mistakes,
            }
            print_json({"seed": seed, "games": len(self.results)} | rest)
            return
        if found and table:
            print_table(_COLUMNS, map(_cells, found), numbers=_COLUMNS[1:])
        again = [
            f"further mistakes by {self._names[kind[0]]} ({kind[1]}): {count - 1}"
            for kind, count in self._kinds.items()
            if count > 1
        ]
        if again:
            say(f"not shown: {'; '.join(again)}")
        say(f"{counted(len(self.results), 'game')}, --seed {seed}")


_COLUMNS: Final = ("bot", "wins", "beaten %", "place", "points", "faults", "median ms", "slowest ms")


def _cells(tally: BotTally) -> tuple[str, ...]:
    within = "" if tally.beaten_within is None else f" ± {100 * tally.beaten_within:.1f}"
    return (
        tally.bot,
        str(tally.wins),
        f"{100 * tally.beaten:.1f}{within}",
        f"{tally.mean_place:.2f}",
        f"{tally.points:.1f}",
        str(tally.faults),
        millis(tally.median_millis),
        millis(tally.slowest_millis),
    )


def save_puzzle(name: str, puzzle: Puzzle, folder: Path | None = None) -> Path | None:
    """Save a position, by default in the user's cache. Return its file, or None after printing an error."""
    text = encode_puzzle(puzzle)
    folder = folder or user_cache_path("kaiten") / "puzzles"
    file = folder / f"{name}-{sha256(text).hexdigest()[:8]}.json"
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with open_output(str(file)) as target:
            target.write(text + b"\n")
    except OSError as error:
        say(f"can't save the position to {file}: {error}", logging.ERROR)
        return None
    return file


def puzzle_command(file: Path, bot: LocalBot) -> str:
    """Return the command that asks a bot for its move in a saved position."""
    return f"arena puzzle {quote(str(file))} {bot.word}"


def puzzle(
    file: Annotated[str, typer.Argument(help="A position saved by `arena play` or `arena rerun`.")],
    bot: Annotated[str | None, typer.Argument(help="A file, a folder or a house bot.", metavar="BOT")] = None,
    *,
    command: OneCommand = None,
    as_json: Json = False,
) -> None:
    """Ask a bot for its move in one position.

    The bot is first asked for its earlier decisions in the game. The exit code is 1 if the bot fails, or if
    its move is late or illegal.

    Example: arena puzzle ~/.cache/kaiten/puzzles/mybot-1a2b3c4d.json mybot.py
    """
    position, found = _position(file), solver(bot, command)
    if not as_json:
        typer.echo("\n".join(position_lines(position.views()[-1])))
    try:
        answer = _solution(found, position)
    except OSError as error:
        fail(f"can't run {found.name}: {error}")
    except PlayingFailed as error:
        explain(error)
    except KeyboardInterrupt:
        raise typer.Exit(EXIT_INTERRUPTED) from None
    if as_json:
        print_json(answer.as_json())
    elif answer.move is not None:
        typer.echo(f"{found.name} plays {visible(move_text(answer.move))} after {millis(answer.millis)} ms")
    if answer.trace:
        show(answer.trace)
    if answer.trouble is not None:
        fail(f"{found.name}: {answer.trouble}" + (f" ({answer.where})" if answer.where else ""), EXIT_FAILURE)


def _position(file: str) -> Puzzle:
    try:
        position = parse_puzzle(Path(file).read_bytes())
        position.views()
    except OSError as error:
        fail(f"can't read {file}: {error.strerror}")
    except InvalidPuzzle as error:
        fail(f"{file}: {error}")
    return position


def solver(word: str | None, command: str | None) -> LocalBot:
    """Return the bot given on a command line; on an error, print it and exit."""
    if (word is None) == (command is None):
        fail("give one bot: a file, a folder, a house bot, or --bot with a command")
    try:
        return find_bot(word) if word is not None else bot_of_command(command or "")
    except UnusableBot as error:
        fail(str(error))


def _solution(bot: LocalBot, position: Puzzle) -> Solution:
    if bot.in_process:
        with redirect_stdout(sys.stderr):
            *_, last = answers(bot, (position.views(),))  # the last answer, or a failure before it
        return last
    from arena.local.ask_program import GameToAsk, solve_as_program

    game = GameToAsk(position.rules.as_rules, position.seed, position.seat, position.joint_moves())
    return solve_as_program(bot, game)
