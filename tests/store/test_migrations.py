"""Older databases, with something in them, on both kinds of database."""

import random
from datetime import timedelta

from alembic import command
from sqlalchemy import text

from arena.highlights import HighlightKind
from arena.store import (
    AccountQuota,
    BotState,
    KnownAccount,
    LadderChange,
    NewAccount,
    NewAuditEntry,
    Role,
    Store,
    open_store,
)
from arena.store.database import Database
from arena.store.migrate import alembic_config
from tests.store.builders import START, add_bot, claimed, finished, new_set
from tests.store.test_challenge_rows import bot_of, challenge
from tests.store.test_submissions import PLENTY, claim, game, new, qualify

ENTRY = NewAuditEntry(at=START, who="terminal:root", what="test")


def downgrade(url: str, revision: str) -> None:
    """Bring a database to what an older program needs."""
    database = Database(url)
    with database.write() as connection:
        command.downgrade(alembic_config(connection), revision)
    database.close()


def fill(store: Store) -> KnownAccount:
    """Let bots play, a submission qualify, somebody challenge somebody, and leave a match to be played.

    Returns:
        Whose all that is.
    """
    ben = store.people.register(NewAccount(name="ben", password="hash", role=Role.OPERATOR, created=START))  # noqa: S106 - no password
    mine = bot_of(store, "mine", ben)
    others = [add_bot(store, name) for name in ("benched", "retired", "rolled-back")]
    assert store.writes.record(finished(claimed(store, (mine, *others)), [(1, 2, 3, 4)] * 2))
    add_bot(store, "rolled-back", source="sha256:2")
    store.desk.add(new(bot="third", account=ben.id, author="ben"), PLENTY)
    qualify(store)
    store.desk.add_game(game("q", "u1", (None, mine)), played=0)
    store.challenges.add(challenge("c", ben, (mine, others[0])), most_a_day=9)
    for _ in range(2):
        assert store.writes.record(finished(claim(store), [(1, 2)]))
    store.writes.add_set(new_set("t", others, matches=1))
    assert [len(each.games) for each in store.challenges.newest(ben.id)] == [1]
    return ben


def change(store: Store, ben: KnownAccount) -> None:
    """Change all that there was no place for before."""
    store.bots.play_version("rolled-back", 1, START)
    store.bots.bench("benched", "why", START, ENTRY)
    store.bots.retire("retired", START)
    store.bots.note_gone((), START)
    store.people.set_quota(ben.id, AccountQuota(bots=3), ENTRY)
    store.writes.change_ladder(LadderChange(paused=True, players=(2,), deals=1), ENTRY)


def test_states_quotas_and_challenges_come_and_go(url: str) -> None:
    """Down to before them: what was played and sent stays, the newest versions play, challenges are gone.

    Up again, all bots play, nobody has a quota of their own, and the ladder is as it was at first.
    """
    store = open_store(url)
    ben = fill(store)
    kept = (store.reads.games(), store.desk.newest(), store.desk.games("u1"), store.people.accounts())
    board, ladder = store.reads.leaderboard(), store.reads.ladder()
    change(store, ben)
    store.close()

    downgrade(url, "0004")
    database = Database(url)
    with database.read() as connection:
        kinds = connection.execute(text("SELECT DISTINCT kind FROM match ORDER BY kind")).scalars().all()
        assert kinds == ["qualification", "rated"]
        assert connection.execute(text("SELECT count(*) FROM match_set")).scalar_one() == 3
        assert connection.execute(text("SELECT count(*) FROM unrated_game")).scalar_one() == 1
    database.close()

    again = open_store(url)
    there = (again.reads.games(), again.desk.newest(), again.desk.games("u1"), again.people.accounts())
    assert there == kept
    assert (again.reads.leaderboard(), again.reads.ladder()) == (board, ladder)
    bots = again.bots.listed()
    assert {(bot.state, bot.reason, bot.since) for bot in bots} == {(BotState.ACTIVE, None, None)}
    assert {bot.name: bot.playing for bot in bots}["rolled-back"] == 2
    assert all(version.available for version in again.bots.versions("mine"))
    assert again.people.quota(ben.id) == AccountQuota()
    assert again.challenges.newest(ben.id) == ()
    assert again.writes.rebuild_ratings().differing == 0
    assert again.writes.record(finished(claim(again), [(1, 2, 3)]))
    change(again, ben)
    again.close()


def test_games_of_a_disqualified_bot_count_for_an_older_program(url: str) -> None:
    """It knows of no disqualification. Its ratings are mended by the rebuild that every version has."""
    store = open_store(url)
    versions = [add_bot(store, name, author=name) for name in ("cheat", "b", "c")]
    assert store.writes.record(finished(claimed(store, versions), [(1, 2, 3)] * 2))
    board = store.reads.leaderboard()
    store.bots.disqualify("cheat", "why", START + timedelta(hours=1), ENTRY)
    store.close()
    downgrade(url, "0004")
    again = open_store(url)
    assert again.reads.leaderboard() != board
    assert again.writes.rebuild_ratings().ratings == 6
    assert again.reads.leaderboard() == board
    again.close()


def test_what_a_leaderboard_shows_is_worked_out_for_games_that_there_were(url: str) -> None:
    """Down and up again, and everything is as if it had always been kept."""
    store = open_store(url)
    versions = [add_bot(store, name) for name in ("strong", "weak", "other")]
    dice = random.Random(2)  # noqa: S311 - a test's dice
    for number in range(12):
        seated = dice.sample(versions, dice.randint(2, 3))
        claim = claimed(store, seated, id_=f"s{number}", deals=8)
        places = [tuple(range(1, len(seated) + 1))] * 7 + [tuple(range(len(seated), 0, -1))]
        faults = [dice.choice((0, 0, 1, 3)) for _ in seated]
        assert store.writes.record(finished(claim, places, minute=number * 999, faults=faults))
    add_bot(store, "new")

    def shown() -> list[object]:
        lists = [store.reads.board_changes(players, 0).lines for players in (0, 2, 3, 4, 5)]
        return [*lists, store.reads.activity(START)]

    before = shown()
    store.close()
    downgrade(url, "0005")
    store = open_store(url)
    assert shown() == before
    assert store.writes.rebuild_ratings().differing == 0
    assert any(line and line.entry.times for line in store.reads.board_changes(0, 0).lines.values())
    assert any(each.kind is HighlightKind.UPSET for each in store.reads.activity(START).remarkable)
    store.close()
