"""Checks workers' progress messages and publishes what viewers may see of games in progress.

Workers are not trusted: the deal comes from the specification, the steps are replayed under the rules, and
only finished rounds are stored. A failure here doesn't affect the match.
"""

import threading
from collections.abc import Mapping
from typing import Final

import structlog

from arena.db.errors import DatabaseUnavailable
from arena.db.live_games import LiveGames, WatchedGame
from arena.db.matches import Claim
from arena.platform.text import counted
from arena.play.replay.disclosed import LiveSeat, disclose, encode_disclosed, parse_disclosed
from arena.protocol.match import MAX_PROGRESS_BYTES, GameRecord, Progress, decode
from arena.scheduler.check import RecordRefused, check_steps

_log = structlog.get_logger()

PUBLISH_SECONDS: Final = 0.5
"""Seconds between updates of the published games."""


def check_progress(claim: Claim, progress: Progress) -> WatchedGame:
    """Replay a worker's progress message and return what viewers may see.

    Raises RecordRefused if the progress is invalid, or discloses too much; the message says why.
    """
    spec, index = claim.spec, progress.game
    if (progress.match, progress.attempt) != (spec.match, spec.attempt):
        raise RecordRefused(
            f"the progress message is for match {progress.match}, attempt {progress.attempt}, "
            f"not for match {spec.match}, attempt {spec.attempt}"
        )
    if not 0 <= index < len(spec.seeds):
        raise RecordRefused(
            f"the progress is for game {index}, but the match has {counted(len(spec.seeds), 'game')}"
        )
    game = check_steps(spec.rules, index, GameRecord(seed=spec.seeds[index], steps=progress.steps))
    try:
        text = encode_disclosed(
            disclose(
                game=f"{spec.match}-{index}",
                state=game.state,
                seats=[LiveSeat(bot=seat.bot, version=seat.number) for seat in claim.seated(index)],
                places=game.places,
                steps=progress.steps,
            )
        )
        parse_disclosed(text)
    except ValueError as error:
        raise RecordRefused(f"game {index}: {error}") from error
    return WatchedGame(game=index, rounds=len(game.state.rounds), text=text)


_Game = tuple[str, int, int]
"""The match's id, the attempt, and the game's index."""


class LiveMatches:
    """Stores the latest progress of each game until it is published."""

    def __init__(self, shown: LiveGames) -> None:
        self._shown = shown
        self._pending: dict[_Game, tuple[Claim, Progress]] = {}
        self._lock = threading.Lock()

    def add(self, claim: Claim, data: bytes) -> None:
        """Store an encoded :class:`arena.protocol.match.Progress`; drop it if invalid. Thread-safe."""
        spec = claim.spec
        try:
            progress = _read(data)
        except RecordRefused as error:
            _log.warning("progress dropped", match=spec.match, attempt=spec.attempt, reason=str(error))
            return
        # Ignore unknown games, so that the number of entries is bounded.
        if 0 <= progress.game < len(spec.seeds):
            with self._lock:
                self._pending[spec.match, spec.attempt, progress.game] = (claim, progress)

    def publish(self) -> None:
        """Publish new progress.

        Raises DatabaseUnavailable if some progress could not be published; the next call retries.
        """
        with self._lock:
            pending, self._pending = self._pending, {}
        try:
            self._publish(pending)
        except DatabaseUnavailable:
            with self._lock:
                self._pending = pending | self._pending
            raise

    def _publish(self, pending: Mapping[_Game, tuple[Claim, Progress]]) -> None:
        games: dict[tuple[str, int], list[WatchedGame]] = {}
        for (match, attempt, _), (claim, progress) in pending.items():
            try:
                games.setdefault((match, attempt), []).append(check_progress(claim, progress))
            except RecordRefused as error:
                _log.warning("progress dropped", match=match, attempt=attempt, reason=str(error))
        for (match, attempt), checked in games.items():
            self._shown.show(match, attempt, checked)


def _read(data: bytes) -> Progress:
    if len(data) > MAX_PROGRESS_BYTES:
        raise RecordRefused(f"the progress is {len(data)} bytes long (limit {MAX_PROGRESS_BYTES})")
    try:
        return decode(data, Progress)
    except ValueError as error:
        raise RecordRefused(f"the progress can't be read: {error}") from error
