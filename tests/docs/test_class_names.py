"""Test that no public class name is defined twice, so that grep finds one meaning."""

import re
from collections import defaultdict
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
CLASS = re.compile(r"^class ([A-Za-z]\w*)[(\[:]", re.MULTILINE)


def test_each_public_class_name_is_defined_once() -> None:
    """In ``arena`` and ``web``, no two public classes have the same name."""
    modules = defaultdict(list)
    for package in ("arena", "web"):
        for path in (REPOSITORY / package).rglob("*.py"):
            for name in CLASS.findall(path.read_text()):
                modules[name].append(str(path.relative_to(REPOSITORY)))
    assert "Rules" in modules
    assert {name: paths for name, paths in modules.items() if len(paths) > 1} == {}
