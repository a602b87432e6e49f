"""All attacks, in the order of the reference's list."""

from typing import Final

from tests.sandbox.hostile.channel_attacks import ATTACKS as CHANNEL
from tests.sandbox.hostile.system_attacks import ATTACKS as SYSTEM

ATTACKS: Final = tuple(sorted((*SYSTEM, *CHANNEL), key=lambda attack: attack.number))
