"""Tests of a coordinator as a process: its health and metrics endpoints, and its log."""

import json
import re
import signal
import subprocess
from typing import Any

import httpx2
from prometheus_client.parser import text_string_to_metric_families

from tests.demo.conftest import With
from tests.demo.running import Place, client_of, processes_of, started
from tests.patience import WAIT_SECONDS, wait_until

SETTINGS = {"ARENA_SANDBOX": "process", "ARENA_LOG_LEVEL": "info", "ARENA_OPS_ADDRESS": "127.0.0.1:0"}


def test_a_coordinator_reports_its_health(place_with: With) -> None:
    """A coordinator is healthy from the start, and ready once it plays. It logs JSON with matches' ids.

    A second arena in the same data directory reports that another one is running, and does no harm.
    """
    place = place_with("greedy", "random")
    with started(place, "coordinator", **SETTINGS) as arena:
        lines = [_line(arena)]
        while lines[-1]["event"] != "ops endpoint listening":
            lines.append(_line(arena))
        with client_of(f"http://{lines[-1]['address']}") as client:
            wait_until(lambda: client.get("/healthz").text == "ok\n", "its health")
            wait_until(lambda: client.get("/readyz").status_code == 200, "its readiness")
            # Keep reading, so that the arena never waits for a reader.
            while sum(line["event"] == "match stored" for line in lines) < 2:
                lines.append(_line(arena))
            wait_until(lambda: client.get("/healthz").status_code == 200, "its health")
            second = place.run("demo", "--once", **SETTINGS)
            assert second.returncode == 1
            assert "another arena is running" in second.stderr
            # A match is counted only after its line has been logged, and in each metric at a different time.
            wait_until(lambda: _are_counted(_values(client.get("/metrics").text)), "metrics of both matches")
            arena.send_signal(signal.SIGTERM)
        # Not communicate(), which would lose data that was read from the pipe but not yet returned as a line.
        assert arena.stdout is not None
        assert arena.stderr is not None
        rest, said = arena.stderr.read(), arena.stdout.read()
        assert (arena.wait(WAIT_SECONDS), said) == (0, "")
    lines += [json.loads(line) for line in rest.splitlines()]
    _check_lines(lines)
    assert processes_of(place) == []
    place.check_ratings()


def test_a_coordinator_whose_disk_is_full_is_healthy_but_not_ready(place: Place) -> None:
    """With a full disk, a coordinator starts no match, and says why."""
    with started(place, "coordinator", **SETTINGS, ARENA_DISK_FLOOR_GIB="1e9") as arena:
        line = _line(arena)
        while line["event"] != "ops endpoint listening":
            line = _line(arena)
        with client_of(f"http://{line['address']}") as client:
            answer = wait_until(lambda: _lacking(client, "disk"), "all checks except that of the disk")
            assert answer.status_code == 503
            assert answer.json()["detail"] == (
                "disk: full, so no new matches start: free some space, or lower ARENA_DISK_FLOOR_GIB"
            )
            wait_until(lambda: client.get("/healthz").text == "ok\n", "its health")
        arena.send_signal(signal.SIGTERM)
        _, said = arena.communicate(timeout=WAIT_SECONDS)
        assert "match started" not in said
        assert arena.returncode == 0


def _lacking(client: httpx2.Client, what: str) -> httpx2.Response | None:
    """Return the readiness response if only this is missing. On a busy host, more may be missing at times."""
    answer = client.get("/readyz")
    return answer if answer.json()["missing"].keys() == {what} else None


def _line(arena: "subprocess.Popen[str]") -> dict[str, Any]:
    assert arena.stderr is not None
    line: dict[str, Any] = json.loads(arena.stderr.readline())
    return line


def _values(text: str) -> dict[tuple[str, ...], float]:
    samples = [sample for family in text_string_to_metric_families(text) for sample in family.samples]
    return {(sample.name, *sorted(sample.labels.values())): sample.value for sample in samples}


def _are_counted(values: dict[tuple[str, ...], float]) -> bool:
    """Return whether all metrics include at least two matches."""
    assert ("kaiten_queue_matches", "rated", "running") in values
    assert values["kaiten_disk_free_bytes",] > 0
    finished, games, timed, launched = (
        values[name]
        for name in (
            ("kaiten_matches_total", "finished"),
            ("kaiten_games_total",),
            ("kaiten_match_seconds_count",),
            ("kaiten_launch_seconds_count",),
        )
    )
    return min(finished, games) >= 2 and timed == launched >= 2 and values["kaiten_launch_seconds_sum",] > 0


def _check_lines(lines: list[dict[str, Any]]) -> None:
    """Check the lines' common keys and matches' ids, and that every started match has ended."""
    assert all(list(line)[:3] == ["timestamp", "level", "event"] for line in lines)
    about = [line for line in lines if re.match(r"match|lease|result|sandbox", line["event"])]
    assert all(re.fullmatch(r"[0-9a-f]{12}", line["match"]) and line["attempt"] == 1 for line in about)
    began, ended = (
        [line["match"] for line in about if line["event"] == event]
        for event in ("match started", "match stored")
    )
    assert sorted(began) == sorted(ended)
    assert len(set(began)) == len(began)
    assert any("NOTHING IS ISOLATED" in line["event"] for line in lines)
    assert lines[-1]["event"] == "stopped; nothing is left running"
