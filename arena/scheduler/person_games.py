"""Plays people's games, in separate slots and with a low CPU weight, because the ladder has priority."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import datetime, timedelta
from functools import partial
from itertools import count
from typing import Final

import structlog

from arena.db.errors import StoreError
from arena.db.person_games import ChosenMove, PersonGame, PersonGames
from arena.ladder.settings import LadderSettings
from arena.platform.periodic import PeriodicTask
from arena.play.launcher import LauncherError, LauncherStopped, MatchTooLong
from arena.play.launcher.launcher import Launcher, PersonChannel
from arena.play.launcher.slots import FULL_TABLE, SlotPool
from arena.play.replay.document import Seat, build
from arena.play.replay.document import encode as write
from arena.protocol.match import Limits, MatchRecord, MatchSpec, RuntimeName, decode, encode
from arena.protocol.sandbox_controls import Gate
from arena.rules import View
from arena.scheduler.check import RecordRefused, check_record
from arena.scheduler.ladder import Entropy

PERSON: Final = "you"
"""The person's name in the replay, which only that person can see."""

SILENCE_SECONDS: Final = 45
"""A game ends if the person's page, which polls every few seconds, has been silent for this long."""

_POLL_SECONDS: Final = 0.1
_POLLS_PER_PRESENCE_CHECK: Final = 50
"""Number of :meth:`PersonTables.poll` calls between checks for people who have left."""

_POLLS_PER_CHECK_WHILE_IDLE: Final = 5
"""Number of :meth:`PersonTables.poll` calls between checks for a new game while nobody is playing."""

_NO_TABLES: Final = "the arena's host has too little memory for people's games"
_FAILED: Final = "the arena failed"
_STOPPED: Final = "the arena was stopped"
_TOO_LONG: Final = "it took longer than an hour"

_log = structlog.get_logger()


