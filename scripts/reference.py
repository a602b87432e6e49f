"""Generate reference pages in docs/: settings, controls, commands, routes, metrics, messages.

With ``--check``, write nothing, and fail if a committed page differs.
"""

import difflib
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime
from enum import Enum
from pathlib import Path
from typing import Any, Final

import typer
from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto, FileDescriptorSet
from prometheus_client import CollectorRegistry
from prometheus_client.metrics_core import Metric
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from arena.accounts.accounts import open_accounts
from arena.cli.main import app, plain_record
from arena.db.store import open_store
from arena.db.subscriptions import SubscriptionKind
from arena.notices.metrics import DeliveryMetrics
from arena.notices.subscriptions import open_subscriptions
from arena.ops.export.manifest import exports_folder
from arena.ops.health import new_registry
from arena.platform.settings import Settings
from arena.play.launcher.slots import SlotPool
from arena.protocol.match import Limits, WorkerStatus
from arena.protocol.sandbox_controls import CONTROLS
from arena.protocol.states import MatchKind, MatchState
from arena.sandbox.process.runtime import ProcessRuntime
from arena.scheduler.cluster.host import MatchRunner
from arena.scheduler.metrics import ArenaGauges, HostGauges, MatchMetrics
from arena.services.owners import open_owners
from arena.submissions.receiver import open_receiver
from web.app import Components, create_app
from web.http.api import describe
from web.http.metrics import SiteMetrics

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PROTO = "arena/wire/v1/referee.proto"
_COMMANDS_HEAD = """\
# Commands

All commands, generated from their help. [For authors](cli.md) and [operating an arena](operating.md) explain
how to use them. `{name}` is required, `[name]` optional; `--json` prints JSON.
"""
_JSON: Final = ("--json", "Print JSON.")
_PLAIN: Final = re.compile(r"(Name|Id) of the (bot|account|match)\. *\[required\]$")
"""Arguments that are left out of the list, because the usage line says enough about them."""

_MESSAGES_HEAD = f"""\
# The protocol's messages

All messages, generated from [`proto/{PROTO}`](../proto/{PROTO}).
[The protocol](protocol.md) explains how to use them.
"""


def settings_page(current: str) -> str:
    """Return docs/settings.md with its first table regenerated from :class:`Settings`."""
    rows = [
        (f"`ARENA_{name.upper()}`", _default(field), field.description or "")
        for name, field in Settings.model_fields.items()
    ]
    table = _table(("variable", "default", "meaning"), rows)
    return _with_table(current, "arena/platform/settings.py", table)


def canary_page(current: str) -> str:
    """Return docs/canary.md with its table of controls regenerated."""
    rows = [(f"`{name}`", control.stops) for name, control in CONTROLS.items()]
    return _with_table(current, "arena/protocol/sandbox_controls.py", _table(("control", "stops"), rows))


def api_page(current: str) -> str:
    """Return docs/api.md with its table of routes regenerated."""
    rows = [
        (f"`{method.upper()} {path}`", _cell(operation["summary"]) + ".", _scope(operation))
        for path, methods in _described_api()["paths"].items()
        for method, operation in methods.items()
    ]
    return _with_table(current, "the OpenAPI description", _table(("request", "purpose", "scope"), rows))


def _described_api() -> dict[str, Any]:
    """Return the OpenAPI description of a site with an empty database."""
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(data_dir=Path(folder), database_url=None)
        with closing(open_store(settings.url)) as store:
            components = Components(
                store=store,
                accounts=open_accounts(store, settings.registration),
                receiver=open_receiver(settings, store),
                owners=open_owners(settings, store),
                subscriptions=open_subscriptions(settings, store),
                metrics=SiteMetrics(),
                exports=exports_folder(settings),
                now=lambda: datetime.now(UTC),
            )
            return describe(create_app(components))


def _scope(operation: dict[str, Any]) -> str:
    """Return the token scope that a route requires, ``any`` or nothing."""
    match operation.get("security"):
        case [{"token": [str(name)]}, *_]:
            return f"`{name}`"
        case [{"token": []}, *_]:
            return "any"
    return ""


