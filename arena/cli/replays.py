"""``arena simulate`` plays games in this process; ``arena replay`` verifies and downloads replays."""

import secrets
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import nullcontext, redirect_stdout
from pathlib import Path
from sys import stderr
from typing import Annotated, BinaryIO

import typer

from arena.cli.console import (
    EXIT_FAILURE,
    EXIT_INTERRUPTED,
    EXIT_USAGE,
    Json,
    exit_on_write_error,
    fail,
    open_output,
    print_json,
    say,
    track,
)
from arena.cli.play import Dummy, Out, PassBothWays, Report, Seed, SoySauce, explain, say_stopped
from arena.local.bots import LocalBot, UnusableBot, find_bot
from arena.local.solving import simulated_mistake, simulated_player
from arena.local.timing import DecisionTimer
from arena.local.workers import PlayingFailed
from arena.platform.text import counted
from arena.play.replay.document import InvalidReplay, PublicReplay, encode, is_json, parse
from arena.play.replay.verify import log_of
from arena.play.replay.verify import verify as difference_of
from arena.play.simulate import SimulatedBotFailed
from arena.play.simulate import simulate as games_of
from arena.rules import InvalidRules, Rules


def simulate(  # noqa: PLR0913 - one argument per option
    *,
    bots: Annotated[
        str, typer.Option(help="One bot per seat, separated by commas: house bots, Python files or folders.")
    ],
    players: Annotated[
        int | None,
        typer.Option(help="Number of players, 2 to 5. Must equal the number of bots.", show_default=False),
    ] = None,
    games: Annotated[int, typer.Option(min=0, help="Number of games.")] = 1000,
    seed: Seed = None,
    out: Out = None,
    soy_sauce: SoySauce = False,
    pass_both_ways: PassBothWays = False,
    dummy: Dummy = False,
    as_json: Json = False,
) -> None:
    """Play games in this process, without a sandbox, between bots that you trust.

    This command generates bulk data. Every bot keeps its seat, and the first fault stops the command. To try
    out a bot, use ``arena play``.

    Example: arena simulate --bots ./mybot,greedy,random --games 10000 -o games.jsonl
    """
    if as_json and out == "-":
        fail("--json and the replays can't both go to stdout: specify a file with -o")
    seed = secrets.randbits(32) if seed is None else seed
    summary = _Summary()
    rules, table = _table(bots, players, soy_sauce=soy_sauce, pass_both_ways=pass_both_ways, dummy=dummy)
    timer = DecisionTimer()
    try:
        # The bots' output must not mix with the replays.
        with (
            exit_on_write_error(out),
            open_output(out) if out else nullcontext() as file,
            redirect_stdout(stderr),
            timer.running(sys.__stderr__ or stderr),
        ):
            loaded = [simulated_player(bot, timer) for bot in table]
            for replay in track(games_of(rules, loaded, seed, games), games, "simulate"):
                if file is not None:
                    file.write(encode(replay) + b"\n")
                summary.add(replay)
    except SimulatedBotFailed as failed:
        Report(table).report_mistake(simulated_mistake(failed, summary.games, table[failed.seat]))
        say_stopped(summary.games, games, out)
        raise typer.Exit(EXIT_FAILURE) from None
    except KeyboardInterrupt:
        say_stopped(summary.games, games, out)
        raise typer.Exit(EXIT_INTERRUPTED) from None
    except PlayingFailed as error:
        explain(error, EXIT_USAGE)
    finally:
        _kill_children()
    if as_json:
        print_json({"seed": seed, "games": games, "seats": list(summary.seats())})
        return
    for seat in summary.seats():
        say("seat {seat}, {bot}: wins {wins}, place {mean_place:.2f}, points {points:.1f}".format_map(seat))
    say(f"{counted(games, 'game')}, --seed {seed}" + (f", in {out}" if out else ""))


def _kill_children() -> None:
    """Kill the processes that bots have left behind. At its end, Python would wait for them."""
    import multiprocessing

    for child in multiprocessing.active_children():
        child.kill()


