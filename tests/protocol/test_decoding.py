"""Tests that several threads can decode a type at the same time, even for the first time."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.soak import many

ROOT = Path(__file__).parents[2]

RACE = """
import sys, threading
from dataclasses import dataclass

import msgspec

from arena.protocol.decoding import prepared

sys.setswitchinterval(1e-6)
DATA = {"first": {"a": 1, "b": ["x"]}, "others": [{"a": 1, "b": []}], "last": None}
for _ in range(TIMES):

    @dataclass
    class Inner:
        a: int
        b: list[str]

    @dataclass
    class Outer:
        first: Inner
        others: list[Inner]
        last: Inner | None

    def decode():
        together.wait()
        msgspec.convert(DATA, PREPARED(Outer))

    together = threading.Barrier(3)
    threads = [threading.Thread(target=decode) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
"""
"""A program whose threads convert data to a new type at the same time."""


def raced(prepare: str) -> int:
    """Run the program, and return its exit code."""
    program = RACE.replace("PREPARED", prepare).replace("TIMES", str(many(100, 500)))
    return subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=False, timeout=300).returncode  # noqa: S603 - our own


def test_threads_can_decode_a_new_type_at_the_same_time() -> None:
    """Decoding a new type in several threads doesn't crash the process."""
    assert raced("prepared") == 0


@pytest.mark.soak
def test_without_preparation_they_crash() -> None:
    """If this fails, msgspec no longer needs :func:`prepared`."""
    assert raced("") != 0


SINGLE_THREADED = {
    "arena/images/archive/__main__.py",
    "arena/images/archive/outer.py",
    "arena/play/referee/__main__.py",
}
"""Programs that decode in a single thread."""


def unprepared(file: Path) -> Iterator[int]:
    """Yield the numbers of the lines that pass a type to msgspec without preparing it."""
    for node in ast.walk(ast.parse(file.read_text())):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
            continue
        if node.func.attr == "decode":
            kinds = [each.value for each in node.keywords if each.arg == "type"]
        elif node.func.attr == "convert" and ast.unparse(node.func.value) == "msgspec":
            kinds = node.args[1:2]
        else:
            continue
        if any(isinstance(kind, ast.Name) for kind in kinds):
            yield node.lineno


def test_all_types_are_prepared() -> None:
    """All types are prepared, except in programs with a single thread."""
    found = {
        f"{file.relative_to(ROOT)}:{line}"
        for package in ("arena", "web")
        for file in (ROOT / package).rglob("*.py")
        if str(file.relative_to(ROOT)) not in SINGLE_THREADED
        for line in unprepared(file)
    }
    assert not found
