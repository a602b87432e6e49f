"""Plays attacks on the real engine, at a table with honest bots and, if wanted, next to a second match."""

import io
import shutil
import tempfile
import time
import uuid
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import docker

from arena.play.launcher.launcher import Launcher
from arena.play.launcher.seats import REFEREE_UID
from arena.protocol.match import Clock, MatchRecord, MatchSpec, decode, encode
from arena.sandbox.docker.runtime import DockerRuntime
from arena.sandbox.runtime import FIRST_UID
from tests.builders import match_spec
from tests.images.archives import members
from tests.images.tars import tar
from tests.locks import host_lock
from tests.sandbox.hostile import bot
from tests.sandbox.hostile.attack import (
    CLOCK,
    FIRST_SLOT,
    MATCH,
    Attack,
    Control,
    Outcome,
    hostile_seat,
    seats_of,
)
from tests.sandbox.hostile.judge import complaints, control_complaints
from tests.sandbox.hostile.quick import changed_referee
from tests.sandbox.hostile.watch import Watch

_SLOTS: Final = 8
_CGROUP: Final = "hostile"
"""The suite's own control group. Its name is always the same, since the engine doesn't remove the group."""

_TRIES: Final = 3
"""Maximum number of attempts at what may fail on a busy host."""

_HERE: Final = Path(__file__).parent
_ROOT: Final = _HERE.parents[2]
_NO_CONTROL: Final = Control(name="nothing")


class LooseClient(docker.APIClient):
    """The engine's client, which can take a control away from the attacker's containers."""

    def __init__(self) -> None:
        super().__init__(version="auto", timeout=60, max_pool_size=64)
        self.without = _NO_CONTROL
        self.seats: Collection[int] = ()
        self.before_removal: Callable[[], None] = lambda: None

    def create_container(self, *args: Any, **arguments: Any) -> Any:  # noqa: ANN401 - as the library's
        """Create a container, without the control if it is an attacker's."""
        if self.without.template and hostile_seat(arguments.get("labels") or {}) in self.seats:
            self.without.template(arguments)
        return super().create_container(*args, **arguments)

    def remove_container(self, *args: Any, **arguments: Any) -> None:  # noqa: ANN401 - as the library's
        """Call ``before_removal``, then remove a container."""
        self.before_removal()
        super().remove_container(*args, **arguments)


