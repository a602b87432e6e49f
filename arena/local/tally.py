"""Totals of games between the same bots."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from statistics import fmean, median_low, stdev

from arena.ladder.matchmaking import rotations
from arena.local.games import LocalGame, LocalResult
from arena.local.sprt import CONFIDENCE
from arena.rules import Rules, simulation_seed


@dataclass(frozen=True, slots=True, kw_only=True)
class BotTally:
    """A bot's totals."""

    bot: str
    games: int
    wins: int  # games in which it was first or tied for first
    beaten: float  # mean share of opponents beaten; those in the same place count half
    # Half the width of the 95% interval for `beaten`; None with fewer than two deals.
    beaten_within: float | None
    mean_place: float
    points: float  # mean
    faults: int  # decisions that the stand-in made because of a fault
    faulty_games: int  # games with a fault
    median_millis: float | None  # median of the games' medians, on the ladder's clock
    slowest_millis: float | None


def schedule(rules: Rules, seed: int, games: int, name: str) -> Iterator[LocalGame]:
    """Yield games with one bot per seat. Each deal is played in every rotation before the next begins."""
    turns = rotations(range(rules.players))
    for number in range(games):
        deal, rotation = divmod(number, rules.players)
        yield local_game(rules, seed, deal, turns[rotation], number, f"{name}-{seed}-{number}")


def local_game(  # noqa: PLR0913, PLR0917 - everything that a game needs
    rules: Rules, seed: int, deal: int, bots: tuple[int, ...], number: int, name: str
) -> LocalGame:
    """Return a game. Its deck depends on ``seed`` and ``deal``; its dice also depend on ``bots``."""
    deck = simulation_seed(seed, deal)
    dice = int.from_bytes(sha256(deck + bytes(bots)).digest()[:8], "big")
    return LocalGame(number, name, rules, deck.hex(), dice, bots)


def beaten_share(places: Sequence[int], seat: int) -> float:
    """Return the share of the other seats that a seat beat; shared places count half."""
    mine = places[seat]
    behind = sum((place > mine) + (place == mine) / 2 for place in places) - 0.5
    return behind / (len(places) - 1)


def tallies(names: Sequence[str], results: Iterable[LocalResult]) -> tuple[BotTally, ...]:
    """Return each bot's totals, best first; bots without games are left out."""
    by_bot: list[list[tuple[LocalResult, int]]] = [[] for _ in names]
    for result in results:
        for seat, bot in enumerate(result.game.bots):
            by_bot[bot].append((result, seat))
    found = [_tally(name, played) for name, played in zip(names, by_bot, strict=True) if played]
    return tuple(sorted(found, key=lambda each: -each.beaten))


def _tally(name: str, played: Sequence[tuple[LocalResult, int]]) -> BotTally:
    seats = [result.seats[seat] for result, seat in played]
    deals: dict[str, list[float]] = {}
    for result, seat in played:
        share = beaten_share([each.place for each in result.seats], seat)
        deals.setdefault(result.game.seed, []).append(share)
    means = [fmean(shares) for shares in deals.values()]
    medians = [seat.median_millis for seat in seats if seat.median_millis is not None]
    slowest = [seat.slowest_millis for seat in seats if seat.slowest_millis is not None]
    return BotTally(
        bot=name,
        games=len(seats),
        wins=sum(seat.place == 1 for seat in seats),
        beaten=fmean(share for shares in deals.values() for share in shares),
        beaten_within=CONFIDENCE * stdev(means) / math.sqrt(len(means)) if len(means) > 1 else None,
        mean_place=fmean(seat.place for seat in seats),
        points=fmean(seat.points for seat in seats),
        faults=sum(len(seat.faults) for seat in seats),
        faulty_games=sum(bool(seat.faults) for seat in seats),
        median_millis=median_low(medians) if medians else None,
        slowest_millis=max(slowest, default=None),
    )
