"""Sushi Go! played the slow and obvious way, written only from the rule text.

Cards are strings, hands and tables are lists, and points are handed out one by one. Nothing here is fast, so
that every line can be compared with the rules by eye.
"""

import hashlib
from collections.abc import Iterator
from typing import Any

Choice = tuple[tuple[str, ...], str | None]

DECK = [
    ("tempura", 14),
    ("sashimi", 14),
    ("dumpling", 14),
    ("maki_1", 6),
    ("maki_2", 12),
    ("maki_3", 8),
    ("salmon_nigiri", 10),
    ("squid_nigiri", 5),
    ("egg_nigiri", 5),
    ("pudding", 10),
    ("wasabi", 6),
    ("chopsticks", 4),
]
SOY_SAUCE = ("soy_sauce", 4)

KINDS = [kind for kind, _ in DECK] + [SOY_SAUCE[0]]

COLOURS = {
    "tempura": "purple",
    "sashimi": "green",
    "dumpling": "blue",
    "maki_1": "red",
    "maki_2": "red",
    "maki_3": "red",
    "salmon_nigiri": "yellow",
    "squid_nigiri": "yellow",
    "egg_nigiri": "yellow",
    "wasabi": "yellow",
    "pudding": "pink",
    "chopsticks": "light blue",
    "soy_sauce": "dark purple",
}

NIGIRI = {"salmon_nigiri": 2, "squid_nigiri": 3, "egg_nigiri": 1}
MAKI = {"maki_1": 1, "maki_2": 2, "maki_3": 3}
DUMPLINGS = {0: 0, 1: 1, 2: 3, 3: 6, 4: 10, 5: 15}
HAND_SIZE = {2: 10, 3: 9, 4: 8, 5: 7}
DUMMY_HAND_SIZE = 9
ROUNDS = 3


# Deck order


def start_order(soy_sauce: bool) -> list[str]:
    """The deck before it is shuffled: the kinds in the table's order, each as often as its count."""
    deck: list[str] = []
    for kind, count in DECK:
        for _ in range(count):
            deck.append(kind)
    if soy_sauce:
        kind, count = SOY_SAUCE
        for _ in range(count):
            deck.append(kind)
    return deck


def words(seed: bytes) -> Iterator[int]:
    """The endless stream of 32-bit words that a seed determines."""
    counter = 0
    while True:
        digest = hashlib.sha256(seed + counter.to_bytes(8, "big")).digest()
        for start in range(0, 32, 4):
            yield int.from_bytes(digest[start : start + 4], "big")
        counter += 1


