"""Commands for writing a bot: ``arena init``, ``bridge``, ``conformance`` and ``referee``."""

import json
import re
import secrets
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, redirect_stdout
from dataclasses import asdict
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from arena.cli.console import (
    EXIT_FAILURE,
    EXIT_INTERRUPTED,
    EXIT_USAGE,
    Json,
    echo,
    fail,
    print_json,
    say,
    show,
)
from arena.cli.play import Dummy, PassBothWays, SoySauce, explain
from arena.languages.registry import StarterLanguage
from arena.local.bots import UnusableBot, bot_of_command, find_bot
from arena.local.puzzle import move_text, position_lines
from arena.local.workers import PlayingFailed
from arena.platform.names import WrongName, check_name
from arena.platform.text import counted
from arena.play.botfiles import BotBroken, load_bot
from arena.play.referee.player import (
    DecisionRequested,
    Event,
    FaultNoticed,
    GameEnded,
    GameStarted,
    Hello,
    Lost,
    PlayerAnswer,
    RoundScored,
    TurnRevealed,
)
from arena.rules import InvalidRules, Rules, simulation_seed

if TYPE_CHECKING:  # gRPC is slow to import
    from arena.local.conformance import ConformanceFinding
    from arena.local.referee import LocalTable


def init(
    name: Annotated[str, typer.Argument(help="Name of the bot and of its folder.")],
    *,
    language: Annotated[StarterLanguage, typer.Option(help="Programming language.")] = StarterLanguage.PYTHON,
    as_json: Json = False,
) -> None:
    """Create a folder with a working bot, its test, a Dockerfile and a README.

    Example: arena init mybot --language javascript
    """
    folder = Path(name)
    try:
        files = write_starter(folder, name, language)
    except FileExistsError:
        fail(f"{folder} already exists: remove it, or choose another name")
    except WrongName as error:
        fail(str(error))
    except OSError as error:
        fail(f"can't create {folder}: {error}")
    if as_json:
        print_json({"folder": str(folder), "files": files})
        return
    for file in files:
        echo(f"{folder / file}")
    echo(f"next steps: see {folder / 'README.md'}")


def write_starter(folder: Path, name: str, language: StarterLanguage) -> list[str]:
    """Write a new bot's files to a new folder, all or none, and return their names.

    Raises WrongName or OSError.
    """
    check_name(name, "bot")
    # Values of the placeholders in the files. Only JavaScript's files contain LIBRARY.
    words = {"NAME": name, "LIBRARY": quote(str(language.folder / "kaiten"))}
    files = sorted(path for path in (language.folder / "starter").iterdir() if path.is_file())
    folder.mkdir()
    try:
        for file in files:
            text = _fill_in(file.read_text(encoding="utf-8"), words)
            (folder / file.name).write_text(text, encoding="utf-8")
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return [file.name for file in files]


def _fill_in(text: str, words: Mapping[str, str]) -> str:
    """Replace words in one pass, because the bot's name may contain one of them."""
    return re.sub("|".join(words), lambda word: words[word[0]], text)


def _echo_finding(found: "ConformanceFinding") -> None:
    bad = "FAIL" if found.required else "note"
    mark = bad if found.wrong else "ok  " if found.tried else "-   "
    echo(f"{mark}  {found.rule} ({found.tried - found.wrong} of {found.tried})")
    if found.first is not None:
        echo(f"      {found.first}")
    if found.wrong and not found.required:
        echo("      Only the variant with a dummy requires this.")


def bridge(
    command: Annotated[
        list[str],
        typer.Argument(help="After --, the command that starts the program.", metavar="-- COMMAND..."),
    ],
) -> None:
    """Run a program as a bot, with the protocol's messages as lines of JSON on its stdin and stdout.

    The arena starts the bridge like any bot, with the referee's address in ARENA_REFEREE.

    Example: arena play greedy --bot 'arena bridge -- ./mybot'
    """
    from arena.sdk.bridge import bridge as run

    raise typer.Exit(run(command))


