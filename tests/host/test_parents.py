"""What images stand on: a registry's tag is resolved once and kept by its digest."""

import gzip
import hashlib
import io
import json
import tarfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import docker
import pytest
from docker.errors import ImageNotFound

from arena.images.build.parent import Parents, ensure_parent

pytestmark = pytest.mark.docker

_MANIFEST = "application/vnd.docker.distribution.manifest.v2+json"
_NAME = "host-test-parent"


def _sha256(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


@dataclass
class Registry:
    """An image registry on this host's loopback, with one repository, kaiten-test, and its tag 1."""

    port: int = 0  # where it listens
    documents: dict[str, bytes] = field(default_factory=dict)  # blobs and manifests by their digests
    tag: str = ""  # the digest that the tag stands for

    @property
    def name(self) -> str:
        """The image's name by its tag."""
        return f"127.0.0.1:{self.port}/kaiten-test:1"

    def keep(self, content: bytes) -> dict[str, object]:
        """Keep a blob and describe it."""
        self.documents[_sha256(content)] = content
        return {"digest": _sha256(content), "size": len(content)}

    def publish(self, word: str) -> str:
        """Let the tag stand for an image with this word in a file; give its digest."""
        plain = io.BytesIO()
        with tarfile.open(fileobj=plain, mode="w") as archive:
            entry = tarfile.TarInfo("word")
            entry.size = len(word)
            archive.addfile(entry, io.BytesIO(word.encode()))
        layer = plain.getvalue()
        config = {
            "architecture": "amd64",
            "os": "linux",
            "config": {"Cmd": ["/nothing"]},
            "rootfs": {"type": "layers", "diff_ids": [_sha256(layer)]},
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
    """Serve a registry that the engine can pull from; it trusts the loopback without TLS."""
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

        do_HEAD = do_GET  # noqa: N815 - the library calls it so

        def log_message(self, *_arguments: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        registry.port = server.server_port
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield registry
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def parents(docker_client: docker.DockerClient, registry: Registry) -> Iterator[Parents]:
    """Give parents of that registry, and remove what the engine got of them."""
    parents = Parents(
        name=_NAME, official=registry.name, packages=("no-such-package",), official_arguments={"A": "1"}
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
    docker_client: docker.DockerClient, registry: Registry, parents: Parents
) -> None:
    """The digest is told; another image under the tag, or a registry that is gone, changes nothing."""
    digest = registry.publish("first")
    pinned = f"{registry.name.removesuffix(':1')}@{digest}"
    said: list[str] = []
    first = ensure_parent(docker_client, parents, said.append)
    assert (first.image, first.digest, first.arguments) == (parents.recorded, pinned, {"A": "1"})
    assert said[-1] == f"{registry.name} is {pinned}, tagged as {parents.recorded}"
    taken = docker_client.images.get(parents.recorded).id

    registry.publish("second")
    said.clear()
    assert ensure_parent(docker_client, parents, said.append) == first
    assert said == []
    assert docker_client.images.get(parents.recorded).id == taken


def test_another_image_under_the_tag_is_told_and_taken_on_request(
    docker_client: docker.DockerClient, registry: Registry, parents: Parents
) -> None:
    """An operator who pulled the tag reads which is in use and how to take the new one."""
    registry.publish("first")
    first = ensure_parent(docker_client, parents, lambda _: None)
    newer = f"{registry.name.removesuffix(':1')}@{registry.publish('second')}"
    docker_client.images.pull(registry.name)
    said: list[str] = []
    assert ensure_parent(docker_client, parents, said.append) == first
    command = f"docker tag {registry.name} {parents.recorded}"
    assert said == [
        f"{registry.name} is now {newer}. {first.digest} stays in use. To use the new one: {command}"
    ]

    docker_client.images.get(registry.name).tag(*parents.recorded.split(":"))
    said.clear()
    assert ensure_parent(docker_client, parents, said.append).digest == newer
    assert said == []


def test_an_image_that_the_operator_pinned_is_taken(
    docker_client: docker.DockerClient, registry: Registry, parents: Parents
) -> None:
    """Pulled by digest and tagged before the first start, whatever the tag means by then."""
    pinned = f"{registry.name.removesuffix(':1')}@{registry.publish('first')}"
    registry.publish("second")
    docker_client.images.pull(pinned)
    docker_client.images.get(pinned).tag(*parents.recorded.split(":"))
    said: list[str] = []
    assert ensure_parent(docker_client, parents, said.append).digest == pinned
    assert said == []
