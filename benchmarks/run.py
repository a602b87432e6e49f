"""One repetition of all measurements. They are close in time, so that ratios are valid on a busy machine."""

import gc
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from arena.ladder.matchmaking import DEALS
from arena.rules import PLAYER_COUNTS
from benchmarks.engine import measure_engine
from benchmarks.hall import Hall
from benchmarks.report import Figure
from benchmarks.results import ResultCosts, measure_results
from benchmarks.tables import Start, Tables, measure_start, measure_tables
from benchmarks.talk import Talk, measure_talk
from benchmarks.wire import Cost, Shape, Sizes, measure_echo
from benchmarks.wire import measure_tables as measure_tables_in_two_processes

AT_ONCE: Final = 32
_MICRO: Final = 1e6
_MILLI: Final = 1e3
_DECISIONS_A_GAME: Final = 54
"""Number of decisions of both seats in a game at a table of two."""

Tell = Callable[[str], None]


class _Wire(NamedTuple):
    """Costs of bare echoes, and of tables with the same numbers of processes and streams."""

    one: Cost
    pair: Cost
    large_pair: Cost
    eight: Cost
    tables: Cost


class _Matches(NamedTuple):
    """Costs of matches with the arena's launcher."""

    start: Start
    one: Tables
    many: Tables
    side_by_side: Tables


def repetition(hall: Hall, tell: Tell) -> list[Figure]:
    """Measure everything once."""
    # Garbage collections during the measurements must not scan the existing objects again and again.
    gc.collect()
    gc.freeze()
    tell("messages")
    small, large = measure_talk(games=60, at_once=1), measure_talk(games=4 * AT_ONCE, at_once=AT_ONCE)
    wire = _measure_wire(small, large, tell)
    matches = _measure_matches(hall, tell)
    tell("results")
    costs = measure_results(matches.one.match)
    tell("rules")
    return [
        *_start_figures(matches.start),
        *_table_figures("one game at a time", matches.one, wire.pair.both),
        *_table_figures(f"{AT_ONCE} games at once", matches.many, wire.large_pair.both / large.decisions),
        *_side_by_side_figures(hall, matches),
        *_wire_figures(wire, small, large),
        *_engine_figures(),
        *_result_figures(costs, matches),
    ]


def _measure_wire(small: Talk, large: Talk, tell: Tell) -> _Wire:
    tell("bare echo")
    sizes = Sizes(small.request_bytes, small.answer_bytes)
    large_sizes = Sizes(large.request_bytes, large.answer_bytes)
    one = measure_echo(sizes, Shape(processes=1, streams=1, each=2_000))
    pair = measure_echo(sizes, Shape(processes=2, streams=1, each=2_000))
    large_pair = measure_echo(large_sizes, Shape(processes=2, streams=1, each=1_500))
    eight = measure_echo(sizes, Shape(processes=1, streams=8, each=1_000))
    tell("tables in two processes")
    tables = measure_tables_in_two_processes(Shape(processes=1, streams=8, each=800))
    return _Wire(one, pair, large_pair, eight, tables)


