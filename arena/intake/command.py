"""What is kept of an image's configuration: four fields, each checked."""

import posixpath
import re
from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

from arena.intake.errors import Rejected
from arena.intake.image import Command
from arena.intake.limits import IntakeLimits

MOUNTED: Final = ("dev", "proc", "sys")
"""Folders at the root that the runtime mounts over: what an image has below them is never seen."""

_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,127}")
_OURS: Final = re.compile(r"ARENA_.*|HOME")
"""Variables that the arena sets itself."""


class Settings(msgspec.Struct, frozen=True):
    """The part of an image's configuration that is looked at; everything else in it is passed over."""

    entrypoint: list[str] | None = msgspec.field(default=None, name="Entrypoint")
    cmd: list[str] | None = msgspec.field(default=None, name="Cmd")
    env: list[str] | None = msgspec.field(default=None, name="Env")
    working_dir: str | None = msgspec.field(default=None, name="WorkingDir")


def kept(settings: Settings, limits: IntakeLimits) -> Command:
    """Return what an image is to start, with nothing in it that the arena decides.

    Raises:
        Rejected: It starts nothing, or asks for what is not given.
    """
    variables = _last_of_each(settings.env or ())
    command = Command(
        entrypoint=tuple(settings.entrypoint or ()),
        cmd=tuple(settings.cmd or ()),
        env=tuple(variable for variable in variables if not _OURS.fullmatch(_name(variable))),
        working_dir=_normal(settings.working_dir or "/"),
    )
    check_command(command, limits)
    return command


def check_command(command: Command, limits: IntakeLimits) -> None:
    """Check a command that is to be run, wherever it comes from.

    Raises:
        Rejected: It starts nothing, or asks for what is not given.
    """
    words = (*command.entrypoint, *command.cmd)
    if not words or not words[0]:
        raise Rejected(
            "the image starts nothing: give its Dockerfile an ENTRYPOINT, "
            'such as ENTRYPOINT ["python", "/bot/bot.py"]'
        )
    _check_text((*words, *command.env, command.working_dir), limits)
    for what, found in (("words in its ENTRYPOINT and CMD", words), ("variables (ENV)", command.env)):
        if len(found) > limits.command_words:
            raise Rejected(f"the image has {len(found)} {what}; at most {limits.command_words} are taken")
    for variable in command.env:
        name = _name(variable)
        if name == variable or not _VARIABLE.fullmatch(name):
            raise Rejected(
                f"the image sets a variable (ENV) with the name {name[:40]!a}: rename or remove it"
            )
        if _OURS.fullmatch(name):
            raise Rejected(f"the image sets {name}, which is the arena's")
    _check_working_dir(command.working_dir)


def _check_text(words: Sequence[str], limits: IntakeLimits) -> None:
    try:
        size = sum(len(word.encode()) for word in words)
    except UnicodeEncodeError:
        raise Rejected("the image's configuration has text that is no Unicode: write it as UTF-8") from None
    if size > limits.command_bytes:
        raise Rejected(
            f"the image's ENTRYPOINT, CMD, ENV and WORKDIR have {size} bytes; "
            f"at most {limits.command_bytes} are taken"
        )
    if any("\0" in word for word in words):
        raise Rejected("the image's ENTRYPOINT, CMD, ENV or WORKDIR has a NUL character: remove it")


def _check_working_dir(path: str) -> None:
    parts = path.split("/")
    if not path.startswith("/") or ".." in parts:
        raise Rejected(f"the image's WORKDIR {path[:80]!a} is not absolute: write it from / on, without ..")
    if _normal(path) != path:
        raise Rejected(f"the image's WORKDIR {path[:80]!a} is not in its plainest form")
    if parts[1] in MOUNTED:
        raise Rejected(f"the image's WORKDIR {path[:80]!a} is the system's: choose another, such as /bot")


def _normal(path: str) -> str:
    """Return an absolute path without doubled and trailing slashes and single dots; others as they are."""
    if not path.startswith("/") or ".." in path.split("/"):
        return path
    return "/" + posixpath.normpath(path).strip("/")


def _last_of_each(variables: Iterable[str]) -> list[str]:
    """Return the variables in the order of their first mention, each with the value that was given last."""
    return list({_name(variable): variable for variable in variables}.values())


def _name(variable: str) -> str:
    return variable.partition("=")[0]
