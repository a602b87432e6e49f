"""Who may play: untrusted bots where every control is held, or accepted as missing by name."""

import pytest

from arena.protocol.controls import (
    CONTROL_NAMES,
    CONTROLS,
    Gate,
    UntrustedBotsRefused,
    admit,
    missing,
    unaccepted,
)
from tests.builders import host_report


def test_a_host_that_holds_everything_admits_strangers() -> None:
    """Nothing is missing, nothing has to be accepted."""
    report = host_report()
    assert missing(report) == unaccepted(report, ()) == ()
    admit(report, ())


def test_each_missing_control_has_to_be_accepted() -> None:
    """Accepting one of two is not enough, and accepting what is held does no harm."""
    report = host_report("swap", "cpu")
    assert unaccepted(report, {"swap"}) == ("cpu",)
    assert unaccepted(report, {"cpu", "swap", "user"}) == ()


def test_a_control_that_a_report_does_not_know_counts_as_missing() -> None:
    """As in a report that an older version has written."""
    report = host_report()
    older = type(report)(
        **{name: getattr(report, name) for name in report.__slots__} | {"findings": report.findings[1:]}
    )
    assert unaccepted(older, ()) == (CONTROL_NAMES[0],)


def test_plain_processes_can_not_be_accepted() -> None:
    """Nothing isolates there, whatever the operator says."""
    report = host_report(isolates=False)
    assert unaccepted(report, CONTROL_NAMES) == CONTROL_NAMES
    with pytest.raises(UntrustedBotsRefused, match=r"plain processes.*ARENA_SANDBOX=docker"):
        admit(report, CONTROL_NAMES)


def test_a_host_that_was_never_checked_admits_nobody() -> None:
    """The text says what to do."""
    with pytest.raises(UntrustedBotsRefused, match="Start the arena"):
        admit(None, CONTROL_NAMES)


def test_a_refusal_says_what_is_missing_and_what_to_do() -> None:
    """Each control with what was seen, what it stops, how to mend it, and the setting that accepts all."""
    with pytest.raises(UntrustedBotsRefused) as caught:
        admit(host_report("swap", "cpu", "user"), {"user"})
    text = str(caught.value)
    for control in CONTROLS:
        named = control.name in {"swap", "cpu"}
        assert (f"seen of {control.name}" in text) == named
        assert (control.stops in text) == named
    assert text.endswith("ARENA_ACCEPT_MISSING=user,swap,cpu")


def test_the_gate_is_shut_until_a_report_opens_it() -> None:
    """And shut again by one that is worse."""
    gate = Gate()
    assert gate.house_only
    gate.decide(host_report("swap"), {"swap"})
    assert not gate.house_only
    gate.decide(host_report("swap"), ())
    assert gate.house_only


def test_the_gate_is_open_where_nobody_is_a_stranger() -> None:
    """Before any host was tried."""
    assert not Gate(own=True).house_only
