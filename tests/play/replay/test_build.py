"""Building a game's replay."""

import json

import pytest

from arena.play.replay.document import build, encode
from arena.protocol.faults import Fault
from arena.protocol.match import Decision
from arena.rules import Rules, deals, new_game, shuffled_deck

from .games import SEED, faulty, played, replay_of, seats

THREE = Rules(players=3)
DUMMY = Rules(players=2, dummy=True)


def test_the_document_has_the_keys_of_the_format_in_their_order() -> None:
    """Keys, their order and the shapes of values match the format, and the text is compact."""
    line = encode(replay_of(THREE))
    document = json.loads(line)
    assert list(document) == [
        "format", "game", "seed", "shuffle", "rules", "seats", "deals", "turns", "rounds", "puddings",
        "totals", "places", "rules_places",
    ]  # fmt: skip
    assert document["format"] == "sushigo-replay/1"
    assert document["seed"] == SEED.hex()
    assert document["shuffle"] == "sha256-fisher-yates/1"
    assert document["rules"] == {"players": 3, "pass_both_ways": False, "soy_sauce": False, "dummy": False}
    assert list(document["rules"]) == ["players", "pass_both_ways", "soy_sauce", "dummy"]
    assert document["seats"][1] == {"bot": "bot-1", "version": 2, "author": "ann"}
    assert list(document["turns"][0]) == ["round", "turn", "plays", "standin", "fault", "millis"]
    assert list(document["rounds"][0]) == ["scores", "breakdown"]
    assert list(document["rounds"][0]["breakdown"][0]) == [
        "tempura", "sashimi", "dumpling", "maki", "nigiri", "soy_sauce",
    ]  # fmt: skip
    assert line == json.dumps(document, separators=(",", ":")).encode()


@pytest.mark.parametrize(
    ("rules", "participants", "turns"), [(THREE, 3, 27), (DUMMY, 3, 27), (Rules(players=5), 5, 21)]
)
def test_lists_have_one_entry_per_seat_or_participant(rules: Rules, participants: int, turns: int) -> None:
    """Lists of cards and points include the dummy; lists of bots and places don't."""
    replay = replay_of(rules)
    assert len(replay.turns) == turns
    assert len(replay.deals) == len(replay.rounds) == 3
    for listed in (
        *replay.deals,
        *(turn.plays for turn in replay.turns),
        replay.totals,
        replay.puddings.counts,
    ):
        assert len(listed) == participants
    for turn in replay.turns:
        assert (turn.standin, turn.fault) == ((False,) * rules.players, (None,) * rules.players)
        assert turn.millis is None
    assert len(replay.seats) == len(replay.places) == len(replay.rules_places) == rules.players


def test_deals_are_in_deal_order_and_the_pile_comes_last() -> None:
    """Deals list each hand in deck order, unsorted, with the pile last."""
    replay = replay_of(DUMMY)
    expected = deals(DUMMY, shuffled_deck(DUMMY, SEED))
    assert replay.deals == tuple(
        tuple(tuple(card.label for card in hand) for hand in hands) for hands in expected
    )


def test_the_referees_notes_are_in_their_turn() -> None:
    """The turn of a step has its faults, stand-ins and times; automatic turns have none."""
    replay = faulty(THREE, {(8, 1): Fault.TIMEOUT})
    assert replay.turns[7].standin == (False, False, False)
    assert replay.turns[7].millis == (1.5, 1.5, 1.5)
    # Step 8 belongs to turns[9], since turns[8] is the automatic last turn of round 1.
    assert replay.turns[8].millis == (None, None, None)
    assert (replay.turns[9].round, replay.turns[9].turn) == (2, 1)
    assert replay.turns[9].fault == (None, Fault.TIMEOUT, None)
    assert replay.turns[9].standin == (False, True, False)
    assert replay.turns[9].millis == (1.5, None, 1.5)


def test_a_seat_that_is_not_asked_has_no_notes() -> None:
    """In the last turn of a round with a dummy, one player's card is automatic and has no time."""
    replay = faulty(DUMMY, {})
    assert replay.turns[8].millis == (1.5, None)
    assert replay.turns[17].millis == (None, 1.5)


def test_only_a_finished_game_is_recorded() -> None:
    """Building the replay of an unfinished game raises ValueError."""
    state = new_game(THREE, shuffled_deck(THREE, SEED))
    with pytest.raises(ValueError, match="game game-1 is not over"):
        build(game="game-1", seed=SEED.hex(), state=state, seats=seats(THREE))


def test_lists_that_do_not_fit_are_refused() -> None:
    """Building a replay fails if the number of seats, places or steps is wrong."""
    state = played(THREE)
    with pytest.raises(ValueError, match="2 seats and 3 places for 3 players"):
        build(game="game-1", seed=SEED.hex(), state=state, seats=seats(THREE)[:2])
    with pytest.raises(ValueError, match="3 seats and 4 places for 3 players"):
        build(game="game-1", seed=SEED.hex(), state=state, seats=seats(THREE), places=(1, 2, 3, 4))
    with pytest.raises(ValueError, match="23 steps given for a game with 24 joint decisions"):
        build(
            game="game-1",
            seed=SEED.hex(),
            state=state,
            seats=seats(THREE),
            steps=[[Decision(cards=("wasabi",))] * 3] * 23,
        )
