"""The shared limit on all bots: its files, its values and its effect."""

import signal
import socket
import subprocess
import sys
import uuid
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from arena.protocol.match import Limits
from arena.sandbox.docker.engine import connect
from arena.sandbox.docker.runtime import DockerRuntime
from arena.sandbox.kernel.cgroups import (
    Cap,
    CgroupLocation,
    CgroupSetting,
    CommonGroup,
    SharedMemoryOverruns,
    cap_for,
    is_within,
    lift_quota,
    reclaim_cache,
)
from arena.sandbox.kernel.log import kernel_log
from arena.sandbox.runtime import Exit, RuntimeFailure
from tests.patience import WAIT_SECONDS, wait_until
from tests.sandbox.stage import FOREVER, LAUNCH_LIMITS, DockerStage, listening, spec_for

CAP = Cap(memory_mib=1536, pids=384, cpus=2.0)
V1 = CgroupLocation(parent="/kaiten/1a2b", driver="cgroupfs", version=1, scope="docker")
V2 = CgroupLocation(parent="/kaiten/1a2b", driver="cgroupfs", version=2, scope="docker")
SLICE = CgroupLocation(parent="kaiten-1a2b.slice", driver="systemd", version=2, scope="docker")
MEMORY_1 = Path("/sys/fs/cgroup/memory")


def written(place: CgroupLocation) -> list[tuple[str, str]]:
    """Return the written files and values in order."""
    return [(setting.file, setting.value) for setting in place.settings(CAP)]


def test_the_cap_is_every_slots_share_and_a_reserve() -> None:
    """The cap leaves memory and processes for one more slot, so that matches never reach it."""
    assert cap_for(Limits(), 5, 64, cores=2) == CAP
    assert cap_for(Limits(), 5, 64, cores=8) == replace(CAP, cpus=8)


def test_files_of_version_1() -> None:
    """Each hierarchy has a folder. The limit with swap is lifted first: it can't be below the one without."""
    assert written(V1) == [
        ("memory/kaiten/1a2b/memory.use_hierarchy", "1"),
        ("memory/kaiten/1a2b/memory.memsw.limit_in_bytes", "-1"),
        ("memory/kaiten/1a2b/memory.limit_in_bytes", "1610612736"),
        ("memory/kaiten/1a2b/memory.memsw.limit_in_bytes", "1610612736"),
        ("pids/kaiten/1a2b/pids.max", "384"),
        ("cpu/kaiten/1a2b/cpu.cfs_period_us", "100000"),
        ("cpu/kaiten/1a2b/cpu.cfs_quota_us", "200000"),
    ]


def test_files_of_version_2() -> None:
    """Version 2 has a single folder, whose parents enable its controllers."""
    assert written(V2) == [
        ("cgroup.subtree_control", "+cpu +memory +pids"),
        ("kaiten/cgroup.subtree_control", "+cpu +memory +pids"),
        ("kaiten/1a2b/memory.max", "1610612736"),
        ("kaiten/1a2b/memory.swap.max", "0"),
        ("kaiten/1a2b/pids.max", "384"),
        ("kaiten/1a2b/cpu.max", "200000 100000"),
    ]


def test_names_under_systemd() -> None:
    """Slices are nested by their names, and containers are scopes."""
    assert SLICE.path == "kaiten.slice/kaiten-1a2b.slice"
    assert replace(SLICE, parent="kaiten.slice").path == "kaiten.slice"
    assert SLICE.child("c0ffee") == "kaiten.slice/kaiten-1a2b.slice/docker-c0ffee.scope"
    assert V1.child("c0ffee") == "memory/kaiten/1a2b/c0ffee"


@pytest.mark.parametrize(
    ("place", "file", "value"),
    [
        (V1, "cpu/kaiten/1a2b/c0ffee/cpu.cfs_quota_us", "-1"),
        (V2, "kaiten/1a2b/c0ffee/cpu.max", "max"),
        (SLICE, "kaiten.slice/kaiten-1a2b.slice/docker-c0ffee.scope/cpu.max", "max"),
    ],
)
def test_the_quota_of_a_container_is_lifted(
    place: CgroupLocation, file: str, value: str, tmp_path: Path
) -> None:
    """The container's quota file gets the value for no quota. A container without files is not an error."""
    lift_quota(replace(place, root=tmp_path), "c0ffee")
    quota = tmp_path / file
    quota.parent.mkdir(parents=True)
    quota.write_text("40000")
    lift_quota(replace(place, root=tmp_path), "c0ffee")
    assert quota.read_text() == value


