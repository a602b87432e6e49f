"""The referee's clock stops while the referee isn't running."""

import pytest

from arena.play.referee.clock import PAUSE_SECONDS, RefereeClock


class Monotonic:
    """A clock set by the test, and the time for which its thread has waited for a processor."""

    def __init__(self) -> None:
        self.seconds = 1_000.0
        self.waited = 7.0

    def __call__(self) -> float:
        """Return the time."""
        return self.seconds


@pytest.fixture
def monotonic() -> Monotonic:
    """Return a clock that the test can set."""
    return Monotonic()


@pytest.fixture
def time(monotonic: Monotonic) -> RefereeClock:
    """Return a referee's clock that is driven by ``monotonic``."""
    return RefereeClock(monotonic, lambda: monotonic.waited)


def test_it_runs_as_long_as_it_is_read(monotonic: Monotonic, time: RefereeClock) -> None:
    """Gaps of up to PAUSE_SECONDS between readings don't stop the clock."""
    begun = time()
    for _ in range(100):
        monotonic.seconds += PAUSE_SECONDS
        time()
    assert time() - begun == 100 * PAUSE_SECONDS


def test_missed_time_is_not_counted(monotonic: Monotonic, time: RefereeClock) -> None:
    """After each longer gap the clock continues from the last reading."""
    begun = time()
    for missed in (3_600.0, 0.5):
        monotonic.seconds += 0.125
        assert time() > begun
        seen = time()
        monotonic.seconds += missed
        assert time() == seen
    monotonic.seconds += 0.125
    assert time() - begun == 3 * 0.125


def test_the_referees_own_wait_is_subtracted_from_an_arrival(
    monotonic: Monotonic, time: RefereeClock
) -> None:
    """Data that is readable now may have arrived at the beginning of the referee's wait."""
    begun = time()
    monotonic.seconds += 0.125
    monotonic.waited += 0.0625
    assert time.earliest_arrival() - begun == 0.0625
    assert time() - begun == 0.125
    # Data from other bots is read in the same poll of the sockets.
    assert time.earliest_arrival() - begun == 0.0625
    monotonic.waited += 9.0
    monotonic.seconds += 0.125
    assert time.earliest_arrival() - begun == 0.125


def test_time_for_which_a_bot_held_up_the_referee_is_a_pause(
    monotonic: Monotonic, time: RefereeClock
) -> None:
    """It counts once, even if it looks like a pause anyway, and the clock never goes back."""
    begun = time()
    for held_up in (0.125, 0.5):
        monotonic.seconds += held_up
        time.exclude(held_up)
        assert time() == begun
    monotonic.seconds += 0.125
    seen = time()
    monotonic.seconds += 0.0625
    time.exclude(0.125)
    assert time() == seen
    assert (time.missed, time.held_up) == (0.6875, 0.6875)
    monotonic.seconds += 0.125
    time.exclude(0.0625)
    assert time() == seen + 0.0625


@pytest.mark.parametrize("slow", [2**-11, 2**-8, 2**-5])
def test_a_bot_that_holds_up_the_referee_does_not_end_the_poll(
    monotonic: Monotonic, time: RefereeClock, slow: float
) -> None:
    """Other bots' answers still count as if they had arrived when the referee's wait began."""
    begun = time()
    monotonic.seconds += 0.5
    monotonic.waited += 0.5
    assert time.earliest_arrival() == begun
    for _ in range(3):
        monotonic.seconds += slow
        time.exclude(slow)
        assert time() == begun + 0.5
        assert time.earliest_arrival() == pytest.approx(begun)


def test_a_referee_that_waits_for_a_processor_does_not_pause(
    monotonic: Monotonic, time: RefereeClock
) -> None:
    """The clock runs on while the referee waits for a processor, since the bots may keep running."""
    begun = time()
    monotonic.seconds += 1.5
    monotonic.waited += 1.375
    assert time() - begun == 1.5
    assert time.missed == 0.0
    assert time.earliest_arrival() - begun == 0.125
    # Until as much time has passed again, answers from that wait may still be in the referee's queues.
    behind = [time.behind]
    for _ in range(5):
        monotonic.seconds += 0.25
        time()
        behind.append(time.behind)
    assert behind == [1.375, 1.125, 0.875, 0.625, 0.375, 0.125]


def test_a_suspended_host_is_distinguished_from_a_busy_one(monotonic: Monotonic, time: RefereeClock) -> None:
    """A thread that was runnable when its host was suspended seems to have waited for hours."""
    begun = time()
    monotonic.seconds += 3_600.0
    monotonic.waited += 3_600.0
    assert time() == begun
    assert time.missed == 3_600.0
    assert time.behind == 0.0
