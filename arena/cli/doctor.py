"""``arena doctor``: this machine's resources and sandbox controls."""

import os
import shutil
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

import msgspec
import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from arena.cli.console import EXIT_FAILURE, EXIT_USAGE, Json, fail, print_json, say
from arena.protocol.sandbox_controls import CONTROLS, Finding, HostReport, missing, unaccepted

if TYPE_CHECKING:
    from arena.platform.settings import Settings

_GIB = 1024**3


def doctor(*, as_json: Json = False) -> None:
    """Test which sandbox controls this machine enforces, with or without a running arena.

    Exit codes: 0 each control passes, or its failure is accepted; 1 at least one failure is not accepted; 2
    the tests can't run.
    """
    from arena.app.folders import CannotStart
    from arena.app.host import examine_host
    from arena.platform.logs import configure_logs
    from arena.platform.settings import LogFormat, LogLevel, WrongSettings, read_settings
    from arena.sandbox.runtime import RuntimeFailure

    configure_logs(LogFormat.CONSOLE, LogLevel.INFO)
    try:
        settings = read_settings()
        report = examine_host(settings, say)
    except (CannotStart, RuntimeFailure, WrongSettings) as error:
        fail(str(error), EXIT_USAGE)
    accepted = settings.accept_missing
    if as_json:
        print_json(_as_data(report, settings))
    else:
        _print(report, settings)
    if unaccepted(report, accepted):
        raise typer.Exit(EXIT_FAILURE)


def _machine(settings: "Settings") -> dict[str, Any]:
    from arena.app.host import slots_of_host

    folder = settings.data_dir.absolute()
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    return {
        "cores": len(os.sched_getaffinity(0)),
        "slots": slots_of_host().size,
        "disk_free_gib": round(shutil.disk_usage(existing).free / _GIB, 1),
    }


def _as_data(report: HostReport, settings: "Settings") -> dict[str, Any]:
    document = msgspec.to_builtins(report)
    return {
        "name": document.pop("host"),  # as in the API
        **document,
        **_machine(settings),
        "accepted": sorted(settings.accept_missing),
        "unaccepted": unaccepted(report, settings.accept_missing),
    }


def _print(report: HostReport, settings: "Settings") -> None:
    machine = _machine(settings)
    facts = {
        "machine": report.host,
        "bots run in": report.runtime,
        "engine": report.engine or "none",
        "control groups": report.cgroup or "none",
        "cores": str(machine["cores"]),
        "slots": str(machine["slots"]),
        "disk free": f"{machine['disk_free_gib']} GiB",
    }
    for name, value in facts.items():
        typer.echo(f"{name:16} {value}")
    if report.findings:
        typer.echo()
        Console(highlight=False).print(_table(report.findings, settings.accept_missing))
        typer.echo()
    for warning in report.warnings:
        typer.echo(f"warning: {warning}")
    typer.echo(_verdict(report, settings.accept_missing))


def _table(findings: Collection[Finding], accepted: Collection[str]) -> Table:
    table = Table(box=None, pad_edge=False)
    for column in ("control", "state", "finding"):
        table.add_column(column, no_wrap=column != "finding")
    for finding in findings:
        held = finding.held
        state = "enforced" if held else "accepted" if finding.control in accepted else "NOT ENFORCED"
        words = finding.detail if held else f"{finding.detail}\n{CONTROLS[finding.control].fix}"
        table.add_row(finding.control, state, Text(words))
    return table


def _verdict(report: HostReport, accepted: Collection[str]) -> str:
    if not report.isolates:
        return "Nothing is isolated: run only bots that you trust. Untrusted bots are refused."
    names = unaccepted(report, accepted)
    if names:
        every = [name for name in missing(report) if name in names or name in accepted]
        return (
            "Untrusted bots are refused. Fix the controls that are not enforced, or accept that they fail: "
            f"ARENA_ACCEPT_MISSING={','.join(every)}"
        )
    without = ", ".join(missing(report))
    return (
        f"Untrusted bots may play, although these controls failed: {without}."
        if without
        else "Untrusted bots may play."
    )
