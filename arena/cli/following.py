"""Follows a submission in an arena that plays for it alone."""

import time
from collections.abc import Callable
from typing import Any, Final, Protocol

from arena.cli.verdict import Telling
from arena.coordinator import ArenaTrouble
from arena.store import Desk, KnownSubmission, MatchState, QualificationGame
from arena.submitting.document import plain, whole_document

PATIENCE_SECONDS: Final = 15.0
"""How long it may wait for what the arena lacks: the arena tries once more in that time."""

_POLL_SECONDS: Final = 0.05
_OPEN: Final = frozenset({MatchState.WAITING, MatchState.RUNNING})


class Player(Protocol):
    """What plays matches: a :class:`arena.coordinator.Coordinator`."""

    stopped: bool

    def stop(self) -> None:
        """End soon."""


class Following:
    """Paces the arena's coordinator by what the submission needs, and tells how far that is.

    Args:
        desk: Where it stands.
        id_: Its id.
        telling: Says what is new.
        clock: Seconds, from anywhere.

    Attributes:
        told: Its document, with its games; empty before the first look.
        over: Whether nothing more will become of it.
        source: The id of its image; None while it has none.
    """

    def __init__(
        self, desk: Desk, id_: str, telling: Telling, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._desk = desk
        self._id = id_
        self._telling = telling
        self._clock = clock
        self._waits_since: float | None = None
        self.told: dict[str, Any] = {}
        self.over = False
        self.source: str | None = None

    def goes_on(self, player: Player) -> bool:
        """Return whether a game waits to be played; False where one is being played, or all is over.

        It returns only then: so whatever plays does not come upon the rated games that an arena adds for a
        bot that has been taken. At the end it stops it.

        Raises:
            ArenaTrouble: This machine can't go on with it.
            StoreError: The database can't be used.
        """
        while not player.stopped:
            newest = self._look()
            if self.over:
                player.stop()
            elif newest in _OPEN:
                return newest is MatchState.WAITING
            else:
                time.sleep(_POLL_SECONDS)
        return False

    def _look(self) -> MatchState | None:
        """See how far it is, say what is new, and return the state of its newest game."""
        known = self._desk.find(self._id)
        if known is None:
            raise ArenaTrouble("the submission is gone")
        games = self._desk.games(self._id)
        self.told = plain(whole_document(known, games))
        self._telling.hear(self.told)
        self.over, self.source = known.stage.over, known.source
        self._check(known, games)
        return games[-1].state if games else None

    def _check(self, known: KnownSubmission, games: tuple[QualificationGame, ...]) -> None:
        """Give up where the arena itself fails again and again."""
        newest = games[-1] if games else None
        if newest is not None and newest.state is MatchState.QUARANTINED:
            raise ArenaTrouble(f"it could not play a game: {newest.reason}")
        if known.waiting is None or (newest is not None and newest.state in _OPEN):
            self._waits_since = None
            return
        if self._waits_since is None:
            self._waits_since = self._clock()
        if self._clock() - self._waits_since > PATIENCE_SECONDS:
            raise ArenaTrouble(known.waiting)
