"""``arena admin fit-beta``, as an operator types it."""

from contextlib import closing
from pathlib import Path

from arena.db.store import Store, open_store
from tests.cli.command import arena
from tests.db.builders import add_bot, claimed, finished

DEALS = 24
MATCHES = 5


def opened(folder: Path) -> Store:
    """Open the arena's store."""
    (folder / "data").mkdir(exist_ok=True)
    return open_store(f"sqlite:///{folder / 'data' / 'arena.sqlite3'}")


def test_beta_is_fitted_and_nothing_changes(tmp_path: Path) -> None:
    """Without enough games it says so; with them it prints a line for each number of players."""
    with closing(opened(tmp_path)) as store:
        bots = [add_bot(store, "one"), add_bot(store, "two", author="bob")]
    none = arena("admin", "fit-beta", folder=tmp_path)
    assert none.returncode != 0
    assert b"too few rated games" in none.stderr

    with closing(opened(tmp_path)) as store:
        for match in range(MATCHES):
            claim = claimed(store, bots, id_=f"m{match}", deals=DEALS)
            places = [(1, 2) if deal % 4 else (2, 1) for deal in range(DEALS)]
            assert store.results.record(finished(claim, places, minute=match + 1))
        before = store.ratings.standings()
        games = store.ratings.predicted_games(1000)
        assert len(games) == DEALS * MATCHES
        assert {rating.mean for rating in games[0].ratings} == {25.0}
        assert games[-3:] == store.ratings.predicted_games(3)

    fitted = arena("admin", "fit-beta", folder=tmp_path)
    assert fitted.returncode == 0, fitted.stderr
    *_, line = fitted.stdout.decode().strip().splitlines()
    assert line.split()[:3] == ["2", str(DEALS * MATCHES), "10.42"]
    with closing(opened(tmp_path)) as store:
        assert store.ratings.standings() == before