class HostileStage:
    """The engine with the programs as images, using its default runtime or another one."""

    def __init__(self, client: docker.DockerClient, base_image: str, runtime: str | None = None) -> None:
        self.install = f"hostile-{uuid.uuid4().hex[:8]}"
        self._docker = client
        self._client = LooseClient()
        self.runtime = DockerRuntime(self._client, runtime=runtime, install=_CGROUP)
        # This creates the init's volume, which remains in the engine. The first attack would otherwise seem
        # to have left it. A busy engine may seem unavailable, since this waits only a few seconds for it.
        for left in reversed(range(_TRIES)):
            trouble = self.runtime.unavailable_reason()
            if trouble is None:
                break
            if not left:
                raise RuntimeError(trouble)
        self._images: dict[tuple[str, ...], str] = {}
        self._programs = _build(client, base_image)
        self._folder = Path(tempfile.mkdtemp(prefix="kaiten-x-"))  # short: a socket's path may have 107 bytes
        self._folder.chmod(0o711)
        self._run_dir = self._folder / "run"
        self._launcher = Launcher(self.runtime, self.install, self._run_dir)
        uids = frozenset(
            first + FIRST_SLOT + slot for first in (REFEREE_UID, FIRST_UID) for slot in range(_SLOTS)
        )
        self._watch = Watch(client.api, self.install, uids, self._run_dir)

    @property
    def gvisor(self) -> bool:
        """True if gVisor runs the containers."""
        return self.runtime.host.gvisor

    def attack(self, *attacks: Attack, beside: bool = True) -> tuple[tuple[Outcome, ...], tuple[str, ...]]:
        """Play attacks against the arena as it is, in one match with an honest bot on the last seat.

        All must have the same clock. With ``beside``, a second match of honest bots runs at the same time.
        Returns the outcome of each attack, and what is wrong with any of them.

        If they seem to use too much of the host's memory, other programs may have used it, so they are played
        again.
        """
        outcomes, wrong = self._attack(attacks, beside=beside)
        for _ in range(_TRIES - 1):
            if not any(what.startswith("host:") for what in wrong):
                break
            outcomes, wrong = self._attack(attacks, beside=beside)
        return outcomes, wrong

    def _attack(
        self, attacks: tuple[Attack, ...], *, beside: bool
    ) -> tuple[tuple[Outcome, ...], tuple[str, ...]]:
        (clock,) = {attack.clock for attack in attacks}
        commands = tuple(command for attack in attacks for command in attack.commands())
        hostile = self._match(MATCH, (*commands, _HONEST), clock)
        if not beside:
            with _alone():
                outcomes = _each(attacks, self._outcome(lambda: self._play(hostile, FIRST_SLOT)))
                return outcomes, complaints(attacks, outcomes, hostile)
        second = self._match("second", (_HONEST, _HONEST), CLOCK)
        with _alone(), ThreadPoolExecutor(1) as pool:
            other = pool.submit(self._play, second, FIRST_SLOT + len(hostile.seats))
            outcome = self._outcome(lambda: self._play(hostile, FIRST_SLOT), other.result)
            outcomes = _each(attacks, outcome)
            return outcomes, complaints(attacks, outcomes, hostile, (second, other.result()))

    def attack_without_control(self, attack: Attack) -> tuple[Outcome, tuple[str, ...]]:
        """Play an attack without its control. Return the outcome, and what is wrong with it.

        An attack that depends on timing may fail on a busy host, so it has several tries.
        """
        outcome, wrong = self._without_control(attack)
        for _ in range(_TRIES - 1):
            if not wrong:
                break
            outcome, wrong = self._without_control(attack)
        return outcome, wrong

    def _without_control(self, attack: Attack) -> tuple[Outcome, tuple[str, ...]]:
        control = attack.control
        hostile = self._match(MATCH, (*attack.commands(), _HONEST)[:2], control.clock or attack.clock)
        seen: list[str] = []
        self._client.without, self._client.seats = control, range(len(attack.commands()))
        self._client.before_removal = lambda: seen.extend(self._watch.remains())
        try:
            with _alone(), control.within(), self._referee(control):
                outcome = self._outcome(lambda: self._play(hostile, FIRST_SLOT))
        finally:
            self._client.without = _NO_CONTROL
            self._client.before_removal = lambda: None
            self.runtime.sweep(self.install)
        if control.removal:
            outcome = replace(outcome, left=tuple(seen))
        with control.within():
            return outcome, control_complaints(attack, outcome)

    def close(self) -> None:
        """Remove everything."""
        self.runtime.sweep(self.install)
        for image in (*self._images.values(), self._programs):
            self._docker.images.remove(image, force=True, noprune=True)
        self.runtime.close()
        shutil.rmtree(self._folder)

    def _outcome(
        self, play: Callable[[], MatchRecord], meanwhile: Callable[[], object] = lambda: None
    ) -> Outcome:
        begun = time.monotonic()
        with self._watch.watching():
            record = play()
            seconds = time.monotonic() - begun
            meanwhile()
        return Outcome(
            record=record,
            peak=self._watch.peak,
            quotas=self._watch.quotas,
            left=self._watch.left(),
            seconds=seconds,
            runtime="runsc" if self.gvisor else self.runtime.describe.removeprefix("docker/"),
        )

    def _play(self, spec: MatchSpec, first_slot: int) -> MatchRecord:
        slots = tuple(range(first_slot, first_slot + len(spec.seats)))
        return decode(self._launcher.play(encode(spec), slots), MatchRecord)

    def _match(self, name: str, commands: tuple[tuple[str, ...], ...], clock: Clock) -> MatchSpec:
        spec = match_spec([self._image(command) for command in commands], clock=clock)
        return replace(spec, match=name, seeds=(uuid.uuid5(uuid.NAMESPACE_OID, name).hex,))

    def _referee(self, control: Control) -> AbstractContextManager[None]:
        return nullcontext() if control.referee is None else changed_referee(self._folder, control.referee)

    def _image(self, command: tuple[str, ...]) -> str:
        """Return the id of an image that runs this command: the programs' image with another entrypoint."""
        if command not in self._images:
            container = self._docker.api.create_container(self._programs)["Id"]
            try:
                made = self._docker.api.commit(container, conf={"Entrypoint": list(command), "Cmd": None})
            finally:
                self._docker.api.remove_container(container, v=True, force=True)
            self._images[command] = made["Id"]
        return self._images[command]


def _each(attacks: tuple[Attack, ...], outcome: Outcome) -> tuple[Outcome, ...]:
    """Return the match's outcome once for each attack, with its seat."""
    return tuple(replace(outcome, seat=seat) for seat in seats_of(attacks))


def _alone() -> AbstractContextManager[None]:
    """Wait until no other process is playing attacks on this host, since they would share users and cores."""
    return host_lock("hostile")


_HONEST: Final = ("python3", "-c", f"from {bot.__name__} import honest; honest()")


def _build(client: docker.DockerClient, base_image: str) -> str:
    """Return the id of an image that holds this folder's programs.

    Links in its root must not open what is closed to a bot.
    """
    files = {
        path.relative_to(_ROOT).as_posix(): path.read_bytes()
        for path in (*_HERE.glob("*.py"), *_HERE.glob("*/*.py"), _HERE.parent / "__init__.py")
    }
    label = f"LABEL kaiten.test={uuid.uuid4().hex}"
    links = "USER root\nRUN ln -s /proc /counters && ln -s / /everything"
    files["Dockerfile"] = f"FROM {base_image}\n{label}\nCOPY tests /bot/tests\n{links}\n".encode()
    context = io.BytesIO(tar(*members(files)))
    image, _ = client.images.build(
        fileobj=context, custom_context=True, rm=True, nocache=True, network_mode="none"
    )
    if image.id is None:
        raise ValueError("the build returned no image id")
    return image.id
