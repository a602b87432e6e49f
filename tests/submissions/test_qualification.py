"""Tests of verdicts on qualification games, from the real referee with a clock and bots set by the test."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from arena.ladder.qualification import GAMES, Played, QualificationStanding, numbers, standing, table
from arena.play.referee.player import Lost, PlayerAnswer
from arena.protocol.faults import Fault
from arena.protocol.match import SeatReport
from arena.protocol.submissions import HINTS, Cause, Stage
from arena.protocol.submissions import CauseKind as Kind
from arena.rules import Card, Move, Rules
from tests.db.builders import present
from tests.play.referee.driver import Driver

SEAT = 1
RULES = Rules(players=3)
RAN = SeatReport(image="sha256:a", runtime="docker/runc", limits=("memory 256 MiB",), sdk="test/1")

Play = Callable[[Driver], None]


def played(play: Play, report: SeatReport = RAN) -> Played:
    """Play a game in which the bot does this after all Hellos, and plays correctly from then on."""
    driver = Driver(RULES)
    driver.greet()
    play(driver)
    driver.play_on()
    return Played(rules=RULES, seat=SEAT, report=report, game=driver.match.games()[0])


def cause_of(*games: Played) -> Cause:
    """Return why the bot doesn't qualify."""
    return present(standing(games).cause)


def well(driver: Driver) -> None:
    """Play correctly."""


def late(times: int) -> Play:
    """Leave this many decisions unanswered."""

    def play(driver: Driver) -> None:
        for _ in range(times):
            for seat in (0, 2):
                driver.answer(seat)
            driver.asks[SEAT].clear()
            driver.tick(11.1)

    return play


def gone(fault: Fault, why: str, after: int = 0) -> Play:
    """Exit after this many decisions."""

    def play(driver: Driver) -> None:
        for _ in range(after):
            for seat in range(3):
                driver.answer(seat)
        driver.match.lose(SEAT, Lost(fault, why), driver.now)
        driver.asks[SEAT].clear()
        driver.collect()

    return play


def forbidden(driver: Driver) -> None:
    """Play a card that isn't in the hand."""
    driver.answer(SEAT, lambda _: Move((Card.SOY_SAUCE,)))


def chatter(driver: Driver) -> None:
    """Send an answer without a request."""
    driver.send(SEAT, PlayerAnswer(0, 3, 9, Move((Card.TEMPURA,)), ""))


def test_three_games_from_the_first_seat_to_the_last() -> None:
    """The tables are small, medium and full, or as large as the house bots allow."""
    assert [table(game, 6) for game in range(GAMES)] == [(2, 0), (3, 1), (5, 4)]
    assert [table(game, 1) for game in range(GAMES)] == [(2, 0), (2, 1), (2, 1)]


@pytest.mark.parametrize("plays", [[], [well], [well, well, well], [late(2), well], [late(1), late(1), well]])
def test_a_sound_bot_qualifies(plays: Sequence[Play]) -> None:
    """Two late decisions are allowed across all games."""
    assert standing([played(play) for play in plays]).cause is None


@pytest.mark.parametrize(
    ("plays", "kind", "words"),
    [
        (
            [late(3)],
            Kind.SLOW,
            r"in game 1 of 3, round 1, turn 1: no answer within 11\.0 s .* late 3 times \(limit 2\)",
        ),
        ([late(2), well, late(1)], Kind.SLOW, "in game 1 of 3.*late 3 times"),
        ([well, forbidden], Kind.ILLEGAL, "in game 2 of 3, round 1, turn 1: .*soy_sauce is not in the hand"),
        (
            [well, well, chatter],
            Kind.PROTOCOL,
            "in game 3 of 3, round 1, turn 1: an unrequested answer for game 0",
        ),
        (
            [gone(Fault.EXPELLED, "it flooded", 2)],
            Kind.EXPELLED,
            "referee disconnected the bot in game 1 .*turn 3: it flooded",
        ),
        (
            [gone(Fault.CRASH, "it ended", 4)],
            Kind.CRASH,
            "disconnected in game 1 of 3, round 1, turn 5: it ended",
        ),
        # A crash takes precedence over earlier late decisions.
        ([late(2), gone(Fault.CRASH, "it ended", 1)], Kind.CRASH, "disconnected in game 2"),
    ],
)
def test_a_faulty_bot_gets_the_cause(plays: Sequence[Play], kind: Kind, words: str) -> None:
    """The cause has the first failed game, the decision and its request."""
    cause = cause_of(*map(played, plays))
    assert (cause.stage, cause.kind, cause.hint) == (Stage.QUALIFYING, kind, HINTS[kind])
    assert re.search(words, cause.text), cause.text
    assert cause.request is not None
    assert (cause.request.players, cause.request.seat) == (3, SEAT)
    assert len(cause.request.hand) == 10 - cause.request.turn


