"""Tests that docs/submitting.md agrees with the code."""

from arena.images.image import DEFAULT_LIMITS
from arena.ladder.qualification import GAMES, table
from arena.languages.language import MAX_SOURCE_BYTES
from arena.play.referee.frames import MAX_MESSAGE_BYTES
from arena.play.referee.grpc_player import MAX_NOTE_BYTES
from arena.protocol.faults import FAULTS_TO_TAKE_OVER
from arena.protocol.match import Clock, Limits
from arena.protocol.submissions import CauseKind, Stage
from arena.sandbox.runtime import CAPTURE_LIMIT
from arena.submissions.receiver import MAX_CONCURRENT, MAX_PER_ADDRESS, NOTE_LENGTH, SOURCE_SLOTS
from tests.docs.documents import DOCS, rows
from web.http.uploads import BODY_TIMEOUTS

ROWS = {row[0].strip("`"): row[1:] for row in rows(DOCS / "submitting.md")}


def test_every_stage_and_every_cause_is_explained() -> None:
    """The tables have a row for each stage and each cause."""
    assert {*Stage, *CauseKind} <= ROWS.keys()


def test_the_table_of_games_is_that_of_the_code() -> None:
    """The number of games, and each game's table size and seat, agree with the code."""
    seats = {"the first": 0, "the middle one": 1, "the last": 4}
    told = [(int(ROWS[str(game)][0]), seats[ROWS[str(game)][1]]) for game in range(1, GAMES + 1)]
    assert told == [table(game, 4) for game in range(GAMES)]


def test_the_limits_are_those_of_the_code() -> None:
    """The page has the limits that are constants in the code, not settings."""
    (archive,) = ROWS["an image archive"]
    assert archive.startswith(f"{DEFAULT_LIMITS.archive_bytes >> 20} MiB;")
    assert archive.endswith(f"{DEFAULT_LIMITS.layers} layers")
    assert ROWS["the image in it"] == [f"{DEFAULT_LIMITS.image_bytes >> 20} MiB, uncompressed"]
    assert ROWS["a source file"] == [f"{MAX_SOURCE_BYTES >> 20} MiB"]
    assert ROWS["the note"] == [f"{NOTE_LENGTH} characters"]
    images = MAX_CONCURRENT - SOURCE_SLOTS
    assert ROWS["concurrent uploads"] == [
        f"{MAX_CONCURRENT}; at most {images} for images, and at most {MAX_PER_ADDRESS} from one address"
    ]
    (time,) = ROWS["time to upload a file"]
    rate = BODY_TIMEOUTS.bytes_per_second >> 10
    assert time == (
        f"{BODY_TIMEOUTS.grace_seconds:g} s plus the transfer time at {rate} KiB/s, but at most "
        f"{BODY_TIMEOUTS.total_seconds / 60:g} minutes, and at most {BODY_TIMEOUTS.idle_seconds:g} s with "
        "no data received"
    )


def test_the_limits_while_a_bot_plays_are_those_of_the_code() -> None:
    """The page has the limits of the sandbox, the clock and the channel."""
    limits, clock = Limits(), Clock()
    assert ROWS["memory (including files in `/tmp`)"] == [f"{limits.memory_mib} MiB, no swap"]
    assert ROWS["processor"] == [f"{limits.cpus} of a core"]
    assert ROWS["processes and threads"] == [str(limits.pids)]
    assert ROWS["writable files"] == [
        f"only in `/tmp`: at most 1024 files and {limits.tmp_mib} MiB in total; they can't be executed"
    ]
    assert f"{limits.tmp_mib} MiB and 1024 files" in (DOCS / "sandbox.md").read_text()
    assert ROWS["time from the bot's start to its Hello"] == [f"{clock.start_millis // 1000} s"]
    (decision,) = ROWS["time for a decision"]
    assert decision.startswith(f"{clock.move_millis // 1000} s, and a bank of {clock.bank_millis // 1000} s")
    assert ROWS["failed decisions in a game"][0].startswith(f"{FAULTS_TO_TAKE_OVER - 1};")
    assert ROWS["a message"] == [f"{MAX_MESSAGE_BYTES >> 10} KiB"]
    assert ROWS["a note with a move"] == [f"{MAX_NOTE_BYTES} bytes"]
    assert ROWS["stderr stored per match"][0].startswith(f"{CAPTURE_LIMIT >> 10} KiB")
