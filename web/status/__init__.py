"""How the arena is: what it does, what it did lately, and what its machines can hold."""

from web.status.bars import Bars, bars_of
from web.status.facts import Hour, Status
from web.status.read import read_status

__all__ = ["Bars", "Hour", "Status", "bars_of", "read_status"]
