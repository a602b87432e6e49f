"""A referee's clock, which stands still while the referee does."""

from arena.referee.attended_time import STANDSTILL_SECONDS, AttendedTime


class Monotonic:
    """A clock that somebody sets."""

    def __init__(self) -> None:
        self.seconds = 1_000.0

    def __call__(self) -> float:
        """Return the time."""
        return self.seconds


def test_it_goes_as_long_as_somebody_looks() -> None:
    """However many looks there are."""
    monotonic = Monotonic()
    time = AttendedTime(monotonic)
    begun = time()
    for _ in range(100):
        monotonic.seconds += STANDSTILL_SECONDS
        time()
    assert time() - begun == 100 * STANDSTILL_SECONDS


def test_what_was_missed_is_nobodys_time() -> None:
    """It goes on from the last look, each time."""
    monotonic = Monotonic()
    time = AttendedTime(monotonic)
    begun = time()
    for missed in (3_600.0, 0.5):
        monotonic.seconds += 0.125
        assert time() > begun
        seen = time()
        monotonic.seconds += missed
        assert time() == seen
    monotonic.seconds += 0.125
    assert time() - begun == 3 * 0.125
