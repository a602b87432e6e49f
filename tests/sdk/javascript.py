"""Runs programs in a container of the base image for JavaScript bots."""

import json
import subprocess
from pathlib import Path

from arena.rules import View
from tests.sdk.referee import Command


def _docker(container: str, source: str, *options: str) -> list[str]:
    """Return the words of a Docker command that runs the source of an ES module in this container."""
    return ["docker", "exec", *options, container, "node", "--input-type=module", "--eval", source]


def in_javascript(container: str, source: str) -> Command:
    """Return a command that starts a bot from the source of an ES module."""
    return lambda _folder: _docker(container, source, "--env=ARENA_REFEREE")


def run_alone(container: str, source: str, address: str | None = None) -> subprocess.CompletedProcess[str]:
    """Run a bot without a referee."""
    variable = [f"--env=ARENA_REFEREE={address}"] if address else []
    return subprocess.run(  # noqa: S603 - our own command
        _docker(container, source, *variable), capture_output=True, text=True, check=False
    )


def evaluate(container: str, source: str, folder: Path) -> str:
    """Run a module in this folder, and return its output."""
    done = subprocess.run(  # noqa: S603 - our own command
        _docker(container, source, f"--workdir={folder}"), capture_output=True, text=True, check=False
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
