"""How strong the sample bots are: in process, every deal from every seat.

First every pair in games of two, then all of them at one table. The figures
are shares of opponents left behind, shared places counting half, with 95 %
confidence intervals. ``random`` and ``rollout`` use Python's dice, seeded here.
"""

import argparse
import random
from collections.abc import Sequence
from pathlib import Path

from arena.botfiles import known, load, samples
from arena.sdk import View, play
from arena.sdk.answer import Choice
from arena.sdk.bot import Bot


def as_bot(folder: Path) -> Bot:
    """Return a bot of that folder for games in process."""
    factory = load(folder)

    class Player:
        def __init__(self) -> None:
            self._choose = factory()

        def choose(self, view: View) -> Choice:
            return self._choose(view)

    return Player


def shares(bots: Sequence[Bot], games: int) -> list[list[float]]:
    """Return for every bot the share of the others that it left behind, one entry a game."""
    players = len(bots)
    outcomes: list[list[float]] = [[] for _ in bots]
    for game in range(games):
        # Every deal is played once in each rotation of the seats.
        turned = [(seat + game) % players for seat in range(players)]
        result = play([bots[bot] for bot in turned], seed=game // players).result
        places = result.places if result else ()
        for bot, mine in zip(turned, places, strict=True):
            behind = sum((place > mine) + (place == mine) / 2 for place in places) - 0.5
            outcomes[bot].append(behind / (players - 1))
    return outcomes


def figure(outcomes: list[float]) -> str:
    """Return a mean with its interval."""
    mean = sum(outcomes) / len(outcomes)
    variance = sum((one - mean) ** 2 for one in outcomes) / len(outcomes)
    return f"{mean:.2f} ± {1.96 * (variance / len(outcomes)) ** 0.5:.2f}"


def main() -> None:
    """Print both tables as Markdown."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--games", type=int, default=200, help="for every pair, and at the one table")
    games = parser.parse_args().games
    random.seed(1)
    names = known(samples())
    bots = {name: as_bot(samples() / name) for name in names}
    print(f"| 2 players, {games} games | {' | '.join(names[1:])} |")
    print("| --- " * len(names) + "|")
    for index, name in enumerate(names[:-1]):
        against = names[index + 1 :]
        cells = [figure(shares([bots[name], bots[other]], games)[0]) for other in against]
        print(f"| {name} | {' | '.join([''] * index + cells)} |", flush=True)
    print(f"\n| all at one table, {games} games | share |")
    print("| --- | --- |")
    for name, outcomes in zip(names, shares([bots[name] for name in names], games), strict=True):
        print(f"| {name} | {figure(outcomes)} |")


if __name__ == "__main__":
    main()
