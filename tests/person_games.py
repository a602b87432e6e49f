"""People's games in a database. The stand-in plays them up to a decision or to the end."""

from collections.abc import Callable
from datetime import datetime

from arena.db.person_games import ChosenMove, NewPersonGame
from arena.db.store import Store
from arena.play.replay.document import Seat, build, encode
from arena.protocol.faults import stand_in
from arena.rules import Card, Move, Rules, State, View, apply, new_game, seats_to_move, shuffled_deck, view
from tests.builders import coarse_analysis

SEED = "0" * 32
VISITOR = "0" * 64
"""A visitor that occurs in no other test data."""

Stop = Callable[[View], bool]
"""Returns True at the person's decision at which the game should stop."""


def with_chopsticks(seen: View) -> bool:
    """Return whether the person can choose two cards."""
    return Card.CHOPSTICKS in seen.table and len(seen.hand) > 2


def in_round_2(seen: View) -> bool:
    """Return whether it is round 2 or later."""
    return seen.round > 1


def add_person_game(  # noqa: PLR0913 - a game has these parts
    store: Store,
    id_: str,
    bots: list[str],
    at: datetime,
    *,
    rules: Rules | None = None,
    account: int | None = None,
    visitor: str = VISITOR,
    stop: Stop = lambda _: False,
    waits: bool = False,
) -> None:
    """Add a game.

    Unless ``waits``, play it up to the decision at which ``stop`` returns True, or to the end.
    """
    versions = tuple([version for bot in bots if (version := store.bots.version_id(bot, 1)) is not None])
    assert len(versions) == len(bots)
    store.person_games.add(
        NewPersonGame(
            id=id_,
            visitor=visitor,
            account=account,
            rules=rules or Rules(players=len(bots) + 1),
            opponents=versions,
            seat=len(bots) // 2,
            created=at,
        )
    )
    if not waits:
        play_on(store, id_, at, stop=stop)


def play_on(store: Store, id_: str, at: datetime, *, stop: Stop = lambda _: False) -> None:
    """Start the only waiting game, and play it as :func:`add_person_game` does."""
    games = store.person_games
    game = games.begin()
    assert game is not None
    assert game.id == id_
    rules = game.rules
    state = new_game(rules, shuffled_deck(rules, bytes.fromhex(SEED)))
    while not state.over:
        moves = {seat: _move(state, seat) for seat in seats_to_move(state)}
        if game.seat in moves:
            seen = view(state, game.seat)
            games.ask(id_, seen)
            if stop(seen):
                return
            assert games.choose(id_, ChosenMove(round=seen.round, turn=seen.turn, move=moves[game.seat]), at)
        state = apply(state, [moves.get(seat) for seat in range(rules.players)])
    seats = [Seat(bot=each.bot, version=each.version, author=each.author) for each in game.opponents]
    seats.insert(game.seat, Seat(bot="you", version=0, author="you"))
    replay = build(game=f"person-{game.number}", seed=SEED, state=state, seats=seats)
    games.finish(id_, encode(replay).decode(), at)


def analyse_person_game(store: Store, id_: str) -> None:
    """Add an analysis of a finished game."""
    game = store.person_games.find(id_)
    assert game is not None
    store.person_games.store_analysis(id_, coarse_analysis(game.replay))


def _move(state: State, seat: int) -> Move:
    """Return the stand-in's move, or a move that uses chopsticks if possible."""
    seen = view(state, seat)
    if Card.CHOPSTICKS in seen.hand and Card.CHOPSTICKS not in seen.table:
        rest = list(seen.hand)
        rest.remove(Card.CHOPSTICKS)
        return Move((Card.CHOPSTICKS,), rest[0] if seen.control else None)
    return stand_in(seen)
