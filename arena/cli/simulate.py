"""``arena simulate``: games in this process, one replay a line."""

from contextlib import redirect_stdout
from sys import stderr
from typing import Annotated

import typer

from arena.botfiles import BotFileError, find, load
from arena.cli.console import WRONG, fail, tracked
from arena.cli.output import opened
from arena.replay import Seat, encode
from arena.rules import InvalidRules, Rules
from arena.simulate import BotFailed, Player
from arena.simulate import simulate as games_of

_HOUSE = "house"
_SELF = "local"


def simulate(  # noqa: PLR0913 - one argument an option
    *,
    players: Annotated[int, typer.Option(help="Players at the table, 2 to 5.")],
    games: Annotated[int, typer.Option(min=0, help="How many games.")],
    bots: Annotated[
        str, typer.Option(help="One bot a seat, by comma: names of sample bots, or paths of bot folders.")
    ],
    seed: Annotated[int, typer.Option(min=0, max=2**64 - 1, help="Decks and dice follow from it.")],
    out: Annotated[str, typer.Option(help="File for the replays, one a line; - for stdout.")],
    soy_sauce: Annotated[bool, typer.Option("--soy-sauce", help="Variant: soy sauce.")] = False,
    pass_both_ways: Annotated[
        bool, typer.Option("--pass-both-ways", help="Variant: round 2 passes to the right.")
    ] = False,
    dummy: Annotated[bool, typer.Option("--dummy", help="Variant: two players with a dummy.")] = False,
) -> None:
    """Play games between bots in this process, without a sandbox: only for bots you trust.

    Same command, same bytes. ``arena replay verify`` checks the file.
    """
    try:
        rules = Rules(players=players, soy_sauce=soy_sauce, pass_both_ways=pass_both_ways, dummy=dummy)
        # What a bot prints must not end up among the data.
        with redirect_stdout(stderr):
            table = _seated(rules, bots)
    except (InvalidRules, BotFileError) as error:
        fail(str(error))
    try:
        with opened(out) as file, redirect_stdout(stderr):
            for replay in tracked(games_of(rules, table, seed, games), games, "simulate"):
                file.write(encode(replay) + b"\n")
    except BotFailed as error:
        fail(str(error), WRONG)
    except BrokenPipeError:
        raise  # whoever reads stdout has seen enough; the command line ends quietly
    except OSError as error:
        fail(f"can't write {out}: {error}")


def _seated(rules: Rules, bots: str) -> list[Player]:
    names = [name.strip() for name in bots.split(",")]
    if len(names) != rules.players:
        raise BotFileError(
            f"--bots names {len(names)} and --players says {rules.players}: name one bot a seat, by comma"
        )
    table = []
    for name in names:
        path = find(name)
        author = _SELF if "/" in name else _HOUSE
        table.append(Player(seat=Seat(bot=path.name, version=1, author=author), factory=load(path)))
    return table
