"""Tests of parent images: a registry's tag is resolved once, and its digest is recorded.

Errors blame the registry, the image or the engine correctly.
"""

import gzip
import io
import json
import socket
import tarfile
import uuid
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import docker
import pytest
from docker.errors import ImageNotFound

from arena.images.build.parent import ensure_parent
from arena.languages.language import Parents
from arena.sandbox.builder import ImageBuilder
from arena.sandbox.docker import builder
from arena.sandbox.docker.builder import DockerBuilder
from arena.sandbox.runtime import EngineUnavailable, RuntimeFailure
from tests.images.archives import sha256
from tests.ports import serving

pytestmark = pytest.mark.docker

_MANIFEST = "application/vnd.docker.distribution.manifest.v2+json"


@dataclass
class Registry:
    """An image registry on this host's loopback, with one repository, kaiten-test, and one tag, 1."""

    port: int = 0  # set once it is listening
    documents: dict[str, bytes] = field(default_factory=dict)  # blobs and manifests by digest
    tag: str = ""  # the tag's current digest

    @property
    def name(self) -> str:
        """The image's name with its tag."""
        return f"127.0.0.1:{self.port}/kaiten-test:1"

    def keep(self, content: bytes) -> dict[str, object]:
        """Store a blob and return its descriptor."""
        self.documents[sha256(content)] = content
        return {"digest": sha256(content), "size": len(content)}

    def publish(self, word: str) -> str:
        """Point the tag at an image with this word in a file, and return its digest."""
        content = f"{word} {uuid.uuid4()}".encode()  # the engine would store an equal image only once
        plain = io.BytesIO()
        with tarfile.open(fileobj=plain, mode="w") as archive:
            entry = tarfile.TarInfo("word")
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
        layer = plain.getvalue()
        config = {
            "architecture": "amd64",
            "os": "linux",
            "config": {"Cmd": ["/nothing"]},
            "rootfs": {"type": "layers", "diff_ids": [sha256(layer)]},
        }
        manifest = {
            "schemaVersion": 2,
            "mediaType": _MANIFEST,
            "config": {
                "mediaType": "application/vnd.docker.container.image.v1+json",
                **self.keep(json.dumps(config).encode()),
            },
            "layers": [
                {
                    "mediaType": "application/vnd.docker.image.rootfs.diff.tar.gzip",
                    **self.keep(gzip.compress(layer, mtime=0)),
                }
            ],
        }
        self.tag = str(self.keep(json.dumps(manifest).encode())["digest"])
        return self.tag


