"""The page of exported games, their manifest, and downloads from a real server."""

import hashlib
import json
from collections.abc import Iterator
from datetime import timedelta

import httpx2
import pyarrow as pa
import pytest

from arena.ops.export.__main__ import SCHEMA
from arena.ops.export.manifest import MANIFEST, ExportManifest, read_manifest, write_manifest
from tests.accounts.world import World
from tests.db.builders import START
from tests.patience import WAIT_SECONDS
from tests.web.app import site_over
from tests.web.exported import SIZE, content_of, manifest_of, name_of, put_files
from tests.web.html import Page, check
from tests.web.people import browser
from tests.web.server import serving
from web.data import COLUMNS, DAYS_SHOWN

NAME = name_of(START.date())
ETAG = f'"{hashlib.sha256(content_of(NAME)).hexdigest()}"'
HALF = SIZE // 2


def test_the_page_lists_the_days_newest_first(world: World) -> None:
    """Each day has the games, sizes and hashes of the manifest. The examples use the latest file."""
    files = put_files(world.exports, 2).files
    text = browser(world).get("/data").text
    page = Page(text)
    check(page)
    json_lines, parquet = files[2:]
    assert page.tables[0][1:] == [
        ["2026-03-02", "1,200", f"293.0 KiB {parquet.sha256[:12]}", f"293.0 KiB {json_lines.sha256[:12]}"],
        ["2026-03-01", "1,200", f"293.0 KiB {files[1].sha256[:12]}", f"293.0 KiB {files[0].sha256[:12]}"],
    ]
    assert {f"/data/{file.name}" for file in files} | {"/data/manifest.json"} <= set(page.links)
    assert all(f'title="SHA-256 {file.sha256}"' in text for file in files)
    assert all(f"<b>{number}</b>" in text for number in ("2,400", "2", "1.1 MiB"))
    assert text.count(f"https://arena.example/data/{parquet.name}") == 2


def test_the_page_of_many_days_is_short(world: World) -> None:
    """The page shows only the latest days. The manifest has all of them."""
    put_files(world.exports, 1)
    days = 3 * 365
    write_manifest(world.exports, manifest_of([START.date() + timedelta(days=each) for each in range(days)]))
    page = Page(browser(world).get("/data").text)
    assert len(page.tables[0]) == 1 + DAYS_SHOWN
    assert page.tables[0][1][0] == str(START.date() + timedelta(days=days - 1))
    answer = browser(world).get("/data/manifest.json")
    assert len(answer.json()["files"]) == 2 * days


def _described(names: str, type_: str) -> Iterator[tuple[str, str]]:
    parent, _, last = names.rpartition("[].")
    for name in last.split(", "):
        yield (f"{parent}[].{name}" if parent else name), type_


def _columns(name: str, kind: pa.DataType) -> Iterator[tuple[str, str]]:
    depth, inner = "", kind
    while pa.types.is_list(inner):
        depth, inner = depth + "[]", inner.value_type
    if pa.types.is_struct(inner):
        if "." not in name:
            yield name, f"struct{depth}"
        for index in range(inner.num_fields):
            field = inner.field(index)
            yield from _columns(f"{name}{depth}.{field.name}", field.type)
    else:
        yield name, ("timestamp (UTC)" if pa.types.is_timestamp(inner) else str(inner)) + depth


def test_the_page_describes_each_column() -> None:
    """The page lists all columns of the Parquet files, in order, with their types."""
    described = [each for names, type_, _ in COLUMNS for each in _described(names, type_)]
    assert described == [each for field in SCHEMA for each in _columns(field.name, field.type)]


def test_the_manifest_is_that_of_the_arena(world: World) -> None:
    """Caches have to revalidate the manifest."""
    put_files(world.exports, 2)
    answer = browser(world).get("/data/manifest.json")
    assert answer.json() == json.loads((world.exports / MANIFEST).read_bytes())
    assert answer.headers["Cache-Control"] == "no-cache"


