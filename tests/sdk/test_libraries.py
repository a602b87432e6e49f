"""A bot's process in either language, against a scripted referee over real gRPC."""

import re
from contextlib import ExitStack
from hashlib import sha256

import grpc
import pytest

from arena.rules import Rules, seats_to_move, view
from arena.wire import convert
from arena.wire.v1 import referee_pb2 as pb
from tests.patience import within
from tests.sdk.libraries import PYTHON, Library, in_javascript
from tests.sdk.referee import Talk, first_state, request, step

FIRST_CARD = "plays the first card"


@pytest.fixture(params=["python", pytest.param("javascript", marks=pytest.mark.docker)])
def library(request: pytest.FixtureRequest) -> Library:
    """Return the library of each language in turn."""
    return (
        PYTHON
        if request.param == "python"
        else in_javascript(request.getfixturevalue("javascript_container"))
    )


def game_end(game: int = 0) -> pb.Event:
    """Return the end of a two-player game."""
    end = pb.GameEnd(game=game, totals=[3, 2], puddings=[0, 0], pudding_scores=[0, 0], places=[1, 2])
    return pb.Event(game_end=end)


def test_says_hello_first(library: Library) -> None:
    """The first message has only the Hello, with the number of games that the bot wants at once."""
    heard: list[pb.BotMessage] = []

    async def script(talk: Talk) -> None:
        heard.append(await talk.receive())

    assert library.play("wants 5 games", script) == (0, "")
    assert heard[0].hello.protocol == 1
    assert heard[0].hello.sdk.startswith(f"kaiten-{library.language}/0.1")
    assert heard[0].hello.games_at_once == 5
    assert not heard[0].moves


@pytest.mark.parametrize(
    "rules",
    [Rules(players=3, pass_both_ways=True), Rules(players=2, dummy=True, soy_sauce=True)],
    ids=["three players", "dummy"],
)
def test_the_bot_sees_the_complete_view_in_every_decision(library: Library, rules: Rules) -> None:
    """The view, including its history, equals that of the rules. Moves include two cards and the dummy's."""
    kinds: set[tuple[int, bool]] = set()

    async def script(talk: Talk) -> None:
        state = first_state(rules)
        await talk.welcome(rules, seat=1)
        while not state.over:
            move = None
            if 1 in seats_to_move(state):
                seen = view(state, 1)
                await talk.send(request(state, 1))
                (answer,) = (await talk.receive()).moves
                assert answer.note == sha256(library.shown(seen).encode()).hexdigest()
                assert (answer.round, answer.turn) == (state.round, state.turn)
                move = convert.move_from_wire(answer)
                assert move == seen.legal_moves()[-1]
                kinds.add((len(move.cards), move.dummy is not None))
            after = step(state, 1, move)
            revealed = after.turns[len(state.turns) :]
            await talk.send(*[pb.Event(turn_result=convert.turn_result(0, turn)) for turn in revealed])
            state = after

    assert library.play("remembers", script) == (0, "")
    assert kinds >= {(1, False), (2, False)}
    assert any(dummy for _, dummy in kinds) is rules.dummy


def test_answers_all_requests_of_a_message(library: Library) -> None:
    """By default, a function plays 32 games at once. Its quick answers are sent together."""
    rules = Rules(players=2)
    state = first_state(rules)

    async def script(talk: Talk) -> None:
        assert (await talk.welcome(rules, games=20)).games_at_once == 32
        await talk.send(*[request(state, 0, game) for game in range(20)])
        moves: list[pb.Move] = []
        messages = 0
        while len(moves) < 20:
            moves += (await talk.receive()).moves
            messages += 1
        assert messages < 20
        assert sorted(move.game for move in moves) == list(range(20))
        assert {convert.move_from_wire(move).cards for move in moves} == {state.hands[0][:1]}

    assert library.play(FIRST_CARD, script) == (0, "")


async def request_twice(talk: Talk) -> None:
    """Request the first decisions of two games in one message."""
    rules = Rules(players=2)
    await talk.welcome(rules, games=2)
    await talk.send(*[request(first_state(rules), 0, game) for game in range(2)])


def test_a_slow_answer_is_sent_immediately(library: Library) -> None:
    """It doesn't wait for the bot's answers in other games, because its game's clock is running."""

    async def script(talk: Talk) -> None:
        await request_twice(talk)
        assert [move.game for move in (await talk.receive()).moves] == [0]
        await talk.closed()

    code, stderr = library.play("fails in its second decision", script)
    assert (code, "enough" in stderr) == (1, True)


def test_the_reason_for_a_refusal_during_a_decision_is_reported(library: Library) -> None:
    """Although the bot then sends another answer."""

    async def script(talk: Talk) -> None:
        await request_twice(talk)
        await talk.receive()
        await talk.refuse(grpc.StatusCode.RESOURCE_EXHAUSTED, "too many of them")

    code, stderr = library.play("takes its time", script)
    assert (code, "too many of them" in stderr) == (2, True), stderr


def test_a_class_has_an_instance_for_every_game_and_learns_of_the_end(library: Library) -> None:
    """A class has one instance per game, which gets the game's result. By default, it plays one at a time."""
    rules = Rules(players=2)

    async def script(talk: Talk) -> None:
        assert (await talk.welcome(rules)).games_at_once == 1
        for game in range(2):
            if game:
                start = convert.game_start(game, 0, rules, move_millis=1000, bank_millis=1000)
                await talk.send(pb.Event(game_start=start))
            await talk.send(request(first_state(rules), 0, game))
            await talk.receive()
            await talk.send(game_end(game))

    heard = "made 1 asked 1 places 1 2\nmade 2 asked 1 places 1 2\n"
    assert library.play("is a class", script) == (0, heard)


