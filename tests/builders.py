"""Ready-made arenas for tests, with bots and really played games in a real store."""

import random
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from functools import cache

from arena.db.bots import NewVersion
from arena.db.matches import Claim, FinishedGame, FinishedMatch, NewMatch
from arena.db.store import Store
from arena.ladder.card_counts import count_game
from arena.play.analysis.analyst import analyse, house_bots
from arena.play.botfiles import samples
from arena.play.replay.document import Seat, build, encode, parse
from arena.protocol.analysis import MIN_PLAYOUTS, AnalysedDecision, Analysis
from arena.protocol.faults import FAULTS_TO_TAKE_OVER, Fault, places_with_faults, taken_over
from arena.protocol.match import (
    Clock,
    Decision,
    GameRecord,
    Limits,
    MatchSpec,
    RuntimeName,
    SeatReport,
    played_again,
)
from arena.protocol.sandbox_controls import CONTROL_NAMES, Finding, HostReport
from arena.rules import Move, Rules, State, apply, new_game, seats_to_move, shuffled_deck, view

START = datetime(2026, 11, 3, 12, tzinfo=UTC)
LIMITS = ("memory 256 MiB, no swap", "0.4 CPUs", "64 processes", "no network")
BOTS = (
    ("random", "house"),
    ("greedy", "house"),
    ("<b>bold</b>", "<script>alert(1)</script>"),
    ("\N{RIGHT-TO-LEFT OVERRIDE}gnp.exe", 'o\'neill & "co"'),
    ("newcomer", "ada"),
)
"""Bots and their authors, some with malicious names. The last bot never plays."""


def fill(store: Store) -> None:
    """Add ``BOTS`` and twelve games: of two, three and four players, with variants and with faults.

    Also add a report on a host that lacks two controls, one of which is accepted.
    """
    a, b, c, d, _ = add_bots(store, BOTS)
    play_matches(store, [(a, b), (b, a)], Rules(players=2, dummy=True, soy_sauce=True), name="dummy")
    play_matches(store, [(a, b, c), (b, c, d), (c, d, a)], Rules(players=3), name="three")
    play_matches(store, [(a, b, c, d)], Rules(players=4, pass_both_ways=True), name="faulty", faults=0.1)
    store.activity.record_host(host_report("tmp-files", "swap"), {"tmp-files"})


@cache
def coarse_analysis(replay: str, *asked: str) -> Analysis:
    """Return an analysis of a replay, with these house bots' choices. It is cached for other tests."""
    bots = {name: bot for name, bot in house_bots(samples()).items() if name in asked} if asked else {}
    return analyse(parse(replay), playouts=MIN_PLAYOUTS, bots=bots)


def analysed(store: Store, game: str) -> Analysis:
    """Store a coarse analysis of a rated game, and return it."""
    page = store.games.find(game)
    assert page is not None
    analysis = coarse_analysis(page.replay)
    assert store.analyses.add(analysis)
    return analysis


def puzzled(store: Store, game: str, day: date) -> AnalysedDecision:
    """Analyse a rated game, make one of its decisions the puzzle of a day without one, and return it.

    Each option is a single card, and three house bots are asked.
    """
    page = store.games.find(game)
    assert page is not None
    analysis = coarse_analysis(page.replay, "expected", "greedy", "spoiler")
    assert store.analyses.add(analysis)
    made = next(
        each
        for each in analysis.decisions
        if len(each.options) > 2
        and each.played
        and all(len(option.cards) == 1 and option.dummy is None for option in each.options)
    )
    store.puzzles.offer(game, made, 0.1, day)
    return made


def match_spec(
    seats: Sequence[str],
    *,
    games: int = 1,
    clock: Clock | None = None,
    runtime: RuntimeName = RuntimeName.DOCKER,
) -> MatchSpec:
    """Return the first attempt of a match between bots with these sources. The deals are always the same."""
    return MatchSpec(
        match="m",
        attempt=1,
        rules=Rules(players=len(seats)),
        seeds=tuple(f"{number:032x}" for number in range(1, games + 1)),
        seats=tuple(seats),
        clock=clock or Clock(),
        limits=Limits(),
        runtime=runtime,
    )


def host_report(*missing: str, host: str = "ohanami", isolates: bool = True) -> HostReport:
    """Return a report on a host that lacks these controls."""
    return HostReport(
        host=host,
        isolates=isolates,
        runtime="docker/runc" if isolates else "process (no isolation)",
        engine="20.10.24" if isolates else "",
        cgroup="v2, systemd" if isolates else "",
        checked=START,
        findings=tuple(
            Finding(control=name, held=name not in missing, detail=f"seen of {name}")
            for name in (CONTROL_NAMES if isolates else ())
        ),
        warnings=(),
        slots=5,
    )


def add_bots(store: Store, names: Sequence[tuple[str, str]]) -> list[int]:
    """Add a bot for every (name, author) and return the ids of their versions."""
    return [
        store.bots.add_version(
            NewVersion(
                bot=bot,
                author=author,
                house=author == "house",
                source=f"sha256:{index:064x}",
                created=START,
            )
        )
        for index, (bot, author) in enumerate(names)
    ]


