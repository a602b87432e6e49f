"""The judge finds what an attack did to others."""

import ast
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest

from arena.protocol.faults import Fault, stand_in
from arena.protocol.match import (
    Decision,
    GameRecord,
    MatchRecord,
    MatchSpec,
    SeatReport,
)
from arena.rules import Move, Rules, apply, new_game, seats_to_move, shuffled_deck, view
from tests.builders import match_spec
from tests.sandbox.hostile.attack import SEAT, Attack, Control, Outcome, Peak
from tests.sandbox.hostile.bot import choose, honest
from tests.sandbox.hostile.catalog import ATTACKS
from tests.sandbox.hostile.channel_variants import VARIANTS
from tests.sandbox.hostile.judge import BOUNDS, complaints, control_complaints

SEED = "5" * 32
IMAGES = ("sha256:attacker", "sha256:honest")
TOLD = '{"taken": 3}\n'
ATTACK = Attack(
    number=1,
    name="takes",
    program=honest,
    achieved=lambda outcome: f"{outcome.told['taken']} things" if outcome.told["taken"] > 3 else "",
    control=Control(name="its limit"),
)


def spec(name: str) -> MatchSpec:
    """Return the spec of a match of two bots."""
    return replace(match_spec(IMAGES), match=name, seeds=(SEED,))


def played(name: str, *, fault_seat: int | None = None, other_card_of: int | None = None) -> MatchRecord:
    """Play a match of honest bots.

    At its first decision, ``fault_seat`` has a fault and the stand-in plays, and ``other_card_of`` plays
    another card.
    """
    state = new_game(Rules(players=2), shuffled_deck(Rules(players=2), bytes.fromhex(SEED)))
    steps: list[tuple[Decision | None, ...]] = []
    while not state.over:
        moves: list[Move | None] = [None, None]
        decisions: list[Decision | None] = [None, None]
        for seat in seats_to_move(state):
            seen = view(state, seat)
            fault = seat == fault_seat and not steps
            move = stand_in(seen) if fault else choose(seen)
            if seat == other_card_of and not steps:
                move = seen.legal_moves()[0]
            moves[seat] = move
            decisions[seat] = Decision(
                cards=tuple(card.label for card in move.cards),
                fault=Fault.TIMEOUT if fault else None,
                standin=fault,
            )
        steps.append(tuple(decisions))
        state = apply(state, moves)
    seats = tuple(SeatReport(image=image, runtime="docker/runc", limits=(), stderr=TOLD) for image in IMAGES)
    assert state.result is not None
    game = GameRecord(seed=SEED, steps=tuple(steps), totals=state.result.totals)
    return MatchRecord(match=name, attempt=1, games=(game,), seats=seats)


def outcome(record: MatchRecord) -> Outcome:
    """Return the outcome of an attack that harmed nobody."""
    return Outcome(record=record, peak=Peak(), left=(), seconds=1, runtime="runc")


def judged(result: Outcome, second: MatchRecord | None = None, attack: Attack = ATTACK) -> tuple[str, ...]:
    """Return the judge's complaints."""
    return complaints((attack,), (result,), spec("hostile"), (spec("second"), second or played("second")))


def test_an_attack_without_effect_draws_no_complaint() -> None:
    """The judge has no complaints about an attack without effect."""
    assert judged(outcome(played("hostile"))) == ()


def test_a_fault_of_the_attacker_is_its_verdict() -> None:
    """The stand-in's moves for a faulty attacker are expected, but the verdict must be an allowed one."""
    result = outcome(played("hostile", fault_seat=SEAT))
    assert judged(result, attack=replace(ATTACK, verdicts="T")) == ()
    assert judged(result, attack=replace(ATTACK, verdicts="T", faults=result.faults)) == ()
    (wrong,) = judged(result)
    assert wrong.startswith("takes: verdict T, not N")
    (wrong,) = judged(result, attack=replace(ATTACK, verdicts="T", faults=()))
    assert wrong.startswith("takes: faults ")


