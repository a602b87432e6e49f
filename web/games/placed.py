"""Cards as shown on games' pages."""

from dataclasses import dataclass
from typing import Final

_CARD_NAMES: Final = {
    "salmon_nigiri": "Salmon",
    "squid_nigiri": "Squid",
    "egg_nigiri": "Egg",
    "soy_sauce": "Soy sauce",
    "maki_1": "Maki 1",
    "maki_2": "Maki 2",
    "maki_3": "Maki 3",
}


@dataclass(frozen=True, slots=True)
class Placed:
    """A placed or held card."""

    kind: str  # its name in records, such as `maki_2`
    name: str  # its display name
    tripled: bool  # whether it is a nigiri on wasabi


def card(kind: str, *, tripled: bool = False) -> Placed:
    """Return a card by its name in records."""
    return Placed(kind, _CARD_NAMES.get(kind, kind.capitalize()), tripled)
