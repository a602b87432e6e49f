"""Tests of admitting untrusted bots: every control must pass, or be accepted as missing by name."""

import pytest

from arena.protocol.sandbox_controls import (
    CONTROL_NAMES,
    CONTROLS,
    Gate,
    UntrustedBotsRefused,
    admit,
    missing,
    unaccepted,
)
from tests.builders import host_report


def test_a_host_on_which_all_controls_pass_admits_untrusted_bots() -> None:
    """No control is missing, so none has to be accepted."""
    report = host_report()
    assert missing(report) == unaccepted(report, ()) == ()
    admit(report, ())


def test_each_missing_control_has_to_be_accepted() -> None:
    """Accepting one of two isn't enough. Accepting a passing control does no harm."""
    report = host_report("swap", "cpu")
    assert unaccepted(report, {"swap"}) == ("cpu",)
    assert unaccepted(report, {"cpu", "swap", "user"}) == ()


def test_a_control_without_a_finding_counts_as_missing() -> None:
    """Older versions' reports have no findings for new controls."""
    report = host_report()
    older = type(report)(
        **{name: getattr(report, name) for name in report.__slots__} | {"findings": report.findings[1:]}
    )
    assert unaccepted(older, ()) == (CONTROL_NAMES[0],)


def test_plain_processes_can_not_be_accepted() -> None:
    """Plain processes aren't isolated, so accepting all controls has no effect."""
    report = host_report(isolates=False)
    assert unaccepted(report, CONTROL_NAMES) == CONTROL_NAMES
    with pytest.raises(UntrustedBotsRefused, match=r"plain processes.*ARENA_SANDBOX=docker"):
        admit(report, CONTROL_NAMES)


def test_a_host_that_was_never_checked_admits_no_untrusted_bots() -> None:
    """The error for an unchecked host says what to do."""
    with pytest.raises(UntrustedBotsRefused, match="Start the arena"):
        admit(None, CONTROL_NAMES)


def test_a_refusal_says_what_is_missing_and_what_to_do() -> None:
    """The error has the finding of each missing control, what the control stops, and the setting."""
    with pytest.raises(UntrustedBotsRefused) as caught:
        admit(host_report("swap", "cpu", "user"), {"user"})
    text = str(caught.value)
    for name, control in CONTROLS.items():
        named = name in {"swap", "cpu"}
        assert (f"seen of {name}" in text) == named
        assert (control.stops in text) == named
    assert text.endswith("ARENA_ACCEPT_MISSING=user,swap,cpu")


def test_the_gate_is_closed_until_a_report_opens_it() -> None:
    """A later report that isn't accepted closes the gate again."""
    gate = Gate()
    assert gate.house_only
    gate.decide(host_report("swap"), {"swap"})
    assert not gate.house_only
    gate.decide(host_report("swap"), ())
    assert gate.house_only


def test_the_gate_is_open_if_all_bots_are_trusted() -> None:
    """The gate is open even before any host has been checked."""
    assert not Gate(own=True).house_only
