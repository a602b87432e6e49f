"""Bots whose text attacks the people who read it. Run in a bot's container."""

import os
from typing import Final

from arena.rules import View
from tests.sandbox.hostile.bot import choose, tell

MARKUP: Final = "<script>alert('kaiten')</script>"
BIDI: Final = "\N{RIGHT-TO-LEFT OVERRIDE}\N{RIGHT-TO-LEFT ISOLATE}\N{ARABIC LETTER MARK}"
_TERMINAL: Final = "\x1b]0;kaiten\x07\x1b[2J"
_SDK: Final = MARKUP + BIDI
_NOTE_BYTES: Final = 256


def markup() -> None:
    """Put HTML, characters that reverse text and terminal commands wherever a bot may write text."""
    import arena.sdk.match  # noqa: PLC0415 - as in play
    from arena.sdk import Answer, run  # noqa: PLC0415 - as above

    note = f"{MARKUP}{BIDI}{_TERMINAL}"
    note += "x" * (_NOTE_BYTES - len(note.encode()))
    arena.sdk.match._SDK = _SDK  # type: ignore[misc] # noqa: SLF001 - the name in the Hello

    def hooked(view: View) -> Answer:
        os.write(2, f"{note}\n".encode())
        return Answer(choose(view).cards, note=note)

    tell(sdk=_SDK, note=note)
    run(hooked, games_at_once=1)
