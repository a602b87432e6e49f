"""NAME, a Sushi Go! bot."""

from arena.sdk import Card, View, run

WANTED = (Card.SQUID_NIGIRI, Card.SALMON_NIGIRI, Card.MAKI_3, Card.DUMPLING, Card.TEMPURA)


def choose(view: View) -> Card:
    """Return the card to play."""
    for card in WANTED:
        if card in view.hand:
            return card
    return view.hand[0]


if __name__ == "__main__":
    run(choose)
