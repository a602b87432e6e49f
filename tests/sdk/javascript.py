"""Runs programs in the base image for JavaScript bots."""

import json
import os
import subprocess
from pathlib import Path

from arena.rules import View
from tests.sdk.referee import Command


def _docker(image: str, source: str, *options: str) -> list[str]:
    """Return the words of a Docker command that runs the source of an ES module in this image."""
    user = f"{os.getuid()}:{os.getgid()}"
    container = ["docker", "run", "--rm", "--network=none", "--read-only", f"--user={user}", *options, image]
    return [*container, "node", "--input-type=module", "--eval", source]


def in_javascript(image: str, source: str) -> Command:
    """Return a command that starts a bot from the source of an ES module."""

    def command(folder: str) -> list[str]:
        mount, variable = f"--volume={folder}:{folder}:ro", "--env=ARENA_REFEREE"
        return _docker(image, source, "--init", mount, variable)

    return command


def run_alone(image: str, source: str, address: str | None = None) -> subprocess.CompletedProcess[str]:
    """Run a bot without a referee."""
    variable = [f"--env=ARENA_REFEREE={address}"] if address else []
    return subprocess.run(  # noqa: S603 - our own command
        _docker(image, source, "--init", *variable),
        capture_output=True,
        text=True,
        check=False,
    )


def evaluate(image: str, source: str, folder: Path) -> str:
    """Run a module that can read this folder as /data, and return its output."""
    done = subprocess.run(  # noqa: S603 - our own command
        _docker(image, source, f"--volume={folder}:/data:ro"),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def as_javascript(view: View) -> dict[str, object]:
    """Return a view in the form of the JavaScript library, ready for JSON."""
    rules = view.rules
    return {
        "rules": {
            "players": rules.players,
            "passBothWays": rules.pass_both_ways,
            "soySauce": rules.soy_sauce,
            "dummy": rules.dummy,
            "participants": rules.participants,
            "handSize": rules.hand_size,
            "turns": rules.turns,
        },
        "seat": view.seat,
        "round": view.round,
        "turn": view.turn,
        "hand": [card.label for card in view.hand],
        "tables": [[card.label for card in table] for table in view.tables],
        "puddings": list(view.puddings),
        "scores": list(view.scores),
        "handSizes": list(view.hand_sizes),
        "control": view.control,
        "drawn": view.drawn.label if view.drawn else None,
        "turns": [
            {
                "round": turn.round,
                "turn": turn.turn,
                "plays": [[card.label for card in play] for play in turn.plays],
            }
            for turn in view.turns
        ],
        "pastHands": [[card.label for card in hand] for hand in view.past_hands],
    }


def compact(value: object) -> str:
    """Return JSON in the format of JavaScript's JSON.stringify."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
