"""Tests of matchmaking."""

import random
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.ladder.matchmaking import (
    Candidate,
    TooFewBots,
    deal_count,
    draw_seatings,
    draw_table,
    has_newcomer,
    rotations,
    round_of_tables,
)
from arena.rules import PLAYER_COUNTS

START = datetime(2026, 1, 1, tzinfo=UTC)


def candidate(
    version: int,
    *,
    mean: float = 25.0,
    deviation: float = 1.0,
    author: str | None = None,
    games: int = 40,
) -> Candidate:
    """Return a bot that has played ``games`` games at every table size."""
    return Candidate(
        version=version,
        bot=f"bot-{version}",
        author=author or f"author-{version}",
        house=author == "house",
        mean=mean,
        deviation=deviation,
        last_played=START if games else None,
        games=dict.fromkeys(PLAYER_COUNTS, games),
        queued=dict.fromkeys(PLAYER_COUNTS, 0),
    )


def dice(seed: int) -> random.Random:
    """Return a random generator with this seed."""
    return random.Random(seed)  # noqa: S311 - a test's dice


def after(candidates: list[Candidate], order: tuple[int, ...], at: datetime) -> list[Candidate]:
    """Return the candidates after a match of six deals."""
    players = len(order)
    return [
        replace(c, last_played=at, games={**c.games, players: c.games[players] + 6})
        if c.version in order
        else c
        for c in candidates
    ]


CANDIDATES = st.lists(
    st.builds(
        candidate,
        st.integers(1, 99),
        mean=st.floats(0, 50),
        author=st.sampled_from(["ann", "ben", "cem", "dee", "eve", "house"]),
        games=st.sampled_from([0, 3, 100]),
    ),
    min_size=2,
    max_size=12,
    unique_by=lambda c: c.version,
)
SEEDS = st.integers(0, 2**32)


@given(st.integers(2, 5), st.integers(1, 24), SEEDS)
def test_every_deal_has_its_own_seats(players: int, games: int, seed: int) -> None:
    """In each game, every bot has one seat."""
    drawn = draw_seatings(players, games, dice(seed))
    assert len(drawn) == games
    assert all(sorted(each) == list(range(players)) for each in drawn)


def test_every_seating_is_equally_likely() -> None:
    """Over many games, the six orders of three are about equally frequent, and any can follow any other."""
    drawn = draw_seatings(3, 6000, dice(1))
    assert len(Counter(drawn)) == 6
    assert all(900 < count < 1100 for count in Counter(drawn).values())
    assert len(Counter(pairwise(drawn))) == 36


@given(st.integers(2, 5), SEEDS)
def test_rotations_seat_every_version_once_on_every_seat(players: int, seed: int) -> None:
    """Each bot of a challenge plays the same deals from the same seats."""
    order = draw_table([candidate(version) for version in range(8)], [players], dice(seed))
    matches = rotations(order)
    assert len(matches) == players
    assert matches[0] == order
    for match, following in pairwise(matches):
        assert following == (match[-1], *match[:-1])
    for seat in range(players):
        assert sorted(match[seat] for match in matches) == sorted(order)


@given(CANDIDATES, st.integers(2, 5), SEEDS)
def test_a_table_is_filled_whenever_it_can_be(candidates: list[Candidate], players: int, seed: int) -> None:
    """No bot has two seats, nor does any author except the house. Only impossible tables are refused."""
    if not _fits(candidates, players):
        with pytest.raises(TooFewBots, match=f"table of {players}"):
            draw_table(candidates, [players], dice(seed))
        return
    order = draw_table(candidates, [players], dice(seed))
    assert len(set(order)) == players
    authors = [c.author for c in candidates if c.version in order and not c.house]
    assert len(set(authors)) == len(authors)


@pytest.mark.parametrize("players", PLAYER_COUNTS)
def test_no_bot_waits_forever(players: int) -> None:
    """Among n bots with very different skills, each plays within any n matches."""
    candidates = [candidate(version, mean=version * 10.0) for version in range(9)]
    rng = dice(players)
    waited = Counter[int]()
    for minute in range(1, 200):
        order = draw_table(candidates, [players], rng)
        candidates = after(candidates, order, START + timedelta(minutes=minute))
        waited.update(c.version for c in candidates)
        for version in order:
            waited[version] = 0
        assert max(waited.values()) < len(candidates)


