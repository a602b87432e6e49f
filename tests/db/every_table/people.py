"""Accounts, and what belongs to them alone."""

from tests.db.every_table.moments import at

ANN, FORMER, BEN, LONGEST = 1, 2, 3, 4
"""Who has bots, who was deleted, an operator, and someone with the longest name."""

PSEUDONYM = "former-1"


def rows() -> dict[str, list[dict[str, object]]]:
    """Return the rows of accounts, sessions, tokens, invitations and the audit log."""
    return {
        "account": [
            _account(ANN, "Ann", 0, submissions_a_day=0, bots=7),
            _account(FORMER, PSEUDONYM, 1, password=None, deleted=at(60)),
            _account(BEN, "ben", 2, role="operator", challenges_a_day=2**31 - 1),
            _account(LONGEST, "Z" * 64, 3),
        ],
        "session": [
            {
                "id": 1,
                "account_id": ANN,
                "hash": "a" * 64,
                "browser": "Mozilla/5.0 \N{SUSHI} " + "x" * 3000,
                "created": at(4),
                "seen": at(5),
            },
            {"id": 2, "account_id": BEN, "hash": "b" * 64, "browser": "", "created": at(6), "seen": at(6)},
        ],
        "api_token": [
            _token(1, ANN, "c", "laptop \N{RIGHT-TO-LEFT OVERRIDE}", ["submit", "read"]),
            _token(2, ANN, "d", "", [], last_used=at(9), revoked=at(10)),
        ],
        "invitation": [
            {"id": 1, "hash": "e" * 64, "created": at(0), "expires": at(9000), "used_by": None},
            {"id": 2, "hash": "f" * 64, "created": at(0), "expires": at(9000), "used_by": FORMER},
        ],
        "audit": [
            {
                "number": 1,
                "at": at(60),
                "who": "terminal:root",
                "what": "reset-password",
                "subject": PSEUDONYM,
                "detail": 'o\'neill said "no"\n\N{SUSHI}',
                "address": None,
            },
            {
                "number": 2,
                "at": at(61),
                "who": "ben",
                "what": "invite",
                "subject": "",
                "detail": "",
                "address": None,
            },
            {
                "number": 3,
                "at": at(62),
                "who": "",
                "what": "log-in-failed",
                "subject": "account:Ann",
                "detail": "",
                "address": "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff",
            },
        ],
        "attempt": [{"key": "9" * 64, "number": 2**31 - 1, "ends": at(9000)}],
    }


def _account(id_: int, name: str, minute: int, **others: object) -> dict[str, object]:
    return {
        "id": id_,
        "name": name,
        "key": name.lower(),
        "password": "$argon2id$v=19$" + "h" * 80,
        "role": "user",
        "created": at(minute),
        "deleted": None,
        "submissions_a_day": None,
        "bots": None,
        "challenges_a_day": None,
    } | others


def _token(
    id_: int, account: int, digit: str, name: str, scopes: list[str], **others: object
) -> dict[str, object]:
    return {
        "id": id_,
        "account_id": account,
        "name": name,
        "prefix": "kaiten_" + digit * 6,
        "hash": digit * 64,
        "scopes": scopes,
        "created": at(7),
        "expires": at(9000),
        "last_used": None,
        "revoked": None,
    } | others
