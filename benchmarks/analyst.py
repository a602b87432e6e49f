"""Measure the accuracy of the analyst's chances, and the gain from its best moves.

    python -m benchmarks.analyst --games 1000 --positions 200

House bots play at tables of 2 to 5 seats. At every second table one bot has all seats, as the analyst
assumes; at the other tables the bots are drawn at random. Calibration compares the chances in every third
turn with the resulting shares of first place. If the analyst's best move differs from the one played, the
table's bots continue the game with each of the two moves, from the actual hands and with several deals of
later rounds.
"""

import argparse
import random
import time
from collections.abc import Iterator, Sequence
from functools import cache
from math import sqrt
from statistics import fmean, stdev
from typing import Final, NamedTuple

from arena.play.analysis.analyst import PLAYOUTS, judged, turn_of
from arena.play.analysis.futures import Futures
from arena.play.botfiles import load_bot, samples
from arena.play.replay.document import PublicReplay, Seat
from arena.play.replay.verify import RecordedDecision, decisions, log_of
from arena.play.simulate import SimulatedPlayer, simulate
from arena.protocol.analysis import AnalysedDecision, Option
from arena.protocol.match import Decision, move_of
from arena.rules import Move, Rules, State, apply, replay, seats_to_move, view
from arena.sdk.bot import as_move, new_chooser

BOTS: Final = ("greedy", "spoiler", "expected", "rollout")
BINS: Final = 10
THIRD: Final = 3
REPEATS: Final = 20
"""Number of continuations of a position for each of the two moves."""
FORECAST_PLAYOUTS: Final = 100

_load = cache(load_bot)


class Forecast(NamedTuple):
    """A chance, and the resulting share of first place."""

    chance: float
    came: float


class Gain(NamedTuple):
    """The mean gain of the best move over the one played, in one position."""

    share: float  # gain in the share of first place
    points: float


def _generator(seed: str) -> random.Random:
    return random.Random(seed)  # noqa: S311 - must be reproducible


def games(bots: Sequence[str], count: int, seed: int) -> Iterator[PublicReplay]:
    """Yield games at tables of 2 to 5 seats in turn. In every second game one bot has all seats."""
    rng = _generator(str(seed))
    for number in range(count):
        players = 2 + number // 2 % 4
        table = [rng.choice(bots)] * players if number % 2 else rng.choices(bots, k=players)
        yield from simulate(Rules(players=players), [_player(bot) for bot in table], rng.getrandbits(32), 1)


def _player(bot: str) -> SimulatedPlayer:
    loaded = _load(samples() / bot / "bot.py")
    return SimulatedPlayer(seat=Seat(bot=bot, version=1, author="house"), factory=lambda: new_chooser(loaded))


def forecasts(game: PublicReplay, seed: int) -> Iterator[Forecast]:
    """Yield each seat's chances in every third turn."""
    states = replay(log_of(game)).states
    came = [_share(game.rules_places, seat) for seat in range(len(game.seats))]
    futures = {}
    for step in range(seed % THIRD, len(states) - 1, THIRD):
        state = states[step]
        if state.round not in futures:
            futures[state.round] = Futures(state, _generator(str(seed)))
        turn = turn_of(state, futures[state.round], _generator(f"{seed}/{step}"), FORECAST_PLAYOUTS)
        yield from (Forecast(outlook.chance, came[seat]) for seat, outlook in enumerate(turn.known))


def _share(places: Sequence[int], seat: int) -> float:
    return 1 / places.count(1) if places[seat] == 1 else 0.0


def bins(found: Sequence[Forecast]) -> list[list[Forecast]]:
    """Group the forecasts by chance into bins of equal width, and leave out empty ones."""
    groups: list[list[Forecast]] = [[] for _ in range(BINS)]
    for each in found:
        groups[min(int(each.chance * BINS), BINS - 1)].append(each)
    return [group for group in groups if group]


def calibration_error(found: Sequence[Forecast]) -> float:
    """Return the expected calibration error: the mean difference between chance and share in a group.

    Groups are weighted by size.
    """
    return sum(abs(sum(each.chance - each.came for each in group)) for group in bins(found)) / len(found)


def disagreement(
    game: PublicReplay, playouts: int, seed: int
) -> tuple[RecordedDecision, AnalysedDecision] | None:
    """Return a decision for which the analyst prefers another move, or None."""
    made = list(decisions(game))
    states = replay(log_of(game)).states
    rng = _generator(str(seed))
    rng.shuffle(made)
    for each in made[:20]:
        found = judged(each, Futures(states[each.step], rng), rng, playouts)
        if found.played and found.lost_chance > 0:
            return each, found
    return None


