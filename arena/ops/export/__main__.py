"""The exporter's process: reads a day's games as lines of JSON, and writes them to two files in a folder.

Only this process imports pyarrow. It runs only when the host's CPUs are otherwise idle. An empty line follows
the last game. If that line is missing, the sender has died, and the files are incomplete.
"""

import gzip
import os
import sys
from collections.abc import Iterator
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any, Final

import msgspec
import pyarrow as pa
from pyarrow.parquet import ParquetWriter

from arena.ops.export.manifest import JSON_LINES, PARQUET
from arena.platform.files import sync
from arena.rules import VARIANTS, RoundScore

_BATCH: Final = 250
"""Number of games in memory, and per row group. With more, the process needs more than 130 MB."""

_NUMBER: Final = pa.int32()
_NUMBERS: Final = pa.list_(_NUMBER)
_CARDS: Final = pa.list_(pa.string())
_SEAT: Final = pa.struct(
    {
        "bot": pa.string(),
        "version": _NUMBER,
        "points": _NUMBER,
        "puddings": _NUMBER,
        "pudding_points": _NUMBER,
        "place": _NUMBER,
        "faults": _NUMBER,
        "taken_over": pa.bool_(),
    }
)
_ROUND: Final = pa.struct(
    {"scores": _NUMBERS, "breakdown": pa.list_(pa.struct(dict.fromkeys(RoundScore._fields, _NUMBER)))}
)
_TURN: Final = pa.struct(
    {
        "round": _NUMBER,
        "turn": _NUMBER,
        "plays": pa.list_(_CARDS),
        "standin": pa.list_(pa.bool_()),
        "fault": pa.list_(pa.string()),
        "millis": pa.list_(pa.float64()),
    }
)
SCHEMA: Final = pa.schema(
    {
        "game": pa.string(),
        "match": pa.string(),
        "number": pa.int64(),
        "ended": pa.timestamp("us", tz="UTC"),
        "players": _NUMBER,
        **dict.fromkeys(VARIANTS, pa.bool_()),
        "seed": pa.string(),
        "shuffle": pa.string(),
        "seats": pa.list_(_SEAT),
        "rounds": pa.list_(_ROUND),
        "deals": pa.list_(pa.list_(_CARDS)),
        "turns": pa.list_(_TURN),
    }
)
"""The Parquet file's columns; web/data.py describes them."""

Document = dict[str, Any]
"""JSON."""


def document_of(line: bytes) -> Document:
    """Return a game's document for JSON Lines: its replay without authors, and data from the database."""
    game: Document = msgspec.json.decode(line)
    document: Document = msgspec.json.decode(game.pop("replay"))
    for seat in document["seats"]:
        seat["author"] = ""  # accounts can be deleted, but files never change
    return document | game


def row(game: Document) -> Document:
    """Return a game's Parquet row from its document."""
    puddings, faults = game["puddings"], [turn["fault"] for turn in game["turns"]]
    seats = [
        {
            "bot": seat["bot"],
            "version": seat["version"],
            "points": game["totals"][index],
            "puddings": puddings["counts"][index],
            "pudding_points": puddings["scores"][index],
            "place": game["places"][index],
            "faults": sum(each[index] is not None for each in faults),
            "taken_over": game["taken_over"][index],
        }
        for index, seat in enumerate(game["seats"])
    ]
    rules: Document = game["rules"]
    return game | rules | {"seats": seats, "ended": datetime.fromisoformat(game["ended"])}


def write(lines: Iterator[bytes], folder: Path) -> None:
    """Write both files."""
    with (
        (folder / JSON_LINES).open("wb") as file,
        # The header has no time or name, so that the same games always give the same bytes.
        gzip.GzipFile(fileobj=file, mode="wb", filename="", mtime=0, compresslevel=6) as texts,
        ParquetWriter(folder / PARQUET, SCHEMA, compression="zstd") as rows,
    ):
        while games := [document_of(line) for line in islice(lines, _BATCH)]:
            texts.writelines(msgspec.json.encode(game) + b"\n" for game in games)
            rows.write_table(pa.Table.from_pylist([row(game) for game in games], schema=SCHEMA))
    sync(folder / JSON_LINES)
    sync(folder / PARQUET)


def main() -> int:
    """Write one day's files; return the exit code."""
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    complete = False

    def lines() -> Iterator[bytes]:
        nonlocal complete
        for line in sys.stdin.buffer:
            if complete := line == b"\n":
                return
            yield line

    try:
        write(lines(), Path(sys.argv[1]))
    except OSError as error:
        print(error, file=sys.stderr)  # noqa: T201 - the sender logs it
        return 1
    return 0 if complete else 1


if __name__ == "__main__":
    sys.exit(main())
