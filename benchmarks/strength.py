"""How strong the sample bots are against each other, in process, every deal from every seat.

A bot of the row plays against bots of the column at all other seats. The
figure is the share of them that it left behind, shared places counting half,
with a 95 % confidence interval.
"""

import argparse
import random
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


def share(bot: Bot, other: Bot, games: int, players: int) -> tuple[float, float]:
    """Return the mean share of opponents left behind, and half the width of its interval."""
    shares = []
    for game in range(games):
        bots = [other] * players
        bots[game % players] = bot
        result = play(bots, seed=game // players).result
        places = result.places if result else ()
        mine = places[game % players]
        behind = sum((place > mine) + (place == mine) / 2 for place in places) - 0.5
        shares.append(behind / (players - 1))
    mean = sum(shares) / games
    variance = sum((one - mean) ** 2 for one in shares) / games
    return mean, 1.96 * (variance / games) ** 0.5


def main() -> None:
    """Print the table as Markdown."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--games", type=int, default=200, help="for every pair")
    parser.add_argument("--players", type=int, default=2)
    arguments = parser.parse_args()
    random.seed(1)
    names = known(samples())
    bots = {name: as_bot(samples() / name) for name in names}
    print(f"| {arguments.players} players | {' | '.join(names)} |")
    print("| --- " * (len(names) + 1) + "|")
    for name in names:
        cells = []
        for other in names:
            if other == name:
                cells.append("")
                continue
            mean, width = share(bots[name], bots[other], arguments.games, arguments.players)
            cells.append(f"{mean:.2f} ± {width:.2f}")
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
