"""Places of a game in which faults took seats over.

Pure, and about nothing but lists, so that whoever checks a record can use it
too. Source: the section "Places" of docs/rules.md.
"""

from collections.abc import Sequence

from arena.referee.faults import FAULTS_TO_TAKE_OVER, FINAL_FAULTS


def taken_over(faults: Sequence[Sequence[str | None]], seats: int) -> tuple[int | None, ...]:
    """Return when the stand-in took each seat over for good, as an index into ``faults``.

    A seat is taken over by its first final fault, such as ``crash``, or by its third fault of any kind.

    Args:
        faults: In the order of play, each with one entry a seat: the fault's
            name, or None.
        seats: How many seats there are.

    Returns:
        One entry a seat, None for a seat that was never taken over.
    """
    moments: list[int | None] = [None] * seats
    counts = [0] * seats
    for moment, row in enumerate(faults):
        for seat, fault in enumerate(row):
            if fault is None or moments[seat] is not None:
                continue
            counts[seat] += 1
            if fault in FINAL_FAULTS or counts[seat] == FAULTS_TO_TAKE_OVER:
                moments[seat] = moment
    return tuple(moments)


def places_with_faults(rules_places: Sequence[int], moments: Sequence[int | None]) -> tuple[int, ...]:
    """Return the places that count: seats that were taken over rank below all others.

    Among themselves they rank by how long they lasted: taken over later is
    better, in the same turn they share the place.

    Args:
        rules_places: The places by points alone, one a seat.
        moments: As from :func:`taken_over`.
    """
    ranks = [
        (0, place) if moment is None else (1, -moment)
        for place, moment in zip(rules_places, moments, strict=True)
    ]
    return tuple(1 + sum(other < mine for other in ranks) for mine in ranks)
