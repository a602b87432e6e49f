"""Tests of scripts/audit with a vulnerability, without one, and with unreachable data."""

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from tests.patience import WAIT_SECONDS
from tests.ports import serving

pytestmark = pytest.mark.usefixtures("npm")

_ROOT = Path(__file__).parents[2]
_CLEAN = {"name": "uv", "version": "1.0", "vulns": []}
_HIT = {"name": "uv", "version": "1.0", "vulns": [{"id": "PYSEC-2026-1", "fix_versions": ["1.1"]}]}
_UNKNOWN = {"name": "uv", "version": "1.0", "skip_reason": "Dependency not found"}
_REFUSED = "http://127.0.0.1:1/"
_UNREACHABLE = [
    f"SKIPPED {auditor}: its vulnerability data is unreachable" for auditor in ("pip-audit", "npm audit")
]
_NO_ADVISORY: Mapping[str, object] = {}
_ADVISORY = {
    "protobufjs": [
        {
            "id": 1,
            "url": "https://advisories.example/1",
            "title": "made up",
            "severity": "high",
            "vulnerable_versions": ">=0.0.1",
            "cwe": ["CWE-1"],
            "cvss": {"score": 7, "vectorString": None},
        }
    ]
}


@contextmanager
def npm_registry(advisories: Mapping[str, object]) -> Iterator[str]:
    """Serve npm's audit service, and yield its address."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            body = json.dumps(advisories).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_GET(self) -> None:
            self.send_error(404)

    with serving(Handler) as port:
        yield f"http://127.0.0.1:{port}/"


def _package_locks() -> list[Path]:
    """Return every package-lock.json of the repository."""
    patterns = (f"{'*/' * depth}package-lock.json" for depth in range(5))
    found = {path.relative_to(_ROOT) for pattern in patterns for path in _ROOT.glob(pattern)}
    return sorted(path for path in found if not {"node_modules", "build"} & set(path.parts))


def _give_time(script: Path) -> None:
    """Replace the script's time limits, which are for services, with one for a busy host."""
    text = script.read_text()
    for limit, longer in {
        "timeout 120": f"timeout {WAIT_SECONDS}",
        "timeout 60": f"timeout {WAIT_SECONDS}",
        "--fetch-timeout=5000": f"--fetch-timeout={WAIT_SECONDS}000",
    }.items():
        assert text.count(limit) == 1
        text = text.replace(limit, longer)
    script.write_text(text)


def audit(checkout: Path, registry: str, reports: Mapping[str, object]) -> tuple[int, str]:
    """Run the script on a copy, with these reports of pip-audit by lock file, or by ``*`` for all others.

    pip-audit can only use its own service, so a program that prints the reports replaces it. npm is the real
    one.
    """
    locked = [
        path.parent / name for path in _package_locks() for name in ("package.json", "package-lock.json")
    ]
    for path in (Path("scripts/audit"), *locked):
        (checkout / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(_ROOT / path, checkout / path)
    _give_time(checkout / "scripts/audit")
    (checkout / ".venv/bin").mkdir(parents=True)
    program = checkout / ".venv/bin/python"
    auditor = checkout / "auditor.py"
    program.write_text(f'#!/bin/sh\nexec {shlex.join([sys.executable, str(auditor)])} "$@"\n')
    auditor.write_text(
        "import json, os, sys\n"
        f"reports = json.loads({json.dumps(json.dumps(reports))})\n"
        "if sys.argv[1:3] != ['-m', 'pip_audit']:\n"
        "    os.execv(sys.executable, [sys.executable, *sys.argv[1:]])\n"
        "report = reports.get(sys.argv[-1], reports.get('*'))\n"
        "print(json.dumps({'dependencies': report}) if report else '')\n"
        "sys.exit(1)\n"
    )
    program.chmod(0o755)
    done = subprocess.run(  # noqa: S603 - the script under test
        [checkout / "scripts/audit"],
        env={**os.environ, "npm_config_registry": registry},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stderr


def test_only_a_package_that_the_data_lacks_is_named(tmp_path: Path) -> None:
    """Without vulnerabilities, the only output names a package that the data doesn't know."""
    reports = {"requirements.lock": [_CLEAN, _UNKNOWN], "*": [_CLEAN]}
    with npm_registry(_NO_ADVISORY) as registry:
        status, said = audit(tmp_path, registry, reports)
    assert (status, said) == (0, "SKIPPED pip-audit of uv: they are not in the vulnerability data\n")


def test_a_vulnerable_python_package_fails(tmp_path: Path) -> None:
    """A vulnerable package is named, even if the data for a later lock file and npm's is unreachable."""
    reports = {"requirements.lock": [_CLEAN, _HIT], "requirements-dev.lock": [_UNKNOWN], "*": [_CLEAN]}
    status, said = audit(tmp_path, _REFUSED, reports)
    assert status == 1
    assert said.splitlines() == ["uv 1.0: PYSEC-2026-1, fixed in 1.1", *_UNREACHABLE]


def test_a_vulnerable_npm_package_fails(tmp_path: Path) -> None:
    """A vulnerable npm package is named, and the script fails, even if the data for Python is unreachable."""
    with npm_registry(_ADVISORY) as registry:
        status, said = audit(tmp_path, registry, {"*": None})
    assert status == 1
    assert "arena/languages/javascript/image: npm audit found:" in said
    assert "protobufjs" in said


def test_unreachable_data_is_reported_once_per_auditor(tmp_path: Path) -> None:
    """Each auditor reports once that its data is unreachable. The script doesn't fail, not even in CI."""
    status, said = audit(tmp_path, _REFUSED, {"*": None})
    assert (status, said.splitlines()) == (0, _UNREACHABLE)
