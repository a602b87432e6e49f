"""Test of an arena that keeps all its data in PostgreSQL."""

import json
import signal
from contextlib import closing

import pytest

from arena.db.store import open_store
from arena.rules import Rules
from tests.builders import START, add_bots, play_matches
from tests.demo.conftest import With
from tests.demo.running import client_of, processes_of, started
from tests.patience import WAIT_SECONDS, wait_until
from tests.web.site import opened


@pytest.mark.postgresql
def test_coordinator_site_and_commands_share_one_database(place_with: With, postgresql_url: str) -> None:
    """Games are played and exported. Site and commands show the same data, and there is no other database."""
    settings = {"ARENA_DATABASE_URL": postgresql_url, "ARENA_SANDBOX": "process"}
    place = place_with("greedy", "random")
    place.data.mkdir()
    with closing(open_store(postgresql_url)) as store:
        play_matches(
            store, [add_bots(store, [("old", "ann"), ("older", "ann")])], Rules(players=2), name="old"
        )
        for bot in ("old", "older"):
            store.bot_states.retire(bot, START)

    def board() -> list[dict[str, object]]:
        done = place.run("leaderboard", "--json", **settings)
        assert done.returncode == 0, done.stderr
        lines: list[dict[str, object]] = json.loads(done.stdout)["rows"]
        return [{key: line[key] for key in ("bot", "games", "mean")} for line in lines]

    with (
        started(place, "coordinator", **settings) as arena,
        opened(place.data, **settings) as site,
        client_of(site.url) as client,
    ):

        def shown() -> list[dict[str, object]]:
            rows = client.get("/api/v1/leaderboard").json()["rows"]
            return [{key: row[key] for key in ("bot", "games", "mean")} for row in rows]

        wait_until(lambda: sum(int(str(row["games"])) for row in shown()) > 0, "rated games")
        wait_until(lambda: bool(client.get("/data/manifest.json").json()["files"]), "files of a day")
        assert f"games-{START.date()}.parquet" in client.get("/data").text
        arena.send_signal(signal.SIGTERM)
        _, said = arena.communicate(timeout=WAIT_SECONDS)
        assert arena.returncode == 0, said
        assert shown() == board()
        newest = client.get("/api/v1/games").json()["games"][0]["game"]
        assert client.get(f"/games/{newest}").status_code == 200
    assert processes_of(place) == []
    assert list(place.data.glob("*.sqlite3")) == []
    place.check_ratings(**settings)
