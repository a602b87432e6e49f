"""``arena rerun``: ask a bot on this machine for its decisions in past games."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import redirect_stdout
from itertools import islice
from pathlib import Path
from typing import Annotated, Final

import typer

from arena.cli.console import EXIT_FAILURE, EXIT_INTERRUPTED, Json, fail, print_json, print_table, say, show
from arena.cli.play import OneCommand, explain, puzzle_command, save_puzzle, solver
from arena.cli.replays import checked, in_file, path_of
from arena.local.bots import LocalBot
from arena.local.puzzle import move_text, position_lines
from arena.local.solving import Answered, RecordedSeat
from arena.local.solving import rerun as put_to
from arena.local.workers import PlayingFailed
from arena.platform.text import counted
from arena.play.replay.document import PublicReplay, Seat
from arena.protocol.games import SeatResult


def rerun(  # noqa: PLR0913 - one argument per option
    words: Annotated[
        list[str] | None,
        typer.Argument(
            help="Games (ids, numbers, URLs or replay files), then the bot (a file, a folder or a house "
            "bot).",
            metavar="GAME... BOT",
        ),
    ] = None,
    *,
    command: OneCommand = None,
    lost: Annotated[bool, typer.Option("--lost", help="Use the latest games that your bots lost.")] = False,
    count: Annotated[
        int, typer.Option("--games", "-n", min=1, max=1_000_000, help="Maximum number of games for --lost.")
    ] = 20,
    of: Annotated[
        str | None,
        typer.Option(
            help="Bot whose decisions to rerun, such as mybot or mybot@2. Default: your bots or, in a replay "
            "file, the bot with the same name as the given bot.",
            metavar="NAME",
        ),
    ] = None,
    puzzles: Annotated[
        Path | None,
        typer.Option(
            help="Folder for positions where the moves differ, to use with `arena puzzle`.", file_okay=False
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Ask a bot what it would have played in past games, and list the differences.

    Whatever the bot answers, the games continue as they were played. The exit code is 1 if the bot
    fails or plays illegally.

    Example: arena rerun 475 games.jsonl mybot.py
    """
    names = list(words or ())
    bot = solver(names.pop() if names and command is None else None, command)
    if bool(names) == lost:
        fail(
            "specify --lost, or list one or more games before the bot; for example: arena rerun 475 mybot.py"
        )
    seats = list(_lost_seats(count, of) if lost else _specified_seats(names, bot, of))
    found: list[Answered] = []
    stderr, code = "", 0
    try:
        with redirect_stdout(sys.stderr):
            stderr = put_to(bot, seats, found.append)
    except OSError as error:
        fail(f"can't run {bot.name}: {error}")
    except PlayingFailed as error:
        explain(error)
    except KeyboardInterrupt:
        code = EXIT_INTERRUPTED
    different = [each for each in found if each.differs]
    _print(different, len(found), bot, puzzles, as_json=as_json)
    games = len({id(each.recorded.replay) for each in found})
    counts = f"{counted(len(found), 'decision')} in {counted(games, 'game')}"
    say(f"{'stopped; ' if code else ''}{counts}, {len(different)} now different")
    wrong = [each for each in found if each.answer.trouble is not None]
    if wrong:
        _report_failure(wrong[-1], bot, stderr)
    if code or wrong:
        raise typer.Exit(code or EXIT_FAILURE)


def _specified_seats(words: Sequence[str], bot: LocalBot, of: str | None) -> Iterator[RecordedSeat]:
    online = []
    for word in words:
        if path := path_of(word):
            yield from _seats(in_file(path), frozenset({of or bot.name}))
        else:
            online.append(word)
    if not online:
        return
    from arena.cli.login import logged_in_site
    from arena.client.games import download_replay, own_bots

    with logged_in_site() as site:
        whose = frozenset({of}) if of else own_bots(site)
        yield from _seats([checked(word, download_replay(site, word)) for word in online], whose)


