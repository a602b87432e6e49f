"""The shuffle ``sha256-fisher-yates/1``.

Repeatable in any language, and nobody who has seen some of the cards can work
out the rest. Source: the section "Determinism" of docs/rules.md, which also
has test vectors.
"""

from collections.abc import Iterator
from hashlib import sha256
from itertools import count
from struct import unpack
from typing import Final

from arena.rules.cards import Card, Rules, unshuffled_deck

SHUFFLE: Final = "sha256-fisher-yates/1"
SEED_BYTES: Final = 16
_WORDS: Final = 1 << 32


def shuffled_deck(rules: Rules, seed: bytes) -> tuple[Card, ...]:
    """Return the deck of a game in deal order.

    Args:
        rules: Decides whether soy sauce is in the deck.
        seed: 16 bytes.

    Raises:
        ValueError: The seed has another length.
    """
    if len(seed) != SEED_BYTES:
        message = f"a seed has {SEED_BYTES} bytes, this one {len(seed)}"
        raise ValueError(message)
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
    """Return the seed of one game of ``arena simulate --seed number``.

    Args:
        number: What the user gave, 0 to 2^64 - 1.
        game: The game's number, from 0.
    """
    text = b"simulate" + number.to_bytes(8, "big") + game.to_bytes(8, "big")
    return sha256(text).digest()[:SEED_BYTES]


def _words(seed: bytes) -> Iterator[int]:
    for counter in count():
        yield from unpack(">8I", sha256(seed + counter.to_bytes(8, "big")).digest())