def play_matches(
    store: Store, seatings: Sequence[Sequence[int]], rules: Rules, *, name: str, faults: float = 0
) -> None:
    """Queue a match of two deals for each seating of versions, play them at random and record them.

    ``name`` is the prefix of the matches' ids and the seed of all randomness, ``faults`` the share of faulty
    decisions.
    """
    dice = random.Random(name)  # noqa: S311 - a game that can be repeated
    seeds = tuple(dice.randbytes(16).hex() for _ in range(2))
    for index, versions in enumerate(seatings):
        new = NewMatch(
            id=f"{name}-{index}",
            rules=rules,
            bots=tuple(versions),
            seeds=seeds,
            clock=Clock(),
            limits=Limits(),
            runtime=RuntimeName.DOCKER,
            created=START,
        )
        store.queue.add(new)
    minutes = 0
    while claim := store.leases.claim("here", "worker", START, RuntimeName.DOCKER):
        minutes += 1
        store.results.record(finish(claim, dice, ended=START + timedelta(minutes=minutes), faults=faults))


def finish(claim: Claim, dice: random.Random, *, ended: datetime, faults: float = 0) -> FinishedMatch:
    """Play a claimed match at random."""
    spec = claim.spec
    return FinishedMatch(
        match=spec.match,
        attempt=spec.attempt,
        reports=tuple(SeatReport(image=image, runtime="docker/runc", limits=LIMITS) for image in spec.seats),
        games=tuple(_game(claim, deal, dice, faults) for deal in range(len(spec.seeds))),
        ended=ended,
    )


def play(rules: Rules, seed: str, dice: random.Random, *, faults: float = 0) -> tuple[State, GameRecord]:
    """Play a game at random, and return its states and its record."""
    state = new_game(rules, shuffled_deck(rules, bytes.fromhex(seed)))
    steps = []
    counts = [0] * rules.players
    while not state.over:
        moves: list[Move | None] = [None] * rules.players
        decisions: list[Decision | None] = [None] * rules.players
        for seat in seats_to_move(state):
            move = dice.choice(view(state, seat).legal_moves())
            decision = _decision(move, dice, faults, taken_over=counts[seat] == FAULTS_TO_TAKE_OVER)
            counts[seat] += decision.fault is not None
            moves[seat], decisions[seat] = move, decision
        state = apply(state, moves)
        steps.append(tuple(decisions))
    return state, GameRecord(seed=seed, steps=tuple(steps))


def _decision(move: Move, dice: random.Random, faults: float, *, taken_over: bool) -> Decision:
    fails = dice.random() < faults and not taken_over
    fault = dice.choice((Fault.TIMEOUT, Fault.ILLEGAL)) if fails else None
    return Decision(
        cards=tuple(card.label for card in move.cards),
        dummy=move.dummy.label if move.dummy else None,
        millis=None if fault is Fault.TIMEOUT or taken_over else round(dice.expovariate(0.1), 3),
        fault=fault,
        standin=fails or taken_over,
    )


def _game(claim: Claim, deal: int, dice: random.Random, faults: float) -> FinishedGame:
    rules = claim.spec.rules
    _, record = play(rules, claim.spec.seeds[deal], dice, faults=faults)
    return rated(claim, deal, played_again(rules, record).states, record)


def rated(
    claim: Claim,
    deal: int,
    states: Sequence[State],
    record: GameRecord,
    *,
    places: tuple[int, ...] | None = None,
) -> FinishedGame:
    """Return the result of a claimed game, from all of its states and its record.

    The replay has the game's own places, even if ``places`` differ.
    """
    spec, state = claim.spec, states[-1]
    result = state.result
    assert result is not None
    rows = list(_fault_rows(record))
    moments = taken_over(rows, spec.rules.players)
    right = places_with_faults(result.places, moments)
    places = places or right
    game = f"{spec.match}-{deal}"
    replay = build(
        game=game,
        seed=record.seed,
        state=state,
        seats=[Seat(bot=seat.bot, version=seat.number, author=seat.author) for seat in claim.seated(deal)],
        places=right,
        steps=record.steps,
    )
    players = range(spec.rules.players)
    lost = tuple(moment is not None for moment in moments)
    return FinishedGame(
        id=game,
        bots=spec.bots(deal),
        record=record,
        replay=encode(replay).decode(),
        points=result.totals[: spec.rules.players],
        after_two=state.scores_after(2)[: spec.rules.players],
        puddings=result.puddings[: spec.rules.players],
        places=places,
        faults=tuple(sum(row[seat] is not None for row in rows) for seat in players),
        taken_over=lost,
        cards=count_game(states, record.steps, places, lost),
    )


def _fault_rows(record: GameRecord) -> Iterator[tuple[Fault | None, ...]]:
    for step in record.steps:
        yield tuple(decision.fault if decision else None for decision in step)
