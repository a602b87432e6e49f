"""A bot that ends itself is blamed; if it is ended from outside, the match is void."""

import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest
from docker.errors import APIError
from docker.models.containers import Container

from arena.play.launcher import MatchVoid
from arena.protocol.faults import Fault
from arena.protocol.match import Clock, MatchRecord
from arena.sandbox.docker.sandbox import DockerSandbox
from arena.sandbox.kernel.log import ran_out_of_memory_outside, reached_its_limit
from arena.sandbox.runtime import INSTALL_LABEL, SEAT_LABEL
from tests.patience import PATIENT_CLOCK, WAIT_SECONDS, wait_until
from tests.play.launcher import programs
from tests.play.launcher.conftest import Hall
from tests.sandbox.stage import DockerStage

REMEMBERED_EVENTS = 256
"""The number of events that the engine remembers."""

STACK = r'Stack \(most recent call first\):\n  File "(?:<string>|[^"]*bot\.py)", line \d+ in choose\n'

LONG_ENOUGH = Clock(move_millis=500, bank_millis=10_000)
"""Time for a busy engine to pause a bot before its clock runs out."""

THINKS = """
import pathlib, time
from arena.sdk import run

def choose(view):
    pathlib.Path("/tmp/there").touch()
    time.sleep(300)

run(choose)
"""

DAWDLES = """
import pathlib, time
from arena.sdk import run

def choose(view):
    while not pathlib.Path("/tmp/on").exists():
        time.sleep(0.1)
    return view.legal_moves()[-1]

run(choose)
"""
"""Keeps its match from ending until its container has a file."""

STALLS = "import pathlib, signal; pathlib.Path('/tmp/there').touch(); signal.pause()"

ENDS_ITSELF = """
import ctypes, os, signal
from arena.sdk import run

def choose(view):
    ctypes.CDLL(None).prctl(15, b",global_oom,", 0, 0, 0)  # its name in the kernel's log
    try:
        END
    finally:
        os._exit(137)

run(choose)
"""

AT_ONCE = "import os; os.kill(os.getpid(), 9)"
"""Ends before it greets."""

KILLS = {
    "itself": "os.kill(os.getpid(), signal.SIGKILL)",
    "its init": "os.kill(1, signal.SIGKILL); os.kill(1, signal.SIGTERM); os.kill(1, signal.SIGSTOP)",
    "everybody": "os.killpg(0, signal.SIGKILL)",
    "by its exit code": "os._exit(137)",
    "by memory": "hoard = [bytearray(b'x' * 2**20) for _ in range(400)]",
    "by a child": "os.fork() or os.kill(os.getppid(), signal.SIGKILL); signal.pause()",
    "by a resource limit": (
        "import resource; resource.setrlimit(resource.RLIMIT_CPU, (1, 1))\n        while True: pass"
    ),
}


@pytest.mark.docker
@pytest.mark.usefixtures("awaited_exits")
@pytest.mark.parametrize("table", [0, 1])
def test_no_bot_can_make_its_match_void(docker_hall: Hall, table: int) -> None:
    """A bot is blamed however it ends itself and whatever name its process has; the others aren't."""
    bots = [*(ENDS_ITSELF.replace("END", end) for end in KILLS.values()), AT_ONCE][table::2]
    record = docker_hall.play(*bots, programs.GOOD, clock=PATIENT_CLOCK)
    assert [fault for fault in faults(record) if fault is not None] == [Fault.CRASH] * len(bots)
    assert faults(record)[-1] is None
    assert all(seat.trouble for seat in record.seats[:-1])
    assert {seat.exit_code for seat in record.seats[:-1]} <= {137, 128 + 24}


RENAMED = """
import ctypes, time
from arena.sdk import run

def choose(view):
    if view.round == 1:
        ctypes.CDLL(None).prctl(15, b"\\xff) R", 0, 0, 0)  # not UTF-8, and like the end of a name
        time.sleep(0.2)  # meanwhile, the referee measures several times how long the bot waits
    return view.legal_moves()[-1]

run(choose)
"""


@pytest.mark.docker
def test_a_threads_name_does_not_make_the_match_void(docker_hall: Hall) -> None:
    """The kernel shows names unchanged in files that the referee reads."""
    record = docker_hall.play(RENAMED, programs.GOOD, clock=PATIENT_CLOCK)
    assert faults(record) == [None, None]


