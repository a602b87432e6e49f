"""The package's public names."""

import ast
from pathlib import Path

import pytest

import arena.rules

MODULES = [path for path in Path(arena.rules.__file__).parent.glob("*.py") if path.stem != "__init__"]
FOR_NEIGHBOURS = {
    "seat_in_control",
    "COLOURS",
    "DUMPLING_POINTS",
    "MAKI_FIRST",
    "MAKI_ICONS",
    "MAKI_SECOND",
    "NIGIRI_POINTS",
    "PUDDING_POINTS",
    "SOY_POINTS",
    "WASABI_FACTOR",
    "score_maki",
    "score_soy_sauce",
}
"""Public in their modules, for use in this package, the two fast copies of the rules, and tests."""


@pytest.mark.parametrize("module", MODULES, ids=lambda path: path.stem)
def test_every_public_name_is_exported(module: Path) -> None:
    """Every name that a module defines without an underscore can be imported from arena.rules."""
    names = set()
    for node in ast.parse(module.read_text()).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names.add(node.target.id)
        elif isinstance(node, ast.Assign):
            names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    public = {name for name in names if not name.startswith("_")}
    assert public
    assert public - FOR_NEIGHBOURS <= set(arena.rules.__all__)


def test_the_list_of_names_is_complete() -> None:
    """``__all__`` has exactly the names that the package imports, each once."""
    names = arena.rules.__all__
    assert len(set(names)) == len(names)
    imported = {
        name
        for name, value in vars(arena.rules).items()
        if not name.startswith("_") and type(value).__name__ != "module"
    }
    assert imported == set(names)
