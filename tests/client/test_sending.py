"""Tests of sending bots: what can be sent, and that the site receives it unchanged or not at all."""

import gzip
import hashlib
import io
import json
import os
import signal
import subprocess
import sys
import tarfile
import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import docker
import pytest

from arena.client.sending import Payload, body_of, check_source, payload_of, repository, target_of
from arena.client.site import SiteClient
from arena.client.sites import CannotSend, SiteProblem
from arena.languages.language import MAX_SOURCE_BYTES
from arena.protocol.submissions import Submission
from tests.cli.command import ROOT
from tests.client.live import Live, live
from tests.db.builders import add_bot
from tests.patience import wait_until


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Change to a folder with several kinds of files, and return that folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "likes-maki").mkdir()
    (tmp_path / "likes-maki" / "Dockerfile").write_text("FROM scratch")
    (tmp_path / "bare").mkdir()
    (tmp_path / "bare" / "bot.py").write_text("pass")
    (tmp_path / "empty").mkdir()
    for name in ("mine.py", "mine.JS", "mine.mjs"):
        (tmp_path / name).write_text("pass")
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("manifest.json"))
    for name in ("saved.tar", "saved", "v1.2.tar"):
        (tmp_path / name).write_bytes(content.getvalue())
    for name in ("packed.tar.gz", "packed.tgz"):
        (tmp_path / name).write_bytes(gzip.compress(content.getvalue()))
    (tmp_path / "notes.txt").write_text("no bot")
    return tmp_path


