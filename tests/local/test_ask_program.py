"""Tests of putting decisions from recorded games to programs."""

from dataclasses import replace
from pathlib import Path

import pytest

from arena.local.ask_program import GameToAsk, ProgramRun, Reply, ask_program
from arena.local.bots import LocalBot, bot_of_command
from arena.local.workers import BotUnloadable
from arena.protocol.match import Clock
from arena.rules import Rules, State, View, apply, new_game, seats_to_move, shuffled_deck, view
from arena.sdk import Move
from tests.local.test_processes import command
from tests.patience import PATIENT_CLOCK, WAIT_SECONDS

RUN = "\nfrom arena.sdk import run\nrun(choose)\n"
LAST = "def choose(view): return view.legal_moves()[-1]"
SEED = f"{7:032x}"


def recorded(rules: Rules, seat: int) -> tuple[GameToAsk, list[View]]:
    """Return a game in which all seats play their first legal moves, and the views of one seat."""
    state: State = new_game(rules, shuffled_deck(rules, bytes.fromhex(SEED)))
    seen: list[View] = []
    steps: list[tuple[Move | None, ...]] = []
    while not state.over:
        moves: list[Move | None] = [None] * rules.players
        for each in seats_to_move(state):
            moves[each] = view(state, each).legal_moves()[0]
        if seat in seats_to_move(state):
            seen.append(view(state, seat))
        steps.append(tuple(moves))
        state = apply(state, moves)
    return GameToAsk(rules, SEED, seat, tuple(steps)), seen


def ask(bot: LocalBot, *games: GameToAsk, clock: Clock = PATIENT_CLOCK) -> tuple[list[Reply], ProgramRun]:
    """Put the decisions of these games to a bot, and return its replies."""
    replies: list[Reply] = []
    return replies, ask_program(bot, games, replies.append, clock)


def test_every_decision_is_asked_whatever_the_bot_answers(tmp_path: Path) -> None:
    """The views follow the recorded moves, not the bot's answers. The games have different variants."""
    one, seen_one = recorded(Rules(players=3, soy_sauce=True), 2)
    two, seen_two = recorded(Rules(players=2, dummy=True), 0)
    replies, done = ask(command(tmp_path, LAST + RUN), one, two)
    assert done.lost is None
    assert done.hello.sdk.startswith("kaiten-python/")
    assert [reply.view for reply in replies] == seen_one + seen_two
    assert [reply.move for reply in replies] == [each.legal_moves()[-1] for each in seen_one + seen_two]
    assert all(reply.trouble is None and reply.nonce for reply in replies)
    assert {reply.game for reply in replies} == {0, 1}


def test_an_illegal_answer_is_described_and_the_next_one_asked(tmp_path: Path) -> None:
    """An illegal answer is described by the rule's error, and the next decision is asked."""
    game, seen = recorded(Rules(players=2), 1)
    replies, _ = ask(command(tmp_path, "def choose(view): return view.hand[:2]" + RUN), game)
    assert len(replies) == len(seen)
    assert replies[0].trouble is not None
    assert replies[0].trouble.startswith("illegal: seat 1: ")


@pytest.mark.parametrize(
    ("text", "lost", "asked"),
    [
        ("def choose(view):\n if view.turn == 3: 1 / 0\n return view.hand[0]", "the bot exited", 3),
        ("def choose(view):\n while True: pass", "no answer within 0.3 s", 1),
    ],
    ids=["crash", "loop"],
)
def test_a_lost_bot_ends_the_interview(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, lost: str, asked: int
) -> None:
    """The result has the lost bot's stderr."""
    game, _ = recorded(Rules(players=2), 0)
    if asked == 3:
        clock = PATIENT_CLOCK
        monkeypatch.setattr("arena.local.ask_program._LEAVE_SECONDS", WAIT_SECONDS)
    else:
        clock = replace(PATIENT_CLOCK, move_millis=200, bank_millis=100)
        monkeypatch.setattr("arena.local.ask_program._LEAVE_SECONDS", 0.1)
    replies, done = ask(command(tmp_path, text + RUN), game, clock=clock)
    assert len(replies) == asked
    assert done.lost is not None
    assert done.lost.startswith(lost)
    assert replies[-1].trouble == done.lost
    assert ("ZeroDivisionError" in done.stderr) == (asked == 3)


def test_a_program_is_told_what_is_left_of_the_bank(tmp_path: Path) -> None:
    """Each request has the time that the earlier ones have left. In the end, the bot may time out."""
    game, _ = recorded(Rules(players=2), 0)
    text = (
        "import time\nfrom arena.sdk import match\nplain = match.GameInProgress.answer\n"
        "def answer(game, request, size):\n"
        "    time.sleep(request.bank_millis / 5000)\n"
        "    return plain(game, request, size)\n"
        "match.GameInProgress.answer = answer\n"
    )
    replies, _ = ask(
        command(tmp_path, text + LAST + RUN),
        game,
        clock=replace(PATIENT_CLOCK, move_millis=1, bank_millis=5000),
    )
    assert len(replies) > 5
    assert replies[0].millis > 1000 > replies[5].millis


def test_the_bank_lasts_for_a_whole_game(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bot that is slow in every decision is late once its bank is used up."""
    monkeypatch.setattr("arena.local.ask_program._LEAVE_SECONDS", 0.1)
    game, _ = recorded(Rules(players=2), 0)
    slow = "import time\ndef choose(view):\n time.sleep(1)\n return view.hand[0]"
    replies, done = ask(
        command(tmp_path, slow + RUN), game, clock=replace(PATIENT_CLOCK, move_millis=500, bank_millis=1200)
    )
    assert len(replies) <= 3
    assert (done.lost or "").startswith("no answer within")


@pytest.mark.parametrize(
    ("text", "why"), [("import sys; sys.exit('no bot')", "it exited with code 1"), (None, "no valid Hello")]
)
def test_a_program_that_never_sends_hello(tmp_path: Path, text: str | None, why: str) -> None:
    """The program exits, or is stopped for not sending Hello in time."""
    game, _ = recorded(Rules(players=2), 0)
    bot = bot_of_command("sleep 1000") if text is None else command(tmp_path, text)
    with pytest.raises(BotUnloadable, match=why):
        ask(bot, game, clock=Clock(start_millis=300) if text is None else PATIENT_CLOCK)


def test_a_program_that_can_not_be_started() -> None:
    """The error blames the bot, not the arena."""
    game, _ = recorded(Rules(players=2), 0)
    with pytest.raises(BotUnloadable, match=r"could not start a process for .*Argument list too long"):
        ask(bot_of_command("true " + "x" * 200_000), game)
