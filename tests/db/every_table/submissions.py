"""What was sent, at every stage."""

import json

from tests.db.every_table.bots import NEW
from tests.db.every_table.moments import at
from tests.db.every_table.people import ANN, BEN, FORMER, PSEUDONYM

RECEIVED, INSPECTED, QUALIFYING, ACTIVE, REJECTED, PASSED = range(1, 7)


def rows() -> dict[str, list[dict[str, object]]]:
    """Return the rows of uploads and submissions."""
    return {
        "upload": [
            {"id": "begun-1", "author": "Ann", "account_id": ANN, "began": at(70)},
            {"id": "begun-2", "author": "Z" * 64, "account_id": None, "began": at(71)},
        ],
        "submission": [
            _submission(RECEIVED, "received", waiting="no disk is left \N{SUSHI}"),
            _submission(
                INSPECTED, "inspected", source="sha256:a", inspected=at(71), account_id=BEN, author="ben"
            ),
            _submission(QUALIFYING, "qualifying", source="sha256:b", inspected=at(71), qualifying=at(72)),
            _submission(
                ACTIVE,
                "active",
                bot=NEW.bot,
                source="sha256:c",
                version_id=NEW.id,
                inspected=at(71),
                qualifying=at(72),
                ended=at(73),
            ),
            _submission(
                REJECTED,
                "rejected",
                kind="image",
                author=PSEUDONYM,
                account_id=FORMER,
                note="\N{SUSHI}" * 500,
                size=2**40,
                ended=at(74),
                cause=json.dumps(CAUSE).encode(),
            ),
            _submission(PASSED, "passed", check_only=True, source="sha256:d", ended=at(75)),
        ],
    }


CAUSE = {
    "stage": "qualifying",
    "kind": "crash",
    "text": "it ended with exit code 3",
    "hint": "look at stderr",
    "exit_code": 3,
    "out_of_memory": False,
    "request": {"game": 1, "players": 3, "seat": 0, "round": 1, "turn": 2, "hand": ["tempura", "sashimi"]},
    "stderr": "Traceback \N{SNOWMAN}",
}


def _submission(number: int, stage: str, **others: object) -> dict[str, object]:
    return {
        "number": number,
        "id": f"sent-{number}",
        "bot": f"sent-{number}",
        "author": "Ann",
        "account_id": ANN,
        "kind": "python",
        "note": "",
        "size": 120,
        "sha256": f"{number}" * 64,
        "stage": stage,
        "source": None,
        "version_id": None,
        "received": at(70),
        "inspected": None,
        "qualifying": None,
        "ended": None,
        "waiting": None,
        "cause": None,
        "check_only": False,
    } | others
