"""``arena submit`` and ``arena cancel``, and their reports, which ``arena check`` also uses."""

import shlex
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any, Final, NoReturn

import typer
from rich.console import Console
from rich.filesize import decimal
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)
from rich.table import Table
from rich.text import Text

from arena.cli.console import EXIT_FAILURE, EXIT_INTERRUPTED, Json, at_version, echo, millis, print_json, say
from arena.cli.login import logged_in_site
from arena.client.events import RetryPolicy, follow, stage_by_stage
from arena.client.games import part
from arena.client.sending import Payload, Report, body_of, check_source, payload_of, target_of
from arena.client.sites import ClientError, NoResponse, SiteError, SiteProblem
from arena.ladder.qualification import GAMES
from arena.platform.text import counted, visible
from arena.protocol.bots import Bot
from arena.protocol.match import OUT_OF_MEMORY
from arena.protocol.submissions import Stage, Submission

if TYPE_CHECKING:
    from arena.client.site import SiteClient

_WIDTH: Final = 120
"""Table width that fits every column. Narrower terminals wrap lines instead of truncating them."""

_MAX_SEARCHED: Final = 100
"""Number of recent submissions to search. An account can't have this many in progress."""

Document = Mapping[str, Any]

_STAGES: Final[Mapping[str, str]] = {
    Stage.RECEIVED: "received: building the image",
    Stage.INSPECTED: "inspected: loading the image into the engine",
    Stage.QUALIFYING: f"qualifying: playing {GAMES} unrated games",
}
_ORDINALS: Final = {1: "1st", 2: "2nd", 3: "3rd"}
_COLUMNS: Final = (
    ("game", "number"),
    ("players", "players"),
    ("seat", "seat"),
    ("place", "place"),
    ("decisions", "decisions"),
    ("median ms", "median_millis"),
    ("slowest ms", "slowest_millis"),
    ("late", "late"),
    ("notes", "notes"),
    ("stderr bytes", "stderr_bytes"),
)


class ProgressReporter:
    """Reports a submission's progress. Each message begins with the seconds that ``elapsed`` returns."""

    def __init__(self, elapsed: Callable[[], float]) -> None:
        self._elapsed = elapsed
        self._stage: str | None = None
        self._waiting: str | None = None
        self._games = 0

    def update(self, submission: Document) -> None:
        """Report the changes in a document, which may lack ``games``."""
        stage = str(submission["stage"])
        if stage in _STAGES:
            self._enter(stage)
        waiting = submission.get("waiting")
        if waiting != self._waiting:
            self._waiting = waiting
            self._say(f"waiting: {waiting}" if waiting else "continuing")
        done = [game for game in submission.get("games", ()) if game.get("figures")]
        for at, game in enumerate(done[self._games :], self._games):
            number = _game_number(at, game)
            again = number in (_game_number(*each) for each in enumerate(done[:at]))
            self._say(_game(number, game, again=again))
        self._games = max(self._games, len(done))
        self._enter(stage)  # after the games, because the final stage arrives with the last game

    def _enter(self, stage: str) -> None:
        if stage != self._stage:
            self._stage = stage
            self._say(_STAGES.get(stage, stage))

    def _say(self, text: str) -> None:
        say(f"{self._elapsed():5.1f} s  {visible(text)}")


def print_verdict(submission: Document, accepted_text: str) -> None:
    """Print a submission's verdict and its games. ``accepted_text`` is the verdict if it was accepted."""
    console = Console(highlight=False, soft_wrap=True, width=_WIDTH)
    cause = submission.get("cause")
    if cause is None:
        console.print(Text(visible(accepted_text), style="green"))
        if games := submission.get("games"):
            console.print(_table(games))
        return
    console.print(Text(visible(f"{submission['stage']}: {cause['text']}"), style="red"))
    for name, value in _cause_rows(cause):
        console.print(Text(f"  {name:10} ").append(visible(value)))
    if stderr := str(cause.get("stderr", "")).rstrip():
        console.print(Text("  the end of the bot's stderr:"))
        for line in stderr.split("\n"):
            console.print(Text(f"    {visible(line)}".rstrip()))