def test_unknown_events_are_ignored(library: Library) -> None:
    """An event of a later protocol doesn't affect requests in the same message."""
    rules = Rules(players=2)
    unknown = pb.Event.FromString(b"\x9a\x06\x00")  # field 99, empty

    async def script(talk: Talk) -> None:
        await talk.welcome(rules)
        await talk.send(unknown, request(first_state(rules)), unknown)
        assert len((await talk.receive()).moves) == 1

    assert library.play(FIRST_CARD, script) == (0, "")


def test_a_notice_is_one_line_on_stderr(library: Library) -> None:
    """The referee's notices reach the author, even if the kind of fault is unknown."""
    notice = pb.Notice(game=2, round=1, turn=4, fault=pb.FAULT_KIND_TIMEOUT, text="no answer\nin time")

    async def script(talk: Talk) -> None:
        await talk.welcome(Rules(players=2))
        await talk.send(pb.Event(notice=notice))
        notice.taken_over = True
        later = pb.Notice.FromString(notice.SerializeToString() + b"\x20\x63")  # fault 99
        await talk.send(pb.Event(notice=later))

    said = "game 2, round 1, turn 4"
    assert library.play(FIRST_CARD, script) == (
        0,
        (
            f"kaiten: {said}: timeout: no answer in time\n"
            f"kaiten: {said}: fault: no answer in time; a stand-in plays this game to its end\n"
        ),
    )


def test_a_note_is_cut_at_the_limit(library: Library) -> None:
    """The library cuts a long note after a complete character, since sending it would be a fault."""

    async def script(talk: Talk) -> None:
        assert (await talk.asked(Rules(players=2))).note == "x" + "é" * 127

    assert library.play("has a long note", script) == (0, "")


@pytest.mark.parametrize("bot", ["fails at its start", "fails at the end"])
def test_errors_outside_choose_end_a_class_too(library: Library, bot: str) -> None:
    """An error in its constructor or at the end of a game ends the bot like an error in ``choose``."""

    async def script(talk: Talk) -> None:
        await talk.welcome(Rules(players=2))
        await talk.send(game_end())
        await talk.closed()

    code, stderr = library.play(bot, script)
    assert code == 1
    assert "Error: my own" in stderr


def test_a_referee_that_goes_away_ends_the_bot(library: Library) -> None:
    """If the server disappears in the middle of a game, the bot exits at once with one line."""
    with ExitStack() as gone:

        async def script(talk: Talk) -> None:
            await talk.asked(Rules(players=2))
            gone.enter_context(within(20))
            await talk.go_away()

        code, stderr = library.play(FIRST_CARD, script)
    assert code == 2
    assert stderr.startswith("kaiten: the connection to the referee was lost: ")
    assert stderr.count("\n") == 1


def test_after_the_end_of_the_match_a_lost_connection_is_no_error(library: Library) -> None:
    """The referee's socket may close before the bot has read the stream's status."""

    async def end_and_go_away(talk: Talk) -> None:
        await talk.welcome(Rules(players=2))
        await talk.send(request(first_state(Rules(players=2))), pb.Event(match_end=pb.MatchEnd(games=1)))
        await talk.receive()  # the bot has read both
        await talk.go_away()

    assert library.play(FIRST_CARD, end_and_go_away) == (0, "")


def test_a_refusal_of_the_referee_is_reported(library: Library) -> None:
    """If the referee ends the stream with an error, the bot prints its text and exits with code 2."""

    async def script(talk: Talk) -> None:
        await talk.receive()
        await talk.refuse(grpc.StatusCode.INVALID_ARGUMENT, "protocol 1 is not spoken here")

    assert library.play(FIRST_CARD, script) == (
        2,
        "kaiten: the connection to the referee was lost: protocol 1 is not spoken here (INVALID_ARGUMENT)\n",
    )


def test_an_invalid_message_of_the_referee_is_reported(library: Library) -> None:
    """A request for a game that hasn't begun is the referee's mistake, so the exit code is 2."""

    async def script(talk: Talk) -> None:
        await talk.welcome(Rules(players=2))
        await talk.send(request(first_state(Rules(players=2)), game=7))
        await talk.closed()

    code, stderr = library.play(FIRST_CARD, script)
    assert code == 2
    assert "an event for game 7, which has not begun" in stderr


def test_the_bot_waits_for_a_referee_that_is_late(library: Library) -> None:
    """A bot that starts before the referee connects as soon as the socket exists."""

    async def script(talk: Talk) -> None:
        await talk.receive()

    assert library.play("says that it is up", script, before=b"up\n") == (0, "")


def test_started_by_hand_it_says_what_to_do(library: Library) -> None:
    """If the environment variable is missing, the bot names it. In Python it also shows how to play."""
    done = library.alone(library.bots[FIRST_CARD])
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("ARENA_REFEREE is not set")
    assert ("from arena.sdk import play" in done.stderr) is (library.language == "python")
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("bot", "words"),
    [
        ("is a number", "3 is not a bot"),
        ("is a class without choose", "the class Odd is not a bot: it has no method choose"),
        ("wants an impossible number of games", r"is (0|1\.5)"),
    ],
)
def test_a_wrong_argument_of_run_is_refused(library: Library, bot: str, words: str) -> None:
    """A wrong argument of ``run`` is reported before anything else happens."""
    done = library.alone(library.bots[bot], "unix:///nowhere/referee.sock")
    assert done.returncode == 1
    assert re.search(words, done.stderr)
