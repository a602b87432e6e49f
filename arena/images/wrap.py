"""Makes an image of a bot that is a single source file: the base image plus one layer. Runs nothing."""

import hashlib
import io
import posixpath
import tarfile
from typing import Final

from arena.images.image import BotImage, Command, Layer, Rejected
from arena.protocol.languages import BOT_FOLDER, LANGUAGES, Language, language_of

MAX_SOURCE_BYTES: Final = 1024 * 1024


def language_for(file_name: str) -> Language:
    """Return the language of a source file, by its name.

    Raises Rejected if the arena has no base image for it.
    """
    language = language_of(file_name)
    if language is None:
        known = ", ".join(
            f"{suffix} ({language.title})" for language in LANGUAGES for suffix in language.suffixes
        )
        raise Rejected(
            "this is neither an image's archive nor a source file that is known by its name: "
            f"those end with {known}. Anything else can be sent as an image: "
            "docker build -t mybot . && docker save mybot -o mybot.tar"
        )
    return language


def check_source(source: bytes) -> None:
    """Check a source file's bytes. Raises Rejected if the file is too long, or not text."""
    if len(source) > MAX_SOURCE_BYTES:
        raise Rejected(
            f"the source file is larger than the limit of {MAX_SOURCE_BYTES} bytes: "
            "send an image's archive instead"
        )
    if not source.strip():
        raise Rejected("the source file is empty")
    if b"\0" in source:
        raise Rejected("the source file contains a NUL byte, so it is not text")
    try:
        source.decode()
    except UnicodeDecodeError as error:
        raise Rejected(f"the source file is not UTF-8 (byte {error.start}): save it as UTF-8") from None


def wrap(source: bytes, language: Language, base: BotImage) -> tuple[BotImage, bytes]:
    """Return the image of a source file on its language's base image, and the tar of the topmost layer.

    The same file on the same base always gives the same image. Raises Rejected if the file is too long, or
    not text.
    """
    check_source(source)
    layer = _layer(source, language)
    top = Layer(digest=f"sha256:{hashlib.sha256(layer).hexdigest()}", size=len(layer))
    image = BotImage(
        platform=base.platform,
        command=Command(entrypoint=language.command, env=base.command.env, working_dir=BOT_FOLDER),
        layers=(*base.layers, top),
    )
    return image, layer


def _layer(source: bytes, language: Language) -> bytes:
    """Return a tar of the bot's folder and file, owned by root and readable by all."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        folder = tarfile.TarInfo(BOT_FOLDER.lstrip("/"))
        folder.type, folder.mode = tarfile.DIRTYPE, 0o755
        tar.addfile(folder)
        file = tarfile.TarInfo(posixpath.join(BOT_FOLDER.lstrip("/"), language.file))
        file.size, file.mode = len(source), 0o644
        tar.addfile(file, io.BytesIO(source))
    return buffer.getvalue()
