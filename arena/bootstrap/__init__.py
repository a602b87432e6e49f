"""Puts the arena together: the one place that makes real clocks, ids, seeds, connections and processes."""

from arena.bootstrap.arena import Arena, open_arena
from arena.bootstrap.athome import ArenaAtHome, open_at_home
from arena.bootstrap.chances import utc_now
from arena.bootstrap.errors import CannotStart
from arena.bootstrap.host import examine_host, limits_of_bots, slots_of_host
from arena.bootstrap.intake import open_keeper, open_submissions
from arena.bootstrap.results import open_results

__all__ = [
    "Arena",
    "ArenaAtHome",
    "CannotStart",
    "examine_host",
    "limits_of_bots",
    "open_arena",
    "open_at_home",
    "open_keeper",
    "open_results",
    "open_submissions",
    "slots_of_host",
    "utc_now",
]
