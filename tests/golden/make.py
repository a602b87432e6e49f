"""Write the golden games anew: ``python -m tests.golden.make``.

Only to be run where the rules or the format were wrong; the difference to
what was there before belongs into the review.
"""

from itertools import product
from pathlib import Path

from arena.botfiles import load
from arena.replay import Seat, encode
from arena.rules import Rules
from arena.simulate import Player, simulate

HERE = Path(__file__).parent
SEED = 20_000
GAMES = 2

VARIANTS = {
    "-".join([str(players)] + ["both_ways"] * both + ["soy_sauce"] * soy + ["dummy"] * dummy): Rules(
        players=players, pass_both_ways=both, soy_sauce=soy, dummy=dummy
    )
    for players, dummy in [(2, False), (3, False), (4, False), (5, False), (2, True)]
    for both, soy in product([False, True], repeat=2)
}


def golden(rules: Rules) -> bytes:
    """Play the golden games of one combination of players and variants."""
    factory = load(HERE / "dice")
    table = [
        Player(seat=Seat(bot="dice", version=1, author="house"), factory=factory)
        for _ in range(rules.players)
    ]
    return b"".join(encode(replay) + b"\n" for replay in simulate(rules, table, SEED, GAMES))


if __name__ == "__main__":
    for name, rules in VARIANTS.items():
        (HERE / f"{name}.jsonl").write_bytes(golden(rules))
