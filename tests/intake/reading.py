"""Repacking as the arena does it, with the user that this machine allows."""

import os
from pathlib import Path

from arena.intake.image import BotImage, Platform
from arena.intake.limits import DEFAULT_LIMITS, IntakeLimits
from arena.intake.repack import INTAKE_UID, repack
from tests.intake.archives import AMD64

READER = INTAKE_UID if os.geteuid() == 0 else None


def read(
    archive: Path, output: Path, platform: Platform = AMD64, limits: IntakeLimits = DEFAULT_LIMITS
) -> BotImage:
    """Repack an archive."""
    return repack(archive, output, platform, uid=READER, limits=limits)