@pytest.fixture
def registry() -> Iterator[Registry]:
    """Yield a registry from which the engine can pull, since it trusts the loopback without TLS."""
    registry = Registry()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            what = self.path.rpartition("/")[2]
            digest = registry.tag if what == "1" else what
            content = b"{}" if self.path == "/v2/" else registry.documents.get(digest)
            if content is None:
                self.send_error(404)
                return
            self.send_response(200)
            self.send_header("Content-Type", _MANIFEST if "/manifests/" in self.path else "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.send_header("Docker-Content-Digest", digest)
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(content)

        do_HEAD = do_GET  # noqa: N815 - the library's name for it

    with serving(Handler) as port:
        registry.port = port
        yield registry


@pytest.fixture
def parents(docker_client: docker.DockerClient, registry: Registry) -> Iterator[Parents]:
    """Yield a parent image from that registry, and remove from the engine what was pulled."""
    parents = Parents(
        # A unique name, because other checkouts may be running this test.
        name=f"host-test-{uuid.uuid4().hex[:8]}",
        official=registry.name,
        packages=("no-such-package",),
        official_arguments={"A": "1"},
    )
    yield parents
    repository = registry.name.rpartition(":")[0]
    for digest in registry.documents:
        _remove(docker_client, f"{repository}@{digest}")
    _remove(docker_client, registry.name)
    _remove(docker_client, parents.recorded)


def _remove(client: docker.DockerClient, name: str) -> None:
    try:
        client.images.remove(name)
    except ImageNotFound:
        return


def test_a_tag_is_resolved_once_and_kept_by_its_digest(
    docker_client: docker.DockerClient, image_builder: ImageBuilder, registry: Registry, parents: Parents
) -> None:
    """A tag's digest is printed and recorded. If the tag changes, the recorded image remains in use."""
    digest = registry.publish("first")
    pinned = f"{registry.name.removesuffix(':1')}@{digest}"
    said: list[str] = []
    first = ensure_parent(image_builder, parents, said.append)
    assert (first.image, first.digest, first.arguments) == (parents.recorded, pinned, {"A": "1"})
    assert said[-1] == f"{registry.name} is {pinned}, tagged as {parents.recorded}"
    taken = docker_client.images.get(parents.recorded).id

    registry.publish("second")
    said.clear()
    assert ensure_parent(image_builder, parents, said.append) == first
    assert said == []
    assert docker_client.images.get(parents.recorded).id == taken


def test_another_image_under_the_tag_is_reported_and_used_on_request(
    docker_client: docker.DockerClient, image_builder: ImageBuilder, registry: Registry, parents: Parents
) -> None:
    """After an operator has pulled the tag, a message says which image is in use, and how to change that."""
    registry.publish("first")
    first = ensure_parent(image_builder, parents, lambda _: None)
    newer = f"{registry.name.removesuffix(':1')}@{registry.publish('second')}"
    docker_client.images.pull(registry.name)
    said: list[str] = []
    assert ensure_parent(image_builder, parents, said.append) == first
    command = f"docker tag {registry.name} {parents.recorded}"
    assert said == [
        f"{registry.name} is now {newer}, but {first.digest} is still in use. To use the new one: {command}"
    ]

    docker_client.images.get(registry.name).tag(*parents.recorded.split(":"))
    said.clear()
    assert ensure_parent(image_builder, parents, said.append).digest == newer
    assert said == []


def test_an_image_that_the_operator_pinned_is_used(
    docker_client: docker.DockerClient, image_builder: ImageBuilder, registry: Registry, parents: Parents
) -> None:
    """An image that was pulled by digest and tagged before the first start is used."""
    pinned = f"{registry.name.removesuffix(':1')}@{registry.publish('first')}"
    registry.publish("second")
    docker_client.images.pull(pinned)
    docker_client.images.get(pinned).tag(*parents.recorded.split(":"))
    said: list[str] = []
    assert ensure_parent(image_builder, parents, said.append).digest == pinned
    assert said == []


def test_a_failed_pull_says_why(image_builder: ImageBuilder, registry: Registry, parents: Parents) -> None:
    """If a layer is missing from the registry, the error contains the engine's report."""
    assert parents
    registry.publish("first")
    manifest = json.loads(registry.documents[registry.tag])
    del registry.documents[manifest["layers"][0]["digest"]]
    pinned = image_builder.resolve(registry.name)
    with pytest.raises(RuntimeFailure, match=r"could not pull .*: the engine reported: "):
        image_builder.pull(pinned)


def test_a_tag_that_the_registry_lacks_is_named(image_builder: ImageBuilder, registry: Registry) -> None:
    """The error doesn't blame the engine."""
    name = registry.name.replace(":1", ":2")
    with pytest.raises(RuntimeFailure, match=name) as trouble:
        image_builder.resolve(name)
    assert "not responding" not in str(trouble.value)


def test_a_silent_registry_is_named(
    docker_client: docker.DockerClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If a registry accepts connections but doesn't answer, the error blames it, not the engine."""
    monkeypatch.setattr(builder, "_REGISTRY_SECONDS", 1)
    with socket.create_server(("127.0.0.1", 0)) as server:
        name = f"127.0.0.1:{server.getsockname()[1]}/kaiten-test:1"
        with pytest.raises(RuntimeFailure, match="the registry did not answer within 1 s"):
            DockerBuilder(docker_client.api).resolve(name)


def test_a_file_that_is_not_an_archive_is_refused(image_builder: ImageBuilder, tmp_path: Path) -> None:
    """The error says what could not be imported, and no image is created."""
    archive = tmp_path / "root.tar"
    archive.write_bytes(b"not a tar archive" * 100)
    with pytest.raises(RuntimeFailure, match="could not import kaiten/host-test"):
        image_builder.import_root(archive, "kaiten/host-test:1", {})
    assert image_builder.find("kaiten/host-test:1") is None


def test_an_engine_that_disconnects_is_reported(tmp_path: Path) -> None:
    """An engine that closes the connection during a build is reported as unavailable."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.send_response(200)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            self.wfile.write(b'100\r\n{"stream": ')

    (tmp_path / "Dockerfile").write_text("FROM scratch\n")
    with serving(Handler) as port:
        client = docker.APIClient(base_url=f"tcp://127.0.0.1:{port}", version="1.41")
        with closing(DockerBuilder(client)) as broken, pytest.raises(EngineUnavailable):
            broken.build(tmp_path, tag="kaiten/host-test:1", labels={}, arguments={})
