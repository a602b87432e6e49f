"""Bots that reach for what is not theirs. Run in a bot's container."""

import os
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from tests.sandbox.hostile.bot import play, tell

_DIAL_SECONDS: Final = 0.1
_SEATS: Final = 5
_OWN: Final = Path("/run/arena/referee.sock")
_ENGINES: Final = ("/var/run/docker.sock", "/run/docker.sock", "/run/containerd/containerd.sock")

_ADDRESSES: Final = (
    (socket.AF_INET, ("172.17.0.1", 9)),  # the host, seen from the engine's own network
    (socket.AF_INET, ("169.254.169.254", 80)),  # metadata service of clouds, with a host's secrets
    (socket.AF_INET, ("10.0.0.1", 80)),
    (socket.AF_INET, ("1.1.1.1", 53)),
    (socket.AF_INET6, ("fd00::1", 80)),
)
_FAMILIES: Final = ("INET", "INET6", "NETLINK", "PACKET", "VSOCK", "ALG", "BLUETOOTH", "TIPC", "CAN", "RDS")
_KINDS: Final = (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW, socket.SOCK_SEQPACKET)


def _succeeds(act: Callable[[], object]) -> bool:
    try:
        act()
    except OSError:
        return False
    return True


def replace_socket() -> None:
    """Remove the referee's socket, and put another in its place."""
    play(_replace_socket)


def _replace_socket() -> None:
    def bind(path: Path) -> None:
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(str(path))

    moved = _OWN.with_name("moved")
    acts: dict[str, Callable[[], object]] = {
        "mode changed": lambda: _OWN.chmod(0o777),
        "owner changed": lambda: os.chown(_OWN, 0, 0),
        "time changed": lambda: os.utime(_OWN, (0, 0)),
        "moved": lambda: _OWN.rename(moved),
        "removed": _OWN.unlink,
        "replaced": lambda: bind(_OWN),
        "next to it": lambda: bind(_OWN.with_name("beside")),
        "linked": lambda: os.link(_OWN, _OWN.with_name("link")),
        "link next to it": lambda: _OWN.with_name("link").symlink_to("/tmp"),  # noqa: S108 - its own
        "folder moved": lambda: _OWN.parent.rename("/run/old"),
        "folder replaced": lambda: Path("/run/new").mkdir(),
    }
    tell(done=[name for name, act in acts.items() if _succeeds(act)])


def dial_neighbours() -> None:
    """Look for others' sockets, and connect to them."""
    reached = [str(path) for path in sorted(set(_sockets())) if _reaches(path)]
    own = _reaches(_OWN)
    tell(reached=[path for path in reached if path != str(_OWN)], own=own)
    if own:
        play()


def _reaches(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as line:
        line.settimeout(_DIAL_SECONDS)
        return _succeeds(lambda: line.connect(str(path)))


def _sockets() -> Iterator[Path]:
    """Yield sockets, and paths at which there would be one if the bot saw more than it should."""
    for root in ("/", "/proc/1/root", "/proc/1/cwd/..", "/proc/self/root"):
        yield from (Path(root) / name.lstrip("/") for name in _ENGINES)
    yield from _beside_mounts()
    for folder, names, files in os.walk("/"):
        if folder == "/":
            names[:] = [name for name in names if name not in {"proc", "sys"}]
        yield from (path for path in (Path(folder, name) for name in files) if path.is_socket())
    for line in _lines("/proc/net/unix")[1:]:
        yield from map(Path, line.split()[7:8])


def _lines(path: str) -> list[str]:
    """Return the lines of a file, or none if the sandbox refuses it."""
    try:
        return Path(path).read_text().splitlines()
    except OSError:
        return []


def _beside_mounts() -> Iterator[Path]:
    for line in _lines("/proc/self/mountinfo"):
        source, target = map(Path, line.split()[3:5])
        # Mounted paths, by their names here and on the host, and paths that could be next to them.
        for parent in (source, source.parent, target, target.parent):
            yield from (parent / str(seat) / _OWN.name for seat in range(_SEATS))


def scan_network() -> None:
    """Create sockets of every kind, and connect to addresses that may be reachable."""
    play(_scan_network)


def _scan_network() -> None:
    made = [name for name in _FAMILIES if any(_makes(name, kind) for kind in _KINDS)]
    answered = [address[0] for family, address in _ADDRESSES if _answers(family, address)]
    try:
        interfaces = sorted(path.name for path in Path("/sys/class/net").iterdir())
    except OSError:
        interfaces = []
    tell(made=made, answered=answered, interfaces=interfaces)


def _makes(family: str, kind: int) -> bool:
    number = getattr(socket, f"AF_{family}", None)
    return number is not None and _succeeds(lambda: socket.socket(number, kind).close())


def _answers(family: int, address: tuple[str, int]) -> bool:
    """Return whether anything outside this container responds. A refused connection is a response too."""
    try:
        with socket.socket(family) as line:
            line.settimeout(_DIAL_SECONDS)
            line.connect(address)
    except ConnectionRefusedError:
        return True
    except OSError:
        return False
    return True
