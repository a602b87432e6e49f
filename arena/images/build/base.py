"""The base images, one per language, with everything except a bot's own files."""

import hashlib
import shutil
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import arena
from arena.images.build.context import Say, build
from arena.images.build.parent import PARENT_LABEL, Parent, debian_recipe, ensure_parent
from arena.languages.language import BaseRecipe, Language
from arena.languages.packages import FetchFailed
from arena.sandbox.builder import ImageBuilder
from arena.sandbox.runtime import RuntimeFailure

_DOCKERFILE: Final = "Dockerfile"

PACKAGES: Final = "packages"
"""The folder in the build context that contains the fetched packages.

If the recipe's folder already contains a folder with this name, as in the server's image, that folder is used
unchanged.
"""


def fetch_packages(recipe: BaseRecipe, architecture: str, target: Path) -> None:
    """Fetch a recipe's pinned packages into a new folder.

    ``architecture`` is the image's, such as ``amd64``. Raises RuntimeFailure.
    """
    target.mkdir()
    with fetch_errors():
        for packages in recipe.packages:
            packages.fetch(recipe.folder, architecture, target)


@contextmanager
def fetch_errors() -> Iterator[None]:
    """Convert FetchFailed to RuntimeFailure."""
    try:
        yield
    except FetchFailed as error:
        raise RuntimeFailure(str(error)) from error


_LABEL: Final = "kaiten.recipe"
_COMPILED: Final = "__pycache__"


def ensure_base_image(builder: ImageBuilder, language: Language, say: Say = lambda _: None) -> str:
    """Build a language's base image, unless the engine has one built from the same sources; return its id.

    ``say`` receives a message for each slow stage, and none if the image is up to date. Raises
    RuntimeFailure.
    """
    fingerprint = _fingerprint(language)
    image = builder.find(language.base_image)
    if image is not None and image.labels.get(_LABEL) == fingerprint:
        return image.id
    with tempfile.TemporaryDirectory(prefix="kaiten-base-") as name:
        context = Path(name)
        shutil.copy(language.recipe.folder / _DOCKERFILE, context)
        for path, inside in _library(language.recipe):
            target = context / inside
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
        parent = _gather(builder, language, context / PACKAGES, say)
        say(f"Building {language.base_image}")
        labels = {_LABEL: fingerprint, PARENT_LABEL: parent.digest}
        arguments = {"PARENT": parent.image, **parent.arguments}
        return build(builder, context, tag=language.base_image, labels=labels, arguments=arguments)


def _gather(builder: ImageBuilder, language: Language, target: Path, say: Say) -> Parent:
    """Fetch the packages into a folder, prepare the parent image in parallel, and return the parent."""
    recipe = language.recipe
    ready = recipe.folder / PACKAGES
    if ready.is_dir():
        shutil.copytree(ready, target)
        return ensure_parent(builder, recipe.parents, say)
    say(f"Fetching {recipe.content} for {language.base_image}")
    _, architecture = builder.platform()
    with ThreadPoolExecutor(max_workers=1) as executor:
        fetched = executor.submit(fetch_packages, recipe, architecture, target)
        parent = ensure_parent(builder, recipe.parents, say)
        fetched.result()
    return parent


def _library(recipe: BaseRecipe) -> Iterator[tuple[Path, str]]:
    """Yield the arena's own files in the image, each with its path in the build context."""
    root = Path(arena.__file__).parent.parent
    for name in recipe.library:
        found = root / name
        files = [found] if found.is_file() else sorted(path for path in found.rglob("*") if path.is_file())
        if not files:
            raise FileNotFoundError(f"{found} is missing")
        for path in files:
            if _COMPILED not in path.parts:
                yield path, path.relative_to(root).as_posix()


def _fingerprint(language: Language) -> str:
    """Hash all of the image's inputs: its files by name and content, and its parent."""
    recipe = language.recipe
    pins = (pin for packages in recipe.packages for pin in packages.pins)
    digest = hashlib.sha256(f"{debian_recipe(recipe.parents)} {recipe.parents.official}".encode())
    own = ((recipe.folder / name, f"recipe/{name}") for name in (_DOCKERFILE, *pins))
    try:
        for path, inside in (*own, *_library(recipe)):
            content = path.read_bytes()
            digest.update(f"\0{inside}\0{len(content)}\0".encode() + content)
    except OSError as error:
        name = language.base_image
        raise RuntimeFailure(f"the recipe for {name} is incomplete: {error}") from error
    return digest.hexdigest()