@pytest.mark.parametrize(
    ("value", "found", "enough"),
    [
        ("384", "384", True),
        ("384", "100", True),
        ("384", "385", False),
        ("384", "max", False),
        ("384", "", False),
        ("200000", "-1", False),
        ("200000 100000", "200000 100000", True),
        ("200000 100000", "20000 10000", True),
        ("200000 100000", "200000 50000", False),
        ("200000 100000", "max 100000", False),
    ],
)
def test_the_values_that_pass(value: str, found: str, enough: bool) -> None:  # noqa: FBT001 - a column of the table
    """The cap or a lower value passes; a higher one or no limit fails."""
    assert is_within(CgroupSetting(file="f", value=value), found) is enough


@pytest.mark.parametrize("place", [V1, V2])
def test_the_cap_passes_if_its_files_can_be_written(place: CgroupLocation, tmp_path: Path) -> None:
    """Written values are read back. A file whose value is raised later is reported by name."""
    group = CommonGroup(replace(place, root=tmp_path), CAP)
    assert not group.check().held
    group.apply()
    finding = group.check()
    assert finding.held
    assert finding.detail == "/kaiten/1a2b is limited to memory 1536 MiB, 384 processes, 2 cores"
    pids = next(tmp_path.rglob("pids.max"))
    pids.write_text("max\n")
    finding = group.check()
    assert not finding.held
    assert f"{pids} is max instead of 384" in finding.detail


def test_a_group_of_the_same_name_does_not_count(tmp_path: Path) -> None:
    """Limits of a group that doesn't contain the engine's containers don't count."""
    group = CommonGroup(replace(V2, root=tmp_path), CAP)
    group.apply()
    assert not group.check("c0ffee").held
    (tmp_path / V2.child("c0ffee")).mkdir()
    assert group.check("c0ffee").held


def test_a_slice_is_left_to_systemd(tmp_path: Path) -> None:
    """With systemd nothing is written, and the message has the command for the operator."""
    group = CommonGroup(replace(SLICE, root=tmp_path), CAP)
    group.apply()
    group.remove()
    assert list(tmp_path.iterdir()) == []
    assert (
        "systemctl set-property kaiten-1a2b.slice MemoryMax=1536M MemorySwapMax=0 TasksMax=384 "
        "CPUQuota=200% && systemctl start kaiten-1a2b.slice" in group.check().detail
    )


def test_the_cap_fails_if_its_files_can_not_be_written(tmp_path: Path) -> None:
    """The finding has a remedy; no exception is raised."""
    (tmp_path / "kaiten").write_text("in the way")
    group = CommonGroup(replace(V2, root=tmp_path), CAP)
    group.apply()
    finding = group.check()
    assert not finding.held
    assert "run the arena as root" in finding.detail


HOARD = """
import os, socket
hoard = bytearray(80 << 20)
hoard[::4096] = b"x" * len(hoard[::4096])
with socket.socket(socket.AF_UNIX) as channel:
    channel.connect(os.environ["ARENA_REFEREE"].removeprefix("unix://"))
    channel.recv(1)
"""


def finished_or_has_it(server: socket.socket, ended: Future[Exit]) -> socket.socket | None:
    """Return the connection of a bot that has allocated its memory, or None if it was killed before that."""
    server.settimeout(0.1)
    while not ended.done():
        try:
            return server.accept()[0]
        except TimeoutError:
            continue
    return None


def how_it_ended(ended: Future[Exit]) -> int | str | None:
    """Return a bot's exit code, or the reason why it isn't blamed."""
    try:
        return ended.result(timeout=WAIT_SECONDS).code
    except RuntimeFailure as trouble:
        return str(trouble).partition("because ")[2].partition(":")[0]


