"""Names that people give: of bots and of authors."""

import re
from typing import Final

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{1,39}")
_SHOWN: Final = 40


class WrongName(ValueError):
    """A name can't be used. The text is for whoever chose it."""


def check_name(name: str, what: str) -> None:
    """Make sure that a name can be shown anywhere, and be told from every other by eye and by machine.

    Args:
        name: As it was given.
        what: What it names, such as ``bot``.

    Raises:
        WrongName: It says what is allowed.
    """
    if not _NAME.fullmatch(name):
        raise WrongName(
            f"{name[:_SHOWN]!a} can't be the name of a {what}: use 2 to 40 letters from a to z, digits, "
            "- and _, with a letter or a digit first"
        )
