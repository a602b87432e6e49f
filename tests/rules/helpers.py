"""Short notations for cards and positions, and random games."""

from collections.abc import Iterator, Sequence
from itertools import product
from random import Random

from hypothesis import strategies as st

from arena.rules import (
    SEED_BYTES,
    Card,
    Move,
    Rules,
    State,
    apply,
    new_game,
    seats_to_move,
    shuffled_deck,
    view,
)

_SHORT = {
    "tp": Card.TEMPURA,
    "sa": Card.SASHIMI,
    "du": Card.DUMPLING,
    "m1": Card.MAKI_1,
    "m2": Card.MAKI_2,
    "m3": Card.MAKI_3,
    "sal": Card.SALMON_NIGIRI,
    "squ": Card.SQUID_NIGIRI,
    "egg": Card.EGG_NIGIRI,
    "pu": Card.PUDDING,
    "wa": Card.WASABI,
    "ch": Card.CHOPSTICKS,
    "soy": Card.SOY_SAUCE,
}

VARIANTS = [
    Rules(players=players, pass_both_ways=both, soy_sauce=soy, dummy=dummy)
    for players, dummy in [(2, False), (3, False), (4, False), (5, False), (2, True)]
    for both, soy in product([False, True], repeat=2)
]
"""Every combination of players and variants."""

ONE_WAY = [rules for rules in VARIANTS if not rules.pass_both_ways]
"""The combinations for tests in which the direction of passing makes no difference."""

variants = st.sampled_from(VARIANTS)
seeds = st.binary(min_size=SEED_BYTES, max_size=SEED_BYTES)


def name(rules: Rules) -> str:
    """Return a combination's name for test IDs."""
    switches = [switch for switch in ("pass_both_ways", "soy_sauce", "dummy") if getattr(rules, switch)]
    return "-".join([str(rules.players), *switches])


def cards(text: str) -> tuple[Card, ...]:
    """Return cards from their short names, such as ``"tp wa sal"``."""
    return tuple(_SHORT[word] for word in text.split())


def move(text: str, dummy: str | None = None) -> Move:
    """Return a move from short names."""
    return Move(cards(text), _SHORT[dummy] if dummy else None)


def position(rules: Rules, hands: Sequence[str], tables: Sequence[str] = ()) -> State:
    """Return a state in round 1 with these hands and tables. The controller's hand has the drawn card."""
    held = tuple(tuple(sorted(cards(hand))) for hand in hands)
    state = new_game(rules, shuffled_deck(rules, bytes(SEED_BYTES)))
    turn = rules.turns - min(len(hand) for hand in held) + 1
    return state._replace(
        hands=held,
        tables=tuple(cards(table) for table in tables) or ((),) * rules.participants,
        turn=turn,
        pile=state.pile[turn - 1 :],
    )


def random_moves(state: State, dice: Random) -> tuple[Move | None, ...]:
    """Choose a random legal move for every seat that is asked, all with the same probability."""
    seats = seats_to_move(state)
    return tuple(
        dice.choice(view(state, seat).legal_moves()) if seat in seats else None
        for seat in range(state.rules.players)
    )


def random_game(rules: Rules, seed: bytes) -> Iterator[tuple[State, tuple[Move | None, ...] | None]]:
    """Play a game at random; yield every state with the moves made in it. At the end, the moves are None."""
    dice = Random(seed)  # noqa: S311 - a test's dice
    state = new_game(rules, shuffled_deck(rules, seed))
    while not state.over:
        moves = random_moves(state, dice)
        yield state, moves
        state = apply(state, moves)
    yield state, None