def _measure_matches(hall: Hall, tell: Tell) -> _Matches:
    tell("start")
    start = measure_start(hall)
    tell("a table, one game at a time")
    one = measure_tables(hall, start, games=100, at_once=1)
    tell(f"a table, {AT_ONCE} games at once")
    many = measure_tables(hall, start, games=16 * AT_ONCE, at_once=AT_ONCE)
    tell("tables side by side")
    side_by_side = measure_tables(
        hall, start, games=16 * AT_ONCE, at_once=AT_ONCE, tables=max(1, hall.slots // 2)
    )
    return _Matches(start, one, many, side_by_side)


def _start_figures(start: Start) -> Iterator[Figure]:
    section = "Start"
    yield Figure(section, "a single sandbox, to `import arena.sdk`", start.imported * _MILLI, "ms")
    yield Figure(section, "a single sandbox, to the end of gRPC's import", start.ready * _MILLI, "ms")
    yield Figure(
        section, "a match of two, from the call to the first decision", start.first_decision * _MILLI, "ms"
    )
    ratio = start.first_decision / start.ready
    yield Figure(section, "ratio to a single sandbox with gRPC imported", ratio, "x", "at most 1.3")
    yield Figure(section, "CPU of a match of one game, referee", start.referee * _MILLI, "ms")
    yield Figure(section, "CPU of a match of one game, bots", start.bots * _MILLI, "ms")


def _table_figures(what: str, tables: Tables, echo: float) -> Iterator[Figure]:
    """Yield the figures of one table; ``echo`` is a bare echo's CPU for one decision."""
    section = f"A table of two, {what}"
    both = tables.referee + tables.bots
    yield Figure(section, "decisions", tables.rate, "/s")
    yield Figure(section, "CPU per decision, referee", tables.referee * _MICRO, "µs")
    yield Figure(section, "CPU per decision, bots", tables.bots * _MICRO, "µs")
    yield Figure(section, "CPU per decision, together", both * _MICRO, "µs")
    yield Figure(section, "CPU per decision, bare echo with two client processes", echo * _MICRO, "µs")
    yield Figure(section, "ratio to the bare echo", both / echo, "x")


def _side_by_side_figures(hall: Hall, matches: _Matches) -> Iterator[Figure]:
    tables = max(1, hall.slots // 2)
    section = f"Tables side by side, {AT_ONCE} games at once"
    yield Figure(section, "tables", tables, "")
    yield Figure(section, "decisions, all tables", matches.side_by_side.rate, "/s")
    both = matches.side_by_side.referee + matches.side_by_side.bots
    yield Figure(section, "CPU per decision, together", both * _MICRO, "µs")
    yield Figure(
        section, "ratio of decisions/s to one table", matches.side_by_side.rate / matches.many.rate, "x"
    )


def _wire_figures(wire: _Wire, small: Talk, large: Talk) -> Iterator[Figure]:
    section = "A bare echo, and tables, each in two processes"
    yield Figure(section, "a request and its answer, one game", small.request_bytes + small.answer_bytes, "B")
    yield Figure(
        section,
        f"a request and its answer, {AT_ONCE} games",
        large.request_bytes + large.answer_bytes,
        "B",
    )
    for name, cost in (("1 stream", wire.one), ("8 streams", wire.eight)):
        yield Figure(section, f"bare echo, {name}", cost.rate, "/s")
        yield Figure(section, f"bare echo, {name}: CPU, server", cost.server * _MICRO, "µs")
        yield Figure(section, f"bare echo, {name}: CPU, clients", cost.clients * _MICRO, "µs")
        yield Figure(section, f"bare echo, {name}: CPU, together", cost.both * _MICRO, "µs")
    yield Figure(section, "4 tables, 8 streams: decisions", wire.tables.rate, "/s")
    yield Figure(section, "4 tables, 8 streams: CPU, referees", wire.tables.server * _MICRO, "µs")
    yield Figure(section, "4 tables, 8 streams: CPU, bots", wire.tables.clients * _MICRO, "µs")
    yield Figure(section, "4 tables, 8 streams: CPU, together", wire.tables.both * _MICRO, "µs")
    ratio = wire.tables.both / wire.eight.both
    yield Figure(section, "ratio of the tables to the bare echo, 8 streams", ratio, "x", "at most 1.5")
    yield Figure(section, "the work without a wire, one game: referee", small.referee * _MICRO, "µs")
    yield Figure(section, "the work without a wire, one game: bots", small.bots * _MICRO, "µs")
    yield Figure(section, f"the work without a wire, {AT_ONCE} games: referee", large.referee * _MICRO, "µs")
    yield Figure(section, f"the work without a wire, {AT_ONCE} games: bots", large.bots * _MICRO, "µs")


def _engine_figures() -> Iterator[Figure]:
    section = "Rules engine, one core: all legal moves listed, every choice checked, full log"
    for players in PLAYER_COUNTS:
        speed = measure_engine(players, games=600 // players)
        yield Figure(section, f"{players} players, without the shuffle", speed.without_shuffle, "games/s")
        yield Figure(section, f"{players} players, with the shuffle", speed.with_shuffle, "games/s")


def _result_figures(costs: ResultCosts, matches: _Matches) -> Iterator[Figure]:
    section = "Results: CPU per two-player game"
    yield Figure(section, "checking the record and building the public replay", costs.check * _MICRO, "µs")
    yield Figure(section, "storing and rating", costs.store * _MICRO, "µs")
    one, many, start = matches.one, matches.many, matches.start
    rated = (start.referee + start.bots) / DEALS
    ways = {
        "one game at a time": _DECISIONS_A_GAME * (one.referee + one.bots),
        f"{AT_ONCE} games at once": _DECISIONS_A_GAME * (many.referee + many.bots),
        f"{DEALS} deals per match, with its start": rated + _DECISIONS_A_GAME * (many.referee + many.bots),
    }
    for name, playing in ways.items():
        yield Figure(section, f"playing: {name}", playing * _MICRO, "µs")
        share = 100 * costs.store / playing
        yield Figure(section, f"share of storing and rating: {name}", share, "%", "at most 10")
