"""The examples: which cards, and what is to be seen. Every number in the pictures comes from the rules."""

from typing import Final

from arena.rules import Card, Move, Rules
from web.rulebook.pictures import Picture, Turn, maki, puddings, ranking, soy_sauce, turn, worth

_TEMPURA: Final = Card.TEMPURA
_SASHIMI: Final = Card.SASHIMI
_DUMPLING: Final = Card.DUMPLING
_MAKI: Final = (Card.MAKI_1, Card.MAKI_2, Card.MAKI_3)
_SALMON: Final = Card.SALMON_NIGIRI
_SQUID: Final = Card.SQUID_NIGIRI
_EGG: Final = Card.EGG_NIGIRI
_PUDDING: Final = Card.PUDDING
_WASABI: Final = Card.WASABI
_CHOPSTICKS: Final = Card.CHOPSTICKS
_SOY: Final = Card.SOY_SAUCE

_A_TURN: Final = turn(
    "Three players. Each choice stays in front of its player; the rest of the hand goes to the next seat.",
    Rules(players=3),
    (
        ((_TEMPURA, _MAKI[2], _WASABI), (_TEMPURA,), Move((_TEMPURA,))),
        ((_SASHIMI, _DUMPLING, _SQUID), (_WASABI,), Move((_SQUID,))),
        ((_DUMPLING, _MAKI[1], _PUDDING), (_DUMPLING,), Move((_PUDDING,))),
    ),
)

_TWO_AT_ONCE: Final = turn(
    "Seat 0 uses chopsticks and names wasabi first, then squid nigiri. The chopsticks go back into the hand.",
    Rules(players=2),
    (
        ((_MAKI[1], _SQUID, _PUDDING, _WASABI), (_SASHIMI, _CHOPSTICKS), Move((_WASABI, _SQUID))),
        ((_TEMPURA, _DUMPLING, _DUMPLING, _EGG), (_DUMPLING,), Move((_DUMPLING,))),
    ),
)

_FOR_THE_DUMMY: Final = turn(
    "With a dummy: seat 0 is in control and gives it the dashed card. Then the hands are swapped.",
    Rules(players=2, dummy=True),
    (
        (
            (_TEMPURA, _SASHIMI, _SASHIMI, _CHOPSTICKS),
            (_SASHIMI,),
            Move((_SASHIMI,), _CHOPSTICKS),
        ),
        ((_MAKI[0], _MAKI[2], _SALMON), (_MAKI[1],), Move((_MAKI[2],))),
    ),
    dummy=(_EGG,),
    drawn=_CHOPSTICKS,
)

PICTURES: Final[dict[str, tuple[Picture | Turn, ...]]] = {
    "course-of-a-game": (_A_TURN,),
    "wasabi": (
        worth(
            "From the left in the order of placing.",
            (_WASABI, _SQUID),
            (_SQUID, _WASABI),
            (_WASABI, _EGG, _SQUID),
            (_WASABI, _WASABI, _SALMON, _SQUID),
        ),
    ),
    "chopsticks": (_TWO_AT_ONCE,),
    "scoring-a-round": (
        worth(
            "Tempura: only whole pairs count.",
            (_TEMPURA,),
            (_TEMPURA,) * 2,
            (_TEMPURA,) * 3,
            (_TEMPURA,) * 4,
        ),
        worth("Sashimi: only whole threes count.", (_SASHIMI,) * 2, (_SASHIMI,) * 3, (_SASHIMI,) * 5),
        worth(
            "Dumplings: each is worth more than the one before, up to five.",
            *((_DUMPLING,) * n for n in range(1, 7)),
        ),
        worth("Nigiri.", (_EGG,), (_SALMON,), (_SQUID,), (_EGG, _SALMON, _SQUID)),
        maki(
            "Maki: most icons and second most.", (_MAKI[2], _MAKI[1]), (_MAKI[0], _MAKI[1]), (_MAKI[0],), ()
        ),
        maki(
            "Two have the most and share; nobody is second.",
            (_MAKI[2], _MAKI[0]),
            (_MAKI[1], _MAKI[1]),
            (_MAKI[2],),
        ),
        maki(
            "Two are second and share; what can't be divided is dropped.",
            (_MAKI[2], _MAKI[2]),
            (_MAKI[2],),
            (_MAKI[0], _MAKI[1]),
        ),
    ),
    "puddings-at-the-end": (
        puddings("Four players. The two with the fewest share the loss.", 4, 2, 1, 1),
        puddings("Five players. Four have none and lose 1 each.", 3, 0, 0, 0, 0),
        puddings("Two players. Nobody loses.", 3, 1),
    ),
    "variants": (
        soy_sauce(
            "Soy sauce: seats 0 and 1 have the most colours, and of these only seat 0 has soy sauce.",
            (_TEMPURA, _SASHIMI, _MAKI[1], _PUDDING, _SOY),
            (_TEMPURA, _DUMPLING, _MAKI[0], _CHOPSTICKS, _WASABI),
            (_TEMPURA, _SASHIMI, _WASABI, _SALMON, _SOY),
        ),
        _FOR_THE_DUMMY,
    ),
    "places": (
        ranking(
            "Equal totals go by puddings; equal in both is a shared place.",
            (41, 2),
            (52, 1),
            (41, 3),
            (41, 2),
        ),
    ),
}
"""By the anchor of the section that they stand below."""