ABSENT = gone(Fault.ABSENT, "no valid Hello within 10 s of its start")
NEVER = replace(RAN, sdk="", trouble="no valid Hello within 10 s of its start")
ENDED = replace(NEVER, exit_code=1, trouble="it exited with code 1")


@pytest.mark.parametrize(
    ("play", "report", "kind", "words"),
    [
        (ABSENT, NEVER, Kind.SILENT, "sent no Hello to the referee: no valid Hello"),
        (
            ABSENT,
            replace(NEVER, stderr='Stack (most recent call first):\n  File "/bot/bot.py", line 7 in load\n'),
            Kind.SILENT,
            "when its time ran out, it was in bot.py, line 7, in load",
        ),
        (
            ABSENT,
            replace(NEVER, limits=(), trouble="no such file"),
            Kind.START,
            "not be started: no such",
        ),
        (
            gone(Fault.CRASH, "it ended"),
            replace(ENDED, exit_code=127, stderr="arena: can't start /bot/b: no such file\n"),
            Kind.START,
            "could not be started: arena: can't start /bot/b: no such file",
        ),
        (
            ABSENT,
            replace(NEVER, stderr="getaddrinfo EAI_AGAIN h.example\n"),
            Kind.NETWORK,
            "EAI_AGAIN h",
        ),
        (
            gone(Fault.CRASH, "it ended"),
            replace(ENDED, stderr="OSError: [Errno 101] Network is unreachable\n"),
            Kind.NETWORK,
            "before its first move: it exited with code 1; it tried to use the network, .*Errno 101",
        ),
        (
            gone(Fault.CRASH, "it ended"),
            ENDED,
            Kind.CRASH,
            "disconnected before its first move: it exited with",
        ),
        (
            gone(Fault.CRASH, "it ended"),
            replace(ENDED, out_of_memory=True, exit_code=137, trouble="it ran out of memory"),
            Kind.MEMORY,
            "before its first move: it ran out of memory",
        ),
    ],
)
def test_an_absent_bot_gets_the_cause(play: Play, report: SeatReport, kind: Kind, words: str) -> None:
    """The cause is derived from the sandbox's report and the bot's output, and has no request."""
    cause = cause_of(played(play, report))
    assert cause.kind is kind
    assert re.search(words, cause.text), cause.text
    assert (cause.request, cause.stderr) == (None, report.stderr)
    assert (cause.exit_code, cause.out_of_memory) == (report.exit_code, report.out_of_memory)


def test_trying_the_network_is_not_a_cause_by_itself() -> None:
    """A bot that tries the network but keeps playing qualifies. Any other fault is its cause."""
    report = replace(RAN, stderr="x" * 9000 + "Network is unreachable\n")
    assert standing([played(well, report)]).cause is None
    cause = cause_of(played(forbidden, report))
    assert cause.kind is Kind.ILLEGAL
    assert cause.stderr == report.stderr[-4096:]


def test_every_cause_has_a_hint() -> None:
    """Every kind of cause has a hint."""
    assert HINTS.keys() == set(Kind)


