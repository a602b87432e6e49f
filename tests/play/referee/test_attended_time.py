"""A referee's clock, which stands still while the referee does."""

import pytest

from arena.play.referee.clock import STANDSTILL_SECONDS, AttendedTime


class Monotonic:
    """A clock that someone sets, and what its thread has waited meanwhile."""

    def __init__(self) -> None:
        self.seconds = 1_000.0
        self.waited = 7.0

    def __call__(self) -> float:
        """Return the time."""
        return self.seconds


@pytest.fixture
def monotonic() -> Monotonic:
    """Give a clock to set."""
    return Monotonic()


@pytest.fixture
def time(monotonic: Monotonic) -> AttendedTime:
    """Give the referee's clock by it."""
    return AttendedTime(monotonic, lambda: monotonic.waited)


def test_it_goes_as_long_as_someone_looks(monotonic: Monotonic, time: AttendedTime) -> None:
    """However many looks there are."""
    begun = time()
    for _ in range(100):
        monotonic.seconds += STANDSTILL_SECONDS
        time()
    assert time() - begun == 100 * STANDSTILL_SECONDS


def test_what_was_missed_is_nobodys_time(monotonic: Monotonic, time: AttendedTime) -> None:
    """It goes on from the last look, each time."""
    begun = time()
    for missed in (3_600.0, 0.5):
        monotonic.seconds += 0.125
        assert time() > begun
        seen = time()
        monotonic.seconds += missed
        assert time() == seen
    monotonic.seconds += 0.125
    assert time() - begun == 3 * 0.125


def test_what_the_referee_waited_itself_is_taken_out_of_an_arrival(
    monotonic: Monotonic, time: AttendedTime
) -> None:
    """What it can read now was there before its turn came, at most since its last look; now is now."""
    begun = time()
    monotonic.seconds += 0.125
    monotonic.waited += 0.0625
    assert time.arrived() - begun == 0.0625
    assert time() - begun == 0.125
    # What other bots sent is read in the same look at the sockets.
    assert time.arrived() - begun == 0.0625
    monotonic.waited += 9.0
    monotonic.seconds += 0.125
    assert time.arrived() - begun == 0.125


def test_a_referee_that_waits_for_a_processor_does_not_pause(
    monotonic: Monotonic, time: AttendedTime
) -> None:
    """Its bots go on: what the host keeps from them is counted for each."""
    begun = time()
    monotonic.seconds += 1.5
    monotonic.waited += 1.375
    assert time() - begun == 1.5
    assert time.missed == 0.0
    assert time.arrived() - begun == 0.125
    # Until it has had as much time again, answers from then may be inside it.
    behind = [time.behind]
    for _ in range(5):
        monotonic.seconds += 0.25
        time()
        behind.append(time.behind)
    assert behind == [1.375, 1.125, 0.875, 0.625, 0.375, 0.125]


def test_a_host_that_stood_still_is_told_from_a_busy_one(monotonic: Monotonic, time: AttendedTime) -> None:
    """A thread that wanted to run when its host was paused seems to have waited for hours."""
    begun = time()
    monotonic.seconds += 3_600.0
    monotonic.waited += 3_600.0
    assert time() == begun
    assert time.missed == 3_600.0
    assert time.behind == 0.0
