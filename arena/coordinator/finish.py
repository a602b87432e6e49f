"""From a checked record to what the store keeps."""

from datetime import datetime

from arena.cardstats import count_game
from arena.coordinator.check import CheckedGame, RecordRefused, check_record
from arena.match import MatchRecord, decode
from arena.replay import Seat, build, encode
from arena.store import Claim, FinishedGame, FinishedMatch


def finish(claim: Claim, data: bytes, ended: datetime) -> FinishedMatch:
    """Check a worker's record and prepare it for the store.

    Args:
        claim: What was asked for.
        data: What came back.
        ended: UTC.

    Raises:
        RecordRefused: The record is not to be believed; the text says why.
    """
    try:
        record = decode(data, MatchRecord)
    except ValueError as error:
        raise RecordRefused(f"the record can't be read: {error}") from error
    checked = check_record(claim.spec, record)
    return FinishedMatch(
        match=record.match,
        attempt=record.attempt,
        reports=record.seats,
        games=tuple(_finished(claim, index, game) for index, game in enumerate(checked)),
        ended=ended,
        launch_seconds=record.launch_seconds,
    )


def _finished(claim: Claim, index: int, game: CheckedGame) -> FinishedGame:
    result = game.result
    players = len(claim.seats)
    name = f"{claim.spec.match}-{index}"
    replay = build(
        game=name,
        seed=game.record.seed,
        state=game.state,
        seats=[Seat(bot=seat.bot, version=seat.number, author=seat.author) for seat in claim.seats],
        places=game.places,
        steps=game.record.steps,
    )
    return FinishedGame(
        id=name,
        record=game.record,
        replay=encode(replay).decode(),
        points=result.totals[:players],
        puddings=result.puddings[:players],
        places=game.places,
        faults=game.faults,
        taken_over=game.taken_over,
        cards=count_game(game.states, game.record.steps, game.places, game.taken_over),
    )
