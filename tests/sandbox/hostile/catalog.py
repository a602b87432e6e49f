"""All attacks, in the order of their numbers, and the tables at which they are played."""

from typing import Final

from tests.sandbox.hostile.channel_attacks import ATTACKS as CHANNEL
from tests.sandbox.hostile.sharing_attacks import ATTACKS as SHARING
from tests.sandbox.hostile.system_attacks import ATTACKS as SYSTEM

ATTACKS: Final = tuple(sorted((*SYSTEM, *CHANNEL, *SHARING), key=lambda attack: attack.number))

TABLES: Final = (
    (10, 11, 12, 17),
    (7,),
    (1, 2, 4, 6),
    (3, 13, 14, 16),
    (8, 9),
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
    (51, 63),
    (52, 53, 54),
    (55, 56, 64),
    (57, 58),
    (59,),
    (60, 61, 62),
)
"""Numbers of attacks that are played in one match, since none of them disturbs another.

Attacks that wait for the same deadline share a table, as do those that use many shared resources. Those that
sleep don't share one with an attack that uses CPU time, whose turns take much longer on a busy host. No two
attacks at a table signal to their accomplices over the same channel.
"""

CROWDED: Final = TABLES[1:4]
"""Next to these tables a second match is played, which must not be affected."""
