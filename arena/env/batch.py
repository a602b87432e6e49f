"""Thousands of games in parallel, in NumPy.

    batch = Batch(rules, shuffled(rules, 4096, rng))
    while not batch.over:
        batch.step(choose(batch.observe(), batch.legal_actions()))
    batch.rewards

All games have the same number of turns, so they advance together. Tests compare the results with those of
:mod:`arena.rules`.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from arena.rules import ROUNDS, Card, Rules, unshuffled_deck
from arena.rules.cards import NIGIRI_POINTS
from arena.rules.scoring import (
    COLOURS,
    DUMPLING_POINTS,
    MAKI_FIRST,
    MAKI_SECOND,
    PUDDING_POINTS,
    SOY_POINTS,
    WASABI_FACTOR,
)
from arena.rules.state import seat_in_control
from arena.sdk.spaces import KINDS, PLAIN, SECONDS, Mask, Numbers, Whole, action_count, move_of, size_of

Counts = NDArray[np.int8]

_WIDTH: Final = KINDS + 1
"""Size of an array of counts. Each card is counted at the index equal to its number; index 0 is unused."""

_POINTS: Final = np.zeros(_WIDTH, dtype=np.int16)
for _card, _points in NIGIRI_POINTS.items():
    _POINTS[_card] = _points
_DUMPLINGS: Final = np.array(DUMPLING_POINTS, dtype=np.int16)
_COLOURS: Final = tuple(
    [int(card) for card in Card if COLOURS[card] == colour] for colour in dict.fromkeys(COLOURS.values())
)


def shuffled(rules: Rules, games: int, rng: np.random.Generator) -> Counts:
    """Return a deck for each game: ``[games, cards]``, card numbers in deal order."""
    decks = np.tile(np.array(unshuffled_deck(rules), dtype=np.int8), (games, 1))
    return rng.permuted(decks, axis=1, out=decks)


class Batch:
    """Games with the same rules, all in the same turn."""

    def __init__(self, rules: Rules, decks: Counts) -> None:
        """Deal the first round. ``decks`` has the shape ``[games, cards]``; see :func:`shuffled`."""
        self.rules = rules
        self.games = games = len(decks)
        self.round = 0  # from 1
        self.turn = 0  # in the round, from 1
        self.over = False
        players, participants = rules.players, rules.participants
        self._decks = decks
        self._rows = np.arange(games * players)  # index of each seat's hand among all hands
        # Index of each seat's table among all tables. With a dummy, each game has one more table.
        self._tables_of = (self._rows // players) * participants + self._rows % players
        self._hands = np.zeros((games, players, _WIDTH), dtype=np.int8)
        self._tables = np.zeros((games, participants, _WIDTH), dtype=np.int8)
        self._free = np.zeros((games, participants), dtype=np.int8)
        self._nigiri = np.zeros((games, participants), dtype=np.int16)
        self._pile = np.zeros((games, 0), dtype=np.int8)
        self._drawn = np.zeros(games, dtype=np.int8)
        self._played = np.zeros((games, _WIDTH), dtype=np.int8)  # cards played in earlier rounds
        self._places = np.zeros((games, players), dtype=np.int16)
        self.scores = np.zeros((games, participants), dtype=np.int16)  # in earlier rounds; final at the end
        self.puddings = np.zeros((games, participants), dtype=np.int16)  # from earlier rounds
        self._deck_counts = np.bincount(np.array(unshuffled_deck(rules)), minlength=_WIDTH).astype(np.int16)
        self._mask: Mask | None = None
        self._deal()

    @property
    def controller(self) -> int | None:
        """The seat in control of the dummy in all games, or None without a dummy."""
        return seat_in_control(self.rules, self.round, self.turn) if self.rules.dummy else None

    @property
    def seats_to_move(self) -> tuple[int, ...]:
        """The seats that choose now, which are the same in all games; none when the games are over."""
        if self.over:
            return ()
        if self.turn == self.rules.turns:  # only the seat in control of the dummy has a choice
            assert self.controller is not None  # noqa: S101 - without a dummy, `step` has played this turn
            return (self.controller,)
        return tuple(range(self.rules.players))

    @property
    def places(self) -> Numbers:
        """Every seat's place, from 1: ``[games, players]``. Raises ValueError if the games are not over."""
        if not self.over:
            raise ValueError("the games are not over")
        return self._places

    @property
    def rewards(self) -> NDArray[np.float64]:
        """The share of opponents that each seat beat minus the share that beat it.

        The shape is ``[games, players]``; the values are from -1 to 1.

        Raises ValueError if the games are not over.
        """
        places = self.places
        worse = (places[:, None, :] > places[:, :, None]).sum(axis=2)
        better = (places[:, None, :] < places[:, :, None]).sum(axis=2)
        rewards: NDArray[np.float64] = (worse - better) / (self.rules.players - 1)
        return rewards

    def legal_actions(self) -> Mask:
        """Return which actions are legal: ``[games, players, action_count(rules)]``.

        A seat without a choice has one legal action: the last card of its hand.
        """
        return self._legal().copy()

    def _legal(self) -> Mask:
        if self._mask is None:
            self._mask = self._legal_now()
        return self._mask

    def _legal_now(self) -> Mask:
        players = self.rules.players
        hands = self._hands.reshape(-1, _WIDTH)[:, 1:]
        plain = np.zeros((len(hands), SECONDS, KINDS), dtype=np.bool_)
        plain[:, 0] = hands > 0
        chopsticks = self._tables[:, :players, Card.CHOPSTICKS].reshape(-1) > 0
        sizes = np.full(players, self.rules.turns - self.turn + 1)
        least = np.full(players, 2)
        if self.controller is not None:
            sizes[self.controller] += 1
            least[self.controller] += 1
        can = np.flatnonzero(chopsticks & np.tile(sizes >= least, self.games))
        if len(can):
            held = hands[can]
            pairs = (held > 0)[:, :, None] & (held > 0)[:, None, :]
            pairs[:, np.arange(KINDS), np.arange(KINDS)] = held > 1
            plain[can, 1:] = pairs
        plain = plain.reshape(self.games, players, PLAIN)
        if self.controller is None:
            return plain
        mask = np.zeros((self.games, players, SECONDS, PLAIN), dtype=np.bool_)
        other = 1 - self.controller
        mask[:, other, 0] = plain[:, other]
        # The dummy's card must still be in the hand after the seat's own cards have left it.
        left = self._hands[:, self.controller, None, 1:] - _USED[None]
        mask[:, self.controller, 1:] = (plain[:, self.controller, :, None] & (left > 0)).transpose(0, 2, 1)
        return mask.reshape(self.games, players, action_count(self.rules))

    def observe(self) -> Numbers:
        """Return every seat's observation: ``[games, players, size_of(rules)]``."""
        rules, players = self.rules, self.rules.players
        step = rules.direction(self.round)
        seen = np.zeros((self.games, players, size_of(rules)), dtype=np.int16)
        seen[..., 0] = self.round
        seen[..., 1] = rules.turns - self.turn + 1
        if self.controller is not None:
            seen[:, self.controller, 2] = 1
        unseen = (self._deck_counts - self._played - self._tables.sum(axis=1))[:, None] - self._hands
        seen[..., 3 : 3 + KINDS] = self._hands[..., 1:]
        start = 3 + KINDS
        for passed in range(1, players):
            if passed < self.turn:
                known = np.roll(self._hands, -passed * step, axis=1)
                if self.controller is not None:
                    known[np.arange(self.games), 1 - self.controller, self._drawn] -= 1
                unseen -= known
                seen[..., start : start + KINDS] = known[..., 1:]
            start += KINDS
        seen[..., start : start + KINDS] = unseen[..., 1:]
        start += KINDS
        for number in range(rules.participants):
            # Seats are counted upwards from the observing seat. The dummy comes last.
            who = (np.arange(players) + number) % players if number < players else [players] * players
            seen[..., start : start + KINDS] = self._tables[:, who, 1:]
            start += KINDS
            for what in (self._free, self.scores, self.puddings):
                seen[..., start] = what[:, who]
                start += 1
        return seen

    def step(self, actions: NDArray[np.integer]) -> None:
        """Play a turn in all games, and any automatic turn after it.

        ``actions`` has the shape ``[games, players]``; entries for seats that have no choice are ignored.
        Raises ValueError, and changes nothing, if the games are over, the shape is wrong, or an action is
        illegal.
        """
        if self.over:
            raise ValueError("the games are over")
        if actions.shape != (self.games, self.rules.players):
            wanted = (self.games, self.rules.players)
            raise ValueError(f"actions have the shape {actions.shape}; it must be {wanted}")
        chosen = actions.astype(np.intp)
        for seat in range(self.rules.players):
            if seat not in self.seats_to_move:
                chosen[:, seat] = self._hands[:, seat].argmax(axis=1) - 1
        self._check(chosen)
        self._mask = None
        self._play(chosen.reshape(-1))
        if self.turn == self.rules.turns and not self.rules.dummy and not self.over:
            self._play(self._hands.argmax(axis=2).reshape(-1) - 1)

    def _check(self, actions: Whole) -> None:
        legal, limit = self._legal(), action_count(self.rules)
        wrong = (actions < 0) | (actions >= limit)
        if not wrong.any():
            wrong = ~legal.reshape(-1)[actions + limit * self._rows.reshape(actions.shape)]
        if wrong.any():
            game, seat = np.argwhere(wrong)[0]
            action = int(actions[game, seat])
            what = str(move_of(action)) if 0 <= action < limit else f"actions must be from 0 to {limit - 1}"
            raise ValueError(f"game {game}, seat {seat}: action {action} is not legal: {what}")

    def _play(self, actions: Whole) -> None:
        rest, first = np.divmod(actions, KINDS)
        dummy, second = np.divmod(rest, SECONDS)
        hands = self._hands.reshape(-1, _WIDTH)
        hands[self._rows, first + 1] -= 1
        self._place(self._tables_of, first + 1)
        two = np.flatnonzero(second)
        if len(two):
            hands[two, second[two]] -= 1
            hands[two, Card.CHOPSTICKS] += 1
            self._place(self._tables_of[two], second[two])
            self._tables.reshape(-1, _WIDTH)[self._tables_of[two], Card.CHOPSTICKS] -= 1
        if (controller := self.controller) is not None:
            rows = np.arange(controller, len(actions), 2)
            hands[rows, dummy[rows]] -= 1
            self._place(np.arange(2, 3 * self.games, 3), dummy[rows])
        self._hands = np.roll(self._hands, self.rules.direction(self.round), axis=1)
        if self.turn == self.rules.turns:
            self._end_round()
        else:
            self.turn += 1
            self._draw()

    def _place(self, tables: Whole, cards: Whole) -> None:
        """Put a card on each of these tables, which must be distinct."""
        self._tables.reshape(-1, _WIDTH)[tables, cards] += 1
        points, free = _POINTS[cards], self._free.reshape(-1)
        tripled = (points > 0) & (free[tables] > 0)
        self._nigiri.reshape(-1)[tables] += np.where(tripled, WASABI_FACTOR * points, points)
        free[tables] += (cards == Card.WASABI).astype(np.int8) - tripled

    def _deal(self) -> None:
        size, players, count = self.rules.hand_size, self.rules.players, self.rules.participants
        start = self.round * size * count
        self.round, self.turn = self.round + 1, 1
        self._hands = np.zeros((self.games, players, _WIDTH), dtype=np.int8)
        hands = self._hands.reshape(-1, _WIDTH)
        dealt = self._decks[:, start : start + size * players].reshape(-1, size)
        for number in range(size):
            hands[self._rows, dealt[:, number]] += 1
        self._pile = self._decks[:, start + size * players : start + size * count]
        self._draw()

    def _draw(self) -> None:
        if (controller := self.controller) is not None:
            self._drawn = self._pile[:, self.turn - 1]
            self._hands[np.arange(self.games), controller, self._drawn] += 1

    def _end_round(self) -> None:
        tables = self._tables.astype(np.int16)
        self.scores += (
            tables[..., Card.TEMPURA] // 2 * 5
            + tables[..., Card.SASHIMI] // 3 * 10
            + _DUMPLINGS[np.minimum(tables[..., Card.DUMPLING], len(_DUMPLINGS) - 1)]
            + _maki(tables[..., Card.MAKI_1] + 2 * tables[..., Card.MAKI_2] + 3 * tables[..., Card.MAKI_3])
            + self._nigiri
        )
        if self.rules.soy_sauce:
            self.scores += _soy_sauce(tables)
        self.puddings += tables[..., Card.PUDDING]
        self._played += self._tables.sum(axis=1, dtype=np.int8)
        for each in (self._tables, self._free, self._nigiri):
            each[:] = 0
        if self.round < ROUNDS:
            self._deal()
            return
        self.over = True
        self.scores += _puddings(self.puddings)
        players = self.rules.players
        # No player has 100 puddings, so a single number determines the order.
        ranks = self.scores[:, :players].astype(np.int32) * 100 + self.puddings[:, :players]
        self._places = (1 + (ranks[:, None, :] > ranks[:, :, None]).sum(axis=2)).astype(np.int16)


