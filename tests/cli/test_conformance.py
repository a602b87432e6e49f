"""Tests of ``arena conformance``."""

import json
import shlex
import sys
from pathlib import Path

from tests.sdk.test_bridge import FIRST, HELLO, SAY

from .command import arena

LINES = SAY + HELLO + FIRST.replace(', "nonce": asked["nonce"]', "")
"""A program without nonces and dummy cards."""


def rules(folder: Path, command: str) -> dict[str, tuple[int, int, str | None]]:
    """Return (tried, wrong, first failure) of each rule, by a word in the rule."""
    done = arena("conformance", command, "--json", folder=folder)
    told = json.loads(done.stdout)["rules"]
    words = ("one move", "nonce", "legal", "dummy", "all games", "MatchEnd")
    found = {
        word: (each["tried"], each["wrong"], each["first"])
        for each in told
        for word in words
        if word in each["rule"]
    }
    assert done.returncode == (1 if any(each[1] for each in found.values()) else 0)
    return found


def python(folder: Path, text: str) -> str:
    """Write a program, and return its command."""
    (folder / "program.py").write_text(text)
    return shlex.join([sys.executable, "program.py"])


def test_the_library_keeps_every_rule(tmp_path: Path) -> None:
    """The Python library keeps every rule in all 20 games."""
    text = "from arena.sdk import run\ndef choose(view): return view.legal_moves()[-1]\nrun(choose)\n"
    done = arena("conformance", python(tmp_path, text), folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert [line[:5] for line in done.stdout.splitlines()] == ["ok   "] * 6
    assert done.stderr == "arena: 462 decisions in 20 games, one per variant\n"


def test_one_mistake_hides_no_other(tmp_path: Path) -> None:
    """A program that omits nonces and dummy cards still passes the other rules."""
    found = rules(tmp_path, f"arena bridge -- {python(tmp_path, LINES)}")
    assert found["one move"] == (462, 0, None)
    assert found["nonce"][:2] == (462, 462)
    assert found["legal"] == (408, 0, None)
    assert found["dummy"][:2] == (54, 54)
    assert str(found["dummy"][2]).startswith("game 16 (2 players, dummy), round 1, turn 1: illegal: seat 0: ")
    assert found["all games"] == (1, 0, None)


def test_a_crash_is_reported(tmp_path: Path) -> None:
    """After a crash, rules that were never tried don't count as kept."""
    text = "from arena.sdk import run\ndef choose(view): return 1 / 0\nrun(choose)\n"
    command = python(tmp_path, text)
    found = rules(tmp_path, command)
    assert found["one move"][:2] == (1, 1)
    assert found["legal"] == (0, 0, None)
    assert found["all games"][1] == 1
    done = arena("conformance", command, folder=tmp_path)
    assert "\n-     each move is legal (0 of 0)\n" in done.stdout
    assert "ZeroDivisionError" in done.stderr


def test_a_program_that_does_not_connect_is_reported(tmp_path: Path) -> None:
    """The report on a program that doesn't connect has no traceback."""
    done = arena("conformance", "true", folder=tmp_path)
    assert done.returncode == 1
    assert done.stderr == "arena: true didn't connect to the referee: it exited with code 0\n"
    script = tmp_path / "script"
    script.write_text("#!/nonexistent/interpreter\n")
    script.chmod(0o755)
    done = arena("conformance", str(script), folder=tmp_path)
    assert done.returncode == 1
    assert f"arena: can't run {script}: No such file or directory (check the file," in done.stderr
    assert "Traceback" not in done.stderr
