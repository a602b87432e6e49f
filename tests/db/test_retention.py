"""Tests of the removal of old logs and replays, and of the data that remains."""

import random
from dataclasses import replace
from datetime import timedelta

import pytest
from pydantic import ValidationError

from arena.db.audit import NewAuditEntry
from arena.db.store import Store
from arena.ops.retention import remove_old, remove_visits
from arena.platform.settings import Settings
from arena.protocol.states import BotState
from tests.builders import fill, finish
from tests.db.builders import (
    ENTRY,
    add_account,
    add_bot,
    add_matches,
    bot_of,
    claim_one,
    claimed,
    present,
    put_aside,
)
from tests.db.builders import START as FIRST
from tests.db.test_challenge_rows import challenge
from tests.db.test_submissions import submit
from tests.kinds import on_both

LATER = FIRST + timedelta(days=9)


def played(store: Store, set_: str, bots: tuple[int, ...], *, day: int) -> list[str]:
    """Play a match of two games with notes and stderr, and return the games' ids."""
    add_matches(store, set_, bots, matches=1)
    return finish_next(store, day=day)


def finish_next(store: Store, *, day: int) -> list[str]:
    """Play the next match with notes and stderr, and return its games' ids."""
    claim = claim_one(store)
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
    assert store.results.record(replace(result, games=noted, reports=reports))
    return [each.id for each in result.games]


def said(store: Store, game_: str) -> tuple[set[str | None], set[str]] | None:
    """Return the notes and the stderr of a game, or None if its logs are gone."""
    log = present(store.logs.find(game_))
    if not log.kept:
        return None
    notes = {decision.note for step in log.record.steps for decision in step if decision}
    return notes, {seat.report.stderr for seat in log.seats}


def results(store: Store) -> list[object]:
    """Return the data that must not change."""
    return [
        *(store.ratings.changes(players, 0).lines for players in (0, 2, 3, 4)),
        store.games.newest(),
        store.cards.find(),
        store.activity.current(LATER),
        [store.histories.curve(bot.name) for bot in store.bots.listed()],
    ]


@on_both
def test_only_old_logs_are_removed(store: Store) -> None:
    """Of the matches that ended before the limit, the oldest lose their logs first. Replays stay."""
    bots = tuple(add_bot(store, name) for name in "ab")
    old, older, young = (
        played(store, name, bots, day=day) for name, day in (("s1", 2), ("s2", 1), ("s3", 5))
    )
    before, pages = results(store), [store.games.find(each) for each in (*old, *older, *young)]
    limit = FIRST + timedelta(days=4)
    assert store.logs.remove_logs(limit, 1) == 1
    assert [said(store, each[0]) for each in (old, older)] == [({"hm"}, {"printed"}), None]
    assert store.logs.remove_logs(limit, 9) == 1
    assert store.logs.remove_logs(limit, 9) == 0
    assert [said(store, each) for each in (*old, *older)] == [None] * 4
    assert said(store, young[1]) == ({"hm"}, {"printed"})
    assert results(store) == before
    assert [store.games.find(each) for each in (*old, *older, *young)] == pages
    assert (store.ladder.rebuild().differing, store.cards.rebuild().differing) == (0, 0)


def test_a_game_without_its_replay_counts_as_before(store: Store) -> None:
    """Ratings, statistics and lists stay, even after a rebuild or a disqualification and reinstatement."""
    fill(store)
    bots = tuple(add_bot(store, name, author=name) for name in ("cheat", "b"))
    played(store, "young", bots, day=400)
    before, totals = results(store), store.activity.totals()
    removed = 0
    while batch := store.logs.remove_replays(FIRST + timedelta(days=390), 2):
        assert batch <= 2
        removed += batch
    assert removed == 6
    assert (results(store), store.activity.totals()) == (before, totals)
    for each in store.games.newest():
        page = present(store.games.find(each.game))
        assert (page.replay == "") == (not each.game.startswith("young"))
        assert len(page.seats) == each.players
    assert (store.ladder.rebuild().differing, store.cards.rebuild().differing) == (0, 0)
    for bot in ("cheat", "<b>bold</b>"):
        store.bot_states.disqualify(bot, "why", LATER, ENTRY)
        assert results(store) != before
        assert store.cards.rebuild().differing == 0
        store.bot_states.reinstate(bot, LATER, ENTRY)
    assert store.cards.find() == before[5]
    assert {bot.state for bot in store.bots.listed()} == {BotState.ACTIVE}
    assert store.histories.records("random", 9) == ()
    assert len(store.histories.records("cheat", 9)) == 2


