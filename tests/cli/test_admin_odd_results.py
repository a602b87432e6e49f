"""``arena admin odd-results``, as an operator types it."""

from contextlib import closing
from pathlib import Path

from arena.db.store import open_store
from tests.cli.command import arena
from tests.db.builders import add_bot, claimed, finished


def test_odd_results_are_listed(tmp_path: Path) -> None:
    """Who beats everybody but one is listed with that one, as bots and as authors."""
    (tmp_path / "data").mkdir()
    database = f"sqlite:///{tmp_path / 'data' / 'arena.sqlite3'}"
    with closing(open_store(database)):
        pass
    nothing = arena("admin", "odd-results", folder=tmp_path)
    assert nothing.stdout.decode() == "No odd results in the newest 0 rated games.\n"

    with closing(open_store(database)) as store:
        strong, other, friend = (
            add_bot(store, name, author=f"of-{name}") for name in ("strong", "other", "friend")
        )
        for number in range(6):
            for loser, places in ((other, (1, 2)), (friend, (2, 1))):
                claim = claimed(store, [strong, loser], id_=f"m{number}-{loser}", deals=24)
                assert store.results.record(finished(claim, [places] * 24, minute=number + 1))
            claim = claimed(store, [other, friend], id_=f"m{number}", deals=24)
            assert store.results.record(finished(claim, [(1, 2)] * 24, minute=number + 1))

    listed = arena("admin", "odd-results", folder=tmp_path)
    assert listed.returncode == 0, listed.stderr
    rows = [line.split() for line in listed.stdout.decode().splitlines()]
    pairs = {tuple(row[:6]) for row in rows}
    assert {row[0] for row in rows} >= {"bots", "authors"}
    assert any(row[:4] == ("bots", "friend", "strong", "144") and row[4] == "100%" for row in pairs)
    assert any(row[:4] == ("authors", "of-friend", "of-strong", "144") for row in pairs)