@pytest.mark.docker
@pytest.mark.usefixtures("awaited_exits")
def test_a_referee_that_exits_late_does_not_make_the_match_void(
    docker_hall: Hall, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If a referee doesn't exit, the bots are removed, but only once it is known how they ended."""
    monkeypatch.setattr("arena.play.launcher.launcher._EXIT_SECONDS", 0.0)
    crashes = ENDS_ITSELF.replace("END", KILLS["by its exit code"])
    record = docker_hall.play(crashes, programs.GOOD, clock=PATIENT_CLOCK)
    assert faults(record) == [Fault.CRASH, None]
    assert record.seats[1].exit_code in {None, 0}


@pytest.mark.docker
@pytest.mark.parametrize(
    ("program", "how"),
    [
        pytest.param(
            program,
            how,
            id=f"{how} {when}",
            marks=[]
            if (how, when) in {("kill", "in a game"), ("remove", "before it greets")}
            else [pytest.mark.soak],
        )
        for program, when in ((THINKS, "in a game"), (STALLS, "before it greets"))
        for how in ("kill", "stop", "remove")
    ],
)
def test_a_bot_that_was_ended_from_outside_makes_the_match_void(
    docker_hall: Hall, program: str, how: str
) -> None:
    """If a bot's container was ended through the engine, no bot is blamed, and the error gives the cause."""
    ends: dict[str, Callable[[Any], object]] = {
        "kill": lambda container: container.kill(),
        "stop": lambda container: container.stop(timeout=0),
        "remove": lambda container: container.remove(force=True),
    }
    with (
        interfered(docker_hall, ends[how]),
        pytest.raises(MatchVoid, match="find out what else uses the engine"),
    ):
        docker_hall.play(program, programs.GOOD, clock=PATIENT_CLOCK)


def kill(container: Container) -> None:
    """Kill a container."""
    container.kill()


def pause(container: Container) -> None:
    """Pause a container. On a busy host, runc gives up if a process gets no processor in which to stop."""

    def paused() -> bool:
        try:
            container.pause()
        except APIError as error:
            if "unable to freeze" in str(error.explanation):
                return False
            raise
        return True

    wait_until(paused, "the container pauses")


@pytest.mark.docker
def test_a_bot_that_others_paused_is_not_late(docker_hall: Hall) -> None:
    """If a bot's clock runs out while the engine has it paused, the match is void."""
    with (
        interfered(docker_hall, pause),
        pytest.raises(MatchVoid, match="asked the engine to pause"),
    ):
        docker_hall.play(THINKS, programs.GOOD, clock=LONG_ENOUGH)


@pytest.mark.docker
@pytest.mark.parametrize(
    ("how", "clock"), [(kill, PATIENT_CLOCK), (pause, LONG_ENOUGH)], ids=["kill", "pause"]
)
def test_other_events_do_not_hide_who_ended_or_paused_a_bot(
    docker_hall: Hall, monkeypatch: pytest.MonkeyPatch, how: Callable[[Container], None], clock: Clock
) -> None:
    """No bot is blamed even if the engine has forgotten the event by the end of the match."""
    checked = threading.Event()
    check_cause = DockerSandbox._check_cause  # noqa: SLF001 - the test waits until it has been called

    def check_and_tell(sandbox: DockerSandbox, code: int) -> None:
        try:
            check_cause(sandbox, code)
        finally:
            checked.set()

    def meddle(container: Container) -> None:
        how(container)
        # Causing this many events takes a bot seconds too, so the arena has seen by then that the bot ended.
        assert how is pause or checked.wait(WAIT_SECONDS)
        flood(docker_hall)
        for other in containers(docker_hall, 1):
            with suppress(APIError):  # the match may be over already
                other.exec_run(["touch", "/tmp/on"])  # noqa: S108 - the bot's own

    monkeypatch.setattr(DockerSandbox, "_check_cause", check_and_tell)
    with (
        interfered(docker_hall, meddle),
        pytest.raises(MatchVoid, match=f"asked the engine to {how.__name__}"),
    ):
        docker_hall.play(THINKS, DAWDLES, clock=clock)


RECORD = (
    "oom-kill:constraint={constraint},nodemask=(null),cpuset={bot},mems_allowed=0,{where},"
    "task_memcg=/kaiten/94bca616/{bot},task={name},pid=10747,uid=65001"
)
"""A kernel log line in the format of Linux 6.18."""


@pytest.mark.parametrize(
    ("constraint", "where", "name", "host"),
    [
        ("CONSTRAINT_NONE", "global_oom", "python3", True),
        ("CONSTRAINT_MEMORY_POLICY", "global_oom", "python3", True),
        ("CONSTRAINT_MEMCG", "oom_memcg=/kaiten/94bca616", "python3", True),
        ("CONSTRAINT_MEMCG", "oom_memcg=/kaiten/94bca616/{bot}", "python3", False),
        ("CONSTRAINT_MEMCG", "oom_memcg=/kaiten/94bca616/{bot}", ",global_oom,", False),
        ("CONSTRAINT_MEMCG", "oom_memcg=/kaiten/94bca616/{bot}", ",oom_memcg=/,", False),
    ],
)
def test_the_kernel_log_shows_whose_memory_ran_out(
    constraint: str, where: str, name: str, *, host: bool
) -> None:
    """The log shows whether the host, all bots together or one bot reached the limit, whatever its name."""
    bot, other = "ab" * 32, "cd" * 32
    record = RECORD.format(constraint=constraint, where=where.format(bot=bot), bot=bot, name=name)
    log = ["python3 invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0", record, f"task={bot}"]
    assert ran_out_of_memory_outside(log, bot) is host
    assert reached_its_limit(log, bot) == (not host)
    assert not ran_out_of_memory_outside(log, other)


def faults(record: MatchRecord) -> list[Fault | None]:
    """Return the first fault of each seat in the first game."""
    seats = range(len(record.seats))
    steps = record.games[0].steps
    return [
        next((each.fault for step in steps if (each := step[seat]) is not None and each.fault), None)
        for seat in seats
    ]


def containers(hall: Hall, seat: int) -> list[Container]:
    """Return the running containers of a seat."""
    assert isinstance(hall.stage, DockerStage)
    labels = [f"{INSTALL_LABEL}={hall.stage.install}", f"{SEAT_LABEL}={seat}"]
    return hall.stage.client.containers.list(filters={"label": labels}, ignore_removed=True)


def flood(hall: Hall) -> None:
    """Make the engine forget all earlier events."""
    assert isinstance(hall.stage, DockerStage)
    image = hall.stage.source(THINKS)
    for _ in range(REMEMBERED_EVENTS):
        hall.stage.client.api.tag(image, f"{hall.stage.install}-flood")


def waits_in(container: Container) -> bool:
    """Return True if the bot in a container has reached the point where it waits."""
    try:
        return bool(container.exec_run(["test", "-e", "/tmp/there"]).exit_code == 0)  # noqa: S108 - the bot's own
    except APIError:  # the container has ended since it was listed
        return False


@contextmanager
def interfered(hall: Hall, interfere: Callable[[Any], object]) -> Iterator[None]:
    """Do something to the first seat's container once its bot has reached the point where it waits."""
    failed: list[BaseException] = []

    def await_and_interfere() -> None:
        deadline = time.monotonic() + WAIT_SECONDS
        try:
            while time.monotonic() < deadline:
                for container in containers(hall, 0):
                    if waits_in(container):
                        interfere(container)
                        return
                time.sleep(0.2)
        except BaseException as error:  # noqa: BLE001 - checked in the test's thread
            failed.append(error)

    thread = threading.Thread(target=await_and_interfere)
    thread.start()
    try:
        yield
    finally:
        thread.join()
        assert not failed


@pytest.mark.docker
def test_a_late_bot_shows_where_it_is_in_its_container(docker_hall: Hall) -> None:
    """The sandbox permits the library's timer and signal handler; the stack names the bot's own line."""
    clock = Clock(start_millis=60_000, move_millis=500, bank_millis=0)
    record = docker_hall.play(programs.SLEEPS, programs.GOOD, clock=clock)
    assert [bool(re.search(STACK, seat.stderr)) for seat in record.seats] == [True, False]