def test_without_files_the_page_says_so(world: World) -> None:
    """There are no files before the first night, or on a host without the folder."""
    visitor = browser(world)
    assert "No files yet" in visitor.get("/data").text
    assert visitor.get("/data/manifest.json").json() == {"format": "kaiten-games/1", "files": []}
    assert visitor.get(f"/data/{NAME}").status_code == 404


def test_only_files_of_the_manifest_are_sent(world: World) -> None:
    """Other files are not found, including those of an unfinished day."""
    put_files(world.exports, 1)
    (world.exports / "games-2026-03-09.parquet").write_bytes(b"half")
    (world.exports / "manifest.json.new").write_bytes(b"half")
    for name in ("manifest.json.new", "games-2026-03-09.parquet", "..%2Farena.sqlite3", "%00"):
        assert browser(world).get(f"/data/{name}").status_code in {404, 422}, name


def test_a_file_that_was_just_removed_is_not_found(world: World) -> None:
    """The manifest may still list the file at that moment."""
    put_files(world.exports, 1)
    (world.exports / NAME).unlink()
    assert browser(world).get(f"/data/{NAME}").status_code == 404
    assert read_manifest(world.exports) != ExportManifest()


@pytest.fixture
def url(world: World) -> Iterator[str]:
    """Serve an export file, and yield its URL."""
    put_files(world.exports, 1)
    with serving(site_over(world)) as (host, port):
        yield f"http://{host}:{port}/data/{NAME}"


def test_a_file_is_sent_unchanged_and_cached_forever(url: str) -> None:
    """The file is never compressed again, and revalidation returns 304."""
    for kind in ("application/vnd.apache.parquet", "application/gzip"):
        name = NAME if kind.endswith("parquet") else name_of(START.date(), "jsonl.gz")
        address = url.replace(NAME, name)
        answer = httpx2.get(address, headers={"Accept-Encoding": "gzip"}, timeout=WAIT_SECONDS)
        assert (answer.status_code, answer.content) == (200, content_of(name))
        assert answer.headers["Content-Type"] == kind
        assert answer.headers["Content-Length"] == str(SIZE)
        assert answer.headers["Accept-Ranges"] == "bytes"
        assert answer.headers["Cache-Control"] == "public, max-age=31536000, immutable"
        assert answer.headers["ETag"] == f'"{hashlib.sha256(answer.content).hexdigest()}"'
        assert "Content-Encoding" not in answer.headers
        head = httpx2.head(address, headers={"Accept-Encoding": "gzip"}, timeout=WAIT_SECONDS)
        assert (head.headers["Content-Length"], head.content) == (str(SIZE), b"")
    again = httpx2.get(url, headers={"If-None-Match": ETAG}, timeout=WAIT_SECONDS)
    assert (again.status_code, again.content, again.headers["ETag"]) == (304, b"", ETAG)
    assert "immutable" in again.headers["Cache-Control"]


def test_an_interrupted_download_is_resumed(url: str) -> None:
    """The client requests the rest, and gets no byte twice."""
    with httpx2.stream("GET", url, timeout=WAIT_SECONDS) as answer:
        begun = next(answer.iter_raw(HALF))
    assert len(begun) == HALF
    headers = {"Range": f"bytes={HALF}-", "If-Range": ETAG, "Accept-Encoding": "gzip"}
    rest = httpx2.get(url, headers=headers, timeout=WAIT_SECONDS)
    assert rest.status_code == 206
    assert rest.headers["Content-Range"] == f"bytes {HALF}-{SIZE - 1}/{SIZE}"
    assert begun + rest.content == content_of(NAME)
    assert (
        httpx2.get(url, headers={"Range": "bytes=-4"}, timeout=WAIT_SECONDS).content == content_of(NAME)[-4:]
    )


def test_another_file_is_not_resumed(url: str) -> None:
    """A client whose part is from another file gets the whole file. A range past the end gets a 416."""
    whole = httpx2.get(url, headers={"Range": f"bytes={HALF}-", "If-Range": '"other"'}, timeout=WAIT_SECONDS)
    assert (whole.status_code, whole.content) == (200, content_of(NAME))
    assert httpx2.get(url, headers={"Range": f"bytes={SIZE}-"}, timeout=WAIT_SECONDS).status_code == 416