def test_a_new_version_is_next() -> None:
    """A version without games is drawn before all others."""
    candidates = [candidate(version) for version in range(20)] + [candidate(20, games=0)]
    assert all(20 in draw_table(candidates, [2], dice(seed)) for seed in range(50))


def test_a_newcomer_soon_has_fifty_games() -> None:
    """Among a hundred versions, a new one has 50 games after at most 20 consecutive matches."""
    candidates = [*(candidate(version) for version in range(99)), candidate(99, games=0)]
    rng = dice(1)
    for minute in range(1, 21):
        order = draw_table(candidates, PLAYER_COUNTS, rng)
        candidates = after(candidates, order, START + timedelta(minutes=minute))
    assert candidates[99].played >= 50


def test_opponents_have_waited_long() -> None:
    """Opponents of equal skill come from the third of the ladder that has waited longest."""
    candidates = [
        replace(candidate(version), last_played=START + timedelta(minutes=version)) for version in range(60)
    ]
    for seed in range(50):
        assert max(draw_table(candidates, [5], dice(seed))) < 24


def test_a_version_whose_matches_are_queued_is_not_waiting() -> None:
    """In matchmaking, queued games count as played."""
    queued = replace(candidate(20, games=0), queued={2: 12, 3: 0, 4: 0, 5: 0})
    candidates = [*(candidate(version) for version in range(20)), queued]
    seen = sum(20 in draw_table(candidates, [2], dice(seed)) for seed in range(200))
    assert seen < 20


def test_opponents_are_near_in_skill() -> None:
    """A near opponent is far more likely than a distant one, which is still drawn sometimes."""
    first = replace(candidate(0), last_played=START - timedelta(days=1))
    candidates = [first, candidate(1, mean=26.0), candidate(2, mean=60.0)]
    met = Counter(
        version for seed in range(500) for version in draw_table(candidates, [2], dice(seed)) if version
    )
    assert met[1] > 5 * met[2] > 0


def test_opponents_are_drawn_widely_while_a_rating_is_uncertain() -> None:
    """At first, distant opponents are nearly as likely as near ones. Later they are rare."""

    def distant(deviation: float) -> int:
        first = replace(candidate(0, deviation=deviation), last_played=START - timedelta(days=1))
        candidates = [first, candidate(1, mean=26.0), candidate(2, mean=35.0)]
        return sum(2 in draw_table(candidates, [2], dice(seed)) for seed in range(1000))

    new, middling, settled = distant(25 / 3), distant(3.0), distant(0.9)
    assert 350 < new < 500
    assert settled < middling < new
    assert 0 < settled < 150


def test_opponents_come_from_above_and_below() -> None:
    """At a table of five, two opponents of the longest-waiting version are better, and two are worse."""
    first = replace(candidate(0, mean=25.0), last_played=START - timedelta(days=1))
    others = [candidate(version, mean=20.0 + version) for version in (1, 2, 3, 4, 6, 7, 8, 9)]
    for seed in range(100):
        order = draw_table([first, *others], [5], dice(seed))
        assert sum(version > 5 for version in order) == 2


def test_the_order_of_a_table_reveals_nothing() -> None:
    """The order of the bots is random, so it doesn't reveal which has waited longest."""
    candidates = [candidate(version) for version in range(3)]
    orders = {draw_table(candidates, [3], dice(seed)) for seed in range(100)}
    assert len(orders) == 6


def test_the_number_of_players_suits_the_bot_that_is_drawn_first() -> None:
    """It is the one that this bot has played least, even if another bot has waited equally long."""
    tied = [
        replace(
            candidate(players, author="ann"),
            last_played=None,
            games={**dict.fromkeys(PLAYER_COUNTS, 40), players: 20},
        )
        for players in (2, 5)
    ]
    candidates = [*tied, *(candidate(version) for version in range(10, 20))]
    sizes = set()
    for seed in range(50):
        order = draw_table(candidates, PLAYER_COUNTS, dice(seed))
        assert len(order) in order
        sizes.add(len(order))
    assert sizes == {2, 5}


