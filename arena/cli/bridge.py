"""``arena bridge``: run a program that speaks JSON lines as a bot."""

from typing import Annotated

import typer


def bridge(
    command: Annotated[list[str], typer.Argument(help="The program, after --.", metavar="-- COMMAND...")],
) -> None:
    """Run a program as a bot if it reads and writes the protocol's messages as lines of JSON.

    The arena starts it like every bot, with the referee's address in ARENA_REFEREE.

    Example: arena play greedy --bot 'arena bridge -- ./mybot'
    """
    from arena.sdk.bridge import bridge as run

    raise typer.Exit(run(command))
