"""The number by which a reader of the leaderboard sees that there is something new, and of which bots.

    UPDATE ladder SET revision = 8; UPDATE bot SET revision = 8 WHERE …

Whoever has seen revision 7 reads the bots whose own is above it. So every change of what a leaderboard shows
of a bot (a game, its state, the version that plays, its author's name) says so here, in its own transaction.
"""

from sqlalchemy import ColumnElement, Connection, update

from arena.store.bot_models import Bot
from arena.store.models import Ladder


def changed(connection: Connection, bots: ColumnElement[bool], **numbers: int) -> None:
    """Write down that of these bots something else is shown from now on.

    It waits for the lock on the ladder, and holds it until the transaction ends: revisions come in order.

    Args:
        connection: To the store, for writing.
        bots: Tells of a bot whether it is one of these.
        numbers: Other columns of the row of the ladder that change with it.
    """
    revision = connection.execute(
        update(Ladder).values(revision=Ladder.revision + 1, **numbers).returning(Ladder.revision)
    ).scalar_one()
    connection.execute(update(Bot).where(bots).values(revision=revision))
