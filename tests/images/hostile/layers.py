"""Attacks in a layer: paths, links, devices and damaged headers."""

from pathlib import Path

from arena.images.image import BotImage
from tests.images.archives import Draft, listed
from tests.images.hostile.attack import CANARY, OUT, Attack, archive, in_layer, layered
from tests.images.tars import (
    BLOCK,
    END,
    file,
    folder,
    hard_link,
    header,
    long_name,
    padded,
    pax,
    symlink,
    tar,
    zipped,
)

_CANARY = bytes(CANARY)
_DEEP = b"/".join([b"d"] * 100)


def _no_devices(image: BotImage, layers: Path) -> None:
    assert "dev/sda" not in listed(image, layers)[1]


def _plain_program(image: BotImage, layers: Path) -> None:
    program = listed(image, layers)[1]["usr/bin/sudo"]
    assert (program.mode, program.uid, program.gid, program.pax_headers) == (0o755, 0, 0, {})


def _no_driver_marks(image: BotImage, layers: Path) -> None:
    assert not [name for name in listed(image, layers)[1] if ".wh..wh." in name]


def _open_ways(image: BotImage, layers: Path) -> None:
    files = listed(image, layers)[1]
    assert [files[way].mode for way in ("run", "run/arena-init")] == [0o111] * 2


