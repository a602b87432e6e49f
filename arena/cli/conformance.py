"""``arena conformance``: check whether a program follows the protocol."""

from dataclasses import asdict
from typing import Annotated

import typer

from arena.cli.console import INTERRUPTED, USAGE, WRONG, echo, fail, print_json, say
from arena.cli.play import explain, visible_lines
from arena.home.bots import UnusableBot, bot_of_command
from arena.home.workers import PlayingFailed


def conformance(
    command: Annotated[
        str, typer.Argument(help="Command that starts the program, quoted.", metavar="COMMAND")
    ],
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Play recorded games of every variant with a program, and report its mistakes rule by rule.

    The games continue as recorded whatever the program answers, so one mistake doesn't hide the next. The
    exit code is 1 if it broke a rule.

    Example: arena conformance "java -jar mybot.jar"
    """
    from arena.home.conformance import conformance_games, findings
    from arena.home.interview import Reply, interview

    replies: list[Reply] = []
    games = conformance_games()
    try:
        end = interview(bot_of_command(command), games, replies.append)
    except UnusableBot as error:
        fail(str(error))
    except PlayingFailed as error:
        explain(error, WRONG)
    except OSError as error:
        fail(f"can't run the program: {error}", USAGE)
    except KeyboardInterrupt:
        say(f"stopped after {len(replies)} decisions")
        raise typer.Exit(INTERRUPTED) from None
    found = list(findings(replies, end))
    if as_json:
        print_json(
            {"sdk": end.hello.sdk, "decisions": len(replies), "rules": [asdict(each) for each in found]}
        )
    else:
        for each in found:
            kept = f"{each.tried - each.wrong} of {each.tried}"
            mark = "wrong" if each.wrong else "ok   " if each.tried else "-    "
            echo(f"{mark}  {each.rule} ({kept})")
            if each.first is not None:
                echo(f"       {each.first}")
    wrong = any(each.wrong for each in found)
    if wrong and end.stderr:
        typer.echo(visible_lines(end.stderr), err=True)
    say(f"{len(replies)} decisions in {len(games)} games, one per variant")
    if wrong:
        raise typer.Exit(WRONG)