def conformance(
    command: Annotated[
        str, typer.Argument(help="Quoted command that starts the program.", metavar="COMMAND")
    ],
    *,
    as_json: Json = False,
) -> None:
    """Play recorded games of every variant with a program, and report its mistakes rule by rule.

    The exit code is 1 if the program broke a rule that applies to every variant.

    Example: arena conformance "java -jar mybot.jar"
    """
    from arena.local.ask_program import Reply, ask_program
    from arena.local.conformance import conformance_games, findings

    replies: list[Reply] = []
    games = conformance_games()
    try:
        end = ask_program(bot_of_command(command), games, replies.append)
    except UnusableBot as error:
        fail(str(error))
    except PlayingFailed as error:
        explain(error, EXIT_FAILURE)
    except OSError as error:
        fail(f"can't run the program: {error}", EXIT_USAGE)
    except KeyboardInterrupt:
        say(f"stopped; decisions so far: {len(replies)}")
        raise typer.Exit(EXIT_INTERRUPTED) from None
    found = list(findings(replies, end))
    if as_json:
        print_json(
            {"sdk": end.hello.sdk, "decisions": len(replies), "rules": [asdict(each) for each in found]}
        )
    else:
        for each in found:
            _echo_finding(each)
    wrong = any(each.wrong for each in found if each.required)
    if wrong and end.stderr:
        show(end.stderr)
    say(f"{len(replies)} decisions in {len(games)} games, one per variant")
    if wrong:
        raise typer.Exit(EXIT_FAILURE)


def referee(  # noqa: PLR0913 - one argument per option
    others: Annotated[
        list[str] | None,
        typer.Argument(help="Python bots for the other seats. Default: greedy.", metavar="BOT"),
    ] = None,
    *,
    listen: Annotated[
        str, typer.Option(help="Address to listen on: unix:PATH, or tcp:PORT on this machine.")
    ],
    seat: Annotated[int, typer.Option(min=0, max=4, help="The program's seat.")] = 0,
    games: Annotated[int, typer.Option("--games", "-n", min=1, help="Number of games.")] = 1,
    seed: Annotated[
        int | None, typer.Option(min=0, max=2**64 - 1, help="Seed for decks. Default: random.")
    ] = None,
    soy_sauce: SoySauce = False,
    pass_both_ways: PassBothWays = False,
    dummy: Dummy = False,
    as_json: Annotated[
        bool,
        typer.Option("--json", help="Print the messages as lines of JSON, in the format of `arena bridge`."),
    ] = False,
) -> None:
    """Listen for one program, referee games with it, and print the conversation.

    Start the program yourself, with ARENA_REFEREE set as printed. There is no time limit. The exit code is 1
    if the program disconnected or committed a fault.

    Example: arena referee greedy expected --listen unix:/tmp/seat0
    """
    seed = secrets.randbits(32) if seed is None else seed
    table, names = _table(
        others or ["greedy"],
        seat,
        [simulation_seed(seed, game).hex() for game in range(games)],
        soy_sauce=soy_sauce,
        pass_both_ways=pass_both_ways,
        dummy=dummy,
    )
    import asyncio

    from arena.local.referee import Interrupted, LocalAddress, WrongAddress
    from arena.local.referee import referee as play

    transcript = _JsonTranscript() if as_json else _Transcript(names)
    try:
        with closing(LocalAddress(listen)) as address:
            waiting = f"waiting for the program: start it with ARENA_REFEREE={quote(address.target)}"
            asyncio.run(play(table, address, lambda: say(waiting), transcript.sent, transcript.received))
    except WrongAddress as error:
        fail(str(error))
    except (KeyboardInterrupt, Interrupted):
        say(f"stopped, --seed {seed}")
        raise typer.Exit(EXIT_INTERRUPTED) from None
    say(f"{counted(games, 'game')}, --seed {seed}")
    if transcript.faults:
        raise typer.Exit(EXIT_FAILURE)


