"""All attacks by number, those of the reference's list, then those on what containers share."""

from typing import Final

from tests.sandbox.hostile.channel_attacks import ATTACKS as CHANNEL
from tests.sandbox.hostile.sharing_attacks import ATTACKS as SHARING
from tests.sandbox.hostile.system_attacks import ATTACKS as SYSTEM

ATTACKS: Final = tuple(sorted((*SYSTEM, *CHANNEL, *SHARING), key=lambda attack: attack.number))

TABLES: Final = (
    (10, 11, 12, 17),
    (7, 8, 9),
    (1, 2, 4, 6),
    (3, 13, 14, 16),
    (18,),
    (31, 42),
    (32, 43),
    (40, 44),
    (45, 19, 20),
    (5, 15, 21, 22),
    (23, 24, 25, 26),
    (27, 33, 34, 35),
    (36, 37, 41, 46),
    (47, 48, 49, 50),
    (51,),
    (52, 53, 54),
)
"""Numbers of attacks that are played in one match, where none is in another's way.

Those that wait for the same sit together, as do those that use up their time, and those that want much of
what all share. Those that whisper have their accomplices with them; no two whisper by the same thing.
"""

CROWDED: Final = TABLES[1:4]
"""Beside these a second match is played, which must not notice."""
