"""The statistics of cards: what was counted since they began."""

from collections.abc import Sequence

from arena.db.card_counts import packed
from arena.ladder.card_counts import POINT, Count, Tally, count_game, merged
from arena.protocol.match import played_again
from tests.db.every_table.bots import BARRED
from tests.db.every_table.games import Game


def rows(games: Sequence[Game]) -> dict[str, list[dict[str, object]]]:
    """Return the rows of all sums, and what is counted of each game, as if it had lost its replay."""
    tally = counted(games)
    return {
        "card_games": [{"players": players, **its._asdict()} for players, its in tally.games.items()],
        "card_count": [
            {"players": players, "card": int(card), "turn": turn, **_sums(its)}
            for (players, card, turn), its in tally.counts.items()
        ],
        "game_tally": [
            {"game_number": game.number, "tally": packed(_count(game))} for game in games if game.number
        ],
    }


def _sums(count: Count) -> dict[str, int]:
    """Return what is stored of a count."""
    points, parts = divmod(count.points, POINT)
    return count._asdict() | {"points": points, "point_parts": parts}


def counted(games: Sequence[Game]) -> Tally:
    """Count the games that are rated and count."""
    return merged(_count(game) for game in games if game.number and BARRED.isdisjoint(game.versions))


def _count(game: Game) -> Tally:
    states = played_again(game.match.rules, game.record).states
    return count_game(states, game.record.steps, game.places, game.taken_over)
