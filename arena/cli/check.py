"""``arena check``: the arena's own qualification, run on the author's machine."""

import time
from typing import Annotated, Final

import typer

from arena.cli.console import EXIT_FAILURE, EXIT_INTERRUPTED, Json, fail, print_json, say
from arena.cli.submit import ProgressReporter, print_verdict
from arena.client.sending import target_of
from arena.client.sites import CannotSend
from arena.images.image import DEFAULT_LIMITS, IntakeError
from arena.protocol.submissions import Stage

_MIB: Final = 1024 * 1024


def check(
    target: Annotated[
        str,
        typer.Argument(help="A source file, a docker save archive, a folder with a Dockerfile, or an image."),
    ],
    *,
    as_json: Json = False,
) -> None:
    """Check on this machine whether an arena would accept a bot, before you submit it.

    Exit codes: 0 the bot qualifies; 1 it does not; 2 incorrect usage, or the check can't run on this machine.
    """
    from arena.app.folders import CannotStart
    from arena.app.local_check import check_bot
    from arena.db.errors import StoreError
    from arena.platform.logs import configure_logs
    from arena.platform.settings import LogFormat, LogLevel, WrongSettings, read_settings
    from arena.sandbox.runtime import RuntimeFailure
    from arena.scheduler.coordinator import ArenaError
    from arena.submissions.uploads import NoRoom, UploadRefused

    began = time.monotonic()
    # Log only errors: less serious events are reported as the submission's progress.
    configure_logs(LogFormat.CONSOLE, LogLevel.ERROR)
    try:
        reporter = ProgressReporter(lambda: time.monotonic() - began)
        document, image_bytes = check_bot(read_settings(), target_of(target), reporter.update, say)
    except (CannotSend, NoRoom, WrongSettings) as error:
        fail(str(error))
    except UploadRefused as error:
        fail(str(error), EXIT_FAILURE)
    except (ArenaError, CannotStart, IntakeError, RuntimeFailure, StoreError) as error:
        fail(f"can't check bots on this machine: {error}")
    except KeyboardInterrupt:
        say("stopped")
        raise typer.Exit(EXIT_INTERRUPTED) from None
    if as_json:
        print_json(document)
    else:
        print_verdict(document, "the bot qualifies")
        if image_bytes:
            limit_mib = DEFAULT_LIMITS.image_bytes // _MIB
            typer.echo(f"image size: {image_bytes / _MIB:.1f} MiB (limit {limit_mib} MiB)")
    if document["stage"] != Stage.PASSED:
        raise typer.Exit(EXIT_FAILURE)
