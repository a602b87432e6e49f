"""How names and numbers are written."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from arena.db.games import GameSummary
from arena.platform.speech import NAME_LENGTH, clean_name
from arena.protocol.documents import SeatResult
from web.games.listing import GamesQuery
from web.http.rendering import (
    bot_address,
    clock,
    day,
    fixed,
    iso_moment,
    millis,
    percent,
    render,
    second,
    short_digest,
    signed,
    size,
    span,
    visible,
)


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
    assert second(moment.replace(second=7)) == "23:30:07"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("two\nlines\tand a tab", "two\nlines\tand a tab"),
        ("of\r\nWindows, and\rover", "of\nWindows, and\nover"),
        ("\x1b[31mred\x00\x9b", "\\x1b[31mred\\x00\\x9b"),
        ("\N{RIGHT-TO-LEFT OVERRIDE}gnp", "\\u202egnp"),
        ("a\N{LINE SEPARATOR}b\N{ZERO WIDTH SPACE}", "a\\u2028b\\u200b"),
        ("\ud800\U000e0041", "\\ud800\\U000e0041"),
        ("寿司 <b> \N{REPLACEMENT CHARACTER}", "寿司 <b> \N{REPLACEMENT CHARACTER}"),
    ],
)
def test_everything_in_a_strangers_text_is_to_be_seen(text: str, shown: str) -> None:
    """What would act or hide is written out; lines and tabs stay."""
    assert visible(text) == shown


@pytest.mark.parametrize(
    ("name", "address"), [("greedy-2", "/bots/greedy-2"), ("a/b", None), ("<b>", None), ("\x00ab", None)]
)
def test_bots_that_can_be_named_so_have_an_address(name: str, address: str | None) -> None:
    """It needs no escapes, whatever is around it."""
    assert bot_address(name) == address


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0, "0 bytes"), (1023, "1023 bytes"), (1024, "1.0 KiB"), (1_572_864, "1.5 MiB"), (2**31, "2,048.0 MiB")],
)
def test_sizes_are_written_in_a_fitting_unit(value: int, shown: str) -> None:
    """With one decimal above a KiB."""
    assert size(value) == shown


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(0.4, "<1 s"), (1, "1 s"), (119, "119 s"), (120, "2 min"), (7000, "117 min"), (7200, "2 h")],
)
def test_how_long_something_took_is_written_in_few_letters(seconds: float, shown: str) -> None:
    """Seconds as long as they say something, then minutes and hours."""
    assert span(timedelta(seconds=seconds)) == shown


def test_digests_are_cut_and_folders_are_not() -> None:
    """Twelve digits tell images apart; a bot that runs as a process is its folder."""
    assert short_digest("sha256:" + "0123456789abcdef" * 4) == "0123456789ab"
    assert short_digest("/srv/bots/greedy") == "/srv/bots/greedy"


def test_numbers_of_games_have_separators() -> None:
    """So that those of a large arena can be read."""
    seats = tuple(SeatResult(bot=bot, version=1, points=9, place=1) for bot in ("ann", "ben"))
    ended = datetime(2026, 11, 23, tzinfo=UTC)
    game = GameSummary(game="last", number=1_234_567, players=2, ended=ended, seats=seats, behind=0)
    shown = render("games.html", caller=None, games=(game,), older=None, query=GamesQuery(), window=1)
    assert '<a href="/games/last">1,234,567</a>' in shown
