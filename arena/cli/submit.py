"""``arena submit``."""

import shlex
import time
from typing import Annotated, Any, Final, NoReturn

import typer
from rich.filesize import decimal

from arena.cli.bar import sending_bar
from arena.cli.console import INTERRUPTED, WRONG, echo, say
from arena.cli.online import part, visiting
from arena.cli.terminal import print_json
from arena.cli.verdict import Telling, print_verdict
from arena.client.documents import Bot, Submission
from arena.client.errors import SiteProblem, SiteTrouble
from arena.client.events import follow, stage_by_stage
from arena.client.patience import Patience
from arena.client.sending import Body, Parcel, Report, body_of, parcel_of
from arena.client.site import Site
from arena.client.target import target_of
from arena.speech import visible
from arena.submitting.stages import CauseKind

_NOT_AT_HOME: Final = frozenset(kind.value for kind in CauseKind if not kind.shows_at_home)


def submit(
    bot: Annotated[
        str,
        typer.Argument(
            help="A source file, what docker save wrote, a folder with a Dockerfile, or an image."
        ),
    ],
    *,
    name: Annotated[
        str | None, typer.Option(help="The bot's. Without: that of file, folder or image.")
    ] = None,
    note: Annotated[str, typer.Option(help="Your own words on this version.")] = "",
    no_follow: Annotated[bool, typer.Option("--no-follow", help="End when it is sent.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the submission as JSON.")] = False,
) -> None:
    """Send a bot to the arena, and follow it until it plays or is rejected.

    Exit code 0: it plays, or was sent with --no-follow; 1: it was rejected, or the arena is in trouble.
    """
    with visiting() as site:
        told = _sent(site, bot, name, note)
        if not no_follow:
            told = _followed(site, site.read(told, Submission))
        submission = site.read(told, Submission)
        if as_json:
            print_json(told)
        elif submission.ended is None:
            echo(submission.id)
        else:
            print_verdict(told, f"{_named(submission)} plays: {site.address}/bots/{submission.bot}")
        _say_what_follows(site, submission, bot)
    if submission.cause is not None:
        raise typer.Exit(WRONG)


def _sent(site: Site, target: str, name: str | None, note: str) -> Any:  # noqa: ANN401 - JSON
    """Send a bot and return the submission as the site tells it."""
    try:
        with parcel_of(target_of(target), name) as parcel, sending_bar(parcel.bot) as report:
            told = _put(site, parcel, note, report)
    except KeyboardInterrupt:
        _stopped(None)
    received = site.read(told, Submission)
    arrived = visible(f"{site.address}/submissions/{received.id}")
    say(f"{visible(received.bot)}: {decimal(received.size)} sent, {arrived}")
    return told


def _put(site: Site, parcel: Parcel, note: str, report: Report) -> Any:  # noqa: ANN401 - JSON
    """Send a parcel, again where the site has no room just now, and make sure that it has arrived."""
    patience = Patience()
    while True:
        body = body_of(parcel, report)
        try:
            told = site.put(f"/bots/{parcel.bot}/submissions", body, **_said(parcel, note))
        except SiteProblem as problem:
            if not problem.passes:
                raise
            say(f"{visible(problem.detail)} Trying again soon")
            patience.lose(problem)
            continue
        except KeyboardInterrupt:
            _stopped(body)
        received = site.read(told, Submission)
        if received.sha256 != body.sha256:
            raise SiteTrouble(
                f"{site.address} received something else than was sent (SHA-256 {received.sha256} and not "
                f"{body.sha256}): submit it again"
            )
        return told


def _said(parcel: Parcel, note: str) -> dict[str, str]:
    said = {"kind": parcel.kind, "note": note}
    return said if parcel.sha256 is None else said | {"sha256": parcel.sha256}


def _stopped(body: Body | None) -> NoReturn:
    if body is not None and body.whole:
        say("stopped after the last byte was sent: `arena status` shows whether it arrived")
    else:
        say("stopped; the arena has kept nothing")
    raise typer.Exit(INTERRUPTED)


def _followed(site: Site, sent: Submission) -> Any:  # noqa: ANN401 - JSON
    """Tell a submission's stages as they come, and return how it ended, with its games."""
    began = time.monotonic()
    telling = Telling(lambda: time.monotonic() - began)
    look = f"`arena status {visible(sent.bot)}` shows how far it is"
    try:
        for told in stage_by_stage(follow(site, part(sent.id), Patience())):
            telling.hear(told)
        return site.get(f"/submissions/{part(sent.id)}")
    except KeyboardInterrupt:
        say(f"stopped following; the submission goes on by itself: {look}")
        raise typer.Exit(INTERRUPTED) from None
    except SiteTrouble as trouble:
        raise SiteTrouble(f"{trouble}. The submission goes on by itself: {look}") from trouble


def _say_what_follows(site: Site, submission: Submission, target: str) -> None:
    if submission.ended is None:
        say(f"`arena status {visible(submission.bot)}` shows how far it is")
    elif submission.cause is None:
        say(f"its first rated game comes next, and then stands on {site.address}/bots/{part(submission.bot)}")
    else:
        if submission.cause.kind not in _NOT_AT_HOME:
            say(f"to see it here: arena check {shlex.quote(target)}")
        _say_what_plays(site, submission.bot)


def _say_what_plays(site: Site, name: str) -> None:
    """Say that an older version is not touched by a rejection."""
    try:
        bot = site.read(site.get(f"/bots/{part(name)}"), Bot)
    except SiteProblem:
        return  # it never had one
    if bot.state == "active":
        say(f"{visible(bot.name)}@{bot.version} plays on")


def _named(submission: Submission) -> str:
    return submission.bot if submission.version is None else f"{submission.bot}@{submission.version}"
