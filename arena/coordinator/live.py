"""What may be seen of matches while they are played: taken from their workers, checked, and shown.

A worker is believed nothing here either: the deal comes from the specification, the steps are played again
by the rules, and only rounds that are over go into the store. All of this may fail, and no match is the worse
for it.
"""

import threading
from collections.abc import Mapping
from typing import Final

import structlog

from arena.coordinator.check import RecordRefused, check_steps
from arena.match import MOST_PROGRESS_BYTES, GameRecord, Progress, decode
from arena.referee.places import places_with_faults
from arena.replay import LiveSeat, disclose, encode_disclosed, parse_disclosed
from arena.store import Claim, DatabaseUnavailable, LiveGames, ShownGame

_log = structlog.get_logger()

SHOW_SECONDS: Final = 0.5
"""Between two looks at what has come."""


def check_progress(claim: Claim, progress: Progress) -> ShownGame:
    """Play again what a worker says of a game, and return what may be seen of it.

    Raises:
        RecordRefused: It is not to be believed, or says more than may be seen; the text says why.
    """
    spec, index = claim.spec, progress.game
    if (progress.match, progress.attempt) != (spec.match, spec.attempt):
        raise RecordRefused(
            f"the progress is of match {progress.match}, attempt {progress.attempt}, "
            f"not of match {spec.match}, attempt {spec.attempt}"
        )
    if not 0 <= index < len(spec.seeds):
        raise RecordRefused(f"the progress is of game {index}, the match has {len(spec.seeds)}")
    steps = check_steps(spec.rules, index, GameRecord(seed=spec.seeds[index], steps=progress.steps))
    state = steps.states[-1]
    places = places_with_faults(state.result.places, steps.moments) if state.result else ()
    try:
        text = encode_disclosed(
            disclose(
                game=f"{spec.match}-{index}",
                state=state,
                seats=[LiveSeat(bot=seat.bot, version=seat.number) for seat in claim.seats],
                places=places,
                steps=progress.steps,
            )
        )
        parse_disclosed(text)
    except ValueError as error:
        raise RecordRefused(f"game {index}: {error}") from error
    return ShownGame(game=index, rounds=len(state.rounds), text=text)


_Game = tuple[str, int, int]
"""Match, attempt, and which game of it."""


class LiveMatches:
    """Keeps the newest that was heard of each game until it is shown; what is older is forgotten.

    Args:
        shown: Where everybody sees it.
    """

    def __init__(self, shown: LiveGames) -> None:
        self._shown = shown
        self._heard: dict[_Game, tuple[Claim, Progress]] = {}
        self._lock = threading.Lock()

    def hear(self, claim: Claim, data: bytes) -> None:
        """Take what a worker tells of a match that it plays; from any thread. What can't be used is dropped.

        Args:
            claim: What it was given.
            data: A :class:`arena.match.Progress`.
        """
        spec = claim.spec
        try:
            progress = _read(data)
        except RecordRefused as error:
            _log.warning("progress dropped", match=spec.match, attempt=spec.attempt, reason=str(error))
            return
        # Of a game that there is not nothing is kept, so this never holds more than there are games.
        if 0 <= progress.game < len(spec.seeds):
            with self._lock:
                self._heard[spec.match, spec.attempt, progress.game] = (claim, progress)

    def show(self) -> None:
        """Show what is new.

        Raises:
            DatabaseUnavailable: Not all of it can be shown now. It is tried again the next time.
        """
        with self._lock:
            heard, self._heard = self._heard, {}
        try:
            self._show(heard)
        except DatabaseUnavailable:
            with self._lock:
                self._heard = heard | self._heard
            raise

    def _show(self, heard: Mapping[_Game, tuple[Claim, Progress]]) -> None:
        games: dict[tuple[str, int], list[ShownGame]] = {}
        for (match, attempt, _), (claim, progress) in heard.items():
            try:
                games.setdefault((match, attempt), []).append(check_progress(claim, progress))
            except RecordRefused as error:
                _log.warning("progress dropped", match=match, attempt=attempt, reason=str(error))
        for (match, attempt), checked in games.items():
            self._shown.show(match, attempt, checked)


def _read(data: bytes) -> Progress:
    if len(data) > MOST_PROGRESS_BYTES:
        raise RecordRefused(f"the progress has {len(data)} bytes, more than {MOST_PROGRESS_BYTES}")
    try:
        return decode(data, Progress)
    except ValueError as error:
        raise RecordRefused(f"the progress can't be read: {error}") from error
