"""The format of names and numbers."""

import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta, timezone

import pytest

from arena.platform.text import NAME_LENGTH, clean_name
from arena.rules import Rules
from tests.accounts.world import World
from tests.builders import add_bots, play_matches
from tests.web.people import browser
from web.http.rendering import (
    bot_address,
    clock,
    day,
    fixed,
    iso_moment,
    millis,
    percent,
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
def test_a_name_is_cleaned(name: str, shown: str) -> None:
    """Control, bidirectional and invisible characters are removed, and long names are cut."""
    assert clean_name(name) == shown
    assert len(shown) <= NAME_LENGTH


@pytest.mark.parametrize(
    ("write", "value", "shown"),
    [
        (fixed, 1.005, "1.00"),
        (fixed, -1.5, "\N{MINUS SIGN}1.50"),
        (fixed, -0.001, "0.00"),
        (fixed, None, "\N{EN DASH}"),
        (fixed, 12.345, "12.35"),
        (signed, 0.5, "+0.50"),
        (signed, -0.5, "\N{MINUS SIGN}0.50"),
        (signed, 0.0, "0.00"),
        (signed, 0.001, "0.00"),
        (percent, 0.0, "0%"),
        (percent, 0.001, "<1%"),
        (percent, 0.5, "50%"),
        (percent, 0.999, ">99%"),
        (percent, 1.0, "100%"),
        (percent, None, "\N{EN DASH}"),
        (millis, 0.02, "<0.1 ms"),
        (millis, 0.44, "0.4 ms"),
        (millis, 9.94, "9.9 ms"),
        (millis, 12.3, "12 ms"),
        (millis, 9999.4, "9,999 ms"),
        (millis, 15_548, "15.5 s"),
        (size, 0, "0 bytes"),
        (size, 1, "1 byte"),
        (size, 1023, "1,023 bytes"),
        (size, 1_048_000, "1,023.4 KiB"),
        (size, 1_572_864, "1.5 MiB"),
        (size, 2**31, "2,048.0 MiB"),
        (span, timedelta(seconds=0.4), "<1 s"),
        (span, timedelta(seconds=1), "1 s"),
        (span, timedelta(seconds=119), "119 s"),
        (span, timedelta(seconds=120), "2 min"),
        (span, timedelta(seconds=7000), "117 min"),
        (span, timedelta(seconds=7200), "2 h"),
    ],
)
def test_a_number_has_a_fitting_unit_and_precision(
    write: Callable[[object], str], value: object, shown: str
) -> None:
    """Minus signs are typographic, and a value that rounds to zero has none. A missing value is a dash.

    A share never rounds to none or all: one fault in a thousand games isn't 0%.
    """
    assert write(value) == shown


def test_a_moment_is_shown_in_utc() -> None:
    """The time zone of the value makes no difference."""
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
def test_special_characters_in_untrusted_text_are_visible(text: str, shown: str) -> None:
    """Control and invisible characters are escaped, except line breaks and tabs."""
    assert visible(text) == shown


@pytest.mark.parametrize(
    ("name", "address"), [("greedy-2", "/bots/greedy-2"), ("a/b", None), ("<b>", None), ("\x00ab", None)]
)
def test_bots_with_valid_names_have_an_address(name: str, address: str | None) -> None:
    """The address needs no escaping in any context."""
    assert bot_address(name) == address


def test_digests_are_cut_and_folders_are_not() -> None:
    """Twelve digits identify an image. A bot in a plain process is identified by its folder."""
    assert short_digest("sha256:" + "0123456789abcdef" * 4) == "0123456789ab"
    assert short_digest("/srv/bots/greedy") == "/srv/bots/greedy"


def test_a_games_number_has_separators_on_all_pages(world: World) -> None:
    """Pages show the same number of a game in the same way, except in a command to copy."""
    with closing(sqlite3.connect(world.file or ":memory:")) as database, database:
        database.execute("UPDATE ladder SET games = 1233")
    play_matches(
        world.store, [add_bots(world.store, [("one", "ann"), ("two", "ben")])], Rules(players=2), name="two"
    )
    client = browser(world)
    for path in ("/", "/games", "/games/two-0-0", "/games/two-0-0/1/1", "/bots/one", "/games?before=1235"):
        text = client.get(path).text
        assert "1,234" in text, path
        commands = re.findall(r"<code>arena analyse (.*?)</code>", text)
        assert set(commands) <= {"1234"}
        assert len(re.findall(r">[^<]*\b1234\b", text)) == len(commands), path
