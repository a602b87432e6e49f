"""Repacking as the arena does it, with the user that this machine allows."""

import os
from pathlib import Path

from arena.images.image import DEFAULT_LIMITS, BotImage, IntakeLimits, Platform
from arena.images.reader import INTAKE_UID, repack
from tests.images.archives import AMD64

READER = INTAKE_UID if os.geteuid() == 0 else None


def read(
    archive: Path, output: Path, platform: Platform = AMD64, limits: IntakeLimits = DEFAULT_LIMITS
) -> BotImage:
    """Repack an archive."""
    return repack(archive, output, platform, uid=READER, limits=limits)
