"""``arena admin`` commands for the ladder: its settings, queue, submissions, ratings and statistics."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from arena.cli.console import EXIT_FAILURE, Json, at_version, fail, print_json, print_table, public
from arena.cli.operating import open_arena_store, operator_name, record_action
from arena.platform.text import counted
from arena.protocol.submissions import Submission, SubmissionList

if TYPE_CHECKING:
    from arena.db.store import Store
    from arena.db.submissions import KnownSubmission
    from arena.platform.settings import Settings
    from arena.protocol.status import QuarantineEntry


def rebuild_ratings() -> None:
    """Recompute the ratings from the game log and correct any stored ones that differ.

    The exit code is 1 if any differed.
    """
    with open_arena_store() as (_, store):
        rebuilt = store.ladder.rebuild()
    record_action("rebuild-ratings", detail=f"{rebuilt.differing} differed")
    typer.echo(f"{counted(rebuilt.events, 'event')}, {counted(rebuilt.differing, 'rating')} differed")
    if rebuilt.differing:
        raise typer.Exit(EXIT_FAILURE)


_MAX_GAMES: Final = 20_000
"""Maximum number of recent games to read for a report. More games would change β by less than its error."""


def fit_beta() -> None:
    """Estimate β, the noise in one game, from recent games, and print how much predictions improve."""
    from arena.ladder.calibration import fit_betas

    with open_arena_store() as (_, store):
        fits = fit_betas(store.ratings.predicted_games(_MAX_GAMES))
    if not fits:
        fail("too few rated games: fitting β needs at least 100 games with the same number of players")
    print_table(
        ("players", "games", "β", "log-loss", "fitted β", "log-loss", "gain"),
        [
            (
                str(fit.players),
                str(fit.games),
                f"{fit.beta:.2f}",
                f"{fit.loss:.4f}",
                f"{fit.fitted:.2f}",
                f"{fit.fitted_loss:.4f}",
                f"{fit.loss - fit.fitted_loss:.4f} ± {fit.error:.4f}",
            )
            for fit in fits
        ],
    )


def odd_results() -> None:
    """List pairs of bots or authors whose results contradict their ratings.

    Being listed is a reason to review the pair's games, not proof of collusion.
    """
    from arena.ladder.odd_results import odd_pairs

    with open_arena_store() as (_, store):
        games = store.ratings.predicted_games(_MAX_GAMES)
        owners = store.ratings.owners({version for game in games for version in game.versions})
    bots = {version: owner.bot for version, owner in owners.items()}
    # Leave out house bots: no author gains from their results, so several of them may share a table.
    authors = {version: owner.author for version, owner in owners.items() if not owner.house}
    rows = [
        (
            kind,
            pair.ahead,
            pair.behind,
            str(pair.games),
            f"{pair.observed:.0%}",
            f"{pair.expected:.0%}",
            f"{pair.errors:.1f}",
            f"{pair.chance:.1g}",
        )
        for kind, names in (("bots", bots), ("authors", authors))
        for pair in odd_pairs(games, names)
    ]
    if rows:
        print_table(
            ("pair", "ahead", "behind", "games", "observed", "expected", "standard errors", "p-value"), rows
        )
    else:
        typer.echo(f"No odd results in the latest {len(games)} rated games.")


def ladder(  # noqa: PLR0913 - one argument per option
    *,
    pause: Annotated[
        bool | None, typer.Option("--pause/--resume", help="Stop or resume creating matches.")
    ] = None,
    players: Annotated[
        str | None, typer.Option(help="Players per table: numbers separated by commas, such as 2,3,4.")
    ] = None,
    deals: Annotated[int | None, typer.Option(help="Maximum deals per match, 1 to 24.")] = None,
    start_millis: Annotated[
        int | None, typer.Option(help="Time limit from a bot's start to its Hello, 1,000 to 60,000 ms.")
    ] = None,
    move_millis: Annotated[
        int | None,
        typer.Option(help="Move time: time for each decision before the bank is used, 50 to 60,000 ms."),
    ] = None,
    bank_millis: Annotated[
        int | None, typer.Option(help="Time bank per game for longer decisions, 0 to 120,000 ms.")
    ] = None,
    cpus: Annotated[float | None, typer.Option(help="Cores per bot, 0.1 to 0.4.")] = None,
    memory_mib: Annotated[int | None, typer.Option(help="Memory per bot, 64 to 256 MiB.")] = None,
    pids: Annotated[int | None, typer.Option(help="Processes and threads per bot, 16 to 64.")] = None,
    tmp_mib: Annotated[int | None, typer.Option(help="Size of a bot's /tmp, 1 to 16 MiB.")] = None,
    as_json: Json = False,
) -> None:
    """Show the ladder's settings, or change them for future matches."""
    from arena.app.folders import utc_now
    from arena.ladder.settings import LadderChange
    from arena.services.operators import change_ladder

    tables = None if players is None else _numbers(players)
    wanted = LadderChange(
        paused=pause,
        players=tables,
        deals=deals,
        start_millis=start_millis,
        move_millis=move_millis,
        bank_millis=bank_millis,
        cpus=cpus,
        memory_mib=memory_mib,
        pids=pids,
        tmp_mib=tmp_mib,
    )
    with open_arena_store() as (settings, store):
        if wanted.named():
            change_ladder(store, utc_now(), operator_name(), wanted)
        status = _ladder(store, settings)
    if as_json:
        print_json(status)
    else:
        print_table(("ladder", "paused" if status["paused"] else "running"), _rows(status))