def test_a_match_that_waited_in_quarantine_is_removed_like_others(store: Store) -> None:
    """The time in quarantine doesn't count. The retention periods begin once the match has been played."""
    add_matches(store, "s", tuple(add_bot(store, name) for name in "ab"), matches=1)
    put_aside(store)
    assert (store.logs.remove_logs(LATER, 9), store.logs.remove_replays(LATER, 9)) == (1, 1)
    store.queue.release("s-0", ENTRY)
    game, _ = finish_next(store, day=20)
    assert said(store, game) == ({"hm"}, {"printed"})
    later = FIRST + timedelta(days=30)
    assert (store.logs.remove_logs(later, 9), store.logs.remove_replays(later, 9)) == (1, 1)
    assert said(store, game) is None
    assert present(store.games.find(game)).replay == ""


@on_both
def test_unrated_games_keep_their_replays(store: Store) -> None:
    """Unrated games keep their replays. A submission in progress keeps its logs too."""
    ben = add_account(store, "ben")
    mine, other = bot_of(store, "mine", ben), add_bot(store, "other")
    store.challenges.add(challenge("c", ben, (mine, other)), max_a_day=9)
    submit(store, None, mine, bot="third")
    qualification, *challenges = [finish_next(store, day=1)[0] for _ in range(3)]
    shown, known = store.submissions.replay("u1", qualification), store.challenges.newest(ben.id)
    assert store.logs.remove_replays(LATER, 9) == 0
    assert store.logs.remove_logs(LATER, 9) == 2
    assert said(store, qualification) == ({"hm"}, {"printed"})
    assert [said(store, each) for each in challenges] == [None, None]
    assert (store.submissions.replay("u1", qualification), store.challenges.newest(ben.id)) == (shown, known)


def test_visits_are_kept_as_long_as_the_settings_say(store: Store) -> None:
    """Visits are kept for 30 days by default. 0 means forever."""
    store.accounts.record(NewAuditEntry(at=LATER, who="ann", what="log-in", address=""))
    month = LATER + timedelta(days=30)
    assert remove_visits(store, Settings(), month) == 0
    assert remove_visits(store, Settings(keep_visits_days=0), month + timedelta(days=999)) == 0
    assert remove_visits(store, Settings(), month + timedelta(seconds=1)) == 1


def test_logs_and_replays_are_kept_as_long_as_the_settings_say(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The settings are in days. Nothing is removed if they are 0 or unset."""
    bots = tuple(add_bot(store, name) for name in "ab")
    monkeypatch.setattr("arena.ops.retention.BATCH", 2)
    for number in range(10):
        played(store, f"s{number}", bots, day=number % 5)
    assert remove_old(store, Settings(keep_logs_days=0), LATER) == (0, 0)
    assert remove_old(store, Settings(keep_logs_days=7, keep_replays_days=8), LATER) == (2, 2)
    assert remove_old(store, Settings(keep_logs_days=1), LATER) == (6, 0)
    assert remove_old(store, Settings(), LATER + timedelta(days=365)) == (0, 0)
    assert remove_old(store, Settings(keep_logs_days=36500, keep_replays_days=36500), LATER) == (0, 0)
    for days in (36501, -1):
        with pytest.raises(ValidationError):
            Settings(keep_replays_days=days)


def test_a_match_that_runs_has_nothing_to_remove(store: Store) -> None:
    """A running match's logs aren't removed, however late it is."""
    claimed(store, [add_bot(store, name) for name in "ab"])
    assert store.logs.remove_logs(LATER + timedelta(days=999), 9) == 0