def monitoring_page(current: str) -> str:
    """Return docs/monitoring.md with its tables of metrics regenerated."""
    for process, registry in _registries():
        rows = [
            _metric(family)
            for family in registry.collect()
            if not family.name.startswith(("process", "python"))
        ]
        table = _table(("metric", "type", "labels", "meaning"), rows)
        current = _with_table(current, f"the metrics of a {process}", table)
    return current


def _registries() -> Iterator[tuple[str, CollectorRegistry]]:
    """Yield each process's metrics, with a sample of each label that has fixed values."""
    coordinator = new_registry()
    MatchMetrics(coordinator, time.monotonic, time.time)
    shown = (MatchState.WAITING, MatchState.RUNNING, MatchState.QUARANTINED)
    queue = {(state, kind): 0 for state in shown for kind in MatchKind}
    workers = (WorkerStatus(name="w", host="h", seats=5, busy=2),)
    DeliveryMetrics(coordinator)
    notices = dict.fromkeys(SubscriptionKind, 0)
    coordinator.register(
        ArenaGauges(
            queue=lambda: queue, workers=lambda: workers, notices=lambda: notices, disk_free=lambda: 0
        ),
    )
    yield "coordinator", coordinator
    worker = new_registry()
    slots = SlotPool.for_host(4, 16384, Limits())
    worker.register(HostGauges(MatchRunner(ProcessRuntime(), "i", Path("r"), slots), slots.size, lambda: 0))
    yield "worker", worker
    site = SiteMetrics()
    site.count_request("/", "GET", 200, 0.1)
    yield "site", site.registry


def _metric(family: Metric) -> tuple[str, str, str, str]:
    """Return a row: name, type, labels (with their values if these are fixed), meaning."""
    labels = []
    for label in filter("le".__ne__, family.samples[0].labels):
        values = list(dict.fromkeys(sample.labels[label] for sample in family.samples))
        labels.append(f"`{label}`" + (f" ({', '.join(values)})" if len(values) > 1 else ""))
    name = f"{family.name}_total" if family.type == "counter" else family.name
    return f"`{name}`", family.type, ", ".join(labels), _cell(family.documentation)


def _with_table(current: str, source: str, table: str) -> str:
    """Return a page with the generated table between the two markers for its source."""
    begin, end = f"<!-- generated from {source} -->\n", "<!-- end of the generated table -->\n"
    before, _, rest = current.partition(begin)
    return before + begin + table + end + rest.partition(end)[2]


def _default(field: FieldInfo) -> str:
    value = field.default
    if value is PydanticUndefined or value is None or value == frozenset():
        return "none"
    return f"`{value.value if isinstance(value, Enum) else value}`"


def commands_page() -> str:
    """Return docs/commands.md: every command with its arguments and options."""
    parts = [_COMMANDS_HEAD]
    parts += [
        _command(words, command) for words, command in _commands(("arena",), typer.main.get_command(app))
    ]
    return "\n".join(parts)


def _commands(words: tuple[str, ...], command: Any) -> Iterator[tuple[tuple[str, ...], Any]]:  # noqa: ANN401 - click's types are typer's own copies
    """Yield the commands below a group, in the order of its help."""
    context = typer.Context(command, info_name=words[-1])
    for name in command.list_commands(context):
        below = command.get_command(context, name)
        if hasattr(below, "list_commands"):
            yield from _commands((*words, name), below)
        else:
            yield (*words, name), below


def _command(words: tuple[str, ...], command: Any) -> str:  # noqa: ANN401 - as above
    context = typer.Context(command, info_name=" ".join(words))
    # A hidden parameter has no help record.
    found = filter(None, (each.get_help_record(context) for each in command.get_params(context)))
    records = [plain_record(*record) for record in found]
    listed = [
        (name, meaning)
        for name, meaning in records
        if name != "--help" and (name, meaning) != _JSON and not _PLAIN.match(meaning)
    ]
    usage = [*words, *command.collect_usage_pieces(context)]
    if not any(name.startswith("-") for name, _ in listed):
        usage.remove("[OPTIONS]")
    if _JSON in records:
        usage.append("[--json]")
    text = f"## {' '.join(words)}\n\n{_sentence(command.help or '')}\n\n    {' '.join(usage)}\n"
    items = "".join(f"- **`{name}`** {_meaning(name, meaning)}\n" for name, meaning in listed)
    return f"{text}\n{items}" if items else text


