"""All attacks by number: those of the reference's list, then those on what containers share."""

from typing import Final

from tests.sandbox.hostile.channel_attacks import ATTACKS as CHANNEL
from tests.sandbox.hostile.sharing_attacks import ATTACKS as SHARING
from tests.sandbox.hostile.system_attacks import ATTACKS as SYSTEM

ATTACKS: Final = tuple(sorted((*SYSTEM, *CHANNEL, *SHARING), key=lambda attack: attack.number))