def hoard_together(stage: DockerStage, slots: int) -> list[int | str | None]:
    """Run four bots that allocate 80 MiB each under the cap for ``slots`` slots; return how they ended."""
    limits = replace(LAUNCH_LIMITS, memory_mib=96, cpus=0.2)
    runtime = DockerRuntime(connect(), install=f"test{uuid.uuid4().hex[:12]}")
    group = runtime.common_group(limits, slots)
    group.apply()
    source = stage.source(HOARD)
    try:
        with ExitStack() as stack, ThreadPoolExecutor(4) as pool:
            stack.callback(group.remove)
            doors = [stack.enter_context(listening()) for _ in range(4)]
            specs = [spec_for(stage, source, folder, limits=limits) for folder, _ in doors]
            bots = []
            for spec in specs:
                bots.append(runtime.launch(spec))
                stack.callback(bots[-1].remove)
                if spec is specs[0]:  # later, it may already have been killed
                    finding = group.check(stage.client.api.inspect_container(spec.name)["Id"])
                    assert finding.held, finding.detail
            ends = [pool.submit(bot.wait) for bot in bots]
            lines = [finished_or_has_it(door[1], ended) for door, ended in zip(doors, ends, strict=True)]
            for line in lines:
                if line is not None:
                    line.close()
            return [how_it_ended(ended) for ended in ends]
    finally:
        runtime.close()


CACHE = """
import os, sys
for n in range(8):
    with open(f"{sys.argv[1]}/{n}", "wb") as file:
        file.write(bytes(8 << 20))
        file.flush()
        os.fsync(file)  # the kernel can't drop what a slow disk has yet to write
"""
MEMORY = "bytearray(b'x' * (96 << 20))"
NAMES = """
import os, sys
for n in range(60_000):
    try: os.stat(f"{sys.argv[1]}/{n:0200}")
    except FileNotFoundError: pass
"""


@pytest.fixture
def group_1() -> Iterator[tuple[CgroupLocation, Path, Path]]:
    """Yield a version 1 location, the folder for all bots and one bot's; skip the test on other hosts."""
    if not MEMORY_1.is_dir():
        pytest.skip("the host has control groups of version 2")
    place = CgroupLocation(
        parent=f"/kaiten-test-{uuid.uuid4().hex[:8]}", driver="cgroupfs", version=1, scope="docker"
    )
    shared = MEMORY_1 / place.path
    bot = shared / "bot"
    bot.mkdir(parents=True)
    for group in (shared, bot):
        (group / "memory.swappiness").write_text("0")
    yield place, shared, bot
    if bot.is_dir():
        bot.rmdir()
    shared.rmdir()


@pytest.fixture
def on_disk() -> Iterator[str]:
    """Yield a folder on a disk: the kernel can't drop files that are only in memory."""
    with TemporaryDirectory(dir="/var/tmp") as folder:
        yield folder


def killed_in(group: Path, program: str, *arguments: str) -> bool:
    """Run a Python program in a group of version 1, and return whether it was killed."""
    join = f"import os; open({str(group / 'tasks')!r}, 'w').write(str(os.getpid())); {program}"
    done = subprocess.run([sys.executable, "-c", join, *arguments], check=False)  # noqa: S603 - our own
    assert done.returncode in {0, -signal.SIGKILL}
    return done.returncode != 0


def used(group: Path) -> int:
    """Return how much memory a group of version 1 uses, in bytes."""
    return int((group / "memory.usage_in_bytes").read_text())


@pytest.mark.usefixtures("root")
def test_overruns_are_counted(group_1: tuple[CgroupLocation, Path, Path], on_disk: str) -> None:
    """Only a bot killed at the shared limit counts, not one at its own limit, nor a cache that fills up."""
    place, shared, bot = group_1
    (shared / "memory.limit_in_bytes").write_text(str(48 << 20))
    with closing(SharedMemoryOverruns(place)) as overruns:
        assert overruns.count() == 0
        assert not killed_in(bot, CACHE, on_disk)
        assert int((shared / "memory.max_usage_in_bytes").read_text()) > 47 << 20
        assert overruns.count() == 0
        (bot / "memory.limit_in_bytes").write_text(str(32 << 20))
        assert killed_in(bot, MEMORY)
        assert overruns.count() == 0
        (bot / "memory.limit_in_bytes").write_text("-1")
        assert killed_in(bot, MEMORY)
        assert [overruns.count(), overruns.count()] == [1, 1]
    assert overruns.count() == 1


@pytest.mark.usefixtures("root")
def test_what_ended_bots_leave_in_memory_is_freed(
    group_1: tuple[CgroupLocation, Path, Path], on_disk: str
) -> None:
    """Negative dentries of ended bots are freed once they take up much of the shared group's limit."""
    place, shared, bot = group_1
    assert not killed_in(bot, NAMES, on_disk)
    bot.rmdir()
    left = used(shared)
    assert left > 10 << 20
    (shared / "memory.limit_in_bytes").write_text(str(12 * left))
    reclaim_cache(place)
    assert used(shared) > left // 2
    (shared / "memory.limit_in_bytes").write_text(str(4 * left))

    def is_freed() -> bool:
        reclaim_cache(place)  # again, since on a busy host the first call may have run out of time
        return used(shared) < left // 2

    wait_until(is_freed, "the kernel counts freed memory a moment later")


