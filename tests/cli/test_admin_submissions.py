"""``arena admin submissions``: what was sent, how far it is, and why it was rejected."""

import json
from contextlib import closing
from pathlib import Path

from arena.db.quotas import Quota
from arena.db.store import open_store
from arena.protocol.submissions import Cause, CauseKind, Stage
from tests.cli.command import arena
from tests.db.builders import START
from tests.db.test_submissions import new

QUOTA = Quota(submissions_a_day=9, bots=9, on_their_way=9)


def test_an_operator_sees_what_was_submitted(tmp_path: Path) -> None:
    """Newest first, a line each that no bot's words can break up; as JSON with everything."""
    (tmp_path / "data").mkdir()
    with closing(open_store(f"sqlite:///{tmp_path / 'data' / 'arena.sqlite3'}")) as store:
        for id_, bot in {"u1": "mine", "u2": "yours", "u3": "theirs"}.items():
            store.submissions.add(new(id_, bot), QUOTA)
        cause = Cause(
            stage=Stage.RECEIVED, kind=CauseKind.FILE, text="it is\x1b[2J\nno archive", hint="send another"
        )
        store.submissions.reject("u1", cause, START)
        store.submissions.wait("u2", "no room")

    listed = arena("admin", "submissions", folder=tmp_path)
    assert listed.returncode == 0, listed.stderr
    lines = [line.split("\t") for line in listed.stdout.decode().splitlines()]
    assert [(line[0], line[2], line[3], line[6]) for line in lines] == [
        ("u3", "received", "theirs", "a first try \N{REPLACEMENT CHARACTER}"),
        ("u2", "received", "yours", "no room"),
        ("u1", "rejected", "mine", "it is [2J no archive"),
    ]

    (told,) = json.loads(arena("admin", "submissions", "--bot", "mine", "--json", folder=tmp_path).stdout)
    assert (told["id"], told["stage"], told["received"]) == ("u1", "rejected", START.isoformat())
    assert (told["cause"]["kind"], told["cause"]["hint"]) == ("file", "send another")
