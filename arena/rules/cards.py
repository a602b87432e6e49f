"""The rules' errors, the kinds of cards, the variants, and the deck with its shuffle.

The shuffle ``sha256-fisher-yates/1`` can be reproduced in any language. A player who has seen some of the
cards can't work out the rest.
Source: the table "Deck" and the sections "Variants" and "Determinism" of docs/rules.md, with test vectors.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from enum import IntEnum
from functools import cache
from hashlib import sha256
from itertools import count
from struct import unpack
from types import MappingProxyType
from typing import Final


class InvalidRules(ValueError):
    """The rules don't describe a game."""


class IllegalMove(ValueError):
    """A choice that a rule forbids. It leaves the game unchanged."""

    def __init__(self, rule: str, seat: int, what: str) -> None:
        super().__init__(f"seat {seat}: {what} ({rule})")
        self.rule = rule  # the section of docs/rules.md that forbids it
        self.seat = seat  # the seat that made the choice
        self.what = what  # what is wrong with it


class Card(IntEnum):
    """A kind of card, in the order of the table of cards.

    The rules don't distinguish between cards of the same kind. Zero is unused, so that it can mean "no card"
    in the protocol.
    """

    TEMPURA = 1
    SASHIMI = 2
    DUMPLING = 3
    MAKI_1 = 4
    MAKI_2 = 5
    MAKI_3 = 6
    SALMON_NIGIRI = 7
    SQUID_NIGIRI = 8
    EGG_NIGIRI = 9
    PUDDING = 10
    WASABI = 11
    CHOPSTICKS = 12
    SOY_SAUCE = 13

    @property
    def label(self) -> str:
        """The kind's name in records, such as ``maki_2``."""
        return self.name.lower()

    @classmethod
    def from_label(cls, label: str) -> "Card":
        """Return the kind with that name. Raises ValueError if there is no such kind."""
        try:
            return _BY_LABEL[label]
        except KeyError:
            message = f"{label!r} is not a kind of card; the kinds are {', '.join(_BY_LABEL)}"
            raise ValueError(message) from None


_BY_LABEL: Final = {card.label: card for card in Card}

Hand = tuple[Card, ...]
"""Cards in a hand, always in the order of the table of cards, so that the order discloses nothing."""

Table = tuple[Card, ...]
"""Cards in front of a player in this round, in the order in which they were placed."""

MAKI_ICONS: Final[Mapping[Card, int]] = {Card.MAKI_1: 1, Card.MAKI_2: 2, Card.MAKI_3: 3}
NIGIRI_POINTS: Final[Mapping[Card, int]] = {
    Card.SALMON_NIGIRI: 2,
    Card.SQUID_NIGIRI: 3,
    Card.EGG_NIGIRI: 1,
}

DECK_COUNTS: Final[Mapping[Card, int]] = MappingProxyType(
    {
        Card.TEMPURA: 14,
        Card.SASHIMI: 14,
        Card.DUMPLING: 14,
        Card.MAKI_1: 6,
        Card.MAKI_2: 12,
        Card.MAKI_3: 8,
        Card.SALMON_NIGIRI: 10,
        Card.SQUID_NIGIRI: 5,
        Card.EGG_NIGIRI: 5,
        Card.PUDDING: 10,
        Card.WASABI: 6,
        Card.CHOPSTICKS: 4,
        Card.SOY_SAUCE: 4,
    }
)
"""Number of cards of each kind in the deck; soy sauce only in its variant."""

ROUNDS: Final = 3
_HAND_SIZES: Final[Mapping[int, int]] = MappingProxyType({2: 10, 3: 9, 4: 8, 5: 7})

PLAYER_COUNTS: Final = tuple(_HAND_SIZES)
"""The possible numbers of players: 2, 3, 4 and 5."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """The number of players and the three variants.

    Raises InvalidRules unless there are 2 to 5 players (with a dummy, exactly 2).
    """

    players: int
    pass_both_ways: bool = False
    soy_sauce: bool = False
    dummy: bool = False

    def __post_init__(self) -> None:
        if self.players not in PLAYER_COUNTS:
            raise InvalidRules(f"{self.players} players: Sushi Go! is for 2 to 5")
        if self.dummy and self.players != 2:  # noqa: PLR2004 - the rule's own number
            raise InvalidRules(f"{self.players} players with a dummy: the dummy variant is for exactly 2")

    @property
    def variants(self) -> tuple[str, ...]:
        """The names of the variants in effect."""
        return tuple(name for name in VARIANTS if getattr(self, name))

    @property
    def participants(self) -> int:
        """Number of players, plus one for a dummy, which is the last participant."""
        return self.players + self.dummy

    @property
    def hand_size(self) -> int:
        """Number of cards dealt to a hand, and to the dummy's pile."""
        return _HAND_SIZES[self.participants]

    @property
    def turns(self) -> int:
        """Number of turns in a round, including the automatic last one."""
        return self.hand_size

    def direction(self, round_number: int) -> int:
        """Return 1 if hands go to the next seat in this round, -1 if they go to the previous one."""
        return -1 if self.pass_both_ways and round_number == 2 else 1  # noqa: PLR2004 - the rule's own number


VARIANTS: Final = tuple(field.name for field in fields(Rules) if field.name != "players")
"""The names of the variants, which are fields of :class:`Rules`."""


@cache
def unshuffled_deck(rules: Rules) -> tuple[Card, ...]:
    """Return the deck in the order of the table of cards: 108 cards, or 112 with soy sauce."""
    return tuple(
        card
        for card, count in DECK_COUNTS.items()
        if card is not Card.SOY_SAUCE or rules.soy_sauce
        for _ in range(count)
    )


SHUFFLE: Final = "sha256-fisher-yates/1"
SEED_BYTES: Final = 16
_WORDS: Final = 1 << 32


def shuffled_deck(rules: Rules, seed: bytes) -> tuple[Card, ...]:
    """Return a game's deck in deal order. Raises ValueError if the seed isn't ``SEED_BYTES`` long."""
    if len(seed) != SEED_BYTES:
        raise ValueError(f"the seed is {len(seed)} bytes long; it must be {SEED_BYTES}")
    deck = list(unshuffled_deck(rules))
    words = _words(seed)
    for last in range(len(deck) - 1, 0, -1):
        n = last + 1
        # Words at or above the largest multiple of n would favour low numbers.
        limit = _WORDS - _WORDS % n
        word = next(words)
        while word >= limit:
            word = next(words)
        other = word % n
        deck[last], deck[other] = deck[other], deck[last]
    return tuple(deck)


def simulation_seed(number: int, game: int) -> bytes:
    """Return the seed for one game of ``arena simulate --seed number``.

    ``number`` is the option's value, 0 to 2^64 - 1. Games are counted from 0.
    """
    text = b"simulate" + number.to_bytes(8, "big") + game.to_bytes(8, "big")
    return sha256(text).digest()[:SEED_BYTES]


def _words(seed: bytes) -> Iterator[int]:
    for counter in count():
        yield from unpack(">8I", sha256(seed + counter.to_bytes(8, "big")).digest())