def _meaning(name: str, meaning: str) -> str:
    """Return a meaning without "required", because the usage shows which arguments are required."""
    text = " ".join(meaning.split())
    return text if name.startswith("-") else text.replace(" [required]", "").replace("; required]", "]")


def messages_page() -> str:
    """Return docs/messages.md: the service, the messages and the enums of the protocol."""
    file = _read_protocol()
    comments = {tuple(at.path): _sentence(at.leading_comments) for at in file.source_code_info.location}
    parts = [_MESSAGES_HEAD]
    for number, service in enumerate(file.service):
        parts.append(f"## Service {service.name}\n\n{comments[6, number]}\n")
        parts += [
            f"    rpc {method.name}({'stream ' * method.client_streaming}{_name(method.input_type)}) returns "
            f"({'stream ' * method.server_streaming}{_name(method.output_type)})\n\n"
            f"{comments[6, number, 2, index]}\n"
            for index, method in enumerate(service.method)
        ]
    for number, message in enumerate(file.message_type):
        rows = [
            (f"`{field.name}`", str(field.number), _type(field), _cell(comments[4, number, 2, index]))
            for index, field in enumerate(message.field)
        ]
        table = _table(("field", "number", "type", "meaning"), rows)
        parts.append(f"## {message.name}\n\n{comments[4, number]}\n\n{table}")
    for number, enum in enumerate(file.enum_type):
        values = [
            (f"`{value.name}`", str(value.number), _cell(comments[5, number, 2, index]))
            for index, value in enumerate(enum.value)
        ]
        table = _table(("value", "number", "meaning"), values)
        parts.append(f"## {enum.name}\n\n{comments[5, number]}\n\n{table}")
    return "\n".join(parts)


def _read_protocol() -> FileDescriptorProto:
    """Return the protocol with its comments, as protoc reads it."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "descriptor"
        words = (
            "-m",
            "grpc_tools.protoc",
            "--proto_path=proto",
            "--include_source_info",
            f"--descriptor_set_out={out}",
        )
        subprocess.run([sys.executable, *words, PROTO], cwd=ROOT, check=True)  # noqa: S603 - fixed words
        return FileDescriptorSet.FromString(out.read_bytes()).file[0]


def _type(field: FieldDescriptorProto) -> str:
    kind = FieldDescriptorProto.Type.Name(field.type).removeprefix("TYPE_").lower()
    if field.type_name:
        name = _name(field.type_name)
        kind = f"[{name}](#{name.lower()})"
    return f"repeated {kind}" if field.label == FieldDescriptorProto.LABEL_REPEATED else kind


def _name(full: str) -> str:
    return full.rpartition(".")[2]


def _sentence(text: str) -> str:
    """Return a comment's paragraphs and list items, each on one line, with Markdown's backticks."""
    lines = text.strip().replace("``", "`").split("\n")
    joined = "\n".join(line.strip() for line in lines)
    return re.sub(r"(?<!\n)\n(?!\n|- )", " ", joined)


def _cell(text: str) -> str:
    return " ".join(text.replace("``", "`").split()).replace("|", "\\|")


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = (heads, ["---"] * len(heads), *rows)
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def main() -> int:
    """Write the pages, or with ``--check`` show how the committed ones differ."""
    settings, canary, api = DOCS / "settings.md", DOCS / "canary.md", DOCS / "api.md"
    monitoring = DOCS / "monitoring.md"
    pages = {
        settings: settings_page(settings.read_text()),
        canary: canary_page(canary.read_text()),
        api: api_page(api.read_text()),
        monitoring: monitoring_page(monitoring.read_text()),
        DOCS / "commands.md": commands_page(),
        DOCS / "messages.md": messages_page(),
    }
    stale = {page: text for page, text in pages.items() if not page.exists() or page.read_text() != text}
    for page, text in stale.items():
        if "--check" in sys.argv[1:]:
            name = page.relative_to(ROOT).as_posix()
            old = page.read_text().splitlines(keepends=True) if page.exists() else []
            sys.stderr.writelines(difflib.unified_diff(old, text.splitlines(keepends=True), name, name))
            sys.stderr.write(f"{name} is out of date: run 'make generate'\n")
        else:
            page.write_text(text)
    return int(bool(stale) and "--check" in sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