@pytest.mark.parametrize("seat", [0, 1])
def test_another_card_is_found(seat: int) -> None:
    """Every seat whose play the attack has changed is named, even the attacker's."""
    assert any(
        what.startswith(f"hostile match: seat {seat} played")
        for what in judged(outcome(played("hostile", other_card_of=seat)))
    )
    assert any(
        what.startswith(f"second match: seat {seat} played")
        for what in judged(outcome(played("hostile")), played("second", other_card_of=seat))
    )


def test_a_fault_of_another_seat_is_found() -> None:
    """Neither an honest seat at the attacker's table nor one of the second match may have a fault."""
    wrong = judged(outcome(played("hostile", fault_seat=1)), played("second", fault_seat=0))
    assert any(what.startswith("hostile match: seat 1 has the fault timeout") for what in wrong)
    assert any(what.startswith("second match: seat 0 has the fault timeout") for what in wrong)


def test_what_is_left_or_beyond_its_bound_is_found() -> None:
    """The judge reports each thing that remains, and each bound that was exceeded."""
    peak = Peak(*(bound + 1 for bound in BOUNDS))
    wrong = judged(replace(outcome(played("hostile")), left=("container abc",), peak=peak))
    assert wrong[0] == "left: container abc"
    assert [what.split(":")[0] for what in wrong[1:]] == [*Peak._fields]


def test_an_attack_that_told_nothing_is_found() -> None:
    """The judge complains about an attack that reported nothing, since it may not have run."""
    record = played("hostile")
    silent = replace(record, seats=tuple(replace(seat, stderr="it failed") for seat in record.seats))
    (wrong,) = judged(outcome(silent))
    assert "it failed" in wrong
    (wrong,) = control_complaints(ATTACK, outcome(silent))
    assert "it failed" in wrong


def test_success_is_wrong_with_the_control_and_right_without() -> None:
    """An attack that succeeds despite its control is a complaint, as is one that fails without it."""
    record = played("hostile")
    success = replace(record, seats=tuple(replace(seat, stderr='{"taken": 4}') for seat in record.seats))
    assert judged(outcome(success)) == ("takes: it got 4 things",)
    assert control_complaints(ATTACK, outcome(success)) == ()
    (wrong,) = control_complaints(ATTACK, outcome(record))
    assert "even without its limit it got nothing" in wrong


def test_what_stays_closed_without_the_control_is_named() -> None:
    """Without its control, an attack must get each item that the control is said to stop.

    An item with more detail after a colon also counts. Under gVisor, which itself refuses some items, one
    item is enough.
    """
    control = Control(name="its limit", opens=("4 things", "unshare", "a key"))
    attack = replace(ATTACK, control=control, achieved=lambda _: "4 things, unshare: users, a keyring")
    result = outcome(played("hostile"))
    assert control_complaints(attack, result) == ("even without its limit it did not get a key",)
    assert control_complaints(attack, replace(result, runtime="runsc")) == ()


def replacements(source: str) -> Iterator[tuple[str, str]]:
    """Yield what a control's source replaces in the referee: a module's file, and an attribute in it."""
    origins: dict[str, str] = {}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom):
            for name in node.names:
                with suppress(ModuleNotFoundError):
                    origins[name.name] = origin_of(str(node.module))
                    origins[name.name] = origin_of(f"{node.module}.{name.name}")
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                owner = target.value if isinstance(target, ast.Attribute) else None
                if isinstance(target, ast.Attribute) and isinstance(owner, ast.Name):
                    yield origins[owner.id], target.attr


def origin_of(module: str) -> str:
    """Return a module's file. Raises ModuleNotFoundError."""
    spec = find_spec(module)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(module)
    return spec.origin


def test_what_is_replaced_to_take_a_control_away_exists() -> None:
    """Without this, a renamed function would leave the control in place, noticed only by the long form."""
    sources = {attack.control.referee or "" for attack in (*ATTACKS, *VARIANTS)}
    found = {each for source in sources for each in replacements(source)}
    assert len(found) > 5
    for file, name in found:
        assert re.search(rf"\b{name}\b", Path(file).read_text()), f"{name} is not in {file}"