def _cards_used() -> Counts:
    """Return how many cards of each kind a plain action takes: ``[PLAIN, KINDS]``."""
    used = np.zeros((PLAIN, KINDS), dtype=np.int8)
    for action in range(PLAIN):
        for card in move_of(action).cards:
            used[action, card - 1] += 1
    return used


_USED: Final = _cards_used()


def _maki(icons: Numbers) -> Numbers:
    most = icons.max(axis=1, keepdims=True)
    first = icons == most
    firsts = first.sum(axis=1, keepdims=True)
    rest = np.where(first, 0, icons)
    second_most = rest.max(axis=1, keepdims=True)
    second = (rest == second_most) & (second_most > 0) & (firsts == 1)
    points = np.where(first, MAKI_FIRST // firsts, 0)
    points += np.where(second, MAKI_SECOND // np.maximum(1, second.sum(axis=1, keepdims=True)), 0)
    return np.where(most > 0, points, 0).astype(np.int16)


def _soy_sauce(tables: Numbers) -> Numbers:
    colours = sum((tables[..., kinds] > 0).any(axis=2).astype(np.int16) for kinds in _COLOURS)
    most = np.max(colours, axis=1, keepdims=True)
    winners = (colours == most) & (tables[..., Card.SOY_SAUCE] > 0)
    share = SOY_POINTS // np.maximum(1, winners.sum(axis=1, keepdims=True))
    return np.where(winners, share, 0).astype(np.int16)


def _puddings(puddings: Numbers) -> Numbers:
    most, fewest = puddings.max(axis=1, keepdims=True), puddings.min(axis=1, keepdims=True)
    points = np.where(puddings == most, PUDDING_POINTS // (puddings == most).sum(axis=1, keepdims=True), 0)
    if puddings.shape[1] > 2:  # noqa: PLR2004 - with two participants, nobody loses points
        points -= np.where(
            puddings == fewest, PUDDING_POINTS // (puddings == fewest).sum(axis=1, keepdims=True), 0
        )
    return np.where(most == fewest, 0, points).astype(np.int16)
