"""Errors of the rules.

::

    RulesError(ValueError)
    ├── InvalidRules     no such game: wrong number of players, wrong deck
    ├── IllegalMove      a choice that a rule forbids; names the rule
    └── InvalidRecord    a record that the rules can't have produced
"""


class RulesError(ValueError):
    """Base of all errors of the rules."""


class InvalidRules(RulesError):
    """There is no such game."""


class IllegalMove(RulesError):
    """A choice that a rule forbids. Nothing has been changed by it."""

    def __init__(self, rule: str, seat: int, what: str) -> None:
        super().__init__(f"seat {seat}: {what} ({rule})")
        self.rule = rule  # the section of docs/rules.md that forbids it
        self.seat = seat  # whose choice it was
        self.what = what  # what is wrong with it


class InvalidRecord(RulesError):
    """A record that the rules can't have produced."""
