"""``arena analyse``: each seat's chance of winning a recorded game, and the cost of each decision."""

from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from typing import Annotated, Final

import msgspec
import typer

from arena.cli.console import (
    Json,
    echo,
    exit_on_write_error,
    fail,
    open_output,
    print_json,
    print_table,
    say,
    track,
)
from arena.cli.replays import checked, in_file, path_of
from arena.platform.text import counted, whole_percent
from arena.play.analysis.analyst import PLAYOUTS, house_bots
from arena.play.analysis.analyst import analyse as analysis_of
from arena.play.botfiles import samples
from arena.play.replay.document import PublicReplay
from arena.protocol.analysis import COSTLY, MIN_PLAYOUTS, AnalysedDecision, Analysis, Grade, Option, Outlook


def analyse(
    word: Annotated[
        str,
        typer.Argument(
            help="A game's id, number or URL, or a replay file.", metavar="GAME", show_default=False
        ),
    ],
    *,
    playouts: Annotated[
        int,
        typer.Option(
            min=MIN_PLAYOUTS, max=100_000, help="Maximum number of playouts per position and option."
        ),
    ] = PLAYOUTS,
    seed: Annotated[int, typer.Option(min=0, help="Seed for the analysis.")] = 0,
    out: Annotated[
        str | None,
        typer.Option("--out", "-o", help="File for the replays with their analyses; - for stdout."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Analyse a recorded game: each seat's chance of winning, turn by turn, and the cost of each decision.

    With the default number of playouts, analysing a game takes 10 to 20 seconds.

    Example: arena analyse 475
    """
    if out == "-" and as_json:
        fail("--json and the replays can't both go to stdout: specify a file with -o")
    games = list(_games(word))
    analyses, bots = [], house_bots(samples())
    with exit_on_write_error(out), open_output(out) if out else nullcontext() as file:
        for game in track(games, len(games), "analyse"):
            analyses.append(analysis_of(game, seed=seed, playouts=playouts, bots=bots))
            if file is not None:
                file.write(annotated(game, analyses[-1]) + b"\n")
    if as_json:
        print_json({"games": analyses})
    elif out != "-":
        for game, analysis in zip(games, analyses, strict=True):
            _print(game, analysis)
    say(f"{counted(len(games), 'game')} analysed, --playouts {playouts} --seed {seed}")


def _games(word: str) -> Iterator[PublicReplay]:
    if path := path_of(word):
        yield from in_file(path)
        return
    from arena.cli.login import logged_in_site
    from arena.client.games import download_replay

    with logged_in_site() as site:
        yield checked(word, download_replay(site, word))


def annotated(game: PublicReplay, analysis: Analysis) -> bytes:
    """Return a replay as one line of JSON, with its analysis under the key ``analysis``."""
    return msgspec.json.encode(msgspec.to_builtins(game) | {"analysis": analysis})


def _print(game: PublicReplay, analysis: Analysis) -> None:
    names = [f"{number} {seat.bot}" for number, seat in enumerate(game.seats)]
    echo(f"game {game.game}: chance of winning, given what each seat knew (in brackets: given all hands)")
    turns = [
        (
            str(turn.round),
            str(turn.turn),
            *map(_chances, turn.known, turn.dealt),
            "turning point" if number in analysis.turning_points else "",
        )
        for number, turn in enumerate(analysis.turns)
    ]
    end = ("end", "", *(f"{whole_percent(share)}%" for share in analysis.result), "")
    print_table(("round", "turn", *names, ""), [*turns, end], numbers=("turn", *names))
    echo("")
    mistakes = [each for each in analysis.decisions if each.grade in COSTLY]
    if mistakes:
        print_table(_COLUMNS, map(_mistake, mistakes), numbers=("round", "turn", "seat", "chance", "points"))
        echo("")
    print_table(("seat", "accuracy", *Grade, "largest swing"), _summaries(names, analysis), numbers=Grade)


def _chances(known: Outlook, dealt: Outlook) -> str:
    return f"{whole_percent(known.chance)}% ({whole_percent(dealt.chance)}%)"


_COLUMNS: Final = ("round", "turn", "seat", "grade", "played", "best", "chance", "points")


def _mistake(each: AnalysedDecision) -> Sequence[str]:
    return (
        str(each.round),
        str(each.turn),
        str(each.seat),
        each.grade,
        _words(each.options[each.played]) + (" (stand-in)" if each.standin else ""),
        _words(each.options[0]),
        f"-{whole_percent(each.lost_chance)}%",
        f"{-each.lost_points:+.1f}",
    )


def _words(option: Option) -> str:
    return " ".join(option.cards) + (f", {option.dummy} for the dummy" if option.dummy else "")


def _summaries(names: Sequence[str], analysis: Analysis) -> Iterator[Sequence[str]]:
    for name, seat in zip(names, analysis.seats, strict=True):
        turn = analysis.turns[seat.swing_turn]
        yield (
            name,
            "-" if seat.accuracy is None else f"{whole_percent(seat.accuracy)}%",
            *(str(seat.grades[grade]) for grade in Grade),
            f"{seat.swing:+.0%} in round {turn.round}, turn {turn.turn}",
        )
