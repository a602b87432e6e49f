"""Bots and their versions, in every state."""

from typing import NamedTuple

from tests.db.every_table.moments import at
from tests.db.every_table.people import ANN, FORMER, PSEUDONYM

LONGEST = "\N{CJK UNIFIED IDEOGRAPH-5BFF}\N{CJK UNIFIED IDEOGRAPH-53F8}" * 32
AUTHOR_GONE = "its author's account was deleted"


class Version(NamedTuple):
    """A version, as seats name it."""

    id: int
    bot_id: int
    bot: str
    number: int
    author: str


GREEDY = Version(1, 1, "greedy", 1, "house")
OLD, NEW = Version(2, 2, LONGEST, 1, "Ann"), Version(3, 2, LONGEST, 2, "Ann")
LEFT = Version(4, 3, "<b>left</b>", 1, PSEUDONYM)
ALONE = Version(5, 4, "never-played", 1, 'o\'neill & "co"')
CHEAT = Version(6, 5, "cheat", 1, "Ann")
TIRED = Version(7, 6, "tired", 1, "Ann")
RETIRED = Version(8, 7, "retired", 1, "Ann")
VERSIONS = (GREEDY, OLD, NEW, LEFT, ALONE, CHEAT, TIRED, RETIRED)
BARRED = frozenset({CHEAT.id})
"""Versions whose games don't count: of a bot that was disqualified."""


def rows() -> dict[str, list[dict[str, object]]]:
    """Return the rows of bots and versions."""
    return {
        "bot": [
            _bot(GREEDY, house=True),
            _bot(NEW, account_id=ANN, playing=1, since=at(200)),
            _bot(LEFT, account_id=FORMER, state="retired", reason=AUTHOR_GONE, since=at(60)),
            _bot(ALONE),
            _bot(CHEAT, account_id=ANN, state="disqualified", reason="\N{SUSHI} stolen", since=at(201)),
            _bot(TIRED, account_id=ANN, state="benched", reason="x" * 500, since=at(202), forgiven=at(30)),
            _bot(RETIRED, account_id=ANN, state="retired", since=at(203)),
        ],
        "bot_version": [
            _version(GREEDY),
            _version(OLD, note="a first try\n\N{SUSHI}", size=2**40, sha256="0" * 64),
            _version(NEW, size=0, sha256="1" * 64),
            _version(LEFT),
            _version(ALONE),
            _version(CHEAT),
            _version(TIRED),
            _version(RETIRED, gone=at(300)),
        ],
    }


def _bot(newest: Version, *, house: bool = False, **others: object) -> dict[str, object]:
    return {
        "id": newest.bot_id,
        "name": newest.bot,
        "author": newest.author,
        "house": house,
        "newest": newest.number,
        "account_id": None,
        "playing": newest.number,
        "state": "active",
        "reason": None,
        "since": None,
        "forgiven": None,
        "open_to_people": not house,
        "revision": 5,
    } | others


def _version(version: Version, **others: object) -> dict[str, object]:
    return {
        "id": version.id,
        "bot_id": version.bot_id,
        "number": version.number,
        "source": source(version),
        "created": at(version.id),
        "note": "",
        "size": None,
        "sha256": None,
        "gone": None,
    } | others


def source(version: Version) -> str:
    """Return what runs a version: the id of an image, or for the house a long path."""
    return "/" + "folder/" * 300 if version is GREEDY else f"sha256:{version.id:064x}"
