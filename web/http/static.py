"""Static files at addresses that change with their content, so that browsers cache them permanently."""

import hashlib
import re
from pathlib import Path
from typing import Final

from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

MOUNT: Final = "/static"
_FOLDER: Final = Path(__file__).parents[1] / "static"
_VERSION_DIGITS: Final = 16
IMMUTABLE: Final = "public, max-age=31536000, immutable"


def _version() -> str:
    """Return a digest of all files and their names."""
    total = hashlib.sha256()
    for file in sorted(_FOLDER.rglob("*")):
        if file.is_file():
            total.update(b"%s\0" % file.relative_to(_FOLDER).as_posix().encode())
            total.update(hashlib.sha256(file.read_bytes()).digest())
    return total.hexdigest()[:_VERSION_DIGITS]


_VERSION: Final = _version()
_ANY_VERSION: Final = re.compile(f"[0-9a-f]{{{_VERSION_DIGITS}}}")
STATIC: Final = f"{MOUNT}/{_VERSION}"
"""Base address of static files. The files share one version because they refer to each other."""


class VersionedFiles(StaticFiles):
    """Serves the static files at addresses with the current version, any other version or none.

    Pages made before an upgrade refer to other versions. Browsers cache only the current version permanently.
    """

    def __init__(self) -> None:
        super().__init__(directory=_FOLDER)

    async def get_response(self, path: str, scope: Scope) -> Response:
        """Return the file at a path with or without a version."""
        version, _, name = path.partition("/")
        response = await super().get_response(name if _ANY_VERSION.fullmatch(version) else path, scope)
        if version == _VERSION:
            response.headers["Cache-Control"] = IMMUTABLE
        return response
