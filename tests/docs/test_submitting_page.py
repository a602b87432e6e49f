"""docs/submitting.md says what the code does."""

from arena.intake.limits import DEFAULT_LIMITS
from arena.intake.wrap import MAX_SOURCE_BYTES
from arena.submitting.qualification import GAMES, table
from arena.submitting.receiver import MOST_AT_ONCE, NOTE_LENGTH
from arena.submitting.stages import CauseKind, Stage
from tests.docs.documents import DOCS, rows

ROWS = {row[0].strip("`"): row[1:] for row in rows(DOCS / "submitting.md")}


def test_every_stage_and_every_cause_is_explained() -> None:
    """None is missing, and none is made up."""
    assert {*Stage, *CauseKind} <= ROWS.keys()


def test_the_table_of_games_is_that_of_the_code() -> None:
    """So many games, for so many players, from these seats."""
    seats = {"the first": 0, "the middle one": 1, "the last": 4}
    told = [(int(ROWS[str(game)][0]), seats[ROWS[str(game)][1]]) for game in range(1, GAMES + 1)]
    assert told == [table(game, 4) for game in range(GAMES)]


def test_the_limits_are_those_of_the_code() -> None:
    """As far as they are numbers of the code and no settings."""
    assert ROWS["an image's archive"] == [f"{DEFAULT_LIMITS.archive_bytes >> 20} MiB"]
    assert ROWS["a source file"] == [f"{MAX_SOURCE_BYTES >> 20} MiB"]
    assert ROWS["the note"] == [f"{NOTE_LENGTH} characters"]
    assert ROWS["files that are received at a time"] == [str(MOST_AT_ONCE)]