@pytest.mark.parametrize(
    ("named", "language", "name"),
    [
        ("mine.py", "python", "mine"),
        ("./mine.JS", "javascript", "mine"),
        ("mine.mjs", "javascript", "mine"),
        ("likes-maki", None, "likes-maki"),
        ("bare/../likes-maki/", None, "likes-maki"),
        ("saved.tar", None, "saved"),
        ("saved", None, "saved"),
        ("v1.2.tar", None, "v1.2"),
        ("packed.tar.gz", None, "packed"),
        ("packed.tgz", None, "packed"),
        ("mybot", None, "mybot"),
        ("registry.example:5000/team/mybot:2", None, "mybot"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_the_kind_of_a_target_is_detected(named: str, language: str | None, name: str) -> None:
    """The bot gets the target's name, without tag, path or extension."""
    target = target_of(named)
    assert (target.language and target.language.name, target.name) == (language, name)
    assert target.path == (Path(named) if Path(named).exists() else None)


def test_the_current_folder_has_a_name(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """For a dot, the bot gets the current folder's name."""
    monkeypatch.chdir(folder / "likes-maki")
    assert target_of(".").name == "likes-maki"


@pytest.mark.parametrize(
    ("named", "words"),
    [
        ("bare", r"no Dockerfile: add one, or give its source file \(bare/bot\.py\)"),
        ("empty", "no Dockerfile: add one, or give a source file"),
        ("notes.txt", r"neither a source file \(\.py"),
        ("./nothing", "no such file or folder: ./nothing"),
        ("nothing.py", "no such file or folder: nothing.py"),
        ("nothing.tar.gz", "no such file or folder"),
        ("", "nor a valid image name"),
        ("two words", "nor a valid image name"),
        ("long" * 999, "can't be read"),
        ("nul\0", "nor a valid image name"),
        ("-", "nor a valid image name"),
        ("/dev/null", "not a regular file or folder"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_anything_else_is_refused_with_what_to_do(named: str, words: str) -> None:
    """Anything else is refused before an engine or a site is contacted."""
    with pytest.raises(CannotSend, match=words):
        target_of(named)


@pytest.mark.parametrize(
    "image", ["mybot", "mybot:2", "team/mybot", "localhost:5000/a/mybot:latest", "mybot@sha256:" + "0" * 64]
)
def test_an_images_repository_is_its_last_component(image: str) -> None:
    """Registry, path, tag and digest are dropped."""
    assert repository(image) == "mybot"


SEND = """
import signal
import sys
from contextlib import closing
from arena.client.sending import Payload, body_of
from arena.client.site import SiteClient
def pieces():
    yield b"\\x1f\\x8b" + bytes(2**20), 2**20
    signal.pause()
payload = Payload(bot="large", kind="image", size=2**29, sha256=None, pieces=pieces, work=2**29)
with closing(SiteClient(sys.argv[1], sys.argv[2])) as site:
    site.put("/bots/large/submissions", body_of(payload, lambda *_: None), kind="image")
"""
"""A program that sends the beginning of a large file, then waits."""


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    """Yield a site that all tests share. Each test has its own bots."""
    with live(tmp_path_factory.mktemp("data"), ARENA_BOTS_PER_AUTHOR="99") as running:
        yield running


@contextmanager
def sending(arena: Live, named: str, name: str | None = None) -> Iterator[tuple[SiteClient, Payload]]:
    """Yield ann's client of the site, and a bot as a payload."""
    with closing(SiteClient(arena.url, arena.token())) as site, payload_of(target_of(named), name) as payload:
        yield site, payload


def send(arena: Live, named: str, **said: str) -> tuple[Submission, Payload, list[tuple[int, int]]]:
    """Send one of ann's bots. Return the submission, the payload and the reported progress."""
    reported: list[tuple[int, int]] = []
    with sending(arena, named) as (site, payload):
        body = body_of(payload, lambda sent, total: reported.append((sent, total)))
        told = site.put(f"/bots/{payload.bot}/submissions", body, kind=payload.kind, **said)
        received = site.read(told, Submission)
    assert (received.sha256, received.size) == (body.sha256, reported[-1][0])
    assert body.fully_sent
    return received, payload, reported


def kept(arena: Live) -> set[Path]:
    """Return the files that the site has stored, complete or not."""
    return set(arena.uploads.iterdir()) if arena.uploads.exists() else set()


def test_a_source_file_arrives_as_it_is(arena: Live, tmp_path: Path) -> None:
    """The file is sent unchanged, with its hash, kind and note."""
    file = tmp_path / "mine.py"
    file.write_bytes(b"pass\n" * 100_000)
    received, payload, reported = send(arena, str(file), note="a first try")
    assert (received.bot, payload.kind) == ("mine", "python")
    assert payload.sha256 == hashlib.sha256(file.read_bytes()).hexdigest()
    assert reported == [(262144, 500000), (500000, 500000)]
    assert (arena.uploads / f"{received.id}.py").read_bytes() == file.read_bytes()
    assert arena.store.submissions.newest()[0].note == "a first try"


def test_an_archive_is_sent_as_an_image(arena: Live, tmp_path: Path) -> None:
    """A bot sent as an archive is named after the archive's file."""
    file = tmp_path / "packed.tar.gz"
    file.write_bytes(gzip.compress(b"whatever it holds"))
    received, payload, _ = send(arena, str(file))
    assert (received.bot, payload.kind) == ("packed", "image")


def test_a_file_that_changes_before_it_is_sent_is_refused(arena: Live, tmp_path: Path) -> None:
    """The hash of the original file has been declared, so the changed one is refused."""
    file = tmp_path / "mine.py"
    file.write_text("pass")
    before = kept(arena)
    with sending(arena, str(file)) as (site, payload):
        file.write_text("fail")
        body = body_of(payload, lambda *_: None)
        with pytest.raises(SiteProblem, match="has the SHA-256"):
            site.put(f"/bots/{payload.bot}/submissions", body, kind="python", sha256=payload.sha256 or "")
    assert kept(arena) == before


def test_a_file_that_was_deleted_is_not_sent(arena: Live, tmp_path: Path) -> None:
    """If the file was deleted, the site stores nothing."""
    file = tmp_path / "deleted.py"
    file.write_text("pass")
    before = kept(arena)
    with sending(arena, str(file)) as (site, payload):
        file.unlink()
        with pytest.raises(CannotSend, match="can no longer be read"):
            site.put("/bots/deleted/submissions", body_of(payload, lambda *_: None), kind="python")
    wait_until(lambda: kept(arena) == before, "the removal of the file")
    assert arena.store.submissions.newest(bot="deleted") == ()


def test_a_refusal_is_heard_in_the_middle_of_a_long_upload(arena: Live, tmp_path: Path) -> None:
    """The site refuses a long upload before it is complete."""
    add_bot(arena.store, "taken", author="ben")
    file = tmp_path / "taken.tar.gz"
    with file.open("wb") as archive:
        archive.write(b"\x1f\x8b")
        archive.truncate(32 * 2**20)
    with sending(arena, str(file)) as (site, payload):
        body = body_of(payload, lambda *_: None)
        with pytest.raises(SiteProblem, match="belongs to a bot by ben"):
            site.put("/bots/taken/submissions", body, kind="image")


def test_a_killed_sender_leaves_nothing_on_the_site(arena: Live) -> None:
    """If a sender is killed, the site keeps neither a file nor a submission."""
    command = [sys.executable, "-c", SEND, arena.url, arena.token()]
    before = kept(arena)
    with subprocess.Popen(command, env={**os.environ, "PYTHONPATH": str(ROOT)}) as sender:  # noqa: S603 - our own
        try:
            wait_until(lambda: kept(arena) > before, "part of a file")
        finally:
            sender.kill()
    assert sender.returncode == -signal.SIGKILL
    wait_until(lambda: kept(arena) == before, "the removal of the file")
    assert arena.store.submissions.newest(bot="large") == ()


def test_a_named_pipe_is_refused(tmp_path: Path) -> None:
    """Reading it could wait forever."""
    pipe = tmp_path / "pipe.py"
    os.mkfifo(pipe)
    with pytest.raises(CannotSend, match="not a regular file"):
        target_of(str(pipe))


@pytest.mark.parametrize(
    ("content", "words"),
    [(b"", "is empty"), (b"# caf\xe9", "not UTF-8"), (b"#" * (MAX_SOURCE_BYTES + 9), "is larger than")],
)
def test_a_file_that_the_arena_would_reject_is_not_sent(tmp_path: Path, content: bytes, words: str) -> None:
    """It would count towards the quota."""
    file = tmp_path / "mine.py"
    file.write_bytes(content)
    with pytest.raises(CannotSend, match=f"can't be sent: the source file .*{words}"):
        check_source(target_of(str(file)))


@pytest.mark.parametrize("named", ["_mine.py", "m.py", "naïve.py"])
def test_a_name_that_no_bot_can_have_is_refused_locally(tmp_path: Path, named: str) -> None:
    """For an impossible name, nothing is sent. The error says how to choose another one."""
    file = tmp_path / named
    file.write_text("pass")
    with pytest.raises(CannotSend, match=r"2 to 40 letters.*--name"), payload_of(target_of(str(file)), None):
        pass
    with payload_of(target_of(str(file)), "mine") as payload:
        assert payload.bot == "mine"


@pytest.fixture
def mark(docker_client: docker.DockerClient) -> Iterator[str]:
    """Yield a label for images. Images with this label are removed after the test."""
    mark = f"kaiten.test={uuid.uuid4().hex}"
    yield mark
    for image in docker_client.images.list(filters={"label": mark}):
        docker_client.images.remove(str(image.id), force=True)


@pytest.fixture
def parent(docker_client: docker.DockerClient, mark: str) -> str:
    """Return the ID of an empty image on which no other test builds.

    An engine looks for cached steps among all images built on a parent. A build fails with "unable to find
    image" if another test removes one of these images during the build.
    """
    text = f"FROM scratch\nLABEL {mark}\n"
    image, _ = docker_client.images.build(fileobj=io.BytesIO(text.encode()), rm=True, nocache=True)
    return str(image.id)


def bot_folder(folder: Path, base: str) -> Path:
    """Write a bot's folder with a Dockerfile."""
    folder.mkdir()
    (folder / "bot.py").write_text("pass\n" * 20_000)
    lines = (
        f"FROM {base}",
        "COPY bot.py /bot/bot.py",
        'ENTRYPOINT ["python3", "/bot/bot.py"]',
    )
    (folder / "Dockerfile").write_text("\n".join(lines))
    return folder


def image_in(file: Path) -> str:
    """Return the ID of the image in a gzip-compressed archive."""
    with gzip.open(file) as content, tarfile.open(fileobj=io.BytesIO(content.read())) as archive:
        manifest = archive.extractfile("manifest.json")
        assert manifest is not None
        (entry,) = json.load(manifest)
    return str(entry["Config"]).removesuffix(".json").rpartition("/")[2]


@pytest.mark.docker
def test_a_folder_is_built_and_sent_as_an_image(
    arena: Live, tmp_path: Path, parent: str, mark: str, docker_client: docker.DockerClient
) -> None:
    """The archive is compressed during the upload, and no local file is written."""
    folder = bot_folder(tmp_path / "likes-maki", parent)
    received, payload, reported = send(arena, str(folder))
    assert (received.bot, payload.kind, payload.sha256) == ("likes-maki", "image", None)
    built = image_in(arena.uploads / f"{received.id}.tar")
    (made,) = docker_client.images.list(filters={"label": mark})
    assert made.id == f"sha256:{built}"
    assert received.size < payload.work
    assert all(sent <= total for sent, total in reported)
    assert sorted(path.name for path in folder.iterdir()) == ["Dockerfile", "bot.py"]


@pytest.mark.docker
def test_an_image_is_sent_by_name_or_id(
    arena: Live, tmp_path: Path, parent: str, docker_client: docker.DockerClient
) -> None:
    """The bot is named after the image's repository, even if the image is given by its ID."""
    folder = bot_folder(tmp_path / "folder", parent)
    name = f"kaiten-test/{uuid.uuid4().hex[:8]}:v2"
    for by in ("name", "id", "short id"):
        # Each image differs, since the site accepts no image twice.
        image, _ = docker_client.images.build(path=str(folder), tag=name, rm=True, labels={"by": by})
        named = {"name": name, "id": str(image.id), "short id": image.short_id.removeprefix("sha256:")}
        received, _, _ = send(arena, named[by])
        assert received.bot == name.removeprefix("kaiten-test/").removesuffix(":v2")
        assert image_in(arena.uploads / f"{received.id}.tar") == str(image.id).removeprefix("sha256:")


@pytest.mark.docker
def test_an_image_without_a_name_requires_one(tmp_path: Path, parent: str) -> None:
    """A bot's name can't be derived from an image's ID."""
    with closing(docker.from_env()) as client:
        image, _ = client.images.build(path=str(bot_folder(tmp_path / "folder", parent)), rm=True)
    with pytest.raises(CannotSend, match="--name"), payload_of(target_of(str(image.id)), None):
        pass


@pytest.mark.docker
def test_an_engine_that_fails_in_the_middle_leaves_nothing(arena: Live, base_image: str) -> None:
    """An aborted upload lacks its end marker, so the site discards it."""

    def breaking() -> Iterator[tuple[bytes, int]]:
        pieces = payload.pieces()
        yield next(pieces)
        raise CannotSend("the engine is gone")

    before = kept(arena)
    with sending(arena, base_image, "broken") as (site, payload):
        broken = Payload(
            bot="broken", kind="image", size=None, sha256=None, pieces=breaking, work=payload.work
        )
        with pytest.raises(CannotSend, match="the engine is gone"):
            site.put("/bots/broken/submissions", body_of(broken, lambda *_: None), kind="image")
    wait_until(lambda: kept(arena) == before, "the removal of the file")
    assert arena.store.submissions.newest(bot="broken") == ()


@pytest.mark.docker
def test_an_unknown_image_is_named(docker_client: docker.DockerClient) -> None:
    """The error names the image, and the command that lists images."""
    assert docker_client.ping()
    words = "image called nobody/has-this: see `docker images`"
    with pytest.raises(CannotSend, match=words), payload_of(target_of("nobody/has-this"), None):
        pass


@pytest.mark.docker
def test_a_folder_that_can_not_be_built_is_named(
    tmp_path: Path, docker_client: docker.DockerClient, capfd: pytest.CaptureFixture[str]
) -> None:
    """The error names the folder. Docker's own output is on stderr."""
    assert docker_client.ping()
    (tmp_path / "Dockerfile").write_text("WHAT scratch")
    with pytest.raises(CannotSend, match="docker can't build"), payload_of(target_of(str(tmp_path)), "mine"):
        pass
    out, err = capfd.readouterr()
    assert out == ""
    assert "WHAT" in err


def test_without_docker_the_error_names_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error says that building a folder requires the `docker` command."""
    (tmp_path / "Dockerfile").write_text("FROM scratch")
    monkeypatch.setenv("PATH", str(tmp_path))
    words = "requires the docker command"
    with pytest.raises(CannotSend, match=words), payload_of(target_of(str(tmp_path)), "mine"):
        pass