class PersonTables:
    """Plays people's games in ``slots``. Each game reserves a full table of them.

    Without slots, as on a host with too little memory, games fail as soon as they are requested.
    ``settings`` returns the ladder's clock and limits; ``limits`` are this host's.
    """

    def __init__(  # noqa: PLR0913 - everything that a game needs
        self,
        games: PersonGames,
        launcher: Launcher,
        entropy: Entropy,
        gate: Gate,
        *,
        slots: SlotPool,
        settings: Callable[[], LadderSettings],
        limits: Limits,
        runtime: RuntimeName,
    ) -> None:
        self._games = games
        self._launcher = launcher
        self._entropy = entropy
        self._gate = gate
        self._slots = slots
        self._settings = settings
        self._limits = limits
        self._runtime = runtime
        self._executor = ThreadPoolExecutor(max(1, slots.size // FULL_TABLE), thread_name_prefix="person")
        self._lock = threading.Lock()
        self._seated: dict[str, _SeatedPerson] = {}
        self._failed: dict[str, str] = {}  # reasons for failures that aren't stored yet, by the game's id
        self._polls = count()
        self._old_games_ended = False

    def poll(self) -> None:
        """Forward choices, end the games of people who have left, and start waiting games.

        Raises StoreError.
        """
        number = next(self._polls)
        if not self._old_games_ended:
            self._games.interrupt(self._now)
            self._old_games_ended = True
        if not self._seated and (number % _POLLS_PER_CHECK_WHILE_IDLE or not self._games.open_games()):
            return
        if not number % _POLLS_PER_PRESENCE_CHECK:
            self._games.end_abandoned(self._now - timedelta(seconds=SILENCE_SECONDS), self._now)
        self._forward()
        while not self._slots.size and (game := self._games.begin()) is not None:
            self._games.fail(game.id, _NO_TABLES, self._now)
        while (slots := self._slots.reserve(FULL_TABLE)) is not None:
            if (game := self._begin(slots)) is None:
                return
            with self._lock:
                person = self._seated[game.id] = _SeatedPerson(partial(self._games.ask, game.id))
            self._executor.submit(self._play, game, slots, person)

    def _begin(self, slots: tuple[int, ...]) -> PersonGame | None:
        """Begin the next waiting game. If there is none, or on StoreError, free the slots."""
        game: PersonGame | None = None
        try:
            game = self._games.begin()
        finally:
            if game is None:
                self._slots.release(slots)
        return game

    def _forward(self) -> None:
        """Forward choices, and end the games that have failed or whose player has left. Raises StoreError."""
        playing = self._games.playing()
        with self._lock:
            seated, failed = dict(self._seated), dict(self._failed)
        for id_, trouble in failed.items():
            self._games.fail(id_, trouble, self._now)
            del self._failed[id_]
        for id_ in playing.keys() - seated.keys() - failed.keys():
            # The game was marked as playing, but the database's response was lost.
            self._games.fail(id_, _FAILED, self._now)
        for id_, person in seated.items():
            if id_ not in playing:
                person.leave()
            elif (choice := playing[id_]) is not None:
                person.choose(choice)

    def close(self) -> None:
        """End the games in progress."""
        with self._lock:
            seated, failed = dict(self._seated), dict(self._failed)
        try:
            for id_, trouble in (failed | dict.fromkeys(seated, _STOPPED)).items():
                self._games.fail(id_, trouble, self._now)
        except StoreError as error:  # the next coordinator ends them
            _log.warning("person's games not closed", error=str(error))
        finally:
            for person in seated.values():
                person.leave()
            self._executor.shutdown()

    @property
    def _now(self) -> datetime:
        return self._entropy.now()

    def _play(self, game: PersonGame, slots: tuple[int, ...], person: "_SeatedPerson") -> None:
        with structlog.contextvars.bound_contextvars(person_game=game.number):
            trouble = self._play_in(game, slots, person)
        with self._lock:
            if trouble is not None:
                self._failed[game.id] = trouble
            del self._seated[game.id]
        self._slots.release(slots)

    def _play_in(self, game: PersonGame, slots: tuple[int, ...], person: "_SeatedPerson") -> str | None:
        """Play a game and store its replay. Return None on success, otherwise the reason for the failure."""
        try:
            if (reason := self._unplayable_reason(game)) is not None:
                return reason
            spec = self._spec(game)
            record = self._launcher.play(
                encode(spec), slots[: game.rules.players], person=person, keep=self._slots.keep
            )
            self._games.finish(game.id, _replay(game, spec, decode(record, MatchRecord)), self._now)
        except (LauncherStopped, MatchTooLong) as error:
            _log.info("person's game ended", reason=str(error))
            return _TOO_LONG if isinstance(error, MatchTooLong) else _STOPPED
        except (LauncherError, RecordRefused) as error:
            if not person.left:
                _log.warning("person's game failed", error=str(error))
            return _FAILED
        except StoreError as error:
            _log.warning("person's game not stored", error=str(error))
            return _FAILED
        except Exception:  # noqa: BLE001 - the thread has no caller to handle it
            _log.exception("person's game failed")
            return _FAILED
        _log.info("person's game played")
        return None

    def _unplayable_reason(self, game: PersonGame) -> str | None:
        for opponent in game.opponents:
            if not opponent.available:
                return f"{opponent.bot}@{opponent.version} can't play: its image was removed"
            if not opponent.house and self._gate.house_only:
                return f"{opponent.bot} can't play: this arena currently runs only house bots"
        return None

    def _spec(self, game: PersonGame) -> MatchSpec:
        ladder = self._settings()
        sources = [opponent.source for opponent in game.opponents]
        sources.insert(game.seat, "")
        return MatchSpec(
            match=f"person-{game.number}",
            attempt=1,
            rules=game.rules,
            seeds=(self._entropy.new_seed().hex(),),
            seats=tuple(sources),
            clock=ladder.clock,
            limits=ladder.limits.lowered(self._limits),
            runtime=self._runtime,
            person=game.seat,
        )


class _SeatedPerson:
    """A person at a table; see :class:`arena.play.launcher.launcher.Person`.

    ``ask`` stores a request for a move.
    """

    def __init__(self, ask: Callable[[View], None]) -> None:
        self._ask = ask
        self._channel: PersonChannel | None = None
        self._chosen: ChosenMove | None = None
        self.left = False

    def started(self, channel: PersonChannel) -> None:
        self._channel = channel
        if self.left:
            channel.leave()

    def move_requested(self, view: View) -> None:
        try:
            self._ask(view)
        except StoreError as error:
            _log.warning("decision not offered to person", error=str(error))
            self.leave()

    def choose(self, choice: ChosenMove) -> None:
        """Play a choice, unless it was already played."""
        if self._channel is not None and choice != self._chosen:
            self._chosen = choice
            self._channel.choose(choice.round, choice.turn, choice.move)

    def leave(self) -> None:
        """End the game, now or as soon as it begins."""
        self.left = True
        if self._channel is not None:
            self._channel.leave()


def _replay(game: PersonGame, spec: MatchSpec, record: MatchRecord) -> str:
    """Return the checked replay, as JSON. Raises RecordRefused."""
    (checked,) = check_record(spec, record)
    seats = [Seat(bot=each.bot, version=each.version, author=each.author) for each in game.opponents]
    seats.insert(game.seat, Seat(bot=PERSON, version=0, author=PERSON))
    replay = build(
        game=spec.match,
        seed=checked.record.seed,
        state=checked.state,
        seats=seats,
        places=checked.places,
        steps=checked.record.steps,
    )
    return write(replay).decode()


@contextmanager
def person_tables(tables: PersonTables) -> Iterator[None]:
    """Run people's games within the context."""
    with PeriodicTask(tables.poll, name="people's games", seconds=_POLL_SECONDS, expected=(StoreError,)):
        try:
            yield
        finally:
            tables.close()
