"""``arena compare``: a statistical test of whether one bot beats another."""

import secrets
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from arena.cli.console import EXIT_FAILURE, EXIT_INTERRUPTED, EXIT_USAGE, Json, echo, fail, print_json, say
from arena.cli.play import Dummy, PassBothWays, Report, Seed, SoySauce, explain, player_of
from arena.local.bots import LocalBot, UnusableBot, bot_of_command, digest_of, find_bot, with_distinct_names
from arena.local.compare import (
    BOTS_COMPARED,
    EVALUATION_INTERVAL,
    Comparison,
    ComparisonProgress,
    DealResult,
    deal_results,
    read_comparison,
)
from arena.local.games import LocalResult
from arena.local.resultsfile import ResultsFile
from arena.local.sprt import Hypotheses, SprtState, SprtVerdict
from arena.local.workers import PlayingFailed, WorkerEnded
from arena.platform.text import counted
from arena.play.replay.document import Variant
from arena.rules import Rules


def compare(  # noqa: PLR0913 - one argument per option
    bots: Annotated[
        list[str] | None,
        typer.Argument(
            help="The bot to test and the bot to beat: files, folders or house bots.", metavar="BOT OTHER"
        ),
    ] = None,
    *,
    commands: Annotated[
        list[str] | None,
        typer.Option(
            "--bot",
            help="A bot in any language, as a quoted command. It precedes bots given as arguments.",
            metavar="COMMAND",
        ),
    ] = None,
    players: Annotated[
        str,
        typer.Option(
            help="Players per table, such as 2 or 2,4. With several numbers, deals alternate between them."
        ),
    ] = "2",
    field: Annotated[
        str,
        typer.Option(
            help="Opponents for both bots, separated by commas. Default: the two bots play each other."
        ),
    ] = "",
    effect: Annotated[
        float,
        typer.Option(
            help="Smallest advantage to detect, as a difference between the bots' shares of opponents beaten."
        ),
    ] = 0.05,
    error: Annotated[float, typer.Option(help="Maximum probability of a wrong verdict.")] = 0.05,
    games: Annotated[int, typer.Option("--games", "-n", min=2, help="Maximum number of games.")] = 20_000,
    seed: Seed = None,
    results: Annotated[
        Path | None, typer.Option(help="File to store the results in, and to resume from.", dir_okay=False)
    ] = None,
    soy_sauce: SoySauce = False,
    pass_both_ways: PassBothWays = False,
    dummy: Dummy = False,
    as_json: Json = False,
) -> None:
    """Find out whether one bot beats another, with as few games as possible.

    Exit codes: 0 the first bot is better; 1 it is not better by at least --effect, or the test was undecided
    after --games; 2 invalid input or a bot that can't play.

    Example: arena compare mybot.py old/mybot.py --players 2,4 --results mybot.jsonl
    """
    given = len(commands or ()) + len(bots or ())
    if given != BOTS_COMPARED:
        fail(f"two bots are needed, but you gave {given}. Example: arena compare mybot.py old/mybot.py")
    opponents = filter(None, (word.strip() for word in field.split(",")))
    with ExitStack() as stack:
        file: ResultsFile | None = None
        done: tuple[DealResult, ...] = ()
        try:
            pair = [*map(bot_of_command, commands or ()), *map(find_bot, bots or ())]
            table = with_distinct_names([*pair, *map(find_bot, opponents)])
            tables = tables_of(players, soy_sauce=soy_sauce, pass_both_ways=pass_both_ways, dummy=dummy)
            Hypotheses(effect=effect, error=error)
            comparison = Comparison(
                bots=tuple(each.name for each in table),
                digests=() if results is None else tuple(map(digest_of, table)),
                tables=tables,
                seed=secrets.randbits(32) if seed is None else seed,
                effect=effect,
                error=error,
            )
            if results is not None:
                file = stack.enter_context(closing(ResultsFile(results)))
                comparison, done = read_comparison(file, comparison, any_seed=seed is None)
        except ValueError as trouble:
            fail(str(trouble))
        except OSError as trouble:
            fail(f"can't use {results}: {trouble.strerror}")
        session = _Session(comparison, table, file, Report(table))
        session.resume(done)
        session.run(games // 2)
    session.print(as_json=as_json)


class _Session:
    """A comparison in progress, and its output."""

    def __init__(
        self, comparison: Comparison, bots: tuple[LocalBot, ...], file: ResultsFile | None, report: Report
    ) -> None:
        self._comparison = comparison
        self._bots = bots
        self._file = file
        self._report = report
        self._progress = ComparisonProgress(comparison)
        self._code: int | None = None

    def resume(self, results: Sequence[DealResult]) -> None:
        """Add earlier results to the comparison."""
        for result in results:
            self._progress.add(result)
        if results:
            say(f"continuing; deals so far: {len(results)}")

    def run(self, max_deals: int) -> None:
        """Play until there is a verdict or ``max_deals`` deals, including earlier ones, have been played."""
        first = self._progress.deals
        if first >= max_deals or (first % EVALUATION_INTERVAL == 0 and self._is_decided()):
            return
        plan = player_of(self._bots, 2 * (max_deals - first))
        try:
            with plan.playing(self._comparison.games(first, max_deals)) as played, _display() as show:
                for result in deal_results(self._report_mistakes(played)):
                    if self._file is not None:
                        self._file.write(result)
                    self._progress.add(result)
                    if self._progress.deals % EVALUATION_INTERVAL == 0:
                        show(_line(self._progress.evidence(), self._comparison.hypotheses))
                        if self._is_decided():
                            return
        except KeyboardInterrupt:
            self._code = EXIT_INTERRUPTED
            say("stopped" + ("; run the same command again to resume" if self._file else ""))
        except OSError as trouble:
            fail(f"can't continue: {trouble}")
        except WorkerEnded as trouble:
            self._report.report_mistake(trouble.mistake)
            raise typer.Exit(EXIT_USAGE) from trouble
        except PlayingFailed as trouble:
            explain(trouble, EXIT_USAGE)

    def _report_mistakes(self, played: Iterator[LocalResult]) -> Iterator[LocalResult]:
        for result in played:
            self._report.report_mistakes(result)
            if self._report.too_slow:
                raise typer.Exit(EXIT_USAGE)
            yield result

    def _is_decided(self) -> bool:
        return self._progress.evidence().verdict is not SprtVerdict.OPEN

    def print(self, *, as_json: bool) -> None:
        """Print the verdict, and exit."""
        evidence = self._progress.evidence()
        code = self._code
        if code is None:
            code = 0 if evidence.verdict is SprtVerdict.BETTER else EXIT_FAILURE
        if as_json:
            print_json(self._as_data(evidence))
        else:
            echo(_verdict_text(self._comparison.bots, evidence, self._comparison.hypotheses))
            bot, other = self._comparison.bots[:2]
            mine, others = self._progress.shares
            echo(f"{bot} beat {100 * mine:.1f}% of its opponents, {other} {100 * others:.1f}%")
            for name, faults in zip((bot, other), self._progress.faults, strict=True):
                if faults:
                    echo(f"{name} committed {counted(faults, 'fault')}")
            echo(_line(evidence, self._comparison.hypotheses))
            say(f"{2 * evidence.observed} games, --seed {self._comparison.seed}")
        raise typer.Exit(code)

    def _as_data(self, evidence: SprtState) -> dict[str, object]:
        return {
            "verdict": evidence.verdict.value,
            "bots": self._comparison.bots,
            "deals": evidence.observed,
            "games": 2 * evidence.observed,
            "difference": evidence.mean,
            "within": evidence.within,
            "shares": self._progress.shares,
            "faults": self._progress.faults,
            "ratio": evidence.ratio,
            "bound": self._comparison.hypotheses.bound,
            "effect": self._comparison.effect,
            "error": self._comparison.error,
            "seed": self._comparison.seed,
        }


def tables_of(players: str, **variants: bool) -> tuple[Variant, ...]:
    """Parse ``--players`` into tables. Raises InvalidRules, or UnusableBot if it isn't a list of numbers."""
    counts = [word.strip() for word in players.split(",")]
    if not all(count.isdecimal() for count in counts):
        raise UnusableBot(f"--players {players}: give numbers from 2 to 5, separated by commas")
    return tuple(Variant.of(Rules(players=int(count), **variants)) for count in counts)


def _verdict_text(bots: Sequence[str], evidence: SprtState, hypotheses: Hypotheses) -> str:
    bot, other = bots[:2]
    if evidence.verdict is SprtVerdict.BETTER:
        return f"{bot} is better than {other}"
    if evidence.verdict is SprtVerdict.OPEN:
        return f"it is unclear whether {bot} is better than {other}: play more games"
    worse = evidence.within is not None and evidence.mean + evidence.within < 0
    by = "" if worse else f" by {100 * hypotheses.effect:g} percentage points or more"
    return f"{bot} is {'worse' if worse else 'not better'} than {other}{by}"


def _line(evidence: SprtState, hypotheses: Hypotheses) -> str:
    within = "" if evidence.within is None else f" ± {100 * evidence.within:.1f}"
    return (
        f"difference {100 * evidence.mean:+.1f}{within} percentage points, "
        f"{counted(evidence.observed, 'deal')}, LLR {evidence.ratio:+.2f} (bounds ±{hypotheses.bound:.2f})"
    )


@contextmanager
def _display() -> Iterator[Callable[[str], None]]:
    """Show a status line if stderr is a terminal; yield a function to update it."""
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    console, disable = Console(stderr=True), not sys.stderr.isatty()
    with Progress(*columns, console=console, transient=True, disable=disable) as display:
        task = display.add_task("compare", total=None)
        yield lambda line: display.update(task, description=line)
