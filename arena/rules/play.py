"""A game from the deal to the result, one joint step at a time.

Source: the sections "Course of a game", "Chopsticks" and "Variants" of
docs/rules.md.
"""

from collections.abc import Sequence
from typing import Final

from arena.rules.cards import ROUNDS, Card, Hand, Rules, Table, unshuffled_deck
from arena.rules.errors import InvalidRules
from arena.rules.moves import check_move
from arena.rules.scoring import places, score_puddings, score_round
from arena.rules.state import Move, Play, Result, State, Turn

_CHOPSTICKS: Final = Card.CHOPSTICKS
_PUDDING: Final = Card.PUDDING


def new_game(rules: Rules, deck: Sequence[Card]) -> State:
    """Deal the first round.

    Args:
        rules: What is played.
        deck: All cards of that game in deal order, for instance from
            :func:`arena.rules.shuffle.shuffled_deck`.

    Raises:
        InvalidRules: The deck is not made of exactly the cards of that game.
    """
    cards = tuple(deck)
    if tuple(sorted(cards)) != unshuffled_deck(rules):
        message = "the deck does not hold exactly the cards of this game"
        raise InvalidRules(message)
    nothing = (0,) * rules.participants
    return _deal(State(rules, cards, 0, 0, (), (), (), None, nothing, nothing, (), (), (), None))


def deals(rules: Rules, deck: Sequence[Card]) -> tuple[tuple[tuple[Card, ...], ...], ...]:
    """Return the hands as dealt: ``[round][participant]``, each in deal order.

    The last hand of a game with a dummy is the dummy's pile, top card first.
    """
    size, count = rules.hand_size, rules.participants
    return tuple(
        tuple(tuple(deck[start : start + size]) for start in range(first, first + count * size, size))
        for first in range(0, ROUNDS * count * size, count * size)
    )


def asked(state: State) -> tuple[int, ...]:
    """Return the seats that have to choose now; none when the game is over.

    Nobody is ever asked for the only card of a hand.
    """
    if state.result is not None:
        return ()
    if state.rules.dummy and state.turn == state.rules.turns:
        return ((state.controller or 0),)
    return tuple(range(state.rules.players))


def apply(state: State, moves: Sequence[Move | None]) -> State:
    """Play one turn, and every automatic one after it.

    Args:
        state: A game that is not over.
        moves: One entry a seat, None for a seat that is not asked.

    Returns:
        The state of the next decision, or of the end of the game.

    Raises:
        IllegalMove: A rule forbids a choice; the error names both. Nothing has
            been changed.
        ValueError: The game is over, or there are more or fewer entries than seats.
    """
    if state.result is not None:
        message = "the game is over"
        raise ValueError(message)
    if len(moves) != state.rules.players:
        message = f"{len(moves)} entries for {state.rules.players} seats"
        raise ValueError(message)
    plays = _plays(state, moves)
    state = _reveal(state, plays)
    if not state.rules.dummy and state.result is None and state.turn == state.rules.turns:
        state = _reveal(state, state.hands)
    return state


def _plays(state: State, moves: Sequence[Move | None]) -> tuple[Play, ...]:
    """Check the moves and return what every participant places."""
    seats = asked(state)
    controller = state.controller
    plays: list[Play] = []
    for seat, move in enumerate(moves):
        if seat not in seats:
            if move is not None:
                message = f"seat {seat} is not asked: its last card is played automatically"
                raise ValueError(message)
            plays.append(state.hands[seat])
            continue
        if move is None:
            message = f"seat {seat} is asked and there is no move of it"
            raise ValueError(message)
        check_move(seat, state.hands[seat], state.tables[seat], move, control=seat == controller)
        plays.append(move.cards)
    if controller is not None:
        dummy = moves[controller]
        plays.append((dummy.dummy,) if dummy and dummy.dummy else ())
    return tuple(plays)


def _reveal(state: State, plays: tuple[Play, ...]) -> State:
    """Place the cards, give chopsticks back, pass the hands, and end the round after its last turn."""
    rules = state.rules
    hands: list[Hand] = []
    tables: list[Table] = []
    for seat in range(rules.players):
        hand, table, cards = state.hands[seat], state.tables[seat], plays[seat]
        for card in cards:
            hand = _without(hand, card)
        if len(cards) > 1:
            table = _without(table, _CHOPSTICKS)
            hand = tuple(sorted((*hand, _CHOPSTICKS)))
        hands.append(hand)
        tables.append(table + cards)
    controller = state.controller
    if controller is not None:
        hands[controller] = _without(hands[controller], plays[-1][0])
        tables.append(state.tables[-1] + plays[-1])
    passed = _pass(rules, state.round, hands)
    next_state = state._replace(
        turn=state.turn + 1,
        hands=passed,
        tables=tuple(tables),
        drawn=None,
        turns=(*state.turns, Turn(state.round, state.turn, plays)),
        past_hands=(*state.past_hands, state.hands),
    )
    if state.turn == rules.turns:
        return _end_round(next_state)
    return _draw(next_state)


def _pass(rules: Rules, round_number: int, hands: list[Hand]) -> tuple[Hand, ...]:
    if rules.pass_both_ways and round_number == 2:  # noqa: PLR2004 - the rule's own number
        return (*hands[1:], hands[0])
    return (hands[-1], *hands[:-1])


def _end_round(state: State) -> State:
    scores = score_round(state.rules, state.tables)
    state = state._replace(
        rounds=(*state.rounds, scores),
        scores=tuple(before + sum(score) for before, score in zip(state.scores, scores, strict=True)),
        puddings=tuple(
            before + table.count(_PUDDING) for before, table in zip(state.puddings, state.tables, strict=True)
        ),
    )
    if state.round == ROUNDS:
        return state._replace(turn=state.turn - 1, result=_result(state))
    return _deal(state)


def _result(state: State) -> Result:
    pudding_scores = score_puddings(state.rules, state.puddings)
    totals = tuple(a + b for a, b in zip(state.scores, pudding_scores, strict=True))
    players = state.rules.players
    return Result(
        state.puddings,
        pudding_scores,
        totals,
        places(totals[:players], state.puddings[:players]),
    )


def _deal(state: State) -> State:
    rules = state.rules
    size = rules.hand_size
    start = state.round * size * rules.participants
    hands = tuple(
        tuple(sorted(state.deck[first : first + size]))
        for first in range(start, start + size * rules.players, size)
    )
    pile_start = start + size * rules.players
    return _draw(
        state._replace(
            round=state.round + 1,
            turn=1,
            hands=hands,
            tables=((),) * rules.participants,
            pile=state.deck[pile_start : pile_start + size] if rules.dummy else (),
            past_hands=(),
        )
    )


def _draw(state: State) -> State:
    """With a dummy, let the seat in control draw the top card of the pile."""
    controller = state.controller
    if controller is None:
        return state
    drawn = state.pile[0]
    hands = list(state.hands)
    hands[controller] = tuple(sorted((*hands[controller], drawn)))
    return state._replace(hands=tuple(hands), pile=state.pile[1:], drawn=drawn)


def _without(cards: tuple[Card, ...], card: Card) -> tuple[Card, ...]:
    index = cards.index(card)
    return cards[:index] + cards[index + 1 :]
