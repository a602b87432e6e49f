"""Decides what is played, hands it to workers, and believes their records only after checking them.

The only writer of results.
"""

from arena.coordinator.check import RecordRefused
from arena.coordinator.coordinator import ArenaTrouble, Coordinator
from arena.coordinator.watcher import Watcher, Watchers

__all__ = ["ArenaTrouble", "Coordinator", "RecordRefused", "Watcher", "Watchers"]
