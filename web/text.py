"""How names, numbers and moments are written on the pages."""

import unicodedata
from datetime import UTC, datetime, timedelta
from pathlib import PurePath
from typing import Final

from arena.names import WrongName, check_name

NAME_LENGTH: Final = 64
_NOTHING: Final = "\N{EN DASH}"
_MINUS: Final = "\N{MINUS SIGN}"
_HUNDRED: Final = 100
_TEN: Final = 10
_TENTH: Final = 0.1
_MINUTE: Final = 60
_HOUR: Final = 60 * _MINUTE
_KIB: Final = 1024
_IMAGE: Final = "sha256:"
_DIGEST: Final = 64
_SHORT_DIGEST: Final = 12
_KEPT: Final = "\n\t"


def clean_name(name: str) -> str:
    """Return a name that can't disturb what stands beside it.

    Names are strangers' text. Control characters, bidirectional overrides and
    other invisible characters go (Unicode categories C, Zl and Zp), the rest
    is cut to ``NAME_LENGTH``. Escaping is the templates' work.
    """
    seen = plain(name)
    if not seen:
        return "(no name)"
    return seen if len(seen) <= NAME_LENGTH else seen[: NAME_LENGTH - 1] + "\N{HORIZONTAL ELLIPSIS}"


def plain(text: str) -> str:
    """Return a text without invisible characters (category C), on one line, with single spaces."""
    seen = "".join(letter for letter in text if unicodedata.category(letter)[0] != "C")
    return " ".join(seen.split())


def visible(text: str) -> str:
    """Return strangers' text of several lines with everything in it to be seen, and nothing that acts.

    Control characters, bidirectional overrides and other invisible ones (categories C, Zl and Zp) are written
    as a program would have them, escaped; ends of lines, tabs and spaces stay. Markup is the templates' work.
    """
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    return "".join(
        letter
        if letter.isprintable() or letter in _KEPT or unicodedata.category(letter) == "Zs"
        else letter.encode("unicode_escape").decode()
        for letter in lines
    )


def bot_address(name: str) -> str | None:
    """Return the address of a bot's page; None of one whose name could not be given today."""
    try:
        check_name(name, "bot")
    except WrongName:
        return None
    return f"/bots/{name}"


def browser_name(agent: str) -> str:
    """Return what to call a browser that calls itself so: its make and its system, where they are known."""
    make = next((name for sign, name in _BROWSERS if sign in agent), None)
    system = next((name for sign, name in _SYSTEMS if sign in agent), None)
    if make is None:
        return clean_name(agent) if agent.strip() else "unknown"
    return make if system is None else f"{make} on {system}"


_BROWSERS: Final = (
    ("Edg/", "Edge"),
    ("OPR/", "Opera"),
    ("Firefox/", "Firefox"),
    ("Chrome/", "Chrome"),  # it calls itself Safari too
    ("Safari/", "Safari"),
)
_SYSTEMS: Final = (
    ("Android", "Android"),  # it calls itself Linux too
    ("iPhone", "iOS"),
    ("iPad", "iPadOS"),
    ("Windows", "Windows"),
    ("Mac OS", "macOS"),
    ("Linux", "Linux"),
)


def fixed(value: float | None, digits: int = 2) -> str:
    """Write a number with that many decimals and a real minus sign; None as a dash."""
    if value is None:
        return _NOTHING
    text = f"{value:.{digits}f}"
    if float(text) == 0:
        return text.lstrip("-")
    return text.replace("-", _MINUS)


def signed(value: float, digits: int = 2) -> str:
    """Write a change: as :func:`fixed`, with a plus sign where it is positive."""
    text = fixed(value, digits)
    return f"+{text}" if value > 0 and float(text) > 0 else text


def count(value: int) -> str:
    """Write a number of things."""
    return f"{value:,}"


def odds(probability: float) -> str:
    """Write how seldom something comes about."""
    return f"1 in {1 / probability:,.0f}" if probability > 1e-6 else "1 in a million"  # noqa: PLR2004 - as it says


def percent(share: float | None) -> str:
    """Write a share of one in whole per cents, but never round something to nothing or to all."""
    if share is None:
        return _NOTHING
    value = share * _HUNDRED
    if 0 < value < 1:
        return "<1%"
    if _HUNDRED - 1 < value < _HUNDRED:
        return ">99%"
    return f"{value:.0f}%"


def millis(value: float) -> str:
    """Write a time in milliseconds, in tenths below ten."""
    if value < _TENTH:
        return "<0.1 ms"
    return f"{value:.1f} ms" if value < _TEN else f"{value:,.0f} ms"


def size(value: int) -> str:
    """Write a number of bytes, in tenths of the largest unit that fits."""
    if value < _KIB:
        return f"{value} bytes"
    if value < _KIB * _KIB:
        return f"{value / _KIB:.1f} KiB"
    return f"{value / _KIB / _KIB:,.1f} MiB"


def image_name(source: str) -> str:
    """Return what everybody may read of what a version runs: an image's id, or the name of a bot's folder.

    Where that folder lies on its operator's disk is nobody else's business.
    """
    return source if source.startswith(_IMAGE) else PurePath(source).name


def short_digest(value: str) -> str:
    """Write the beginning of a digest, enough to tell it from others; what is none stays as it is."""
    digest = value.removeprefix(_IMAGE)
    return digest[:_SHORT_DIGEST] if len(digest) == _DIGEST else value


def span(value: timedelta) -> str:
    """Write how long something took: in seconds, or in minutes or hours where it was long."""
    seconds = value.total_seconds()
    if seconds < 1:
        return "<1 s"
    if seconds < 2 * _MINUTE:
        return f"{seconds:.0f} s"
    return f"{seconds / _MINUTE:.0f} min" if seconds < 2 * _HOUR else f"{seconds / _HOUR:.0f} h"


def day(value: datetime) -> str:
    """Write the day of a moment, in UTC."""
    return value.astimezone(UTC).strftime("%Y-%m-%d")


def clock(value: datetime) -> str:
    """Write the time of day of a moment, in UTC to the minute."""
    return value.astimezone(UTC).strftime("%H:%M")


def second(value: datetime) -> str:
    """Write the time of day of a moment, in UTC to the second."""
    return value.astimezone(UTC).strftime("%H:%M:%S")


def iso_moment(value: datetime) -> str:
    """Write a moment for a ``datetime`` attribute."""
    return value.astimezone(UTC).isoformat(timespec="seconds")