class _Summary:
    """Wins, places and points by seat in the games so far."""

    def __init__(self) -> None:
        self.games = 0
        self._bots: tuple[str, ...] = ()
        self._wins: Counter[int] = Counter()
        self._places: Counter[int] = Counter()
        self._points: Counter[int] = Counter()

    def add(self, replay: PublicReplay) -> None:
        self.games += 1
        self._bots = tuple(seat.bot for seat in replay.seats)
        for seat, place in enumerate(replay.places):
            self._wins[seat] += place == 1
            self._places[seat] += place
            self._points[seat] += replay.totals[seat]

    def seats(self) -> Iterator[dict[str, object]]:
        for seat, bot in enumerate(self._bots):
            place, points = self._places[seat] / self.games, self._points[seat] / self.games
            yield {"seat": seat, "bot": bot, "wins": self._wins[seat], "mean_place": place, "points": points}


def _table(bots: str, players: int | None, **variants: bool) -> tuple[Rules, list[LocalBot]]:
    """Return the rules and one bot per seat; on an error, print it and exit."""
    names = [name.strip() for name in bots.split(",")]
    try:
        rules = Rules(players=len(names) if players is None else players, **variants)
        if len(names) != rules.players:
            fail(
                f"--bots has {counted(len(names), 'bot')}, but --players is {rules.players}: give one bot "
                "per seat, separated by commas"
            )
        table = [find_bot(name) for name in names]
    except (InvalidRules, UnusableBot) as error:
        fail(str(error))
    other = next((bot for bot in table if not bot.in_process), None)
    if other is not None:
        fail(f"arena simulate runs only Python bots: use arena play for {other.name}")
    return rules, table


def verify(
    file: Annotated[str, typer.Argument(help="Replays, one per line, or a single document; - for stdin.")],
) -> None:
    """Play every replay again and report the first difference, if any."""
    games = line = 0
    try:
        with nullcontext(sys.stdin.buffer) if file == "-" else Path(file).open("rb") as stream:
            for line, text in documents(stream):
                replay = parse(text)
                if difference := difference_of(replay):
                    typer.echo(f"line {line}, game {replay.game}: {difference}")
                    raise typer.Exit(EXIT_FAILURE)
                games += 1
    except InvalidReplay as error:
        fail(f"{file}, line {line}: {error}")
    except OSError as error:
        fail(f"can't read {file}: {error}")
    if not games:
        fail(f"{file} contains no replays")
    typer.echo(f"{counted(games, 'game')} verified")


def get(
    game: Annotated[str, typer.Argument(help="The game's id, number or URL.")],
    *,
    out: Annotated[str, typer.Option("--out", "-o", help="File for the replay; - for stdout.")] = "-",
) -> None:
    """Download a game's replay from the site you are logged in to.

    Example: arena replay get 475 -o game.json
    """
    from arena.cli.login import logged_in_site
    from arena.client.games import download_replay

    with logged_in_site() as site:
        text = download_replay(site, game)
    with exit_on_write_error(out), open_output(out) as file:
        file.write(text.rstrip() + b"\n")


def documents(stream: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Yield each document with its line number, starting at 1.

    If the first line is not a JSON document, the whole file is read as one document.
    """
    for number, line in enumerate(stream, 1):
        if not line.strip():
            continue
        if number == 1 and not is_json(line):
            text = line + stream.read()
            yield number, text if is_json(text) else line
            return
        yield number, line


def path_of(word: str) -> Path | None:
    """Return the file that a word refers to, or None for a game on a site; if the file is missing, exit."""
    path = Path(word)
    try:
        if path.is_file():
            return path
    except OSError as error:
        fail(f"can't read {word}: {error.strerror}")
    if "://" not in word and (path.suffix or "/" in word):
        fail(f"no such file: {word}")
    return None


def in_file(path: Path) -> Iterator[PublicReplay]:
    """Yield the replays in a file after checking each; on an error, print it and exit."""
    found = False
    try:
        with path.open("rb") as stream:
            for line, text in documents(stream):
                yield checked(f"{path}, line {line}", text)
                found = True
    except OSError as error:
        fail(f"can't read {path}: {error.strerror}")
    if not found:
        fail(f"{path} contains no replays")


def checked(what: str, text: bytes) -> PublicReplay:
    """Read and check a replay; on an error, print it and exit."""
    try:
        replay = parse(text)
        log_of(replay)
    except InvalidReplay as error:
        fail(f"{what}: {error}")
    return replay
