"""Invitations, each of which lets one person register."""

from datetime import datetime

from sqlalchemy import Connection, insert, update

from arena.store.errors import InvitationRefused
from arena.store.people_models import Invitation


def add(connection: Connection, hash_: str, created: datetime, expires: datetime) -> None:
    """Add an invitation."""
    connection.execute(insert(Invitation).values(hash=hash_, created=created, expires=expires))


def use(connection: Connection, hash_: str, account: int, at: datetime) -> None:
    """Use an invitation up.

    Raises:
        InvitationRefused: There is none of that hash, it has been used, or it is too old.
    """
    used = connection.execute(
        update(Invitation)
        .where(Invitation.hash == hash_, Invitation.used_by.is_(None), Invitation.expires > at)
        .values(used_by=account)
    )
    if used.rowcount == 0:
        raise InvitationRefused(
            "this invitation is not known, has been used, or is too old: "
            "ask whoever runs the arena for another"
        )
