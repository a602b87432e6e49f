"""Compares two bots: plans paired games and evaluates them. Does no I/O, except for reading results.

Every deal is played twice, and the two bots swap seats in the second game. Without a field, they share the
table and sit in alternate seats. With a field, they don't meet: each plays in the same seat against the same
opponents.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Final, NamedTuple

from arena.local.games import LocalGame, LocalResult
from arena.local.resultsfile import ResultsFile, WrongResults
from arena.local.sprt import Hypotheses, SprtState, judge
from arena.local.tally import beaten_share, local_game
from arena.play.replay.document import Variant
from arena.rules import Rules

EVALUATION_INTERVAL: Final = 8
"""Number of deals between two evaluations of the test."""

BOTS_COMPARED: Final = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The parameters of a comparison. Equal comparisons consist of the same games."""

    format: str = "kaiten-compare/2"
    bots: tuple[str, ...]  # names: the bot to test, the bot to beat, then the field
    digests: tuple[str, ...]  # a hash of each bot's code; empty if results aren't stored
    tables: tuple[Variant, ...]  # the variants to play, in turn, one deal each
    seed: int
    effect: float
    error: float

    @property
    def hypotheses(self) -> Hypotheses:
        """The hypotheses of the test."""
        return Hypotheses(effect=self.effect, error=self.error)

    def games(self, first: int, last: int) -> Iterator[LocalGame]:
        """Yield both games of each deal from ``first`` up to but not including ``last``."""
        rules = [table.as_rules for table in self.tables]
        for deal in range(first, last):
            for half, bots in enumerate(self._seatings(rules[deal % len(rules)], deal)):
                number = BOTS_COMPARED * (deal - first) + half
                name = f"compare-{self.seed}-{deal}-{half}"
                yield local_game(rules[deal % len(rules)], self.seed, deal, bots, number, name)

    def _seatings(self, rules: Rules, deal: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        field = range(BOTS_COMPARED, len(self.bots))
        if not field:
            start = deal // len(self.tables) % BOTS_COMPARED
            one = tuple((seat + start) % BOTS_COMPARED for seat in range(rules.players))
            return one, tuple(1 - bot for bot in one)
        # Each tested bot plays every seat once against the same opponents, then moves on to the next ones.
        group, own = divmod(deal // len(self.tables), rules.players)
        opponents = rules.players - 1
        others = tuple(field[(group * opponents + each) % len(field)] for each in range(opponents))
        one, two = ((*others[:own], bot, *others[own:]) for bot in range(BOTS_COMPARED))
        return one, two


class DealResult(NamedTuple):
    """A deal's result: the mean share of opponents that each bot beat, and each bot's number of faults."""

    shares: tuple[float, float]
    faults: tuple[int, int]

    @property
    def difference(self) -> float:
        """The difference between the shares, from -1 to 1: the test's observation."""
        return round(self.shares[0] - self.shares[1], 9)


def deal_results(results: Iterable[LocalResult]) -> Iterator[DealResult]:
    """Combine each pair of games into the result of its deal."""
    played = iter(results)
    for pair in zip(played, played, strict=False):
        yield _deal_result(pair)


def _deal_result(pair: Sequence[LocalResult]) -> DealResult:
    shares: tuple[list[float], list[float]] = ([], [])
    faults = [0, 0]
    for game, seats, *_ in pair:
        places = [seat.place for seat in seats]
        own: tuple[list[float], list[float]] = ([], [])
        for seat, bot in enumerate(game.bots):
            if bot < BOTS_COMPARED:
                own[bot].append(beaten_share(places, seat))
                faults[bot] += len(seats[seat].faults)
        for bot in range(BOTS_COMPARED):
            if own[bot]:
                shares[bot].append(fmean(own[bot]))
    return DealResult((fmean(shares[0]), fmean(shares[1])), (faults[0], faults[1]))


class ComparisonProgress:
    """The totals of all results so far."""

    def __init__(self, comparison: Comparison) -> None:
        self._hypotheses = comparison.hypotheses
        self._differences: Counter[float] = Counter()
        self._shares = [0.0, 0.0]
        self.faults = [0, 0]
        self.deals = 0

    def add(self, result: DealResult) -> None:
        """Add a deal."""
        self.deals += 1
        self._differences[result.difference] += 1
        for bot in range(BOTS_COMPARED):
            self._shares[bot] += result.shares[bot]
            self.faults[bot] += result.faults[bot]

    @property
    def shares(self) -> tuple[float, float]:
        """Each bot's mean share of opponents beaten."""
        count = max(1, self.deals)
        return self._shares[0] / count, self._shares[1] / count

    def evidence(self) -> SprtState:
        """Return the state of the test."""
        return judge(self._differences, self._hypotheses)


def read_comparison(
    file: ResultsFile, requested: Comparison, *, any_seed: bool
) -> tuple[Comparison, tuple[DealResult, ...]]:
    """Read a file's comparison and results.

    If the file is empty, return ``requested`` and no results. With ``any_seed``, the file's seed
    replaces that of ``requested``. Raises OSError, or WrongResults if the file contains something else.
    """
    known, results = file.read(requested, DealResult, "file of comparison results")
    fields = {
        "bots": "different bots",
        "digests": "a different version of a bot",
        "tables": "different --players or variants",
        "effect": "a different --effect",
        "error": "a different --error",
        "seed": "a different --seed",
    }
    for name, what in fields.items():
        if getattr(known, name) != getattr(requested, name) and not (name == "seed" and any_seed):
            raise WrongResults(
                f"{file.path} has results for {what}: give another file with --results, or remove this one"
            )
    return known, results
