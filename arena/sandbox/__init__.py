"""Runs strangers' programs, one bot a sandbox.

Import the runtimes from their own modules, ``docker_runtime`` and ``process_runtime``.
"""

from arena.sandbox.errors import LaunchRefused, RuntimeTrouble, SandboxError
from arena.sandbox.policy import slot_owner
from arena.sandbox.runtime import (
    ATTEMPT_LABEL,
    INSTALL_LABEL,
    MATCH_LABEL,
    REFEREE_VARIABLE,
    SEAT_LABEL,
    SOCKET_NAME,
    Exit,
    Runtime,
    Sandbox,
    SandboxSpec,
)

__all__ = [
    "ATTEMPT_LABEL",
    "INSTALL_LABEL",
    "MATCH_LABEL",
    "REFEREE_VARIABLE",
    "SEAT_LABEL",
    "SOCKET_NAME",
    "Exit",
    "LaunchRefused",
    "Runtime",
    "RuntimeTrouble",
    "Sandbox",
    "SandboxError",
    "SandboxSpec",
    "slot_owner",
]
