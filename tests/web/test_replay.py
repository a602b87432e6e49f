"""The table of a replay complies with the rules."""

import random

import pytest

from arena.play.replay.document import Seat, build, encode
from arena.rules import Rules
from tests.builders import play
from tests.soak import many
from web.games.pages import ReplayTable, replay_table

_NIGIRI = {"salmon_nigiri": 2, "squid_nigiri": 3, "egg_nigiri": 1}

EVERY_RULES = [
    *(Rules(players=players, soy_sauce=soy) for players in (2, 3, 4, 5) for soy in (False, True)),
    Rules(players=2, dummy=True, soy_sauce=True),
    Rules(players=4, pass_both_ways=True),
]


def _table(rules: Rules, seed: int, *, timed: bool = True) -> tuple[ReplayTable, tuple[int, ...]]:
    dice = random.Random(seed)  # noqa: S311 - reproducible
    hexadecimal = dice.randbytes(16).hex()
    state, record = play(rules, hexadecimal, dice, faults=0.05)
    assert state.result is not None
    replay = build(
        game="g",
        seed=hexadecimal,
        state=state,
        seats=[Seat(bot=f"bot{seat}", version=1, author="a") for seat in range(rules.players)],
        places=state.result.places,
        steps=record.steps if timed else None,
    )
    return replay_table(encode(replay).decode()), state.result.totals


@pytest.mark.parametrize("rules", EVERY_RULES, ids=str)
def test_the_marks_explain_the_points(rules: Rules) -> None:
    """The nigiri with their triple marks add up to the nigiri points, and the rounds to the totals."""
    for seed in range(many(2, 5)):
        table, totals = _table(rules, seed)
        for played in table.rounds:
            by_kind = dict(played.kinds)
            assert ("Soy sauce" in by_kind) == rules.soy_sauce
            for seat in range(rules.participants):
                cards = [card for line in played.turns for card in line.cells[seat].cards]
                points = sum(_NIGIRI.get(card.kind, 0) * (3 if card.tripled else 1) for card in cards)
                assert points == by_kind["Nigiri"][seat]
                assert sum(values[seat] for values in by_kind.values()) == played.scores[seat]
        so_far = table.rounds[-1].so_far
        assert tuple(map(sum, zip(so_far, table.document.puddings.scores, strict=True))) == totals


def test_two_cards_in_a_turn_require_chopsticks() -> None:
    """The turn is marked, and the seat has chopsticks from an earlier turn."""
    found = 0
    for seed in range(10):
        table, _ = _table(Rules(players=2), seed)
        for played in table.rounds:
            for seat in range(2):
                held = 0
                for line in played.turns:
                    cell = line.cells[seat]
                    assert cell.chopsticks == (len(cell.cards) == 2)
                    if cell.chopsticks:
                        assert held > 0
                        found += 1
                    held += [card.kind for card in cell.cards].count("chopsticks") - cell.chopsticks
    assert found > 5


def test_every_fault_is_listed_with_the_turn_it_links_to() -> None:
    """The list of faults and the marks in the turns agree."""
    table, _ = _table(Rules(players=4), 3)
    marked = [
        line.anchor for played in table.rounds for line in played.turns for cell in line.cells if cell.fault
    ]
    assert marked
    assert [anchor for anchor, _ in table.faults] == marked
    assert all(
        cell.standin for played in table.rounds for line in played.turns for cell in line.cells if cell.fault
    )


def test_the_dummy_is_a_participant_without_times() -> None:
    """The dummy's column comes last, and has no times or faults."""
    table, _ = _table(Rules(players=2, dummy=True), 2)
    assert table.participants == (("bot0", 1, "/bots/bot0"), ("bot1", 1, "/bots/bot1"), ("dummy", None, None))
    cells = [line.cells[2] for played in table.rounds for line in played.turns]
    assert len(cells) == 27
    assert not any(cell.chopsticks or cell.standin or cell.fault or cell.millis for cell in cells)


def test_a_replay_without_times_shows_none() -> None:
    """Simulated games have no times."""
    table, _ = _table(Rules(players=2), 1, timed=False)
    assert all(cell.millis is None for played in table.rounds for line in played.turns for cell in line.cells)
