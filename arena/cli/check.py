"""``arena check``: would an arena take a bot? Tried on its author's machine by the arena's own code."""

import json
import signal
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Annotated, Any, Final

import docker
import typer

from arena.bootstrap import ArenaAtHome, CannotStart, open_at_home
from arena.cli.console import INTERRUPTED, USAGE, WRONG, fail, say
from arena.cli.following import Following
from arena.cli.house import house_bots
from arena.cli.playing import Quiet, playing
from arena.cli.verdict import Telling, print_verdict
from arena.client.errors import CannotSend
from arena.client.sending import parcel_of
from arena.client.target import Target, target_of
from arena.coordinator import ArenaTrouble
from arena.images import ImageTrouble, ensure_base_image
from arena.intake import IntakeTrouble
from arena.intake.limits import DEFAULT_LIMITS
from arena.logs import configure_logs
from arena.match import Limits, RuntimeName
from arena.sandbox import RuntimeTrouble
from arena.settings import LogFormat, LogLevel, WrongSettings, read_settings
from arena.store import StoreError
from arena.submitting.errors import NoRoom, UploadRefused
from arena.submitting.receiver import Upload
from arena.submitting.stages import Stage, UploadKind

_BOT: Final = "checked"
_AUTHOR: Final = "you"
_MIB: Final = 1024 * 1024


def check(
    target: Annotated[
        str,
        typer.Argument(
            help="A source file, what docker save wrote, a folder with a Dockerfile, or an image."
        ),
    ],
    *,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the submission and its games as JSON.")
    ] = False,
) -> None:
    """Try on this machine whether an arena would take a bot: what `arena submit` would be told, before it.

    Exit code 0: it qualifies; 1: it does not; 2: wrong usage, or this machine can't tell.
    """
    began = time.monotonic()
    with _explained():
        told, image_bytes = _checked(target, Telling(lambda: time.monotonic() - began))
    if as_json:
        typer.echo(json.dumps(told, indent=2))
    else:
        print_verdict(told, "it qualifies")
        if image_bytes:
            most = DEFAULT_LIMITS.image_bytes // _MIB
            typer.echo(f"its image has {image_bytes / _MIB:.1f} MiB; {most} MiB is the most")
    if told["stage"] != Stage.ACTIVE:
        raise typer.Exit(WRONG)


def _checked(named: str, telling: Telling) -> tuple[dict[str, Any], int]:
    """Return what became of a bot, and the bytes of its image; 0 where it got none."""
    target = target_of(named)
    with open_at_home(read_settings(), say) as home:
        _prepare(home, target)
        following = Following(home.arena.store.desk, _handed_in(home, target), telling)
        with playing(home.arena, Quiet()) as coordinator:
            coordinator.run(lambda: following.goes_on(coordinator))
        if not following.over:
            raise KeyboardInterrupt
        return following.told, home.image_bytes(following.source) if following.source else 0


def _prepare(home: ArenaAtHome, target: Target) -> None:
    """Make what images are missing, and say what is different from an arena's host."""
    if target.language is not None:
        with closing(docker.from_env()) as client:
            ensure_base_image(client, target.language, say)
    home.arena.ladder.enter_house_bots(house_bots(RuntimeName.DOCKER, say))
    share, usual = home.arena.ladder.limits.cpus, Limits().cpus
    few = f", and bots get {share:g} of a core, not {usual:g}" if share < usual else ""
    say(f"as on an arena, but this machine is not tried for what it can hold (`arena doctor` does that){few}")


def _handed_in(home: ArenaAtHome, target: Target) -> str:
    """Hand a bot in, and return its submission's id."""
    with parcel_of(target, _BOT) as parcel:
        kind = UploadKind(parcel.kind)
        upload = Upload(bot=_BOT, author=_AUTHOR, account=None, kind=kind, size=parcel.size)
        with home.receiver.begin(upload) as incoming:
            for piece, _ in parcel.pieces():
                incoming.write(piece)
            return incoming.finish().id


@contextmanager
def _explained() -> Iterator[None]:
    """Turn what stops a check into a sentence and an exit code."""
    # For people, who are told what is less of a submission anyway.
    configure_logs(LogFormat.CONSOLE, LogLevel.ERROR)
    # A terminal that is closed ends it as SIGTERM does: what is under way cleans up.
    signal.signal(signal.SIGHUP, signal.getsignal(signal.SIGTERM))
    try:
        yield
    except NoRoom as error:
        fail(str(error))
    except UploadRefused as error:
        fail(str(error), WRONG)
    except (CannotSend, WrongSettings) as error:
        fail(str(error))
    except (ArenaTrouble, CannotStart, ImageTrouble, IntakeTrouble, RuntimeTrouble, StoreError) as error:
        fail(f"this machine can't check it: {error}", USAGE)
    except KeyboardInterrupt:
        say("stopped")
        raise typer.Exit(INTERRUPTED) from None
