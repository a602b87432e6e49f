"""Tests that docs/dependencies.md gives a reason for each dependency."""

import json
import re
import tomllib

from tests.docs.documents import DOCS, ROOT, rows

SYSTEM = {
    "Docker engine, 20.10 or newer",
    "Docker Compose, 1.29 or newer",
    "mmdebstrap",
    "Chromium, PostgreSQL, npm",
    "gcc",
    "shellcheck",
    "stress-ng",
    "Go, Rust, Java",
}


def declared() -> set[str]:
    """Return the packages declared in pyproject.toml, package.json and the base images' lists."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    groups = project["dependency-groups"].values()
    extras = project["project"]["optional-dependencies"].values()
    specified = project["project"]["dependencies"] + [
        item for group in (*groups, *extras) for item in group if isinstance(item, str)
    ]
    lists = (ROOT / "arena/languages").glob("*/image/requirements.in")
    bots = [line for path in lists for line in path.read_text().splitlines()]
    specified += [line for line in bots if line and not line.startswith("#")]
    names = {re.split(r"[\[<>=~! ]", item)[0] for item in specified}
    for folder in ("", "editor/"):
        names |= set(json.loads((ROOT / f"{folder}package.json").read_text())["devDependencies"])
    package = json.loads((ROOT / "arena/languages/javascript/image/package.json").read_text())
    return names | set(package["dependencies"])


def documented() -> dict[str, str]:
    """Return the reason for each package in the page's tables."""
    reasons: dict[str, str] = {}
    for cells in rows(DOCS / "dependencies.md"):
        if cells[0] not in {"package", "program"} | SYSTEM:
            reasons |= dict.fromkeys(cells[0].split(", "), cells[1])
    return reasons


def test_every_dependency_is_documented_and_nothing_else() -> None:
    """The tables and the declarations have the same packages. No cell with a reason is empty."""
    assert documented().keys() == declared()
    assert all(documented().values())