MODULE = """Traceback (most recent call last):
  File "/bot/bot.py", line 2, in <module>
    import torch
ModuleNotFoundError: No module named 'torch'
"""
INSIDE = """Traceback (most recent call last):
  File "/bot/bot.py", line 7, in choose
    return table[view.hand]
  File "/usr/lib/python3.11/random.py", line 1, in pick
    return 1 / 0
ZeroDivisionError: division by zero
kaiten: the bot failed when it was asked for a move in game 0
"""
SYNTAX = (
    "  File \"/bot/bot.py\", line 3\n    def choose(view)\n                    ^\nSyntaxError: expected ':'\n"
)
NESTED = (
    INSIDE.replace(
        "ZeroDivisionError: division by zero\nkaiten", "OSError: [Errno 101] Network is unreachable\nkaiten"
    )
    + "\n"
    + MODULE
)
LATE = 'Stack (most recent call first):\n  File "/bot/bot.py", line 99 in load\n'
PLACE = "kaiten: choose() is in /bot/bot.py, line 4\n"
WRONG = f"""Traceback (most recent call last):
  File "/srv/arena/sdk/bot.py", line 40, in as_move
    raise TypeError(_refusal(answer, view))
TypeError: round 1, turn 1: choose() returned None
{PLACE}kaiten: the bot failed when it was asked for a move in game 0
"""
NODE_INSIDE = """depth: 3
TypeError: view is not a function
    at Object.call (node:internal/call:1:2)
    at async choose (file:///bot/bot.js:5:10) {
  [cause]: Error: unrelated
      at file:///bot/bot.js:1:1
}
kaiten: the bot failed when it was asked for a move in game 0
"""
NODE_SYNTAX = """file:///bot/bot.js:3
cons x = 1;
     ^

SyntaxError: Unexpected identifier 'x'
    at compileSourceTextModule (node:internal/modules/esm/utils:346:16)
    at file:///bot/bot.js:9:9

Node.js v24.1.0
"""
NODE_MODULE = """node:internal/modules/esm/resolve:873
  throw new ERR_MODULE_NOT_FOUND(packageName, fileURLToPath(base), null);
        ^

Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'nope' imported from /bot/bot.js
    at packageResolve (node:internal/modules/esm/resolve:873:9) {
  code: 'ERR_MODULE_NOT_FOUND'
}
"""
NODE_PACKAGE = """/node_modules/far/index.js:1
throw new RangeError("too far");
^

RangeError: too far
    at far (/node_modules/far/index.js:1:7)
    at choose (file:///bot/bot.js:8:3)
"""
NODE_RETURNED = """TypeError: round 1, turn 1: choose() returned 7; it must return a card
kaiten: the bot failed when it was asked for a move in game 0
"""
NODE_LINES = """depth: 3
Error: no card is left
hand: empty
    at choose (file:///bot/bot.js:5:10)
kaiten: the bot failed when it was asked for a move in game 0
"""
NODE_LABEL = """file:///bot/bot.js:7
label: for (;;) throw new Error('e')
                ^

Error: e
    at file:///bot/bot.js:7:23
"""
NODE_MEMORY = """
FATAL ERROR: Reached heap limit Allocation failed - heap out of memory
----- Native stack trace -----

 1: 0xb78db3 node::OOMErrorHandler(char const*, v8::OOMDetails const&) [node]
"""
FATAL = """Fatal Python error: Segmentation fault

Stack (most recent call first):
  File "/bot/bot.py", line 9 in search
  File "/srv/arena/sdk/match.py", line 80 in answer

Extension modules: grpc._cython.cygrpc (total: 1)
"""