def below(n: int, source: Iterator[int]) -> int:
    """A number from 0 to n - 1, made from the next word that keeps all of them equally likely."""
    limit = (2**32 // n) * n
    while True:
        word = next(source)
        if word < limit:
            return word % n


def shuffle(seed: bytes, soy_sauce: bool) -> list[str]:
    """The deck order that `sha256-fisher-yates/1` makes from a 16-byte seed."""
    deck = start_order(soy_sauce)
    source = words(seed)
    for i in range(len(deck) - 1, 0, -1):
        j = below(i + 1, source)
        deck[i], deck[j] = deck[j], deck[i]
    return deck


def simulate_seed(n: int, k: int) -> bytes:
    """The seed of game k of `simulate --seed n`."""
    return hashlib.sha256(b"simulate" + n.to_bytes(8, "big") + k.to_bytes(8, "big")).digest()[:16]


# Scoring


def split(points: int, sharers: int) -> int:
    """Everyone's share of points that are handed out one at a time, without an incomplete last lap."""
    each = 0
    while points >= sharers:
        points -= sharers
        each += 1
    return each


def maki_scores(icons: list[int]) -> list[int]:
    """Everyone's maki points, from the number of icons that each has."""
    scores = [0 for _ in icons]
    most = max(icons)
    if most == 0:
        return scores
    first = [i for i in range(len(icons)) if icons[i] == most]
    for i in first:
        scores[i] = split(6, len(first))
    if len(first) > 1:
        return scores
    others = [icons[i] for i in range(len(icons)) if i not in first]
    if not others or max(others) == 0:
        return scores
    second = [i for i in range(len(icons)) if icons[i] == max(others)]
    for i in second:
        scores[i] = split(3, len(second))
    return scores


def nigiri_score(table: list[str]) -> int:
    """Nigiri points of one table: its cards are laid down again, one after the other."""
    free_wasabi = 0
    points = 0
    for card in table:
        if card == "wasabi":
            free_wasabi += 1
        if card in NIGIRI:
            if free_wasabi > 0:
                free_wasabi -= 1
                points += 3 * NIGIRI[card]
            else:
                points += NIGIRI[card]
    return points


def set_score(table: list[str], kind: str, size: int, points: int) -> int:
    """Points for complete sets of one kind, by taking sets away until none is left."""
    left = [card for card in table if card == kind]
    score = 0
    while len(left) >= size:
        for _ in range(size):
            left.pop()
        score += points
    return score


def soy_sauce_scores(tables: list[list[str]]) -> list[int]:
    """Everyone's soy sauce points: 4, split among those with the most colours who also have soy sauce."""
    colours = []
    for table in tables:
        seen: list[str] = []
        for card in table:
            if COLOURS[card] not in seen:
                seen.append(COLOURS[card])
        colours.append(len(seen))
    most = max(colours)
    winners = [i for i in range(len(tables)) if colours[i] == most and "soy_sauce" in tables[i]]
    scores = [0 for _ in tables]
    for i in winners:
        scores[i] = split(4, len(winners))
    return scores


def score_round(tables: list[list[str]], soy_sauce: bool) -> list[dict[str, int]]:
    """Each table's points at the end of a round by kind; tables list cards in the order they were placed."""
    icons = []
    for table in tables:
        count = 0
        for card in table:
            if card in MAKI:
                count += MAKI[card]
        icons.append(count)
    maki = maki_scores(icons)
    soy = soy_sauce_scores(tables) if soy_sauce else [0 for _ in tables]
    result = []
    for i, table in enumerate(tables):
        result.append(
            {
                "tempura": set_score(table, "tempura", 2, 5),
                "sashimi": set_score(table, "sashimi", 3, 10),
                "dumpling": DUMPLINGS[min(5, table.count("dumpling"))],
                "maki": maki[i],
                "nigiri": nigiri_score(table),
                "soy_sauce": soy[i],
            }
        )
    return result


def pudding_scores(counts: list[int], nobody_loses: bool) -> list[int]:
    """Everyone's pudding points at the end of the game. `nobody_loses` is for two players without a dummy."""
    scores = [0 for _ in counts]
    most = max(counts)
    fewest = min(counts)
    if most == fewest:
        return scores
    first = [i for i in range(len(counts)) if counts[i] == most]
    last = [i for i in range(len(counts)) if counts[i] == fewest]
    for i in first:
        scores[i] = split(6, len(first))
    if not nobody_loses:
        for i in last:
            scores[i] = -split(6, len(last))
    return scores


def places(totals: list[int], puddings: list[int]) -> list[int]:
    """Everyone's place: one more than the number of those who did better. Puddings break ties."""
    result = []
    for i in range(len(totals)):
        better = 0
        for j in range(len(totals)):
            if totals[j] > totals[i]:
                better += 1
            elif totals[j] == totals[i] and puddings[j] > puddings[i]:
                better += 1
        result.append(better + 1)
    return result


# The game


class Game:
    """One game from a given deck order. Dealing, passing, automatic cards and scoring need no calls.

    Sides are the players and, if there is one, the dummy, which is last. `hands` and `pile` are the cards
    still to be played, `tables` those in front of each side this round, `puddings` how many pudding cards
    each side kept from earlier rounds, and `rest` those not dealt yet.
    """

    def __init__(
        self,
        players: int,
        deck: list[str],
        pass_both_ways: bool,
        soy_sauce: bool,
        dummy: bool,
    ) -> None:
        """Set the game up and deal round 1."""
        self.players = players
        self.pass_both_ways = pass_both_ways
        self.soy_sauce = soy_sauce
        self.dummy = dummy
        self.sides = players + 1 if dummy else players
        self.hand_size = DUMMY_HAND_SIZE if dummy else HAND_SIZE[players]

        self.rest = list(deck)
        self.hands: list[list[str]] = [[] for _ in range(players)]
        self.pile: list[str] = []
        self.tables: list[list[str]] = [[] for _ in range(self.sides)]
        self.puddings = [0 for _ in range(self.sides)]
        self.round = 1
        self.turn = 1
        self.over = False
        self.deals: list[list[list[str]]] = []
        self.turns: list[dict[str, Any]] = []
        self.rounds: list[dict[str, Any]] = []
        self._deal()
        self._start_turn()

    @property
    def controller(self) -> int | None:
        """The seat that plays for the dummy this turn; None without a dummy and when the game is over."""
        if not self.dummy or self.over:
            return None
        # Turns are counted through the whole game, so after nine turns the other seat starts a round.
        return len(self.turns) % 2

    def hand(self, seat: int) -> list[str]:
        """The cards a seat holds now, including the card drawn for the dummy, in the order of the kinds."""
        return sorted(self.hands[seat], key=KINDS.index)

    def asked(self) -> list[int]:
        """The seats that must choose now; a single last card is automatic, so its holder isn't asked."""
        if self.over:
            return []
        return [seat for seat in range(self.players) if len(self.hands[seat]) > 1]

    def choices(self, seat: int) -> list[Choice]:
        """All legal choices of a seat, found by trying any one or two cards, with any card for the dummy."""
        cards = [kind for kind in KINDS if kind in self.hands[seat]]
        namings: list[tuple[str, ...]] = []
        for first in cards:
            namings.append((first,))
            for second in cards:
                namings.append((first, second))
        for_dummy: list[str | None] = [None]
        if self.dummy:
            for card in cards:
                for_dummy.append(card)
        legal: list[Choice] = []
        for naming in namings:
            for dummy_card in for_dummy:
                if self.refusal(seat, (naming, dummy_card)) is None:
                    legal.append((naming, dummy_card))
        return legal

    def refusal(self, seat: int, choice: Choice) -> str | None:
        """The rule that forbids a seat's choice, or None if the choice is legal."""
        cards, dummy_card = choice
        if len(cards) not in (1, 2):
            return "number of cards: one, or two with chopsticks"
        if seat == self.controller and dummy_card is None:
            return "dummy: the controller names a card for the dummy too"
        if seat != self.controller and dummy_card is not None:
            return "dummy: only the controller names a card for the dummy"
        if len(cards) == 2 and "chopsticks" not in self.tables[seat]:
            return "chopsticks: two cards need chopsticks on the table from an earlier turn"
        left = list(self.hands[seat])
        named = list(cards)
        if dummy_card is not None:
            named.append(dummy_card)
        if len(named) > len(left):
            return "chopsticks: the hand has too few cards for that"
        for card in named:
            if card not in left:
                return f"hand: {card!r} is not in the hand, or not that often"
            left.remove(card)
        return None

    def play(self, choices: dict[int, Choice]) -> None:
        """One joint turn of all seats asked, and all automatic turns after it."""
        if sorted(choices) != self.asked():
            raise ValueError(f"who plays: seats {self.asked()} must choose, but {sorted(choices)} did")
        for seat in self.asked():
            reason = self.refusal(seat, choices[seat])
            if reason is not None:
                raise ValueError(f"round {self.round}, turn {self.turn}, seat {seat}: {reason}")
        self._turn(choices)
        while not self.over and self.asked() == []:
            self._turn({})

    def replay(self) -> dict[str, Any]:
        """The part of a `sushigo-replay/1` record that the rules decide; only for a finished game."""
        pudding_points = pudding_scores(self.puddings, self.players == 2 and not self.dummy)
        totals = []
        for side in range(self.sides):
            total = pudding_points[side]
            for record in self.rounds:
                total += record["scores"][side]
            totals.append(total)
        return {
            "deals": self.deals,
            "turns": self.turns,
            "rounds": self.rounds,
            "puddings": {"counts": self.puddings, "scores": pudding_points},
            "totals": totals,
            "places": places(totals[: self.players], self.puddings[: self.players]),
        }

    def _take_from_rest(self) -> list[str]:
        cards = []
        for _ in range(self.hand_size):
            cards.append(self.rest.pop(0))
        return cards

    def _deal(self) -> None:
        dealt = []
        for seat in range(self.players):
            self.hands[seat] = self._take_from_rest()
            dealt.append(list(self.hands[seat]))
        if self.dummy:
            self.pile = self._take_from_rest()
            dealt.append(list(self.pile))
        self.deals.append(dealt)

    def _start_turn(self) -> None:
        controller = self.controller
        if controller is not None:
            self.hands[controller].append(self.pile.pop(0))

    def _turn(self, choices: dict[int, Choice]) -> None:
        plays: list[list[str]] = []
        dummy_plays: list[str] = []
        for seat in range(self.players):
            hand = self.hands[seat]
            table = self.tables[seat]
            if seat in choices:
                cards, dummy_card = choices[seat]
            else:
                cards, dummy_card = (hand[0],), None
            for card in cards:
                hand.remove(card)
            if dummy_card is not None:
                hand.remove(dummy_card)
                dummy_plays.append(dummy_card)
            if len(cards) == 2:
                # Before the new cards are placed, so that chopsticks taken this turn can't go back.
                table.remove("chopsticks")
                hand.append("chopsticks")
            for card in cards:
                table.append(card)
            plays.append(list(cards))
        if self.dummy:
            for card in dummy_plays:
                self.tables[self.players].append(card)
            plays.append(dummy_plays)
        self.turns.append({"round": self.round, "turn": self.turn, "plays": plays})

        self._pass_hands()
        if all(hand == [] for hand in self.hands):
            self._end_round()
        else:
            self.turn += 1
        if not self.over:
            self._start_turn()

    def _pass_hands(self) -> None:
        step = 1
        if self.pass_both_ways and self.round == 2:
            step = -1
        received: list[list[str]] = [[] for _ in range(self.players)]
        for seat in range(self.players):
            received[(seat + step) % self.players] = self.hands[seat]
        self.hands = received

    def _end_round(self) -> None:
        breakdown = score_round(self.tables, self.soy_sauce)
        scores = [sum(points.values()) for points in breakdown]
        self.rounds.append({"scores": scores, "breakdown": breakdown})
        for side in range(self.sides):
            for card in self.tables[side]:
                if card == "pudding":
                    self.puddings[side] += 1
            self.tables[side] = []
        if self.round == ROUNDS:
            self.over = True
        else:
            self.round += 1
            self.turn = 1
            self._deal()
