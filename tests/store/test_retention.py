"""Logs and replays that are removed, and all that stays, on both kinds of database."""

import random
from dataclasses import replace
from datetime import timedelta

import pytest
from pydantic import ValidationError

from arena.match import RuntimeName
from arena.retention import remove_old
from arena.settings import Settings
from arena.store import BotState, NewAuditEntry, Store
from tests.builders import fill, finish
from tests.store.builders import START as FIRST
from tests.store.builders import add_bot, claimed, new_set
from tests.store.test_challenge_rows import bot_of, challenge, person
from tests.store.test_submissions import PLENTY, game, new, qualify

LATER = FIRST + timedelta(days=9)
ENTRY = NewAuditEntry(at=FIRST, who="terminal:root", what="test")


def played(store: Store, set_: str, bots: tuple[int, ...], *, day: int) -> list[str]:
    """Play a match of two games with notes and stderr in it, and return their ids."""
    store.writes.add_set(new_set(set_, bots, matches=1))
    return finish_next(store, day=day)


def finish_next(store: Store, *, day: int) -> list[str]:
    """Play what is next, with notes and stderr in it, and return the games' ids."""
    claim = store.leases.claim("here", "worker", FIRST, RuntimeName.DOCKER)
    assert claim is not None
    ended = FIRST + timedelta(days=day)
    result = finish(claim, random.Random(claim.spec.match), ended=ended, faults=0.05)  # noqa: S311 - a test's dice
    noted = tuple(
        replace(
            each,
            record=replace(
                each.record,
                steps=tuple(
                    tuple(decision and replace(decision, note="hm") for decision in step)
                    for step in each.record.steps
                ),
            ),
        )
        for each in result.games
    )
    reports = tuple(replace(report, stderr="printed") for report in result.reports)
    assert store.writes.record(replace(result, games=noted, reports=reports))
    return [each.id for each in result.games]


def said(store: Store, game_: str) -> tuple[set[str | None], set[str]] | None:
    """Return which notes and what stderr there is of a game; None where its logs are gone."""
    log = store.reads.game_log(game_)
    assert log is not None
    if not log.kept:
        return None
    notes = {decision.note for step in log.record.steps for decision in step if decision}
    return notes, {seat.report.stderr for seat in log.seats}


def results(store: Store) -> list[object]:
    """Return what must never change."""
    return [
        *(store.reads.board_changes(players, 0).lines for players in (0, 2, 3, 4)),
        store.reads.games(),
        store.reads.cards(),
        store.reads.activity(LATER),
        [store.histories.curve(bot.name) for bot in store.bots.listed()],
    ]


def test_logs_go_when_they_are_old_and_nothing_else_does(store: Store) -> None:
    """Of the matches that ended before, those first that ended first; replays stay as they are."""
    bots = tuple(add_bot(store, name) for name in "ab")
    old, older, young = (
        played(store, name, bots, day=day) for name, day in (("s1", 2), ("s2", 1), ("s3", 5))
    )
    before, pages = results(store), [store.reads.game(each) for each in (*old, *older, *young)]
    limit = FIRST + timedelta(days=4)
    assert store.retention.remove_logs(limit, 1) == 1
    assert [said(store, each[0]) for each in (old, older)] == [({"hm"}, {"printed"}), None]
    assert store.retention.remove_logs(limit, 9) == 1
    assert store.retention.remove_logs(limit, 9) == 0
    assert [said(store, each) for each in (*old, *older)] == [None] * 4
    assert said(store, young[1]) == ({"hm"}, {"printed"})
    assert results(store) == before
    assert [store.reads.game(each) for each in (*old, *older, *young)] == pages
    assert (store.writes.rebuild_ratings().differing, store.writes.rebuild_cards().differing) == (0, 0)


