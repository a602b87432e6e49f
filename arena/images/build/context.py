"""Builds images from folders with a Dockerfile, such as those of sample bots."""

import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from arena.languages.python import PYTHON
from arena.sandbox.builder import ImageBuilder
from arena.sandbox.canary import probe
from arena.sandbox.runtime import RuntimeFailure

Say = Callable[[str], None]  # receives a short description of each stage


def build(
    builder: ImageBuilder,
    folder: Path,
    *,
    tag: str,
    labels: Mapping[str, str],
    arguments: Mapping[str, str],
) -> str:
    """Build an image from a folder with a Dockerfile, whatever the files' modes; return the image's id.

    Raises RuntimeFailure.
    """
    with _readable_copy(folder) as context:
        return builder.build(context, tag=tag, labels=labels, arguments=arguments).id


@contextmanager
def _readable_copy(folder: Path) -> Iterator[Path]:
    """Copy a folder so that every user can read it, as with `chmod -R a+rX`. Raises RuntimeFailure.

    With a strict umask, only this user can read new files, such as those in a checkout. Images keep the
    files' modes, but their programs run as other users.
    """
    with tempfile.TemporaryDirectory(prefix="kaiten-context-") as name:
        context = Path(name, "context")
        try:
            shutil.copytree(folder, context, symlinks=True)
            for path in (context, *context.rglob("*")):
                if not path.is_symlink():
                    mode = path.stat().st_mode
                    path.chmod(mode | (0o555 if path.is_dir() or mode & 0o111 else 0o444))
        except OSError as error:
            raise RuntimeFailure(f"{folder} can't be copied for the build: {error}") from error
        yield context


_LABEL = "kaiten.bot"


def build_bot_image(builder: ImageBuilder, folder: Path) -> str:
    """Build the image `kaiten/bot-<folder's name>:latest` and return its id.

    Nothing is pulled, and the steps have no network. The engine's layer cache makes repeated builds fast; the
    id stays the same if nothing has changed.

    ``folder`` contains a Dockerfile, which usually begins with `FROM kaiten/bot-base-python`. Raises
    RuntimeFailure.
    """
    name = folder.resolve().name
    if not re.fullmatch(r"[a-z0-9]+([_-][a-z0-9]+)*", name):
        raise RuntimeFailure(
            f"{folder}: an image can't be named after {name!r}. Rename the folder, using only "
            "lower-case letters, digits, - and _"
        )
    if name.startswith("base-"):
        raise RuntimeFailure(
            f"{folder}: {name!r} would replace the base image of this name. Rename the folder, so that its "
            "name doesn't begin with base-"
        )
    if not (folder / "Dockerfile").is_file():
        raise RuntimeFailure(f"{folder}: no Dockerfile. Copy one from a sample bot in bots/")
    tag = f"kaiten/bot-{name}:latest"
    return build(builder, folder, tag=tag, labels={_LABEL: name}, arguments={})


CANARY_IMAGE = "kaiten/canary:latest"

_RECIPE = f"""\
FROM {PYTHON.base_image}
COPY canary /canary
WORKDIR /canary
ENTRYPOINT ["python3", "-S", "-m", "probe"]
"""


def build_canary_image(builder: ImageBuilder) -> str:
    """Build the image of the canary, which tries to break out of its container, and return the image's id.

    Like a hostile image, it has a world-writable folder, which only the read-only root file system protects.
    The engine's layer cache makes repeated builds fast. Requires the Python base image. Raises
    RuntimeFailure if the build fails.
    """
    with tempfile.TemporaryDirectory(prefix="kaiten-canary-") as name:
        folder = Path(name)
        (folder / "Dockerfile").write_text(_RECIPE)
        inside = folder / "canary"
        inside.mkdir(mode=0o755)
        shutil.copytree(probe.__path__[0], inside / "probe", ignore=shutil.ignore_patterns("__pycache__"))
        (inside / "open").mkdir()
        (inside / "open").chmod(0o777)
        (inside / "open" / "kept").touch(mode=0o644)
        return build(builder, folder, tag=CANARY_IMAGE, labels={}, arguments={})
