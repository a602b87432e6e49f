"""A game from the deal to the result, one joint step at a time.

Source: the sections "Course of a game", "Chopsticks" and "Variants" of
docs/rules.md.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

from arena.rules.cards import ROUNDS, Card, Hand, InvalidRules, Rules, Table, unshuffled_deck
from arena.rules.scoring import places, score_puddings, score_round
from arena.rules.state import Moment, Move, Play, Result, State, Turn, check_move

_CHOPSTICKS: Final = Card.CHOPSTICKS
_PUDDING: Final = Card.PUDDING
_SEATS: Final = (0, 1, 2, 3, 4)


def new_game(rules: Rules, deck: Sequence[Card]) -> State:
    """Deal the first round.

    ``deck`` has all of the game's cards in deal order, for example from
    :func:`arena.rules.cards.shuffled_deck`. Raises InvalidRules if it doesn't contain exactly these cards.
    """
    cards = tuple(deck)
    if tuple(sorted(cards)) != unshuffled_deck(rules):
        raise InvalidRules("the deck does not contain exactly the cards of this game")
    nothing = (0,) * rules.participants
    return _deal(State(rules, cards, 1, 1, (), (), (), None, nothing, nothing, (), (), (), None))


def deals(rules: Rules, deck: Sequence[Card]) -> tuple[tuple[tuple[Card, ...], ...], ...]:
    """Return the hands as dealt: ``[round][participant]``, each in deal order.

    In a game with a dummy, the last hand in each round is the dummy's pile, top card first.
    """
    size, count = rules.hand_size, rules.participants
    return tuple(
        tuple(tuple(deck[start : start + size]) for start in range(first, first + count * size, size))
        for first in range(0, ROUNDS * count * size, count * size)
    )


def seats_to_move(state: State) -> tuple[int, ...]:
    """Return the seats that have to choose now; none when the game is over.

    A seat with only one card in its hand never has to choose.
    """
    if state.result is not None:
        return ()
    if state.rules.dummy:
        return tuple([seat for seat, hand in enumerate(state.hands) if len(hand) > 1])
    return _SEATS[: state.rules.players]


def apply(state: State, moves: Sequence[Move | None]) -> State:
    """Play one turn, and the automatic turn after it, if any.

    ``moves`` has one entry per seat, None for a seat that has no move to make. Raises IllegalMove if a rule
    forbids a choice, or ValueError if the game is over or ``moves`` doesn't match the seats that have to
    move.
    """
    state = _reveal(state, _plays(state, moves))
    return _reveal(state, state.hands) if _is_automatic(state) else state


def moments(state: State, moves: Sequence[Move | None]) -> tuple[Moment, ...]:
    """Return the turns that :func:`apply` plays, in order, for displaying a game.

    Takes the same arguments as :func:`apply`, and raises the same errors.
    """
    plays = _plays(state, moves)
    decided = _moment(state, plays)
    state = _reveal(state, plays)
    return (decided, _moment(state, state.hands)) if _is_automatic(state) else (decided,)


def _plays(state: State, moves: Sequence[Move | None]) -> tuple[Play, ...]:
    """Check the moves and return what every participant places."""
    if state.result is not None:
        raise ValueError("the game is over")
    if len(moves) != state.rules.players:
        raise ValueError(f"{len(moves)} entries for {state.rules.players} seats")
    seats = seats_to_move(state)
    controller = state.controller
    plays: list[Play] = []
    for seat, move in enumerate(moves):
        if seat not in seats:
            if move is not None:
                raise ValueError(f"seat {seat} has no move to make: its last card is played automatically")
            plays.append(state.hands[seat])
            continue
        if move is None:
            raise ValueError(f"seat {seat} has to move, but no move was given for it")
        check_move(seat, state.hands[seat], state.tables[seat], move, control=seat == controller)
        plays.append(move.cards)
    if controller is not None:
        dummy = moves[controller]
        plays.append((dummy.dummy,) if dummy and dummy.dummy else ())
    return tuple(plays)


def _is_automatic(state: State) -> bool:
    """Return True if each hand has one card left, which is played automatically; False with a dummy."""
    return len(state.hands[0]) == 1 and not state.rules.dummy


def _moment(state: State, plays: tuple[Play, ...]) -> Moment:
    hands, tables = _place(state, plays)
    return Moment(state, plays, tuple(hands), tuple(tables))


def _reveal(state: State, plays: tuple[Play, ...]) -> State:
    """Place the cards, pass the hands, and end the round after its last turn."""
    hands, tables = _place(state, plays)
    step = state.rules.direction(state.round)
    past_hands = [(*past, hand) for past, hand in zip(state.past_hands, state.hands, strict=True)]
    next_state = State(
        state.rules,
        state.deck,
        state.round,
        state.turn + 1,
        tuple(hands[-step:] + hands[:-step]),
        tuple(tables),
        state.pile,
        None,
        state.puddings,
        state.scores,
        state.rounds,
        (*state.turns, Turn(state.round, state.turn, plays)),
        tuple(past_hands),
        None,
    )
    return _draw(next_state) if next_state.hands[0] else _end_round(next_state)


def _place(state: State, plays: tuple[Play, ...]) -> tuple[list[Hand], list[Table]]:
    """Place the cards and give chopsticks back; return hands and tables before the pass."""
    hands: list[Hand] = []
    tables: list[Table] = []
    # With a dummy there is one more table and one more play, which are handled below.
    for hand, table, cards in zip(state.hands, state.tables, plays, strict=False):
        left = _without(hand, cards[0])
        remaining = table
        if len(cards) > 1:
            left = tuple(sorted((*_without(left, cards[1]), _CHOPSTICKS)))
            remaining = _without(table, _CHOPSTICKS)
        hands.append(left)
        tables.append(remaining + cards)
    controller = state.controller
    if controller is not None:
        hands[controller] = _without(hands[controller], plays[-1][0])
        tables.append(state.tables[-1] + plays[-1])
    return hands, tables


def _end_round(state: State) -> State:
    """Score the tables, and deal the next round or end the game."""
    scored = score_round(state.rules, state.tables)
    state = state._replace(
        puddings=tuple(
            [kept + table.count(_PUDDING) for kept, table in zip(state.puddings, state.tables, strict=True)]
        ),
        scores=tuple([before + sum(score) for before, score in zip(state.scores, scored, strict=True)]),
        rounds=(*state.rounds, scored),
    )
    if state.round < ROUNDS:
        return _deal(state._replace(round=state.round + 1, turn=1))
    return state._replace(turn=state.turn - 1, result=_result(state))


def _result(state: State) -> Result:
    players, puddings = state.rules.players, state.puddings
    pudding_scores = score_puddings(state.rules, puddings)
    totals = tuple([a + b for a, b in zip(state.scores, pudding_scores, strict=True)])
    return Result(puddings, pudding_scores, totals, places(totals[:players], puddings[:players]))


def _deal(state: State) -> State:
    """Deal the cards for the state's round."""
    rules, deck, size = state.rules, state.deck, state.rules.hand_size
    start = (state.round - 1) * size * rules.participants
    pile = start + size * rules.players
    return _draw(
        state._replace(
            hands=tuple([tuple(sorted(deck[first : first + size])) for first in range(start, pile, size)]),
            tables=((),) * rules.participants,
            pile=deck[pile : pile + size] if rules.dummy else (),
            past_hands=((),) * rules.players,
        )
    )


