"""Tests that docs/base-images.md describes the contents of the images."""

import json
from collections.abc import Mapping

import docker
import pytest

from arena.languages.javascript import JAVASCRIPT
from arena.languages.python import PYTHON
from arena.languages.registry import LANGUAGES
from tests.docs.documents import DOCS, blocks, rows

PAGE = DOCS / "base-images.md"

ASK_PYTHON = """
import platform
from importlib.metadata import version
print("Python", platform.python_version())
print(*[f"{name} {version(name)}" for name in ("grpcio", "numpy", "protobuf")], sep=", ")
"""
ASK_JAVASCRIPT = """
const version = (name) => require(`/node_modules/${name}/package.json`).version;
const packages = ["@grpc/grpc-js", "protobufjs"].map((name) => `${name} ${version(name)}`);
`Node ${process.versions.node}\\n${packages.join(", ")}`
"""


def columns() -> Mapping[str, Mapping[str, str]]:
    """Return the page's table as one dictionary per column, with the cells by row name."""
    (_, *heads), *lines = rows(PAGE)
    return {head: {name: cells[place] for name, *cells in lines} for place, head in enumerate(heads)}


def pins() -> Mapping[str, Mapping[str, str]]:
    """Return the packages' versions in the images' package lists and lock files, by language."""
    folder = PYTHON.recipe.folder
    wanted = [line for line in (folder / "requirements.in").read_text().splitlines() if line[:1].isalpha()]
    locked = (folder / "requirements.lock").read_text().splitlines()
    lines = [line.split()[0].split("==") for line in locked if "==" in line]
    python = {name: version for name, version in lines if name in wanted}
    modules = json.loads((JAVASCRIPT.recipe.folder / "package-lock.json").read_text())["packages"]
    javascript = {name: modules[f"node_modules/{name}"]["version"] for name in modules[""]["dependencies"]}
    return {"Python": python, "JavaScript": javascript}


def test_the_table_says_how_the_arena_treats_a_file() -> None:
    """Suffixes, images, paths and commands are those in arena/languages."""
    told = columns()
    assert list(told) == [language.title for language in LANGUAGES]
    for language in LANGUAGES:
        column = told[language.title]
        assert column["source file"] == ", ".join(f"`{suffix}`" for suffix in language.suffixes)
        assert column["base image"] == f"`{language.base_image.removesuffix(':latest')}`"
        assert column["path in the image"] == f"`{language.path}`"
        assert column["command"] == f"`{' '.join(language.command)}`"


def test_the_table_names_the_locked_versions() -> None:
    """Packages and versions are those of the lock files."""
    for title, packages in pins().items():
        said = ", ".join(f"{name} {version}" for name, version in sorted(packages.items()))
        assert columns()[title]["packages"] == said


@pytest.mark.docker
@pytest.mark.parametrize(
    ("title", "fixture", "program"),
    [
        ("Python", "base_image", ["python3", "-c", ASK_PYTHON]),
        ("JavaScript", "javascript_image", ["node", "-p", ASK_JAVASCRIPT]),
    ],
)
def test_the_images_have_the_versions_of_the_table(
    docker_client: docker.DockerClient,
    request: pytest.FixtureRequest,
    title: str,
    fixture: str,
    program: list[str],
) -> None:
    """A program in each image reports the versions of interpreter and packages."""
    image = request.getfixturevalue(fixture)
    column = columns()[title]
    output = docker_client.containers.run(image, program, network_mode="none", remove=True)
    version, packages = bytes(output).decode().splitlines()
    assert version.startswith(column["language"].split(",")[0] + ".")
    assert packages == column["packages"]


@pytest.mark.docker
@pytest.mark.parametrize("number", [0, 1])
def test_the_bots_of_the_javascript_page_can_be_started(
    docker_client: docker.DockerClient, javascript_image: str, number: int
) -> None:
    """Each bot on the page loads, and reports that it has no referee, as the page says."""
    program = blocks(DOCS / "javascript.md", "javascript")[number]
    container = docker_client.containers.create(
        javascript_image, ["node", "--input-type=module", "--eval", program], network_mode="none"
    )
    try:
        container.start()
        assert container.wait()["StatusCode"] == 2
        assert container.logs().startswith(b"ARENA_REFEREE is not set")
    finally:
        container.remove(force=True)