def _table(
    words: Sequence[str], seat: int, seeds: Sequence[str], **variants: bool
) -> tuple["LocalTable", tuple[str, ...]]:
    """Return the table and its bots' names; on an error, print it and exit."""
    from arena.local.referee import LocalTable

    try:
        bots = [find_bot(word) for word in words]
        rules = Rules(players=len(bots) + 1, **variants)
        files = [bot.file for bot in bots if bot.in_process and bot.file is not None]
        if len(files) < len(bots):
            fail("only Python bots can take the other seats")
        if seat >= rules.players:
            fail(f"this table has no seat {seat}: choose --seat 0 to {rules.players - 1}")
        with redirect_stdout(sys.stderr):  # the bots' output must not mix with the transcript
            loaded = tuple([load_bot(file) for file in files])
    except (BotBroken, InvalidRules, UnusableBot) as error:
        fail(str(error))
    names = [bot.name for bot in bots]
    names.insert(seat, "your program")
    return LocalTable(rules=rules, seeds=tuple(seeds), seat=seat, others=loaded), tuple(names)


class _Transcript:
    """Prints the conversation as text. ``faults`` counts faults and disconnections."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names
        self.faults = 0

    def sent(self, events: Sequence[Event]) -> None:
        for event in events:
            for line in self._lines(event):
                echo(line)

    def received(self, message: Hello | Lost | Sequence[PlayerAnswer]) -> None:
        """Print a message from the program, or its disconnection."""
        if isinstance(message, Hello):
            echo(
                f"hello from {message.sdk or 'a program without a name'}, "
                f"games at a time: {message.games_at_once}"
            )
        elif isinstance(message, Lost):
            self.faults += 1
            echo(f"disconnected: {message.why}")
        else:
            for answer in message:
                note = f"  ({answer.note})" if answer.note else ""
                text = answer.broken or "no move" if answer.move is None else move_text(answer.move)
                echo(f"  plays    {text}{note}")

    def _lines(self, event: Event) -> Iterator[str]:
        match event:
            case GameStarted(game, seat, rules, _):
                yield f"game {game} begins: seat {seat} of {rules.players}"
            case DecisionRequested(_, seen, _, _):
                yield from position_lines(seen)
            case TurnRevealed(_, turn, _):
                plays = "; ".join(
                    f"{name}: {' '.join(card.label for card in play)}"
                    for name, play in zip((*self._names, "dummy"), turn.plays, strict=False)
                )
                yield f"  revealed {plays}"
            case RoundScored(_, number, scores):
                yield f"  round {number} scored: {', '.join(str(sum(score)) for score in scores)}"
            case GameEnded(game, result, places):
                seats = zip(self._names, places, result.totals, strict=False)
                yield f"game {game} ends: " + ", ".join(
                    f"{name} {counted(points, 'point')} (place {place})" for name, place, points in seats
                )
            case FaultNoticed():
                self.faults += 1
                yield f"  FAULT    {event.fault}: {event.text}; the stand-in plays"


class _JsonTranscript:
    """Prints lines of JSON: ``{"to": RefereeMessage}``, ``{"from": BotMessage}``, ``{"left": why}``."""

    def __init__(self) -> None:
        from arena.play.referee.grpc_player import Encoder

        self._encoder = Encoder()
        self.faults = 0

    def sent(self, events: Sequence[Event]) -> None:
        from google.protobuf.json_format import MessageToDict

        self.faults += sum(isinstance(event, FaultNoticed) for event in events)
        message = MessageToDict(self._encoder.message(events), always_print_fields_with_no_presence=True)
        typer.echo(json.dumps({"to": message}))

    def received(self, message: Hello | Lost | Sequence[PlayerAnswer]) -> None:
        if isinstance(message, Lost):
            self.faults += 1
            typer.echo(json.dumps({"left": message.why}))
            return
        if isinstance(message, Hello):
            hello: object = {"protocol": 1, "sdk": message.sdk, "gamesAtOnce": message.games_at_once}
            typer.echo(json.dumps({"from": {"hello": hello}}))
            return
        moves = [
            {
                "game": answer.game,
                "round": answer.round,
                "turn": answer.turn,
                "cards": [] if answer.move is None else [f"CARD_{card.name}" for card in answer.move.cards],
                "note": answer.note,
                "nonce": answer.nonce,
            }
            | ({"dummyCard": f"CARD_{answer.move.dummy.name}"} if answer.move and answer.move.dummy else {})
            for answer in message
        ]
        typer.echo(json.dumps({"from": {"moves": moves}}))
