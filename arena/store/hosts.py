"""What hosts were seen to hold: the newest report of each."""

from collections.abc import Collection

import msgspec
from sqlalchemy import Connection, delete, insert, select

from arena.controls import HostReport
from arena.store.models import HostReport as Row
from arena.store.reads import HostStatus


def record(connection: Connection, report: HostReport, accepted: Collection[str]) -> None:
    """Keep a report in place of the host's last one.

    Args:
        connection: To the store, for writing.
        report: The new one.
        accepted: Names of controls whose absence the operator accepted at that time.
    """
    host = report.host[:_NAME]
    connection.execute(delete(Row).where(Row.host == host))
    connection.execute(
        insert(Row).values(
            host=host,
            checked=report.checked,
            accepted=sorted(accepted),
            report=msgspec.json.encode(report),
        )
    )


_NAME = 64
"""What the column holds; a longer name of a machine is cut."""


def hosts(connection: Connection) -> tuple[HostStatus, ...]:
    """Return the newest report of every host, the one that was checked last first."""
    rows = connection.execute(select(Row.__table__).order_by(Row.checked.desc(), Row.host))
    return tuple(
        HostStatus(
            report=msgspec.json.decode(row.report, type=HostReport),
            accepted=frozenset(row.accepted),
        )
        for row in rows
    )