@pytest.mark.parametrize(
    ("stderr", "kind", "words"),
    [
        (WRONG, Kind.CRASH, r"choose\(\) returned None; choose\(\) is in bot\.py, line 4$"),
        (WRONG + INSIDE, Kind.CRASH, r"division by zero \(bot\.py, line 7"),
        (INSIDE + WRONG, Kind.CRASH, r"choose\(\) returned None; choose\(\) is in bot\.py, line 4$"),
        (WRONG.replace(PLACE, ""), Kind.CRASH, r"code 1; TypeError: .*choose\(\) returned None$"),
        (INSIDE + FATAL, Kind.CRASH, r"Segmentation fault \(bot\.py, line 9, in search\)$"),
        (LATE + "Fatal Python error: none_dealloc\n", Kind.CRASH, "exited with code 1$"),
        (MODULE, Kind.CRASH, r"No module named 'torch' \(bot\.py, line 2: import torch\)"),
        (
            INSIDE,
            Kind.CRASH,
            r"ZeroDivisionError: division by zero \(bot\.py, line 7: return table\[view\.hand\]\)",
        ),
        (
            INSIDE.replace("ZeroDivisionError: division by zero", "SystemExit: 3"),
            Kind.CRASH,
            r"SystemExit: 3 \(bot\.py, line 7: return table\[view\.hand\]\)",
        ),
        (SYNTAX, Kind.CRASH, r"SyntaxError: expected ':' \(bot\.py, line 3: def choose\(view\)\)"),
        (NESTED, Kind.CRASH, r"No module named 'torch' \(bot\.py, line 2"),
        (NODE_INSIDE, Kind.CRASH, r"TypeError: view is not a function \(bot\.js, line 5\)$"),
        (
            NODE_INSIDE + NODE_SYNTAX,
            Kind.CRASH,
            r"Unexpected identifier 'x' \(bot\.js, line 3: cons x = 1;\)$",
        ),
        (
            NODE_SYNTAX + NODE_MODULE,
            Kind.CRASH,
            r"MODULE_NOT_FOUND\]: Cannot find package 'nope' imported from /bot/bot\.js$",
        ),
        (NODE_PACKAGE, Kind.CRASH, r"RangeError: too far \(bot\.js, line 8\)$"),
        (
            NODE_RETURNED,
            Kind.CRASH,
            r"TypeError: round 1, turn 1: choose\(\) returned 7; it must return a card$",
        ),
        (NODE_LINES, Kind.CRASH, r"Error: no card is left \(bot\.js, line 5\)$"),
        (NODE_LABEL, Kind.CRASH, r"Error: e \(bot\.js, line 7: label: for \(;;\) throw new Error\('e'\)\)$"),
        ("depth: 3\n'words'\nkaiten: the bot failed when it was asked\n", Kind.CRASH, "exited with code 1$"),
        (NODE_MEMORY, Kind.CRASH, "FATAL ERROR: Reached heap limit Allocation failed - heap out of memory$"),
        ("Error: Cannot find module 'enotfound'\n", Kind.CRASH, "it exited with code 1"),
        (
            "socket.gaierror: [Errno -3] Temporary failure in name resolution\n",
            Kind.NETWORK,
            "name resolution",
        ),
        ("Error: getaddrinfo ENOTFOUND weights.example\n", Kind.NETWORK, "ENOTFOUND weights"),
        ("ImportError: cannot import name 'gaierror' from 'sockets'\n", Kind.CRASH, "exited with code 1"),
    ],
)
def test_a_verdict_names_the_authors_line(stderr: str, kind: Kind, words: str) -> None:
    """The cause has the exception and the line. A missing module isn't reported as a missing network."""
    cause = cause_of(played(gone(Fault.CRASH, "it ended"), replace(ENDED, stderr=stderr)))
    assert cause.kind is kind
    assert re.search(words, cause.text), cause.text


def test_a_program_that_ends_well_has_never_called_run() -> None:
    """Exiting with code 0 before a Hello means that the bot never called run()."""
    ended = replace(ENDED, exit_code=0, trouble="it exited with code 0")
    cause = cause_of(played(gone(Fault.CRASH, "it ended"), ended))
    assert "never called" in cause.text
    crashed = cause_of(played(gone(Fault.CRASH, "it ended"), ENDED))
    assert "run()" not in crashed.text


WAITED = "no valid Hello within 10 s of its start, not counting 3.2 s during which the host kept it waiting"


