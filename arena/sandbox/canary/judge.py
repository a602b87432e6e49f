"""From evidence to findings. Pure."""

from collections.abc import Callable
from datetime import datetime
from typing import Final

from arena.controls import CONTROL_NAMES, Finding, HostReport
from arena.sandbox.canary.evidence import Evidence
from arena.sandbox.canary.rules import NO_ANSWER, RULES, Verdict

_WARNINGS: Final = {
    "swap": ("swap",),
    "processes": ("pids",),
    "cpu": ("cpu", "cfs"),
    "system-calls": ("seccomp",),
    "memory": ("memory",),
}
"""Words by which the engine's warnings are known; the first that fits counts."""


def judge(evidence: Evidence) -> tuple[Finding, ...]:
    """Return a finding for every control, in their order."""
    warned = _warned(evidence)
    findings = []
    for name in CONTROL_NAMES:
        held, detail = _verdict(RULES[name], evidence)
        if name in warned:
            held, detail = False, f"{detail}; the engine warns: {warned[name]}"
        findings.append(Finding(control=name, held=held, detail=detail))
    return tuple(findings)


def report_of(evidence: Evidence, runtime: str, checked: datetime) -> HostReport:
    """Return the report on a host.

    Args:
        evidence: What was seen.
        runtime: What bots are run with, such as ``docker/runc``.
        checked: When, in UTC.
    """
    engine = evidence.engine
    warnings = {warning for trial in evidence.trials.values() for warning in trial.warnings}
    return HostReport(
        host=engine.host,
        isolates=True,
        runtime=runtime,
        engine=engine.version,
        cgroup=f"v{engine.cgroup_version}, {engine.cgroup_driver}",
        checked=checked,
        findings=judge(evidence),
        warnings=tuple(sorted(warnings)),
    )


def _verdict(rule: Callable[[Evidence], Verdict], evidence: Evidence) -> Verdict:
    try:
        return rule(evidence)
    except (KeyError, TypeError, ValueError):
        # A probe that was cut short, or could not try this one; it has said so itself where it could.
        said = evidence.trials["look"].said or {}
        errors = "; ".join(f"{part}: {error}" for part, error in said.get("errors", {}).items())
        return False, f"{NO_ANSWER} ({errors})" if errors else NO_ANSWER


def _warned(evidence: Evidence) -> dict[str, str]:
    found: dict[str, str] = {}
    for warning in evidence.trials["look"].warnings:
        for name, words in _WARNINGS.items():
            if any(word in warning.lower() for word in words):
                found.setdefault(name, warning)
                break
    return found
