"""The base images, one a language: what a bot finds beside its own files."""

import hashlib
import shutil
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import docker
from docker.errors import DockerException, ImageNotFound
from requests.exceptions import RequestException

from arena.images import javascript, python
from arena.images.build import Say, build, ignore
from arena.images.errors import ImageTrouble
from arena.images.parent import Parent, ensure_parent
from arena.images.recipe import DOCKERFILE, Recipe
from arena.languages import JAVASCRIPT, PYTHON, Language

_RECIPES = {PYTHON: python.recipe, JAVASCRIPT: javascript.recipe}
_LABEL = "kaiten.recipe"


def ensure_base_image(client: docker.DockerClient, language: Language, say: Say = ignore) -> str:
    """Make the base image of a language unless the engine has it from these very sources.

    Args:
        client: of the engine that is to have it.
        language: whose.
        say: is told each stage that takes time, in a few words; nothing when the image is up to date.

    Returns:
        The image's id.

    Raises:
        ImageTrouble: it could not be made.
    """
    return ensure_image(client, _RECIPES[language](), say)


def ensure_image(client: docker.DockerClient, recipe: Recipe, say: Say = ignore) -> str:
    """Do the same for a recipe."""
    wanted = _fingerprint(recipe)
    try:
        return _find(client, recipe.language, wanted) or _make(client, recipe, wanted, say)
    except (DockerException, RequestException) as error:
        name = recipe.language.base_image
        raise ImageTrouble(f"The Docker engine could not make {name}: {error}") from error


def _find(client: docker.DockerClient, language: Language, wanted: str) -> str | None:
    try:
        image = client.images.get(language.base_image)
    except ImageNotFound:
        return None
    return str(image.id) if image.labels.get(_LABEL) == wanted else None


def _make(client: docker.DockerClient, recipe: Recipe, wanted: str, say: Say) -> str:
    tag = recipe.language.base_image
    with tempfile.TemporaryDirectory(prefix="kaiten-base-") as name:
        context = Path(name)
        shutil.copy(recipe.folder / DOCKERFILE, context)
        for path, inside in recipe.library(recipe.folder):
            target = context / inside
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
        parent = _gather(client, recipe, context / recipe.packed, say)
        say(f"Building {tag}")
        arguments = {"PARENT": parent.image, **parent.arguments}
        return build(client, context, tag=tag, labels={_LABEL: wanted}, arguments=arguments)


def _gather(client: docker.DockerClient, recipe: Recipe, target: Path, say: Say) -> Parent:
    """Put the packages into a folder, and meanwhile see to what the image stands on."""
    ready = recipe.folder / recipe.packed
    if ready.is_dir():
        shutil.copytree(ready, target)
        return ensure_parent(client, recipe.parents, say)
    say(f"Fetching {recipe.packages} for {recipe.language.base_image}")
    machine = str(client.info()["Architecture"])
    with ThreadPoolExecutor(max_workers=1) as beside:
        fetched = beside.submit(recipe.fetch, recipe.folder, machine, target)
        parent = ensure_parent(client, recipe.parents, say)
        fetched.result()
    return parent


def _fingerprint(recipe: Recipe) -> str:
    """Hash all that the image is made of: files by name and content, and what it stands on."""
    digest = hashlib.sha256(f"{recipe.parents.root.recipe} {recipe.parents.official}".encode())
    try:
        for path, inside in recipe.files():
            content = path.read_bytes()
            digest.update(f"\0{inside}\0{len(content)}\0".encode() + content)
    except OSError as error:
        name = recipe.language.base_image
        raise ImageTrouble(f"The recipe of {name} is incomplete: {error}") from error
    return digest.hexdigest()