def _numbers(text: str) -> tuple[int, ...]:
    words = [word.strip() for word in text.split(",")]
    if not all(word.isascii() and word.isdigit() for word in words):
        fail(f"--players {text!a} is invalid: give numbers of players separated by commas, such as 2,3,4")
    return tuple(sorted(int(word[:9]) for word in words))


def _ladder(store: "Store", settings: "Settings") -> dict[str, Any]:
    """Return the ladder's settings, a bot's limits on this host, and the numbers of games and matches."""
    from arena.app.host import limits_of_bots

    ladder, totals = store.ladder.settings(), store.activity.totals()
    return {
        "rules": "the basic game",
        "paused": ladder.paused,
        "players": list(ladder.players),
        "deals": ladder.deals,
        "clock": asdict(ladder.clock),
        "limits": asdict(ladder.limits.lowered(limits_of_bots(settings))),
        "games": totals.games,
        "matches_waiting": totals.matches_waiting,
        "matches_running": totals.matches_running,
        "matches_quarantined": len(store.queue.quarantined()),
    }


def _rows(status: dict[str, Any]) -> list[tuple[str, str]]:
    clock, limits = status["clock"], status["limits"]
    matches = f"{status['matches_waiting']} queued, {status['matches_running']} running"
    return [
        ("rules", status["rules"]),
        ("players", ", ".join(map(str, status["players"]))),
        (
            "deals",
            f"{status['deals']} per match; 1 if a bot has no rated games yet, fewer at slow tables",
        ),
        ("start", f"{clock['start_millis']} ms"),
        ("decision", f"{clock['move_millis']} ms, plus a bank of {clock['bank_millis']} ms per game"),
        ("processor", f"{limits['cpus']} of a core"),
        ("memory", f"{limits['memory_mib']} MiB, including {limits['tmp_mib']} MiB for /tmp"),
        ("processes", str(limits["pids"])),
        ("rated games", str(status["games"])),
        ("matches", f"{matches}, {status['matches_quarantined']} quarantined"),
    ]


_COLUMNS = ("match", "kind", "since (UTC)", "attempts", "bots", "reason")


def quarantine(*, as_json: Json = False) -> None:
    """List the matches quarantined after repeated arena faults, newest first."""
    from arena.services.documents import quarantine_entry

    with open_arena_store() as (_, store):
        found = store.queue.quarantined()
    if as_json:
        print_json({"quarantined": [quarantine_entry(match) for match in found]})
    else:
        print_table(_COLUMNS, [_match_row(match) for match in found])


def release(match: Annotated[str, typer.Argument(metavar="MATCH", help="The match's id.")]) -> None:
    """Return a quarantined match to the queue, as if it had never failed."""
    from arena.app.folders import utc_now
    from arena.db.audit import NewAuditEntry

    with open_arena_store() as (_, store):
        entry = NewAuditEntry(at=utc_now(), who=operator_name(), what="release", subject=f"match:{match}")
        store.queue.release(match, entry)
    typer.echo(f"{match} queued")


def _match_row(match: "QuarantineEntry") -> tuple[str, ...]:
    return (
        match.match,
        match.kind.value,
        f"{match.since:%Y-%m-%d %H:%M}",
        str(match.attempts),
        ", ".join(at_version(seat.bot, seat.version) for seat in match.seats),
        match.reason,
    )


def submissions(
    *,
    bot: Annotated[str | None, typer.Option(help="Only submissions of this bot.")] = None,
    last: Annotated[int, typer.Option(min=1, max=1000, help="Maximum number of submissions.")] = 50,
    as_json: Json = False,
) -> None:
    """List submissions, newest first, with their stage and the reason for a rejection or wait."""
    with open_arena_store() as (_, store):
        found = store.submissions.newest(bot=bot, limit=last)
    if as_json:
        print_json(SubmissionList(submissions=public(found, Submission), next=None))
        return
    for each in found:
        typer.echo(_line(each))


def _line(submission: "KnownSubmission") -> str:
    words = (
        submission.id,
        f"{submission.received:%Y-%m-%d %H:%M:%S}",
        f"{submission.stage} (check)" if submission.check_only else submission.stage.value,
        at_version(submission.bot, submission.version),
        submission.author,
        submission.kind.value,
        submission.cause.text if submission.cause else submission.waiting or submission.note,
    )
    # A cause may quote a bot's output, which must not move the terminal's cursor.
    return "\t".join("".join(c if c.isprintable() else " " for c in word) for word in words)


def rebuild_statistics() -> None:
    """Recount the cards in all games and correct any stored numbers that differ.

    The exit code is 1 if any differed.
    """
    with open_arena_store() as (_, store):
        rebuilt = store.cards.rebuild()
    summary = f"{counted(rebuilt.games, 'game')} counted, {counted(rebuilt.differing, 'total')} differed"
    record_action("rebuild-statistics", detail=summary)
    typer.echo(summary)
    if rebuilt.differing:
        raise typer.Exit(EXIT_FAILURE)