def test_games_that_a_busy_host_delayed_are_repeated() -> None:
    """They are repeated at most twice, which the third verdict mentions. A verdict without a delay counts."""
    kept_waiting = played(gone(Fault.ABSENT, WAITED), NEVER)
    sound = played(well)
    assert standing([kept_waiting]) == QualificationStanding((), 1, None)
    gave_up = replace(ENDED, stderr="gaierror: it looked for the referee elsewhere")
    assert standing([played(gone(Fault.ABSENT, WAITED), gave_up)]) == QualificationStanding((), 1, None)
    assert standing([sound, kept_waiting, sound]) == QualificationStanding((sound, sound), 1, None)
    assert standing([kept_waiting, kept_waiting]) == QualificationStanding((), 2, None)
    over = cause_of(kept_waiting, kept_waiting, kept_waiting)
    assert over.kind is Kind.SILENT
    assert over.text.endswith("Before that, games were repeated 2 times because the host was busy")
    at_once = standing([played(ABSENT, NEVER)])
    assert at_once.replays == 0
    assert "Before that" not in present(at_once.cause).text
    assert standing([played(gone(Fault.CRASH, WAITED), ENDED)]).cause is not None


def test_a_repeated_game_keeps_its_number() -> None:
    """Repeated, unfinished and quarantined games don't increase the number."""
    kept_waiting, sound = played(gone(Fault.ABSENT, WAITED), NEVER), played(well)
    assert numbers(()) == ()
    assert numbers([sound, sound, sound]) == (1, 2, 3)
    assert numbers([sound, sound, kept_waiting, None]) == (1, 2, 3, 3)
    assert numbers([kept_waiting, sound, None, kept_waiting, sound, sound]) == (1, 1, 2, 2, 2, 3)


AFTERWARDS = "kaiten: game 0, round 1, turn 1: {fault}: that is how it was\nnext turn\n" + MODULE


@pytest.mark.parametrize(
    ("play", "fault"), [(late(3), "timeout"), (forbidden, "illegal"), (chatter, "protocol")]
)
@pytest.mark.parametrize(
    ("stderr", "words"),
    [
        (
            "loading\n" + INSIDE.partition("kaiten")[0],
            r"; its stderr shows ZeroDivisionError: division by zero \(bot\.py, line 7: return",
        ),
        (
            "loading\nsearching depth 9\nkaiten: hello\n \n",
            "; its last line of output: searching depth 9$",
        ),
        ("", r"[^;]*(?<!printed)$"),
    ],
)
def test_a_fault_of_a_running_bot_names_its_line(play: Play, fault: str, stderr: str, words: str) -> None:
    """The cause uses output from before the notice of the fault, but none from after it."""
    cause = cause_of(played(play, replace(RAN, stderr=stderr + AFTERWARDS.format(fault=fault))))
    assert cause.kind.value in {"slow", "illegal", "protocol"}
    assert re.search(words, cause.text), cause.text
    assert "torch" not in cause.text
    assert "next turn" not in cause.text


def test_an_illegal_move_of_a_python_bot_names_its_line() -> None:
    """After the notice of the fault, the library prints where ``choose`` is defined."""
    stderr = "kaiten: game 0, round 1, turn 1: illegal: no such card\n" + PLACE
    cause = cause_of(played(forbidden, replace(RAN, stderr=stderr)))
    assert cause.text.endswith("; choose() is in bot.py, line 4")


STACK = """\
searching
Stack (most recent call first):
  File "/usr/lib/python3.11/random.py", line 9 in shuffle
  File "/bot/bot.py", line 12 in search
  File "/srv/arena/sdk/match.py", line 80 in answer
kaiten: game 0, round 1, turn 1: timeout: no answer
"""


def test_the_cause_of_a_late_python_bot_has_its_position() -> None:
    """The cause names the innermost line of the bot's file in the library's stack trace."""
    cause = cause_of(played(late(3), replace(RAN, stderr=STACK)))
    assert cause.text.endswith("; when its time ran out, it was in bot.py, line 12, in search")
    # Other output isn't mistaken for the library's stack trace.
    cause = cause_of(played(late(3), replace(RAN, stderr=STACK.replace("  File", "> File"))))
    assert "when its time ran out" not in cause.text


def test_without_a_notice_all_output_counts() -> None:
    """A bot without the arena's library prints no notices, so all its output counts."""
    cause = cause_of(played(forbidden, replace(RAN, stderr="thinking\nplayed soy sauce\n")))
    assert cause.text.endswith("; its last line of output: played soy sauce")