def _cause_rows(cause: Document) -> Iterator[tuple[str, str]]:
    yield "stage", str(cause["stage"])
    yield "cause", str(cause["kind"])
    if cause.get("exit_code") is not None:
        yield "exit code", str(cause["exit_code"])
    if cause.get("out_of_memory"):
        yield "memory", OUT_OF_MEMORY
    if request := cause.get("request"):
        where = f"game {request['game']} of {GAMES} ({request['players']} players, seat {request['seat']})"
        yield "decision", f"{where}, round {request['round']}, turn {request['turn']}"
        yield "hand", ", ".join(map(str, request["hand"]))
    yield "hint", str(cause["hint"])


def _game_number(at: int, game: Document) -> int:
    """Return the game's number in the qualification. Older arenas don't send this number."""
    return int(game.get("number", at + 1))


def _game(number: int, game: Document, *, again: bool) -> str:
    figures = game["figures"]
    place = _ORDINALS.get(figures["place"], f"{figures['place']}th")
    words = [f"{game['players']} players, seat {game['seat']}", f"placed {place}"]
    if figures.get("slowest_millis") is not None:
        words.append(f"slowest decision {millis(figures['slowest_millis'])} ms")
    if late := figures.get("late"):
        words.append(f"{counted(late, 'late decision')}")
    why = " (repeated because the host was busy)" if again else ""
    return f"game {number} of {GAMES}{why}: {', '.join(words)}"


def _table(games: list[dict[str, Any]]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="")
    for title, _ in _COLUMNS:
        table.add_column(title, justify="right", no_wrap=True)
    for number, game in enumerate(games, 1):
        row = {"number": number} | game | (game.get("figures") or {})
        table.add_row(*(Text(visible(_number(row.get(name)))) for _, name in _COLUMNS))
    return table


def _number(value: object) -> str:
    """Format a count or milliseconds. Format None as a hyphen."""
    return millis(value) if value is None or isinstance(value, float) else str(value)


@contextmanager
def upload_progress(what: str) -> Iterator[Report]:
    """Show upload progress if stderr is a terminal. Yield a function that updates the progress."""
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
    )
    console, disable = Console(stderr=True), not sys.stderr.isatty()
    with Progress(*columns, console=console, transient=True, disable=disable) as progress:
        task = progress.add_task(what, total=None)
        yield lambda sent, total: progress.update(task, completed=sent, total=total)


def submit(
    bot: Annotated[
        str,
        typer.Argument(help="A source file, a docker save archive, a folder with a Dockerfile, or an image."),
    ],
    *,
    name: Annotated[
        str | None, typer.Option(help="Bot name. Default: the name of the file, folder or image.")
    ] = None,
    note: Annotated[str, typer.Option(help="Your note on this version.")] = "",
    no_follow: Annotated[bool, typer.Option("--no-follow", help="Don't wait for the result.")] = False,
    as_json: Json = False,
) -> None:
    """Send a bot to the arena, and wait until it plays or is rejected.

    Exit codes: 0 the bot plays or, with --no-follow, was sent; 1 it was rejected or the arena failed.
    """
    with logged_in_site() as site:
        response = _send(site, bot, name, note)
        if not no_follow:
            response = _follow(site, site.read(response, Submission))
        submission = site.read(response, Submission)
        if as_json:
            print_json(response)
        elif submission.ended is None:
            echo(submission.id)
        else:
            named = at_version(submission.bot, submission.version)
            print_verdict(response, f"{named} is active: {site.address}/bots/{submission.bot}")
        _print_next_step(site, submission, bot)
    if submission.cause is not None:
        raise typer.Exit(EXIT_FAILURE)


def _send(site: "SiteClient", target: str, name: str | None, note: str) -> Any:  # noqa: ANN401 - JSON
    """Send a bot and return the site's document about the submission."""
    try:
        found = target_of(target)
        check_source(found)
        with payload_of(found, name) as payload, upload_progress(payload.bot) as report:
            response = _upload(site, payload, note, report)
    except KeyboardInterrupt:
        _exit_interrupted(None)
    received = site.read(response, Submission)
    page = visible(f"{site.address}/submissions/{received.id}")
    say(f"{visible(received.bot)}: {decimal(received.size)} sent, {page}")
    return response


