"""Test of the fixtures for external programs."""

import pytest

from tests.conftest import missing


def test_a_missing_part_fails_in_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    """Outside CI such tests are skipped, as test_missing_parts shows."""
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match=r"CI must not skip: no engine \(start one\)"):
        missing("no engine", "start one")
