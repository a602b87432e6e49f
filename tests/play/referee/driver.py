"""A match driven by the test, which sets the time and answers for the bots."""

from collections import defaultdict
from collections.abc import Callable, Iterable

from arena.play.referee.match import RefereedMatch
from arena.play.referee.player import DecisionRequested, Event, GameEnded, Hello, PlayerAnswer
from arena.protocol.match import Clock, Decision
from arena.rules import Move, Rules, View

SEEDS = tuple(f"{number:032x}" for number in range(1, 9))

Choose = Callable[[View], Move]


def first(view: View) -> Move:
    """Play the last legal move. It differs from the stand-in's if the hand has several kinds of cards."""
    return view.legal_moves()[-1]


class Driver:
    """A match, the time, and the events sent to each bot. Without ``seatings`` no bot changes its seat."""

    def __init__(
        self,
        rules: Rules,
        games: int = 1,
        clock: Clock | None = None,
        seatings: tuple[tuple[int, ...], ...] = (),
    ) -> None:
        self.match = RefereedMatch(rules, SEEDS[:games], clock or Clock(), seatings)
        self.players = rules.players
        self.now = 100.0
        self.told: dict[int, list[Event]] = defaultdict(list)
        self.asks: dict[int, dict[int, DecisionRequested]] = defaultdict(dict)
        self.rounds: dict[int, int] = {}  # current round of each game in progress

    def greet(self, games_at_once: Iterable[int] = ()) -> None:
        """Send the greetings of all bots."""
        wishes = tuple(games_at_once) or (1,) * self.players
        for seat, wish in enumerate(wishes):
            self.match.greeted(seat, Hello(wish, f"test/{seat}"), self.now)
        self.collect()

    def collect(self) -> None:
        """Store the events that the match has to send."""
        for seat, events in self.match.outbox():
            self.told[seat] += events
            for event in events:
                if isinstance(event, DecisionRequested):
                    self.asks[seat][event.game] = event
                    self.rounds[event.game] = event.view.round
                elif isinstance(event, GameEnded):
                    self.rounds.pop(event.game, None)

    def answer(self, seat: int, choose: Choose = first, *, note: str = "") -> None:
        """Answer the latest open request of a seat."""
        self.send(seat, self.take(seat, next(reversed(self.asks[seat])), choose, note=note))

    def take(self, seat: int, game: int, choose: Choose = first, *, note: str = "") -> PlayerAnswer:
        """Return an answer to a seat's open request in a game, and forget the request."""
        seen = self.asks[seat].pop(game).view
        return PlayerAnswer(game, seen.round, seen.turn, choose(seen), note)

    def send(self, seat: int, *answers: PlayerAnswer) -> None:
        """Send these answers from a seat."""
        self.match.answered(seat, answers, self.now)
        self.collect()

    def tick(self, seconds: float) -> None:
        """Advance the time."""
        self.now += seconds
        self.match.tick(self.now)
        self.collect()

    def play_on(self, seats: Iterable[int] | None = None, choose: Choose = first) -> None:
        """Answer for these seats until they have no open requests."""
        seats = range(self.players) if seats is None else tuple(seats)
        while any(self.asks[seat] for seat in seats):
            for seat in seats:
                if self.asks[seat]:
                    self.answer(seat, choose)

    def decision(self, game: int, step: int, seat: int) -> Decision:
        """Return the record of a decision."""
        decision = self.match.games()[game].steps[step][seat]
        assert decision is not None
        return decision

    def kinds_told(self, seat: int, kind: type[Event]) -> list[Event]:
        """Return the events of one kind that a seat received."""
        return [event for event in self.told[seat] if isinstance(event, kind)]