_PATHS = (
    in_layer("a path that climbs out", long_name(OUT), file(b"x", b"owned"), refused="'..'"),
    in_layer("a pax path that climbs out", pax((b"path", OUT)), file(b"x", b"owned"), refused="'..'"),
    in_layer("an absolute path", long_name(_CANARY), file(b"x", b"owned"), refused="absolute"),
    in_layer(
        "a file through a link",
        file(b"out/file", b"owned"),
        before=(symlink(b"out", bytes(CANARY.parent)),),
        refused="goes through",
    ),
    in_layer("a file through a link of a lower layer", file(b"bin/sh", b"owned"), refused="goes through"),
    in_layer("a file below a file", file(b"bot/bot.py/x"), refused="goes through"),
    in_layer("a hard link to the host's accounts", hard_link(b"x", b"/etc/shadow"), refused="absolute"),
    in_layer("a hard link that climbs out", long_name(OUT, kind=b"K"), hard_link(b"x", b""), refused="'..'"),
    in_layer(
        "a hard link through a link",
        hard_link(b"x", b"out/file"),
        before=(symlink(b"out", bytes(CANARY.parent)),),
        refused="not an earlier file",
    ),
    in_layer("a hard link to a lower layer", hard_link(b"x", b"etc/passwd"), refused="not an earlier file"),
    in_layer("a hard link to itself", hard_link(b"x", b"x"), refused="not an earlier file"),
    in_layer("a name with NUL in it", pax((b"path", b"a\0b")), file(b"x"), refused="NUL"),
    in_layer("a name that is not UTF-8", file(b"\xff\xfe"), refused="not UTF-8"),
    in_layer("one name twice", file(b"bot/bot.py", b"other"), refused="twice"),
    in_layer("a root that is a link", symlink(b"./", b"/etc"), refused="root"),
    in_layer(
        "a mark that removes the folder above",
        file(b"bot/.wh..."),
        refused="reserved for marking removed files",
    ),
    in_layer("a folder that is removed and filled", file(b".wh.x"), file(b"x/y"), refused="'x' twice"),
    in_layer("a folder that is removed and made", file(b".wh.x"), folder(b"x"), refused="'x' twice"),
    in_layer("a removal in what is removed", file(b".wh.x"), file(b"x/.wh.y"), refused="'x' twice"),
    in_layer("an opaque whiteout at the root", file(b".wh..wh..opq"), refused="opaque whiteout at the root"),
    in_layer(
        "a mark that is a link", symlink(b"bot/.wh.x", b"/etc"), refused="reserved for marking removed files"
    ),
    in_layer("an old driver's own marks", file(b".wh..wh.plnk/1.2", b"x"), harmless=_no_driver_marks),
    in_layer("the system's folder as a link", symlink(b"proc", b"/tmp"), refused="/proc is not a folder"),
    in_layer(
        "closed ways to what the arena mounts",
        folder(b"run", mode=0),
        folder(b"run/arena-init", mode=0),
        harmless=_open_ways,
    ),
    in_layer(
        "the channel's folder as a link",
        symlink(b"run/arena", b"/etc"),
        before=(folder(b"run"),),
        refused="/run/arena is not a folder",
    ),
    *(
        in_layer(
            f"the init as a {what}",
            made,
            before=(folder(b"run"), folder(b"run/arena-init")),
            refused="/run/arena-init/kaiten-init is not a file",
        )
        for what, made in {
            "link": symlink(b"run/arena-init/kaiten-init", b"/etc/passwd"),
            "folder": folder(b"run/arena-init/kaiten-init"),
        }.items()
    ),
)
_KINDS = (
    in_layer("a disk", header(b"sda", kind=b"4"), refused="a device or a pipe"),
    in_layer("a terminal", header(b"tty", kind=b"3"), refused="a device or a pipe"),
    in_layer("a named pipe", header(b"pipe", kind=b"6"), refused="a device or a pipe"),
    in_layer("a disk where devices are", header(b"dev/sda", kind=b"4"), harmless=_no_devices),
    in_layer("a kind of file that no tar has", header(b"socket", kind=b"s"), refused="type b's'"),
    in_layer("GNU's sparse file", header(b"hole", kind=b"S"), refused="sparse"),
    in_layer(
        "a sparse file by pax", pax((b"GNU.sparse.realsize", b"9" * 15)), file(b"hole"), refused="sparse"
    ),
    in_layer(
        "a program with its owner's rights and capabilities",
        pax((b"SCHILY.xattr.security.capability", b"\1\0\0\2\xff\xff\xff\xff"), (b"uid", b"64000")),
        file(b"usr/bin/sudo", b"#!", mode=0o6755),
        harmless=_plain_program,
    ),
)
_HEADERS = (
    in_layer("a negative size", header(b"x", raw={124: b"\xff" * 12}), refused="negative"),
    in_layer(
        "a size beyond all bounds",
        header(b"x", raw={124: b"\x80" + b"\x7f" * 11}),
        refused="negative or too large",
    ),
    in_layer(
        "a size of exabytes",
        header(b"x", raw={124: b"\x80\0\0\0\x3f" + bytes(7)}),
        refused="layers take up more than",
    ),
    in_layer(
        "a size that is not a number",
        header(b"x", raw={124: b"12three45678"}),
        refused="size is not a number",
    ),
    in_layer(
        "a pax size that is not a number", pax((b"size", b"1e9")), file(b"x"), refused="size is not a number"
    ),
    in_layer(
        "a link with content",
        header(b"x", kind=b"2", size=9, target=b"y"),
        padded(b"x"),
        refused="not a file has",
    ),
    in_layer("a wrong checksum", header(b"x")[:148] + b"0000000\0" + header(b"x")[156:], refused="checksum"),
    in_layer(
        "pax records that are none",
        header(b"x", kind=b"x", size=9),
        padded(b"999999999"),
        refused="not a list",
    ),
    in_layer(
        "a pax record as long as the world",
        header(b"x", kind=b"x", size=30),
        padded(b"99999999999999999 path=x\n"),
        refused="not a list",
    ),
    in_layer("a path for all that follows", pax((b"path", b"/etc"), kind=b"g"), refused="global header"),
    in_layer(
        "extended headers without end", *[pax((b"comment", b"x"))] * 50, file(b"x"), refused="type b'x'"
    ),
    in_layer("nothing after an extended header", pax((b"path", b"x")), refused="without the member"),
    in_layer("an empty header between two", bytes(BLOCK), file(b"x"), refused="empty header"),
    Attack(
        name="a layer that is cut off",
        build=archive(layered(file(b"x", bytes(9000))[:5000])),
        control=archive(layered(file(b"x", bytes(9000)))),
        refused="middle of a file",
    ),
    Attack(
        name="a gzipped layer that is cut off",
        build=archive(Draft(packed=lambda layer: zipped(layer)[:-20])),
        control=archive(Draft(packed=zipped)),
        refused="ends early",
    ),
    Attack(
        name="a gzipped layer that is damaged",
        build=archive(Draft(packed=lambda layer: zipped(layer)[:-8] + b"\0" * 8)),
        control=archive(Draft(packed=zipped)),
        refused="gzip stream is damaged",
    ),
    Attack(
        name="gzip inside gzip",
        build=archive(Draft(packed=lambda layer: zipped(zipped(layer)))),
        control=archive(Draft(packed=zipped)),
        refused="not a tar",
    ),
    Attack(
        name="a layer that is not a tar",
        build=archive(layered(b"MZ" * 4000)),
        control=archive(layered(END)),
        refused="not a tar",
    ),
)
_LIMITS = (
    in_layer("a path of 5,000 bytes", long_name(b"x" * 200 + b"/x" * 2400), file(b"x"), refused="5000 bytes"),
    in_layer(
        "folders in folders in folders",
        long_name(_DEEP),
        file(b"x"),
        refused="100 folders deep",
        raised={"depth": 100},
    ),
    in_layer("a name that no file system has", long_name(b"x" * 300), file(b"x"), refused="longer than 255"),
    in_layer(
        "an extended header of a gigabyte",
        header(b"x", kind=b"x", size=1 << 30),
        refused="extended header is 1073741824 bytes long",
    ),
    in_layer(
        "a long name of 50 megabytes",
        long_name(b"x" * 50_000_000),
        file(b"x"),
        refused="extended header is 50000001 bytes",
    ),
    in_layer(
        "a pax comment of a megabyte",
        pax((b"comment", b"x" * 1_000_000)),
        file(b"x"),
        refused="extended header is",
        raised={"header_bytes": 1 << 21},
    ),
)
_TREE = (
    in_layer(
        "giant accounts",
        file(b"etc/group", b"x" * 70_000),
        refused="/etc/group is 70000 bytes long",
        raised={"accounts_bytes": 1 << 20},
    ),
    in_layer(
        "giant accounts by a hard link",
        hard_link(b"etc/group", b"bot/big"),
        before=(file(b"bot/big", b"x" * 70_000),),
        refused="/etc/group is 70000 bytes long",
        raised={"accounts_bytes": 1 << 20},
    ),
    in_layer(
        "giant accounts through links",
        symlink(b"etc/passwd", b"../bot/../a/./passwd"),
        before=(file(b"bot/passwd", b"x" * 70_000), symlink(b"a", b"/bot")),
        refused="/etc/passwd is 70000 bytes long",
        raised={"accounts_bytes": 1 << 20},
    ),
    in_layer("accounts without an end", symlink(b"etc/passwd", b"/dev/zero"), refused="is a link to '/dev'"),
    in_layer(
        "accounts of one line that engines fail at", file(b"etc/group", b"x" * 65_536), refused="65536 b"
    ),
    Attack(
        name="accounts that are a folder",
        build=archive(layered(tar(file(b"etc/.wh.group")), tar(folder(b"etc/group")))),
        control=archive(layered(tar(file(b"etc/.wh.group")), tar(file(b"etc/group")))),
        refused="/etc/group is not a file",
    ),
    in_layer("accounts that lead to a folder", symlink(b"etc/passwd", b"/"), refused="/passwd is not a file"),
    in_layer(
        "accounts that lead nowhere yet", symlink(b"etc/passwd", b"/tmp"), refused="/passwd is not a file"
    ),
    in_layer("a folder for the engine's hosts", folder(b"etc/hosts"), refused="/etc/hosts is not a file"),
    *(
        in_layer(
            f"a host name that leads to {target.decode()[:20]}",
            symlink(b"etc/hostname", target),
            refused=f"/etc/hostname {why}",
        )
        for target, why in (
            (b"/proc/version", "leads to '/proc'"),
            (b"../sys/x", "leads to '/sys'"),
            (b"/run/arena/x", "leads to '/run/arena/x'"),
            (b"/tmp/x", "leads to '/tmp/x'"),
            (b"/etc/passwd/x", "is not a file"),
            (b"/" + b"x" * 300, "is not a file"),
            (b"/x" * 900 + b"/" + b"x" * 255, "is not a file"),
        )
    ),
    in_layer("accounts in a circle", symlink(b"etc/passwd", b"passwd"), refused="more than 40 links"),
    Attack(
        name="giant accounts that a later layer removes",
        build=archive(layered(tar(file(b"etc/group", b"x" * 70_000)), tar(file(b"etc/.wh.group")))),
        control=archive(layered(tar(file(b"etc/group", b"x")), tar(file(b"etc/.wh.group")))),
        refused="/etc/group is 70000 bytes long",
        raised={"accounts_bytes": 1 << 20},
    ),
)

LAYERS = (*_PATHS, *_KINDS, *_HEADERS, *_LIMITS, *_TREE)
