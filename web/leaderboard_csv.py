"""The leaderboard as a table for spreadsheets (CSV, RFC 4180).

Names are strangers' text, and a spreadsheet takes a cell that begins with certain characters for a formula.
So every text is quoted, and one that begins so gets a single quote before it, as OWASP advises against what
it calls CSV injection; likewise within a text, after whatever a spreadsheet may take for the end of a cell.
Numbers are the arena's own and stay numbers.
"""

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import fields
from datetime import datetime
from typing import Final

from web.board import Row
from web.text import iso_moment

COLUMNS: Final = tuple(field.name for field in fields(Row))

_FORMULA: Final = re.compile('(^|[,;|\t"])(?=\\s*[-=+@\t\r\n\uff1d\uff0b\uff0d\uff20])')
"""Where a formula would begin. The last four of its signs are wide letters of East Asian fonts."""


def as_csv(rows: Sequence[Row]) -> str:
    """Return lines of the leaderboard with the same columns as in the API, and a line of their names."""
    out = io.StringIO()
    writer = csv.writer(out, quoting=csv.QUOTE_NONNUMERIC)
    writer.writerow(COLUMNS)
    writer.writerows([_cell(getattr(row, column)) for column in COLUMNS] for row in rows)
    return out.getvalue()


def _cell(value: object) -> object:
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case datetime():
            return iso_moment(value)
        case str():
            return _FORMULA.sub(r"\1'", value)
    return value
