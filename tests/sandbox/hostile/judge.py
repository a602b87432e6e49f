"""Judges attacks: describes everything that is wrong with an outcome."""

from collections.abc import Collection, Sequence
from typing import Final

from arena.protocol.faults import places_with_faults, stand_in, taken_over
from arena.protocol.match import GameRecord, MatchRecord, MatchSpec
from arena.rules import Move, State, apply, new_game, seats_to_move, shuffled_deck, view
from arena.scheduler.check import RecordRefused, check_record
from tests.sandbox.hostile.attack import Attack, Outcome, Peak, seats_of
from tests.sandbox.hostile.bot import choose

_MIB: Final = 1024 * 1024

BOUNDS: Final = Peak(
    # Five bots at their limits; other programs also use the host's memory.
    host=1280 * _MIB,
    # The limit, and what the kernel counts in advance.
    bots=258 * _MIB,
    referees=512 * _MIB,
    # A log of 1 MiB, in two files while it is rotated, and the engine's own files about each container.
    disk=4 * _MIB,
    tasks=256,  # for gVisor, whose own threads count too; effects.tasks checks the stricter limit of runc
    cores=0.6,  # half a second overlaps six periods of 0.1 s, each with a quota of 0.4 cores
)
"""What one hostile match and the second match together may use."""


LOOSE_HOST: Final = 2048 * _MIB
"""Host memory that an attack may use without its control: its program limits itself."""


def complaints(
    attacks: Sequence[Attack],
    outcomes: Sequence[Outcome],
    hostile: MatchSpec,
    second: tuple[MatchSpec, MatchRecord] | None = None,
) -> tuple[str, ...]:
    """Return the problems with attacks that were played in one match, with every control in place."""
    outcome = outcomes[0]
    of_second: list[str] = []
    if second is not None:
        of_second = _unequal("second match", *second) + _blamed("second match", second[1])
    return (
        *(
            f"{attack.name}: {what}"
            for attack, its in zip(attacks, outcomes, strict=True)
            for what in _verdict(attack, its)
        ),
        *_unequal("hostile match", hostile, outcome.record),
        *_blamed("hostile match", outcome.record, sparing=seats_of(attacks)),
        *of_second,
        *(f"left: {what}" for what in outcome.left),
        *_beyond(outcome.peak),
    )


def control_complaints(attack: Attack, outcome: Outcome) -> tuple[str, ...]:
    """Return what is wrong with an attack played without its control; empty if it succeeded within bounds.

    The attack must get something and, except under gVisor, everything in ``Control.opens``.
    """
    found = []
    got, untold = _achieved(attack, outcome)
    if untold:
        found.append(untold)
    elif not got:
        found.append(f"even without {attack.control.name} it got nothing: {dict(outcome.told)}")
    elif not outcome.gvisor:
        items = [f"{item}: " for item in got.split(", ")]
        found += [
            f"even without {attack.control.name} it did not get {wanted}"
            for wanted in attack.control.opens
            if not any(item.startswith(f"{wanted}: ") for item in items)
        ]
    if outcome.peak.host > LOOSE_HOST:
        found.append(_too_much("host", outcome.peak.host, LOOSE_HOST))
    if not attack.control.removal:
        found += [f"left: {what}" for what in outcome.left]
    return tuple(found)


def _verdict(attack: Attack, outcome: Outcome) -> list[str]:
    found = []
    if outcome.verdict not in attack.verdicts:
        found.append(
            f"verdict {outcome.verdict}, not {attack.verdicts}: {[*map(tuple, outcome.faults)]}, "
            f"{outcome.report.trouble}"
        )
    elif attack.faults is not None and outcome.faults != attack.faults:
        found.append(
            f"faults {[*map(tuple, outcome.faults)]}, not {[*map(tuple, attack.faults)]}; "
            f"decision times and host delays in ms: {outcome.times}"
        )
    got, untold = _achieved(attack, outcome)
    if untold:
        found.append(untold)
    elif got:
        found.append(f"it got {got}")
    return found


def _achieved(attack: Attack, outcome: Outcome) -> tuple[str, str]:
    """Return what the attack got, and why that is unknown; each may be empty."""
    if not outcome.told:
        said = outcome.report.stderr[-500:]
        return "", f"it reported nothing, so it may not have run; its stderr ends with {said!r}"
    try:
        return attack.achieved(outcome), ""
    except KeyError as error:
        return "", f"it did not report {error}, only {dict(outcome.told)}"
    except ValueError as error:
        return "", str(error)


def _unequal(name: str, spec: MatchSpec, record: MatchRecord) -> list[str]:
    try:
        game = check_record(spec, record)[0]
    except RecordRefused as error:
        return [f"{name}: {error}"]
    return [f"{name}: {what}" for what in _differences(spec, game.record, game.places)]


def _blamed(name: str, record: MatchRecord, sparing: Collection[int] = ()) -> list[str]:
    return [
        f"{name}: seat {seat} has the fault {decision.fault}: {decision.trouble}"
        for step in record.games[0].steps
        for seat, decision in enumerate(step)
        if decision is not None and decision.fault is not None and seat not in sparing
    ] + [
        f"{name}: seat {seat}: {report.trouble}"
        for seat, report in enumerate(record.seats)
        if report.trouble is not None and seat not in sparing
    ]


def _beyond(peak: Peak) -> list[str]:
    return [
        _too_much(what, used, bound)
        for what, used, bound in zip(Peak._fields, peak, BOUNDS, strict=True)
        if used > bound
    ]


def _too_much(what: str, used: float, bound: float) -> str:
    if bound < _MIB:
        return f"{what}: {used:.2f} (bound {bound:g})"
    return f"{what}: {used / _MIB:.1f} MiB (bound {bound / _MIB:.0f})"


def _differences(spec: MatchSpec, game: GameRecord, places: tuple[int, ...]) -> tuple[str, ...]:
    """Compare a game with one of the same seed that honest bots, and stand-ins where due, play in process.

    ``places`` are the game's final places. Returns descriptions of all differences.
    """
    faults = [[decision.fault if decision else None for decision in step] for step in game.steps]
    moments = taken_over(faults, spec.rules.players)
    state = new_game(spec.rules, shuffled_deck(spec.rules, bytes.fromhex(spec.seeds[0])))
    found: list[str] = []
    for number, step in enumerate(game.steps):
        if state.over:
            return (*found, "the game continued after its end")
        gone = [
            faults[number][seat] is not None or (moment is not None and number > moment)
            for seat, moment in enumerate(moments)
        ]
        moves = _moves(state, gone)
        for seat, (decision, move) in enumerate(zip(step, moves, strict=True)):
            played = None if decision is None else decision.cards
            wanted = None if move is None else tuple(card.label for card in move.cards)
            if played != wanted:
                found.append(
                    f"seat {seat} played {played}, not {wanted}, in round {state.round}, turn {state.turn}"
                )
        state = apply(state, moves)
    if state.result is None:
        return (*found, "the game ended early")
    if places != places_with_faults(state.result.places, moments):
        found.append(f"the places {places} are wrong")
    return tuple(found)


def _moves(state: State, gone: list[bool]) -> list[Move | None]:
    moves: list[Move | None] = [None] * state.rules.players
    for seat in seats_to_move(state):
        seen = view(state, seat)
        moves[seat] = stand_in(seen) if gone[seat] else choose(seen)
    return moves
