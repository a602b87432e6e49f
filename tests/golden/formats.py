"""Write the numbers and shapes of stored formats: ``python -m tests.golden.formats``.

Other versions of the program, workers and later restores rely on a format's number. If a format's shape
changes, its number must change too. Otherwise this program refuses to write the new shape.
"""

import json
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import msgspec
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.schema import CreateIndex, CreateTable

from arena.db.schema import Base
from arena.db.schema_revision import NEWEST_REVISION
from arena.ops.backup import archive
from arena.ops.backup.archive import BackupManifest, packed
from arena.play.replay import disclosed, document
from arena.play.replay.disclosed import DisclosedGame
from arena.play.replay.document import PublicReplay
from arena.protocol import match
from arena.protocol.match import MatchRecord, MatchSpec, Progress
from arena.protocol.sandbox_controls import HostReport

FILE: Final = Path(__file__).with_name("formats.json")


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredFormat:
    """A format that is stored or sent."""

    number: str  # the format's number or name, stored with the data
    where: str  # the name of the constant with the number
    shape: Any  # all that a reader must know about the data, as JSON


def today() -> dict[str, StoredFormat]:
    """Return the formats of this version of the program."""
    return {
        "database": StoredFormat(
            number=NEWEST_REVISION,
            where="a migration and arena.db.schema_revision.NEWEST_REVISION",
            shape=_tables() | {"reports": _types(HostReport)},
        ),
        "backup": StoredFormat(
            number=archive.FORMAT,
            where="arena.ops.backup.archive.FORMAT",
            shape={
                "folders": [archive.MANIFEST, archive.TABLES, archive.UPLOADS, archive.BLOBS],
                "manifest": _types(BackupManifest),
                "rows": b"".join(packed([[[1, "a", None, b"b"]], [[2.5, True]]])).hex(),
            },
        ),
        "replay": StoredFormat(
            number=document.FORMAT, where="arena.play.replay.document.FORMAT", shape=_types(PublicReplay)
        ),
        "live game": StoredFormat(
            number=disclosed.DISCLOSED_FORMAT,
            where="arena.play.replay.disclosed.DISCLOSED_FORMAT",
            shape=_types(DisclosedGame),
        ),
        "match": StoredFormat(
            number=str(match.FORMAT),
            where="arena.protocol.match.FORMAT",
            shape=_types(MatchSpec, MatchRecord, Progress),
        ),
    }


def _tables() -> dict[str, Any]:
    """Return the statements that create the tables, by kind of database."""
    statements = [
        CreateTable(table) if part is None else CreateIndex(part)
        for table in Base.metadata.sorted_tables
        for part in (None, *sorted(table.indexes, key=lambda index: str(index.name)))
    ]
    return {
        dialect.name: [
            line.strip()
            for each in statements
            for line in str(each.compile(dialect=dialect)).splitlines()
            if line.strip()
        ]
        for dialect in (postgresql.dialect(), sqlite.dialect())  # type: ignore[no-untyped-call] # untyped in SQLAlchemy
    }


def _types(*kinds: type) -> Any:  # noqa: ANN401 - JSON
    """Return the JSON Schema of types, without titles and descriptions."""
    _, components = msgspec.json.schema_components(kinds, ref_template="{name}")
    return _without_words(json.loads(json.dumps(components)))


def _without_words(schema: Any) -> Any:  # noqa: ANN401 - JSON
    if isinstance(schema, list):
        return [_without_words(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: _without_words(value)
        for key, value in schema.items()
        if not (key in {"title", "description"} and isinstance(value, str))
    }


def kept() -> dict[str, StoredFormat]:
    """Return the formats from the committed file."""
    return msgspec.json.decode(FILE.read_bytes(), type=dict[str, StoredFormat])


def unnumbered(before: dict[str, StoredFormat], now: dict[str, StoredFormat]) -> Iterable[str]:
    """Yield an error for each format whose shape has changed while its number has not."""
    for name, stored in before.items():
        if name in now and now[name].number == stored.number and now[name].shape != stored.shape:
            yield (
                f"the shape of what is stored as {name} has changed, and its number is still "
                f"{stored.number}: raise it ({now[name].where}), then run python -m tests.golden.formats"
            )


if __name__ == "__main__":
    wrong = list(unnumbered(kept(), today())) if FILE.exists() else []
    if wrong:
        sys.exit("\n".join(wrong))
    FILE.write_text(json.dumps(msgspec.to_builtins(today()), indent=1) + "\n")
