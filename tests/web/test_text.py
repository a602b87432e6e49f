"""How names and numbers are written."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from web.text import NAME_LENGTH, clean_name, clock, day, fixed, iso_moment, millis, percent, signed


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("greedy", "greedy"),
        ("\N{RIGHT-TO-LEFT OVERRIDE}gnp.exe\N{POP DIRECTIONAL FORMATTING}", "gnp.exe"),
        ("a\N{LEFT-TO-RIGHT ISOLATE}b\N{POP DIRECTIONAL ISOLATE}c\N{ARABIC LETTER MARK}d", "abcd"),
        ("tab\tand\nline\x00\x1b[31m", "tabandline[31m"),
        ("zero\N{ZERO WIDTH SPACE}width", "zerowidth"),
        ("one\N{LINE SEPARATOR}two  three", "one two three"),
        ("寿司職人", "寿司職人"),
        ("<b>", "<b>"),
        ("\x00\N{RIGHT-TO-LEFT MARK} ", "(no name)"),
        ("n" * 64, "n" * 64),
        ("n" * 65, "n" * 63 + "…"),
    ],
)
def test_a_name_is_shown_without_what_could_disturb_its_neighbours(name: str, shown: str) -> None:
    """Control, bidirectional and invisible characters go, long names are cut, the rest stays."""
    assert clean_name(name) == shown
    assert len(shown) <= NAME_LENGTH


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (1.005, "1.00"),
        (-1.5, "\N{MINUS SIGN}1.50"),
        (-0.001, "0.00"),
        (None, "\N{EN DASH}"),
        (12.345, "12.35"),
    ],
)
def test_a_number_has_two_decimals_and_a_real_minus(value: float | None, shown: str) -> None:
    """Nothing is shown as minus zero, and what is not there as a dash."""
    assert fixed(value) == shown


@pytest.mark.parametrize(
    ("value", "shown"), [(0.5, "+0.50"), (-0.5, "\N{MINUS SIGN}0.50"), (0.0, "0.00"), (0.001, "0.00")]
)
def test_a_change_has_a_sign_unless_it_is_nothing(value: float, shown: str) -> None:
    """A change that rounds to nothing has no sign."""
    assert signed(value) == shown


@pytest.mark.parametrize(
    ("share", "shown"),
    [(0.0, "0%"), (0.001, "<1%"), (0.5, "50%"), (0.999, ">99%"), (1.0, "100%"), (None, "\N{EN DASH}")],
)
def test_a_share_never_rounds_to_nothing_or_to_all(share: float | None, shown: str) -> None:
    """One fault in a thousand games is not 0%."""
    assert percent(share) == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.02, "<0.1 ms"), (0.44, "0.4 ms"), (9.94, "9.9 ms"), (12.3, "12 ms"), (10500, "10,500 ms")],
)
def test_a_time_shows_what_can_be_told_apart(value: float, shown: str) -> None:
    """Tenths below ten milliseconds, whole ones above."""
    assert millis(value) == shown


def test_a_moment_is_shown_in_utc() -> None:
    """Whatever zone a moment comes in, the page says UTC."""
    moment = datetime(2026, 11, 3, 1, 30, tzinfo=timezone(timedelta(hours=2)))
    assert (day(moment), clock(moment)) == ("2026-11-02", "23:30")
    assert iso_moment(moment) == "2026-11-02T23:30:00+00:00"
    assert clock(moment.astimezone(UTC)) == "23:30"
