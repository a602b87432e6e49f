"""Formats commands' help in plain words."""

import re
from collections.abc import Mapping
from typing import Any, Final

from typer.core import TyperCommand

_WORDS: Final[Mapping[str, str]] = {
    "str": "TEXT",
    "int": "N",
    "int range": "N",
    "float": "N",
    "path": "PATH",
    "file": "PATH",
    "dir": "PATH",
}
"""The word to show for an option's value, by Typer's name for its type."""

_FROM_TO: Final = re.compile(r"(\d+)<=x<=(\d+)")
_AT_LEAST: Final = re.compile(r"x>=(\d+)")


def plain_record(name: str, meaning: str) -> tuple[str, str]:
    """Return a parameter's name and description, with its type and range in plain words.

    A choice keeps its list of values. Arguments are shown without a type.
    """
    plain, _, kind = name.rstrip(">").partition(" <")
    if kind and plain.startswith("-") and not plain.startswith("-- "):
        plain = f"{plain} {_WORDS.get(kind, f'<{kind}>')}"
    return plain, _AT_LEAST.sub(r"at least \1", _FROM_TO.sub(r"\1 to \2", meaning))


class PlainCommand(TyperCommand):
    """A command with help in plain words. Typer's own help shows Python types."""

    def format_options(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401 - typer's signature
        """Write the arguments and the options."""
        for title, kind in (("Arguments", "argument"), ("Options", "option")):
            params = (each for each in self.get_params(ctx) if each.param_type_name == kind)
            records = [record for each in params if (record := each.get_help_record(ctx)) is not None]
            if records:
                with formatter.section(title):
                    formatter.write_dl([plain_record(*record) for record in records])