def test_a_game_without_its_replay_counts_as_before(store: Store) -> None:
    """In ratings, statistics and lists; also counted anew, with a bot less, and with it again."""
    fill(store)
    bots = tuple(add_bot(store, name, author=name) for name in ("cheat", "b"))
    played(store, "young", bots, day=400)
    before, totals = results(store), store.reads.totals()
    removed = 0
    while batch := store.retention.remove_replays(FIRST + timedelta(days=390), 2):
        assert batch <= 2
        removed += batch
    assert removed == 6
    assert (results(store), store.reads.totals()) == (before, totals)
    for each in store.reads.games():
        page = store.reads.game(each.game)
        assert page is not None
        assert (page.replay == "") == (not each.game.startswith("young"))
        assert len(page.seats) == each.players
    assert (store.writes.rebuild_ratings().differing, store.writes.rebuild_cards().differing) == (0, 0)
    for bot in ("cheat", "<b>bold</b>"):
        store.bots.disqualify(bot, "why", LATER, ENTRY)
        assert results(store) != before
        assert store.writes.rebuild_cards().differing == 0
        store.bots.reinstate(bot, LATER, ENTRY)
    assert store.reads.cards() == before[5]
    assert {bot.state for bot in store.bots.listed()} == {BotState.ACTIVE}
    assert store.histories.records("random", 9) == ()
    assert len(store.histories.records("cheat", 9)) == 2


def test_statistics_that_never_counted_a_game_count_it_without_its_replay(store: Store) -> None:
    """The older games of an arena that was there before its statistics are not lost to them."""
    fill(store)
    before = store.reads.cards()
    store.retention.remove_replays(FIRST + timedelta(days=390), 99)
    counted = store.writes.rebuild_cards()
    assert (counted.differing, counted.games) == (0, sum(each.games for each in before.tally.games.values()))


def test_what_is_not_rated_keeps_its_replays(store: Store) -> None:
    """And what a submission on its way is judged by stays whole."""
    ben = person(store, "ben")
    mine, other = bot_of(store, "mine", ben), add_bot(store, "other")
    store.challenges.add(challenge("c", ben, (mine, other)), most_a_day=9)
    store.desk.add(new(bot="third"), PLENTY)
    qualify(store)
    store.desk.add_game(game("q", "u1", (None, mine)), played=0)
    qualification, *challenges = [finish_next(store, day=1)[0] for _ in range(3)]
    shown, known = store.desk.replay("u1", qualification), store.challenges.newest(ben.id)
    assert store.retention.remove_replays(LATER, 9) == 0
    assert store.retention.remove_logs(LATER, 9) == 2
    assert said(store, qualification) == ({"hm"}, {"printed"})
    assert [said(store, each) for each in challenges] == [None, None]
    assert (store.desk.replay("u1", qualification), store.challenges.newest(ben.id)) == (shown, known)


def test_the_settings_say_for_how_long(store: Store) -> None:
    """Days; 0 or nothing is for ever."""
    bots = tuple(add_bot(store, name) for name in "ab")
    for number in range(25):
        played(store, f"s{number}", bots, day=number % 5)
    assert remove_old(store, Settings(keep_logs_days=0), LATER) == (0, 0)
    assert remove_old(store, Settings.model_validate({"keep_logs_days": ""}), LATER) == (0, 0)
    assert remove_old(store, Settings(keep_logs_days=7, keep_replays_days=8), LATER) == (5, 5)
    assert remove_old(store, Settings(keep_logs_days=1), LATER) == (15, 0)
    assert remove_old(store, Settings(), LATER + timedelta(days=365)) == (0, 0)
    assert remove_old(store, Settings(keep_logs_days=36500, keep_replays_days=36500), LATER) == (0, 0)
    for days in (36501, -1):
        with pytest.raises(ValidationError):
            Settings(keep_replays_days=days)


def test_a_match_that_runs_has_nothing_to_remove(store: Store) -> None:
    """Nor one that waits."""
    claimed(store, [add_bot(store, name) for name in "ab"])
    assert store.retention.remove_logs(LATER + timedelta(days=999), 9) == 0
