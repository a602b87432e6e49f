"""How long a host is left alone that could play nothing."""

from arena.workers.setbacks import Setbacks


def test_each_in_a_row_doubles_the_pause_up_to_half_a_minute() -> None:
    """A host that seems well and is not costs fewer and fewer matches; one match that is played clears it."""
    setbacks = Setbacks()
    assert setbacks.are_over(0.0)
    now = 100.0
    for pause in (1, 2, 4, 8, 16, 30, 30, *[30] * 2_000, 30):
        setbacks.add(now)
        assert not setbacks.are_over(now + pause - 0.1)
        now += pause
        assert setbacks.are_over(now)
    setbacks.reset()
    setbacks.add(now)
    assert setbacks.are_over(now + 1)
