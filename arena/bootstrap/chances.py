"""Real clocks, ids, seeds and dice."""

import random
import secrets
from datetime import UTC, datetime
from typing import Final

from arena.services import Chances

_ID_BYTES: Final = 6


def utc_now() -> datetime:
    """Return the time, in UTC."""
    return datetime.now(UTC)


def real_chances() -> Chances:
    """Return ids, seeds and dice that nobody can guess."""
    return Chances(
        now=utc_now,
        new_id=lambda: secrets.token_hex(_ID_BYTES),
        new_seed=lambda: secrets.token_bytes(16),
        dice=random.SystemRandom(),
    )
