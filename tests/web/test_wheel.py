"""The site runs from an installed wheel, with templates and static files."""

import subprocess
import sys
import sysconfig
import venv
from contextlib import closing
from pathlib import Path

import httpx2

from arena.db.store import open_store
from tests.builders import fill
from tests.patience import WAIT_SECONDS
from tests.web.site import served

ROOT = Path(__file__).parents[2]


def _built(folder: Path) -> Path:
    subprocess.run(  # noqa: S603 - our own argument list
        [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    (wheel,) = folder.glob("*.whl")
    return wheel


def _installed(wheel: Path, folder: Path) -> Path:
    """Create an environment with the wheel and this environment's packages, and return its Python."""
    venv.create(folder, symlinks=True)
    python = folder / "bin" / "python"
    uv = Path(sys.executable).with_name("uv")
    subprocess.run(  # noqa: S603 - our own argument list
        [uv, "pip", "install", "--quiet", "--no-deps", "--no-index", "--no-cache", "--python", python, wheel],
        check=True,
    )
    (packages,) = (folder / "lib").glob("python*/site-packages")
    (packages / "others.pth").write_text(sysconfig.get_path("purelib"))
    return python


def test_the_site_starts_from_an_installed_wheel(tmp_path: Path) -> None:
    """The site is started outside the sources, and its pages and static files work."""
    python = _installed(_built(tmp_path / "dist"), tmp_path / "environment")
    data = tmp_path / "data"
    data.mkdir()
    with closing(open_store(f"sqlite:///{data / 'arena.sqlite3'}")) as store:
        fill(store)
    found = subprocess.run(  # noqa: S603 - our own argument list
        [python, "-c", "import arena, web; print(arena.__file__, web.__file__)"],
        cwd=data,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.split()
    assert all(file.startswith(str(tmp_path / "environment")) for file in found)
    with (
        served(data, python=str(python), cwd=data) as site,
        httpx2.Client(base_url=site.url, timeout=WAIT_SECONDS) as client,
    ):
        for path in (
            "/",
            "/games",
            "/games/faulty-0-0",
            "/games/faulty-0-0/1/1",
            "/games/faulty-0-0/og.png",
            "/static/site.css",
            "/static/cards.svg",
            "/static/live.js",
            "/static/viewer.js",
            "/static/mark.svg",
            "/rules",
            "/docs/protocol",
            "/docs/greedy",
            "/docs/referee.proto",
        ):
            assert client.get(path).status_code == 200, path
