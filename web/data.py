"""The page about exported games, and the exported files."""

from dataclasses import dataclass
from datetime import date
from pathlib import Path as Folder
from typing import Annotated, Final

from fastapi import APIRouter, HTTPException, Path, Request, Response
from starlette.responses import FileResponse

from arena.ops.export.manifest import (
    JSON_LINES,
    MANIFEST,
    PARQUET,
    ExportedFile,
    ExportManifest,
    encoded,
    read_manifest,
)
from arena.rules import VARIANTS, RoundScore
from web.http.caching import not_modified, tagged
from web.http.rendering import PageRouter, page
from web.http.static import IMMUTABLE

PARQUET_TYPE: Final = "application/vnd.apache.parquet"
_TYPES: Final = {PARQUET: PARQUET_TYPE, JSON_LINES: "application/gzip"}

_PREFLIGHT: Final = {
    "Access-Control-Allow-Methods": "GET, HEAD",
    "Access-Control-Allow-Headers": "If-None-Match, If-Range, Range",
    "Access-Control-Max-Age": "86400",
}
"""Headers that list the requests that other sites' scripts may send. Parquet readers request ranges, which
require a preflight."""

DAYS_SHOWN: Final = 100

COLUMNS: Final = (
    ("game", "string", "The game's id; its page is /games/ID."),
    ("match", "string", "The match's id. All games in a match have the same bots."),
    ("number", "int64", "Position (starting at 1) in the order in which games were rated."),
    ("ended", "timestamp (UTC)", "End of the match."),
    ("players", "int32", "Number of players."),
    (", ".join(VARIANTS), "bool", "The variants."),
    ("seed, shuffle", "string", "The seed of the deck, and the shuffle algorithm."),
    ("seats", "struct[]", "The seats, in order."),
    ("seats[].bot", "string", "The bot's name."),
    ("seats[].version", "int32", "The version's number, starting at 1."),
    (
        "seats[].points, puddings, pudding_points",
        "int32",
        "Final points, number of puddings, and the points for them.",
    ),
    ("seats[].place", "int32", "Place; 1 is best. Seats that the stand-in took over come last."),
    ("seats[].faults", "int32", "Number of faults."),
    ("seats[].taken_over", "bool", "Whether the stand-in played the seat to the end."),
    ("rounds", "struct[]", "The three rounds."),
    ("rounds[].scores", "int32[]", "Each player's points, without puddings."),
    (
        f"rounds[].breakdown[].{', '.join(RoundScore._fields)}",
        "int32",
        "Each player's points by kind.",
    ),
    ("deals", "string[][][]", "The hands, by round and player, in dealing order."),
    ("turns", "struct[]", "All turns of the game, in order."),
    ("turns[].round, turn", "int32", "The round, and the turn within it, both starting at 1."),
    ("turns[].plays", "string[][]", "Cards that each player placed: one, or two with chopsticks."),
    ("turns[].standin", "bool[]", "Per seat: whether the stand-in chose."),
    ("turns[].fault", "string[]", "Per seat: the kind of fault, or null."),
    ("turns[].millis", "double[]", "Per seat: the bot's time in milliseconds, or null if it didn't answer."),
)
"""Columns of the Parquet files: each entry has the names of columns of the same type,
their type, and their meaning."""


@dataclass(frozen=True, slots=True)
class Day:
    """A day's two files."""

    parquet: ExportedFile
    json_lines: ExportedFile


def days_of(manifest: ExportManifest) -> tuple[Day, ...]:
    """Return the days with files, newest first."""
    found: dict[date, dict[str, ExportedFile]] = {}
    for file in manifest.files:
        found.setdefault(file.day, {})[file.name.partition(".")[2]] = file
    return tuple(Day(files[PARQUET], files[JSON_LINES]) for _, files in sorted(found.items(), reverse=True))


def data_pages(folder: Folder) -> APIRouter:
    """Return the routes for the page, the manifest and the files. The folder needn't exist."""
    router = PageRouter()
    files = PageRouter(anonymous=True)

    @router.get("/data")
    def data(request: Request) -> Response:
        days = days_of(read_manifest(folder))
        return page(
            request,
            "data.html",
            days=days[:DAYS_SHOWN],
            older=len(days) - DAYS_SHOWN,
            number=len(days),
            games=sum(day.parquet.rows for day in days),
            bytes=sum(day.parquet.bytes + day.json_lines.bytes for day in days),
            columns=COLUMNS,
        )

    @files.get(f"/data/{MANIFEST}")
    def manifest(request: Request) -> Response:
        request.state.readable = True
        found = encoded(read_manifest(folder))
        return tagged(request, Response(found, media_type="application/json"))

    @files.get("/data/{name}")
    def one_file(request: Request, name: Annotated[str, Path(pattern=r"^[a-z0-9.-]{1,64}$")]) -> Response:
        request.state.readable = True
        file = next((each for each in read_manifest(folder).files if each.name == name), None)
        if file is None or not (folder / name).is_file():
            raise HTTPException(404, "There is no such file. The page /data lists the files.")
        # This ETag is strong, so that an interrupted download can be resumed with If-Range.
        headers = {"ETag": f'"{file.sha256}"', "Cache-Control": IMMUTABLE}
        known = not_modified(request, headers["ETag"])
        if known is None:
            return FileResponse(folder / name, headers=headers, media_type=_TYPES[name.partition(".")[2]])
        known.headers.update(headers)
        return known

    @files.options("/data/{name}")
    def preflight(request: Request) -> Response:
        request.state.readable = True
        return Response(status_code=204, headers=_PREFLIGHT)

    router.routes += files.routes
    return router
