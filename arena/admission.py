"""Whether bots of strangers may play here: where each control is held, or accepted as missing by name."""

from collections.abc import Collection
from typing import Final

from arena.controls import CONTROLS, HostReport, unaccepted

_CONTROLS: Final = {control.name: control for control in CONTROLS}


class StrangersRefused(Exception):
    """Bots of strangers are refused. The text says why and what the operator can do."""


class Gate:
    """Shut for bots of strangers until a host's report opens it. Threads may share it.

    Args:
        own: Whether all bots are those of whoever runs them. Then nobody is a stranger, and it is open.
    """

    def __init__(self, *, own: bool = False) -> None:
        self._open = own
        self._decided = own

    def decide(self, report: HostReport, accepted: Collection[str]) -> None:
        """Open or shut it, by what a host was seen to hold and by what its operator accepts as missing."""
        self._open = not unaccepted(report, accepted)
        self._decided = True

    @property
    def decided(self) -> bool:
        """Whether it is known who may play."""
        return self._decided

    @property
    def house_only(self) -> bool:
        """Whether the arena's own bots alone may play."""
        return not self._open


def admit(report: HostReport | None, accepted: Collection[str]) -> None:
    """Let a stranger's bot in, or refuse it.

    Args:
        report: Of the host that bots run on; None where it was never checked.
        accepted: Names of controls whose absence the operator accepts.

    Raises:
        StrangersRefused: The host does not hold what has to hold them.
    """
    if report is None:
        raise StrangersRefused(
            "bots of strangers are refused: nobody knows yet what this host can hold. Start the arena, "
            "which finds out"
        )
    if not report.isolates:
        raise StrangersRefused(
            f"bots of strangers are refused: {report.host} runs bots as plain processes, which isolate "
            "nothing. Use containers (ARENA_SANDBOX=docker)"
        )
    names = unaccepted(report, accepted)
    if names:
        raise StrangersRefused(_explained(report, names, accepted))


def _explained(report: HostReport, names: tuple[str, ...], accepted: Collection[str]) -> str:
    seen = {finding.control: finding.detail for finding in report.findings}
    lines = [
        f"  {name}: {seen.get(name, 'not tried')}. It stops: {_CONTROLS[name].stops} {_CONTROLS[name].mend}"
        for name in names
    ]
    value = ",".join(name for name in _CONTROLS if name in names or name in accepted)
    return "\n".join(
        [
            f"bots of strangers are refused: {report.host} ({report.runtime}) does not hold",
            *lines,
            f"Mend the host and start the arena again, or accept it as it is: ARENA_ACCEPT_MISSING={value}",
        ]
    )
