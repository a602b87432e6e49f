"""Measure the strength of sample bots. Each plays against copies of another bot in all other seats.

    python -m benchmarks.strength --deals 30
    python -m benchmarks.strength mcts --against rollout greedy --players 2 5

Every deal is played from every seat, in one process. Figures are shares of opponents beaten (a shared place
counts half), with 95% confidence intervals. The intervals are for means of deals, because the games of one
deal aren't independent. The bots random, rollout and mcts use Python's random numbers, seeded for every deal.
"""

import argparse
import random
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from itertools import repeat
from math import sqrt
from statistics import fmean, stdev

from arena.play.botfiles import bot_names, load_bot, samples
from arena.rules import PLAYER_COUNTS
from arena.sdk import View, play
from arena.sdk.bot import Bot, Choice, new_chooser

load = cache(load_bot)


def share(bot: str, field: str, players: int, deal: int) -> tuple[float, float]:
    """Play a deal from every seat.

    Returns the mean share of opponents that ``bot`` beat, and its CPU time per decision in seconds.
    """
    random.seed(deal)
    clock = _Clock(load(samples() / bot / "bot.py"))
    shares = []
    for seat in range(players):
        table: list[Bot] = [load(samples() / field / "bot.py")] * players
        table[seat] = clock.bot()
        result = play(table, seed=deal).result
        places = result.places if result else ()
        behind = sum((place > places[seat]) + (place == places[seat]) / 2 for place in places) - 0.5
        shares.append(behind / (players - 1))
    return fmean(shares), clock.seconds / clock.decisions


class _Clock:
    """Counts a bot's decisions, and their CPU time in seconds."""

    def __init__(self, bot: Bot) -> None:
        self._bot = bot
        self.seconds = 0.0
        self.decisions = 0

    def bot(self) -> Bot:
        """Return the bot for one game, with its decisions counted and timed."""
        choose = new_chooser(self._bot).choose

        def timed(view: View) -> Choice:
            begun = time.process_time()
            answer = choose(view)
            self.seconds += time.process_time() - begun
            self.decisions += 1
            return answer

        return timed


def figure(shares: Sequence[float]) -> str:
    """Return a mean with its interval."""
    return f"{fmean(shares):.2f} ± {1.96 * stdev(shares) / sqrt(len(shares)):.2f}"


def main() -> None:
    """Print a table as Markdown for each number of players."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    names = bot_names(samples())
    parser.add_argument("bots", nargs="*", metavar="BOT", help="bots to measure (default: all)")
    parser.add_argument(
        "--against",
        nargs="+",
        default=names,
        choices=names,
        metavar="BOT",
        help="their opponents (default: all)",
    )
    parser.add_argument(
        "--players",
        nargs="+",
        type=int,
        default=PLAYER_COUNTS,
        choices=PLAYER_COUNTS,
        help="numbers of players (default: 2 to 5)",
    )
    parser.add_argument(
        "--deals",
        type=int,
        default=30,
        help="deals per pair and number of players, at least 2 (default: %(default)s)",
    )
    given = parser.parse_args()
    if unknown := sorted(set(given.bots) - set(names)):
        parser.error(f"no sample bot is called {unknown[0]}: the sample bots are {', '.join(names)}")
    if unopposed := [bot for bot in given.bots if given.against == [bot]]:
        parser.error(f"{unopposed[0]} has no opponent: specify another bot after --against")
    if given.deals < 2:  # noqa: PLR2004 - one deal has no standard deviation
        parser.error("--deals must be 2 or more")
    with ProcessPoolExecutor() as pool:
        for players in given.players:
            print(f"\n| {players} players | {' | '.join(given.against)} | CPU per decision |")
            print("| --- " * (len(given.against) + 2) + "|")
            for bot in given.bots or names:
                cells, seconds = [], []
                for field in given.against:
                    if field == bot:
                        cells.append("")
                        continue
                    played = list(
                        pool.map(share, repeat(bot), repeat(field), repeat(players), range(given.deals))
                    )
                    cells.append(figure([behind for behind, _ in played]))
                    seconds += [cpu for _, cpu in played]
                print(f"| {bot} | {' | '.join(cells)} | {fmean(seconds) * 1000:.2g} ms |", flush=True)


if __name__ == "__main__":
    main()