def test_overruns_are_events_in_version_2(tmp_path: Path) -> None:
    """Version 2 counts overruns as `oom` events. Without the group's file there are none."""
    place = replace(V2, parent="/kaiten/b", root=tmp_path)
    (tmp_path / "kaiten" / "b").mkdir(parents=True)
    (tmp_path / "kaiten" / "b" / "memory.events.local").write_text("low 0\nmax 9\noom 2\noom_kill 3\n")
    overruns = SharedMemoryOverruns(place)
    assert overruns.count() == 2
    (tmp_path / "kaiten" / "b" / "memory.events.local").unlink()
    assert overruns.count() == 2  # the last known count
    assert SharedMemoryOverruns(replace(place, parent="/none")).count() == 0


@pytest.mark.docker
@pytest.mark.usefixtures("root")
def test_all_bots_together_stay_below_the_cap(docker_stage: DockerStage) -> None:
    """Bots within their own limits are killed but not blamed if together they exceed the shared cap."""
    driver = docker_stage.client.info()["CgroupDriver"]
    if driver == "systemd":
        pytest.skip("systemd manages slices: an operator limits them")
    assert hoard_together(docker_stage, slots=6) == [0, 0, 0, 0]  # 672 MiB: enough for 4 times 80 MiB
    ended = hoard_together(docker_stage, slots=2)  # 288 MiB: not enough
    assert set(ended) == {0, "all bots together reached the memory limit of their control group"}


@pytest.mark.docker
@pytest.mark.usefixtures("root")
def test_the_kernels_log_shows_that_memory_ran_out_elsewhere(
    docker_stage: DockerStage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If the host runs out of memory, the log shows the cause, although the group's counter doesn't."""
    if docker_stage.client.info()["CgroupDriver"] == "systemd":
        pytest.skip("systemd manages slices: an operator limits them")
    if next(kernel_log(), None) is None:
        pytest.skip("the kernel's log can't be read")
    monkeypatch.setattr(SharedMemoryOverruns, "count", lambda _: 0)
    assert set(hoard_together(docker_stage, slots=2)) == {0, "memory ran out outside the container"}


@pytest.mark.docker
@pytest.mark.usefixtures("root")
@pytest.mark.parametrize("name", ["docker", "gvisor"])
def test_a_bot_starts_on_its_cores_below_a_new_group(request: pytest.FixtureRequest, name: str) -> None:
    """Each runtime can start a bot in a new group, on the cores that bots may use."""
    stage: DockerStage = request.getfixturevalue(f"{name}_stage")
    runtime = DockerRuntime(
        connect(), runtime=stage.runtime.host.runtime, install=f"test{uuid.uuid4().hex[:12]}", cores="0"
    )
    group = runtime.common_group(LAUNCH_LIMITS, 5)
    group.apply()
    try:
        with listening() as (folder, _):
            sandbox = runtime.launch(spec_for(stage, stage.source("raise SystemExit(5)"), folder))
            ended = sandbox.wait()
            sandbox.remove()
        assert ended.code == 5
    finally:
        runtime.close()
        group.remove()


@pytest.mark.docker
@pytest.mark.usefixtures("root")
def test_processes_left_in_the_group_are_killed(docker_stage: DockerStage) -> None:
    """Removing the group kills processes that a runtime has left in it, and deletes its folders."""
    if docker_stage.client.info()["CgroupDriver"] == "systemd":
        pytest.skip("systemd manages slices")
    install = f"test{uuid.uuid4().hex[:12]}"
    runtime = DockerRuntime(connect(), install=install)
    group = runtime.common_group(LAUNCH_LIMITS, 5)
    group.apply()
    try:
        with listening() as (folder, _):
            sandbox = runtime.launch(spec_for(docker_stage, docker_stage.source(FOREVER), folder))
            group.remove()
            assert sandbox.wait().code == 137
            sandbox.remove()
    finally:
        runtime.close()
        group.remove()
    groups = Path("/sys/fs/cgroup")  # not "**": other tests create and remove groups
    assert not [*groups.glob(f"kaiten/{install}"), *groups.glob(f"*/kaiten/{install}")]
