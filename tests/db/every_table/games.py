"""Games that were really played, rated and not."""

import random
from dataclasses import dataclass
from datetime import datetime

import msgspec

from arena.ladder.rating import game_time
from arena.play.replay.document import Seat, build, encode
from arena.protocol.faults import places_with_faults, taken_over
from arena.protocol.match import GameRecord
from arena.rules import State
from tests.builders import play
from tests.db.every_table import matches
from tests.db.every_table.bots import Version
from tests.db.every_table.matches import Match
from tests.db.every_table.moments import at

_DECISION = ("cards", "dummy", "millis", "fault", "standin", "trouble", "note")


@dataclass(frozen=True, kw_only=True)
class Game:
    """A game and what came of it; lists have an entry a seat.

    Attributes:
        match: Its match.
        position: In that match.
        number: In the order of rating; None where it is not rated.
        record: All decisions.
        state: Its end.
    """

    match: Match
    position: int
    number: int | None
    record: GameRecord
    state: State

    @property
    def ended(self) -> datetime:
        """Say when."""
        return at(110 + 37 * (self.number or 0))

    @property
    def versions(self) -> tuple[int, ...]:
        """Name who sat there; nobody but versions does in a rated game."""
        return tuple(who.id for who in self.match.seats if isinstance(who, Version))

    @property
    def bots(self) -> tuple[int, ...]:
        """Name whose versions these are."""
        return tuple(who.bot_id for who in self.match.seats if isinstance(who, Version))

    @property
    def faults(self) -> list[int]:
        """Count the faults of each seat."""
        return [
            sum(decision is not None and decision.fault is not None for decision in seat)
            for seat in zip(*self.record.steps, strict=True)
        ]

    @property
    def taken_over(self) -> list[bool]:
        """Say which seats the stand-in played to the end."""
        return [moment is not None for moment in self._moments]

    @property
    def places(self) -> tuple[int, ...]:
        """Give the places by which it is rated."""
        assert self.state.result is not None
        return places_with_faults(self.state.result.places, self._moments)

    @property
    def times(self) -> list[int | None]:
        """Give the medians of the decisions, in microseconds."""
        return [
            game_time(decision.millis for decision in seat if decision is not None)
            for seat in zip(*self.record.steps, strict=True)
        ]

    @property
    def points(self) -> tuple[int, ...]:
        """Give the points."""
        assert self.state.result is not None
        return self.state.result.totals[: len(self.match.seats)]

    def rows(self) -> dict[str, list[dict[str, object]]]:
        """Return its own row, and those of its seats."""
        own = {
            "id": f"game-{self.match.number}-{self.position}",
            "match_id": self.match.id,
            "position": self.position,
            "ended": self.ended,
            "replay": self._replay(),
            "record": _bytes(self.record),
        }
        if self.number is None:
            return {"unrated_game": [own]}
        return {
            "game": [own | {"number": self.number, "players": len(self.versions)}],
            "game_seat": [self._seat(seat) for seat in range(len(self.versions))],
        }

    @property
    def _moments(self) -> tuple[int | None, ...]:
        rows = [[decision.fault if decision else None for decision in step] for step in self.record.steps]
        return taken_over(rows, len(self.match.seats))

    def _seat(self, seat: int) -> dict[str, object]:
        assert self.state.result is not None
        return {
            "game_number": self.number,
            "seat": seat,
            "version_id": self.versions[seat],
            "points": self.points[seat],
            "puddings": self.state.result.puddings[seat],
            "place": self.places[seat],
            "faults": self.faults[seat],
            "taken_over": self.taken_over[seat],
            "median_micros": self.times[seat],
        }

    def _replay(self) -> str:
        seats = [
            Seat(bot=who.bot, version=who.number, author=who.author)
            if isinstance(who, Version)
            else Seat(bot=f"sent-{who}", version=1, author="Ann")
            for who in self.match.seats
        ]
        replay = build(
            game=f"game-{self.match.number}-{self.position}",
            seed=self.record.seed,
            state=self.state,
            seats=seats,
            places=self.places,
            steps=self.record.steps,
        )
        return encode(replay).decode()


def played() -> list[Game]:
    """Play the games of all matches, in the order of rating."""
    games: list[Game] = []
    for match in matches.MATCHES:
        for position in range(match.games):
            seed = match.seeds[position]
            state, record = play(match.rules, seed, random.Random(seed), faults=match.faults)  # noqa: S311 - a test's
            number = len(games) + 1 if match.kind == "rated" else None
            games.append(Game(match=match, position=position, number=number, record=record, state=state))
    return games


def _bytes(record: GameRecord) -> bytes:
    """Return a record without the fields that have a default."""
    plain = msgspec.to_builtins(record)
    steps = [[each and {key: each[key] for key in _DECISION} for each in step] for step in plain["steps"]]
    return msgspec.json.encode({"seed": plain["seed"], "steps": steps})
