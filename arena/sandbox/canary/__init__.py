"""Tries, on this very host, to break each control that bots are held by, and says which ones held.

``Canary.check`` starts five containers from the template that bots get. What happens in them, and what the
engine says of them, is evidence; ``judge`` makes findings of it and is pure.
"""

from arena.sandbox.canary.check import Canary
from arena.sandbox.canary.evidence import Engine, Evidence, Trial
from arena.sandbox.canary.judge import judge, report_of

__all__ = ["Canary", "Engine", "Evidence", "Trial", "judge", "report_of"]