def _lost_seats(count: int, of: str | None) -> Iterator[RecordedSeat]:
    from arena.cli.login import logged_in_site
    from arena.client.games import download_replay, games_of, is_lost_by, own_bots

    with logged_in_site() as site:
        whose = frozenset({of}) if of else own_bots(site)
        bots = frozenset(name.partition("@")[0] for name in whose)
        lost = (game for game in games_of(site, bots) if is_lost_by(game, bots))
        games = list(
            islice((game for game in lost if any(_is_one(seat, whose) for seat in game.seats)), count)
        )
        if not games:
            fail(f"no rated games lost by {of or 'your bots'} yet", EXIT_FAILURE)
        replays = [checked(game.game, download_replay(site, game.game)) for game in games]
        yield from _seats(replays, whose)


def _seats(replays: Iterable[PublicReplay], whose: frozenset[str]) -> Iterator[RecordedSeat]:
    for replay in replays:
        seats = [
            RecordedSeat(replay, number) for number, seat in enumerate(replay.seats) if _is_one(seat, whose)
        ]
        if not seats:
            players = ", ".join(map(_name, replay.seats))
            names = " and ".join(sorted(whose))
            fail(f"{names} didn't play in game {replay.game}: use --of with a bot that did ({players})")
        yield from seats


def _is_one(seat: Seat | SeatResult, whose: frozenset[str]) -> bool:
    """Return True if ``whose`` contains the name of a seat's bot, with or without its version."""
    return not whose.isdisjoint((seat.bot, _name(seat)))


def _name(seat: Seat | SeatResult) -> str:
    return f"{seat.bot}@{seat.version}"


_COLUMNS: Final = ("game", "seat", "round", "turn", "hand", "played", "now")


def _print(
    different: Sequence[Answered], count: int, bot: LocalBot, folder: Path | None, *, as_json: bool
) -> None:
    """Print the decisions that differ, out of ``count``."""
    files = [None if folder is None else save_puzzle(bot.name, each.puzzle(), folder) for each in different]
    if as_json:
        differences = [
            _data(each) | {"puzzle": None if file is None else str(file)}
            for each, file in zip(different, files, strict=True)
        ]
        print_json({"bot": bot.name, "decisions": count, "differences": differences})
    elif different:
        columns = _COLUMNS if folder is None else (*_COLUMNS, "puzzle")
        rows = [
            (*_cells(each), *([] if folder is None else [str(file or "-")]))
            for each, file in zip(different, files, strict=True)
        ]
        print_table(columns, rows, numbers=("seat", "round", "turn"))


def _cells(each: Answered) -> tuple[str, ...]:
    seen = each.decision.view
    return (
        each.recorded.replay.game,
        str(seen.seat),
        str(seen.round),
        str(seen.turn),
        " ".join(card.label for card in seen.hand),
        move_text(each.decision.move) + (" (stand-in)" if each.decision.standin else ""),
        each.answer.trouble or ("nothing" if each.answer.move is None else move_text(each.answer.move)),
    )


def _data(each: Answered) -> dict[str, object]:
    seen = each.decision.view
    return {
        "game": each.recorded.replay.game,
        "seat": seen.seat,
        "round": seen.round,
        "turn": seen.turn,
        "hand": [card.label for card in seen.hand],
        "played": move_text(each.decision.move),
        "standin": each.decision.standin,
        "now": each.answer.as_json(),
    }


def _report_failure(each: Answered, bot: LocalBot, stderr: str) -> None:
    """Report the bot's failure, the position, and the command to reproduce it."""
    answer, seen = each.answer, each.decision.view
    where = f" ({answer.where})" if answer.where else ""
    say(f"{bot.name}: {answer.trouble}{where}, in game {each.recorded.replay.game}")
    if text := answer.trace or stderr:
        show(text)
    show("\n".join(position_lines(seen)))
    if file := save_puzzle(bot.name, each.puzzle()):
        say(f"to reproduce: {puzzle_command(file, bot)}")