def gain(game: PublicReplay, made: RecordedDecision, found: AnalysedDecision, seed: int) -> Gain:
    """Return the mean gain from continuing a position with the best move rather than the one played."""
    log = log_of(game)
    state = replay(log).states[made.step]
    rng = _generator(str(seed))
    shares, points = [], []
    for _ in range(REPEATS):
        dealt = _redeal_later_rounds(state, rng)
        dice = rng.getrandbits(32)
        ends = []
        for move in (_move(found.options[0]), made.move):
            moves = list(log.moves[made.step])
            moves[made.view.seat] = move
            random.seed(dice)
            ends.append(_continue_game(apply(dealt, moves), [seat.bot for seat in game.seats]))
        (best, played), seat = (end.result for end in ends), made.view.seat
        assert best is not None  # noqa: S101 - both were played to the end
        assert played is not None  # noqa: S101 - as above
        shares.append(_share(best.places, seat) - _share(played.places, seat))
        points.append(best.totals[seat] - played.totals[seat])
    return Gain(fmean(shares), fmean(points))


def _move(option: Option) -> Move:
    return move_of(Decision(cards=option.cards, dummy=option.dummy))


def _redeal_later_rounds(state: State, rng: random.Random) -> State:
    """Return the state with different cards for the rounds after the current one."""
    dealt = state.round * state.rules.hand_size * state.rules.participants
    rest = list(state.deck[dealt:])
    rng.shuffle(rest)
    return state._replace(deck=(*state.deck[:dealt], *rest))


def _continue_game(state: State, bots: Sequence[str]) -> State:
    choosers = [new_chooser(_load(samples() / bot / "bot.py")) for bot in bots]
    while not state.over:
        moves: list[Move | None] = [None] * len(bots)
        for seat in seats_to_move(state):
            seen = view(state, seat)
            moves[seat] = as_move(choosers[seat].choose(seen), seen)
        state = apply(state, moves)
    return state


def _interval(values: Sequence[float]) -> str:
    return f"{fmean(values):+.4f} ± {1.96 * stdev(values) / sqrt(len(values)):.4f}"


def _print_calibration(what: str, found: Sequence[Forecast]) -> None:
    print(f"\n{what}: {len(found)} chances, expected calibration error {calibration_error(found):.2%}")
    print("| mean chance | share of first place | chances |\n| --- | --- | --- |")
    for group in bins(found):
        chance, came = fmean(each.chance for each in group), fmean(each.came for each in group)
        print(f"| {chance:.3f} | {came:.3f} | {len(group)} |")


def main() -> None:
    """Measure and print both figures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--games", type=int, default=1000, help="games for the calibration (default: %(default)s)"
    )
    parser.add_argument(
        "--positions",
        type=int,
        default=200,
        help="positions to continue, each from a different game (default: %(default)s)",
    )
    parser.add_argument(
        "--playouts", type=int, default=PLAYOUTS, help="playouts per position (default: %(default)s)"
    )
    parser.add_argument(
        "--bots", nargs="+", default=BOTS, metavar="BOT", help=f"bots that play (default: {' '.join(BOTS)})"
    )
    parser.add_argument(
        "--seed", type=int, default=1, help="seed of decks, bots and playouts (default: %(default)s)"
    )
    given = parser.parse_args()
    begun = time.process_time()
    alike: list[Forecast] = []
    drawn: list[Forecast] = []
    for number, game in enumerate(games(given.bots, given.games, given.seed)):
        (alike if number % 2 else drawn).extend(forecasts(game, number))
    if given.games:
        _print_calibration("one bot in all seats", alike)
        _print_calibration("drawn bots", drawn)
        _print_calibration("all games", alike + drawn)
    gains: list[Gain] = []
    for number, game in enumerate(games(given.bots, 10 * given.positions, given.seed + 1)):
        if len(gains) == given.positions:
            break
        if found := disagreement(game, given.playouts, number):
            gains.append(gain(game, *found, number))
    if len(gains) > 1:
        print(f"\n{len(gains)} positions, the best move minus the one played, 95% intervals of the mean:")
        print(f"share of first place {_interval([each.share for each in gains])}")
        print(f"points {_interval([each.points for each in gains])}")
    print(f"\n{time.process_time() - begun:.0f} s of one core")


if __name__ == "__main__":
    main()