def test_numbers_of_players_are_balanced() -> None:
    """After many matches, every version has played about equally often at each table size."""
    candidates = [candidate(version, games=0) for version in range(8)]
    rng = dice(1)
    for minute in range(1, 400):
        order = draw_table(candidates, PLAYER_COUNTS, rng)
        candidates = after(candidates, order, START + timedelta(minutes=minute))
    for c in candidates:
        assert max(c.games.values()) < 1.5 * min(c.games.values())


def test_tables_that_can_not_be_filled_are_not_proposed() -> None:
    """With three bots, the next match has two or three players. With one bot, there is no match."""
    rng = dice(1)
    candidates = [candidate(version, games=0) for version in range(3)]
    proposed = set()
    for minute in range(1, 10):
        order = draw_table(candidates, PLAYER_COUNTS, rng)
        proposed.add(len(order))
        candidates = after(candidates, order, START + timedelta(minutes=minute))
    assert proposed == {2, 3}
    with pytest.raises(TooFewBots):
        draw_table(candidates[:1], PLAYER_COUNTS, rng)


@given(CANDIDATES, SEEDS)
def test_a_round_seats_every_bot_at_every_number_of_players(candidates: list[Candidate], seed: int) -> None:
    """Every bot plays at least once at each table size. Only the house has several bots per table."""
    counts = [players for players in PLAYER_COUNTS if _fits(candidates, players)]
    tables = round_of_tables(candidates, counts, dice(seed))
    assert {(version, len(order)) for order in tables for version in order} == {
        (c.version, players) for c in candidates for players in counts
    }
    by_version = {c.version: c for c in candidates}
    for order in tables:
        authors = [by_version[version].author for version in order if not by_version[version].house]
        assert len(set(order)) == len(order)
        assert len(set(authors)) == len(authors)


def _fits(candidates: list[Candidate], players: int) -> bool:
    house = sum(c.house for c in candidates)
    return house + len({c.author for c in candidates if not c.house}) >= players


def test_a_round_of_five_house_bots_is_short() -> None:
    """Five house bots need three pairs, two tables of three, two of four and one of five."""
    tables = round_of_tables(
        [candidate(version, author="house") for version in range(5)], PLAYER_COUNTS, dice(3)
    )
    assert Counter(map(len, tables)) == {2: 3, 3: 2, 4: 2, 5: 1}


def test_a_round_needs_enough_bots() -> None:
    """A round is refused if one of its tables can't be filled."""
    with pytest.raises(TooFewBots, match="table of 5"):
        round_of_tables([candidate(1), candidate(2)], [2, 5], dice(1))


def test_a_newcomer_has_no_rated_game() -> None:
    """A table has a newcomer only if one of its bots has no rated games."""
    candidates = [candidate(1), candidate(2), candidate(3, games=0)]
    assert not has_newcomer(candidates, (1, 2))
    assert has_newcomer(candidates, (1, 3))


@pytest.mark.parametrize(
    ("table", "micros", "expected"),
    [
        ((1, 2), {}, 12),  # no times known
        ((1, 2), {1: 5_000, 2: 1_000}, 12),  # 0.18 s per game
        ((1, 2), {1: 54_000, 2: 1_000}, 12),  # 1.65 s per game: 12 deals take 19.8 s
        ((1, 2), {1: 56_000, 2: 1_000}, 11),  # 1.71 s per game
        ((1, 2), {1: 500_000, 2: 500_000}, 1),  # 30 s per game
        ((1, 2, 3, 4, 5), {1: 100_000}, 9),  # 2.1 s per game
    ],
)
def test_a_slow_table_has_fewer_deals(table: tuple[int, ...], micros: dict[int, int], expected: int) -> None:
    """A match's decisions take at most about 20 s in total, unless a single deal takes longer."""
    assert deal_count(table, 12, micros) == expected
    assert deal_count(table, 1, micros) == 1
