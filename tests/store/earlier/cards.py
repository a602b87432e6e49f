"""The statistics of cards: what was counted since they began."""

from collections.abc import Sequence

from arena.cardstats import Tally, count_game, merged
from arena.recorded import played_again
from arena.store.card_counts import packed
from tests.store.earlier.bots import barred
from tests.store.earlier.games import Game
from tests.store.earlier.tables import Tables


def rows(tables: Tables, games: Sequence[Game]) -> dict[str, list[dict[str, object]]]:
    """Return the rows of all sums, and what is counted of each game, as if it had lost its replay."""
    tally = counted(tables, games)
    return {
        "card_games": [{"players": players, **its._asdict()} for players, its in tally.games.items()],
        "card_count": [
            {"players": players, "card": int(card), "turn": turn, **its._asdict()}
            for (players, card, turn), its in tally.counts.items()
        ],
        "game_tally": [
            {"game_number": game.number, "tally": packed(_count(game))} for game in games if game.number
        ],
    }


def counted(tables: Tables, games: Sequence[Game]) -> Tally:
    """Count the games that are rated and count."""
    out = barred(tables)
    return merged(_count(game) for game in games if game.number and out.isdisjoint(game.versions))


def _count(game: Game) -> Tally:
    states = played_again(game.match.rules, game.record).states
    return count_game(states, game.record.steps, game.places, game.taken_over)
