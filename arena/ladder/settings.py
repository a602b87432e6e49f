"""A ladder's settings: tables, deals, and the bots' clock and limits."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from dataclasses import replace as with_changes
from typing import Any, Final, Self

from arena.protocol.match import Clock, Limits
from arena.rules import PLAYER_COUNTS

MAX_DEALS = 24

_RANGES: Final = {
    "start_millis": (1_000, 60_000),
    "move_millis": (50, 60_000),
    "bank_millis": (0, 120_000),
    # A host's slots have room only for the default limits, so a ladder's limits can't be higher.
    "cpus": (0.1, Limits().cpus),
    "memory_mib": (64, Limits().memory_mib),
    "pids": (16, Limits().pids),
    "tmp_mib": (1, Limits().tmp_mib),
}
"""The lowest and highest values allowed for each field of a ladder's clock and limits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LadderSettings:
    """The ladder's settings. Raises ValueError if ``players`` is invalid or a number is out of range."""

    paused: bool  # if True, no matches are drawn; queued ones are still played, and bots can still qualify
    players: tuple[int, ...]  # numbers of players per table, in ascending order
    deals: int  # deals per match, 1 to 24; always 1 if one of the match's bots has no rated games yet
    clock: Clock = field(default_factory=Clock)  # for every match that the arena draws, rated or not
    limits: Limits = field(default_factory=Limits)  # for the same matches; lower on a host with few cores

    def __post_init__(self) -> None:
        if not self.players or list(self.players) != sorted(set(self.players) & set(PLAYER_COUNTS)):
            raise ValueError(
                f"invalid numbers of players {self.players}: choose from 2, 3, 4 and 5, in ascending order"
            )
        if not 1 <= self.deals <= MAX_DEALS:
            raise ValueError(f"deals must be 1 to {MAX_DEALS}, not {self.deals}")
        for name, value in (asdict(self.clock) | asdict(self.limits)).items():
            low, high = _RANGES[name]
            if not low <= value <= high:
                raise ValueError(f"{name} must be {low} to {high}, not {value}")

    def changed(self, named: Mapping[str, Any]) -> Self:
        """Return the settings with the named fields changed, including fields of the clock and limits."""
        clock, limits = asdict(self.clock), asdict(self.limits)
        return with_changes(
            self,
            clock=Clock(**{name: named.get(name, value) for name, value in clock.items()}),
            limits=Limits(**{name: named.get(name, value) for name, value in limits.items()}),
            **{name: value for name, value in named.items() if name not in _RANGES},
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class LadderChange:
    """Changes to :class:`LadderSettings`; None leaves a value unchanged."""

    paused: bool | None = None
    players: tuple[int, ...] | None = None
    deals: int | None = None
    start_millis: int | None = None
    move_millis: int | None = None
    bank_millis: int | None = None
    cpus: float | None = None
    memory_mib: int | None = None
    pids: int | None = None
    tmp_mib: int | None = None

    def named(self) -> dict[str, Any]:
        """Return the changed values by name."""
        return {name: value for name, value in asdict(self).items() if value is not None}