def _upload(site: "SiteClient", payload: Payload, note: str, report: Report) -> Any:  # noqa: ANN401 - JSON
    """Send a payload, retrying while the site is at capacity, and verify that it arrived intact."""
    retries = RetryPolicy()
    query = {"kind": payload.kind, "note": note}
    if payload.sha256 is not None:
        query["sha256"] = payload.sha256
    while True:
        body = body_of(payload, report)
        try:
            response = site.put(f"/bots/{payload.bot}/submissions", body, **query)
        except SiteProblem as problem:
            if not problem.retryable:
                raise
            say(f"{visible(problem.detail)} Retrying soon")
            retries.fail(problem)
            continue
        except NoResponse as error:
            if not body.fully_sent:
                raise
            raise SiteError(
                f"{site.address} has not confirmed that it received the bot: {_check_with(payload)}, "
                "before you submit again"
            ) from error
        except KeyboardInterrupt:
            _exit_interrupted(payload if body.fully_sent else None)
        received = site.read(response, Submission)
        if received.sha256 != body.sha256:
            raise SiteError(
                f"{site.address} received data that differs from what was sent (SHA-256 {received.sha256} "
                f"instead of {body.sha256}): submit again"
            )
        return response


def _exit_interrupted(sent: Payload | None) -> NoReturn:
    """Exit after Ctrl-C. ``sent`` is a payload that was sent completely."""
    if sent is None:
        say("stopped; nothing was stored")
    else:
        say(f"stopped after sending the last byte: {_check_with(sent)}")
    raise typer.Exit(EXIT_INTERRUPTED)


def _check_with(payload: Payload) -> str:
    # A site may take minutes to store a large file.
    return f"check with `arena status {payload.bot}` in a few minutes"


def _follow(site: "SiteClient", sent: Submission) -> Any:  # noqa: ANN401 - JSON
    """Report a submission's stages, and return its final document, including its games."""
    began = time.monotonic()
    reporter = ProgressReporter(lambda: time.monotonic() - began)
    status_hint = f"see `arena status {visible(sent.bot)}`"
    try:
        for response in stage_by_stage(follow(site, part(sent.id), RetryPolicy())):
            reporter.update(response)
        return site.get(f"/submissions/{part(sent.id)}")
    except KeyboardInterrupt:
        say(f"stopped following; the submission continues: {status_hint}")
        raise typer.Exit(EXIT_INTERRUPTED) from None
    except SiteError as trouble:
        raise SiteError(
            f"{str(trouble).removesuffix('.')}. The submission continues: "
            f"instead of submitting again, {status_hint}"
        ) from trouble


def _print_next_step(site: "SiteClient", submission: Submission, target: str) -> None:
    if submission.ended is None:
        say(f"progress: `arena status {visible(submission.bot)}`")
    elif submission.cause is None:
        say(f"the bot's first rated game comes next: see {site.address}/bots/{part(submission.bot)}")
    else:
        if submission.cause.kind.is_reproducible:
            say(f"to reproduce: arena check {shlex.quote(target)}")
        _print_active_version(site, submission.bot)


def _print_active_version(site: "SiteClient", name: str) -> None:
    """Report which version of a bot remains active, if any."""
    try:
        bot = site.read(site.get(f"/bots/{part(name)}"), Bot)
    except SiteProblem:
        return  # no version ever played
    if bot.state == "active":
        say(f"{visible(bot.name)}@{bot.version} remains active")


def cancel(
    submission: Annotated[
        str, typer.Argument(metavar="BOT", help="Name of the bot, or id of the submission.")
    ],
    *,
    as_json: Json = False,
) -> None:
    """Cancel a submission in progress. It still counts towards the quota.

    Example: arena cancel mybot
    """
    with logged_in_site() as site:
        newest = islice(site.pages("/submissions", "submissions", limit=_MAX_SEARCHED), _MAX_SEARCHED)
        known = [site.read(each, Submission) for each in newest]
        wanted = submission.lower()
        found = [each for each in known if each.ended is None and wanted in {each.bot.lower(), each.id}]
        if not found:
            raise ClientError(f"no submission in progress matches {submission}: see `arena status`")
        if len(found) > 1:
            ids = ", ".join(each.id for each in found)
            raise ClientError(
                f"{submission} has {len(found)} submissions in progress; specify one of these ids: {ids}"
            )
        site.delete(f"/submissions/{part(found[0].id)}")
        if as_json:
            print_json(site.get(f"/submissions/{part(found[0].id)}"))
        say(f"cancelled submission {visible(found[0].id)} for {visible(found[0].bot)}")
        _print_active_version(site, found[0].bot)
