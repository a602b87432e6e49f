"""Tests of ``arena admin`` on games, statistics and submissions."""

from contextlib import closing

from sqlalchemy import text

from arena.db.database import Database
from arena.db.quotas import Quota
from arena.protocol.submissions import Cause, CauseKind, Stage
from tests.builders import fill
from tests.cli.operator import Operator
from tests.db.builders import START, add_bot, claimed, finished
from tests.db.test_submissions import new

QUOTA = Quota(submissions_a_day=9, bots=9, open_submissions=9)
DEALS = 24
MATCHES = 5


def test_beta_is_fitted_and_nothing_changes(empty: Operator) -> None:
    """The command prints a line per table size, or says that there are too few games."""
    assert "too few rated games" in empty.is_refused("fit-beta")
    with empty.store() as store:
        bots = [add_bot(store, "one"), add_bot(store, "two", author="bob")]
        for match in range(MATCHES):
            claim = claimed(store, bots, id_=f"m{match}", deals=DEALS)
            places = [(1, 2) if deal % 4 else (2, 1) for deal in range(DEALS)]
            assert store.results.record(finished(claim, places, minute=match + 1))
        before = store.ratings.standings()
        games = store.ratings.predicted_games(1000)
        assert len(games) == DEALS * MATCHES
        assert {rating.mean for rating in games[0].ratings} == {25.0}
        assert games[-3:] == store.ratings.predicted_games(3)
    *_, line = empty.does("fit-beta").strip().splitlines()
    assert line.split()[:3] == ["2", str(DEALS * MATCHES), "10.42"]
    with empty.store() as store:
        assert store.ratings.standings() == before


def test_odd_results_are_listed(empty: Operator) -> None:
    """A bot that beats all but one is listed with that one, and so are the two bots' authors."""
    assert empty.does("odd-results") == "No odd results in the latest 0 rated games.\n"
    with empty.store() as store:
        strong, other, friend = (
            add_bot(store, name, author=f"of-{name}") for name in ("strong", "other", "friend")
        )
        for number in range(6):
            for first, second, places in (
                (strong, other, (1, 2)),
                (strong, friend, (2, 1)),
                (other, friend, (1, 2)),
            ):
                claim = claimed(store, [first, second], id_=f"m{number}-{first}-{second}", deals=DEALS)
                assert store.results.record(finished(claim, [places] * DEALS, minute=number + 1))
    rows = [line.split() for line in empty.does("odd-results").splitlines()]
    assert " ".join(rows[0]) == "pair ahead behind games observed expected standard errors p-value"
    assert {row[0] for row in rows[1:]} == {"bots", "authors"}
    assert any(row[:4] == ["bots", "friend", "strong", "144"] and row[4] == "100%" for row in rows)
    assert any(row[:4] == ["authors", "of-friend", "of-strong", "144"] for row in rows)


def test_games_are_recounted_and_it_is_logged(empty: Operator) -> None:
    """The command says whether totals differed. The exit code is 1 if any did."""
    with empty.store() as store:
        fill(store)
        before = store.cards.find()
    assert empty.does("rebuild-statistics") == "8 games counted, 0 totals differed\n"
    with closing(Database(empty.url)) as database, database.write() as connection:
        connection.execute(text("DELETE FROM card_count WHERE turn = 1 AND card = 1"))
    mended = empty.types("rebuild-statistics")
    assert (mended.code, mended.out) == (1, "8 games counted, 2 totals differed\n")
    with empty.store() as store:
        assert store.cards.find() == before
    assert [what for what, _, _ in empty.log()] == ["rebuild-statistics"] * 2
    assert empty.log()[-1] == ("rebuild-statistics", "", "8 games counted, 2 totals differed")


def test_an_operator_sees_what_was_submitted(empty: Operator) -> None:
    """Submissions are listed newest first, on one line each, whatever their text. JSON has all details."""
    with empty.store() as store:
        for id_, bot in {"u1": "mine", "u2": "yours", "u3": "theirs"}.items():
            store.submissions.add(new(id_, bot), QUOTA)
        cause = Cause(
            stage=Stage.RECEIVED, kind=CauseKind.FILE, text="it is\x1b[2J\nno archive", hint="send another"
        )
        store.submissions.reject("u1", cause, START)
        store.submissions.wait("u2", "no room")
    lines = [line.split("\t") for line in empty.does("submissions").splitlines()]
    assert [(line[0], line[2], line[3], line[6]) for line in lines] == [
        ("u3", "received", "theirs", "a first try \N{REPLACEMENT CHARACTER}"),
        ("u2", "received", "yours", "no room"),
        ("u1", "rejected", "mine", "it is [2J no archive"),
    ]
    (told,) = empty.reads("submissions", "--bot", "mine")["submissions"]
    assert (told["id"], told["stage"], told["received"]) == ("u1", "rejected", f"{START:%Y-%m-%dT%H:%M:%SZ}")
    assert (told["cause"]["kind"], told["cause"]["hint"]) == ("file", "send another")