def _draw(state: State) -> State:
    """With a dummy, draw the top card of its pile for the seat in control."""
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


class GameLog(NamedTuple):
    """The inputs that determine a game."""

    rules: Rules
    deck: tuple[Card, ...]  # all cards in deal order
    # The joint decisions in order, each with one entry per seat, None for a seat with no move to make.
    moves: tuple[tuple[Move | None, ...], ...]


class Replay(NamedTuple):
    """A log played again, as far as the rules allow."""

    states: tuple[State, ...]  # from the deal to the state after the last valid step
    stopped: ValueError | None  # why the next step was not valid, or None at the end of the log

    @property
    def state(self) -> State:
        """The state after the last valid step."""
        return self.states[-1]


def replay(log: GameLog) -> Replay:
    """Play a log again; stop before the first step that the rules forbid.

    Raises InvalidRules if the deck doesn't contain exactly the cards of the game.
    """
    states = [new_game(log.rules, log.deck)]
    for moves in log.moves:
        if states[-1].over:
            extra = len(log.moves) - len(states) + 1
            steps = "1 step" if extra == 1 else f"{extra} steps"
            return Replay(tuple(states), ValueError(f"{steps} after the end of the game"))
        try:
            states.append(apply(states[-1], moves))
        except ValueError as error:
            return Replay(tuple(states), error)
    return Replay(tuple(states), None)
