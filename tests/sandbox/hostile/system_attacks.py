"""The attacks on the system that the bots run on: numbers 1 to 9, 21 to 27 and 61."""

from typing import Final

from arena.protocol.faults import Fault
from arena.protocol.match import Clock
from tests.sandbox.hostile import effects, loosening
from tests.sandbox.hostile.attack import QUICK, Attack, Control, FaultAt
from tests.sandbox.hostile.site import shown, unescaped
from tests.sandbox.hostile.system import crowding, dawdling, escaping, filling, probing, talking


def _timeouts(*turns: int) -> tuple[FaultAt, ...]:
    return tuple(FaultAt(2, turn, Fault.TIMEOUT) for turn in turns)


ATTACKS: Final = (
    Attack(
        number=1,
        name="fork bomb",
        program=crowding.fork_bomb,
        verdicts="NC",
        achieved=effects.tasks,
        control=Control(name="pids limit", template=loosening.without_crowd_limits),
    ),
    Attack(
        number=2,
        name="thread bomb",
        program=crowding.thread_bomb,
        verdicts="NC",
        achieved=effects.tasks,
        control=Control(
            name="pids limit",
            template=loosening.without("PidsLimit"),
            gvisor="its threads are not the host's",
        ),
    ),
    Attack(
        number=3,
        name="heap bomb",
        program=filling.heap_bomb,
        verdicts="C",
        faults=(FaultAt(2, 3, Fault.CRASH),),
        achieved=effects.heap,
        control=Control(name="memory limit", template=loosening.without("Memory", "MemorySwap")),
    ),
    Attack(
        number=4,
        name="tmpfs fill",
        program=filling.fill_tmp,
        verdicts="NC",
        achieved=effects.tmp,
        control=Control(name="size of /tmp", template=loosening.with_(Tmpfs={"/tmp": "rw"})),  # noqa: S108 - the bot's
    ),
    Attack(
        number=5,
        name="writes all over the root fs",
        program=filling.write_everywhere,
        achieved=effects.listed("written", emulated=effects.EMULATED_FILES),
        control=Control(name="read-only root", template=loosening.with_(ReadonlyRootfs=False)),
    ),
    Attack(
        number=6,
        name="stdout and stderr flood",
        program=filling.flood_output,
        achieved=effects.disk,
        control=Control(name="log limit", template=loosening.without("LogConfig")),
    ),
    Attack(
        number=7,
        name="CPU spin",
        program=dawdling.spin,
        verdicts="T",  # at which decisions depends on the host's other work
        clock=QUICK,
        achieved=effects.cores,
        control=Control(name="CPU share", template=loosening.without("NanoCpus")),
    ),
    Attack(
        number=8,
        name="sleeps beyond the move time",
        program=dawdling.sleep_over,
        verdicts="T",
        # The bank covers one pause, but not the second.
        faults=_timeouts(4, 5, 6),
        clock=QUICK,
        achieved=effects.unpunished("slept"),
        control=Control(name="bank", clock=Clock(start_millis=10_000, move_millis=1_000, bank_millis=60_000)),
    ),
    Attack(
        number=9,
        name="stops itself",
        program=dawdling.stop_itself,
        verdicts="T",
        faults=_timeouts(3, 4, 5),
        clock=QUICK,
        achieved=effects.unpunished("stopped"),
        control=Control(name="clock", clock=Clock(start_millis=10_000, move_millis=60_000, bank_millis=0)),
    ),
    Attack(
        number=21,
        name="replaces the socket",
        program=escaping.replace_socket,
        achieved=effects.listed("done"),
        control=Control(
            name="read-only folder, owned by root",
            template=loosening.give_folder,
            opens=("mode changed", "time changed", "moved", "replaced", "next to it", "linked"),
        ),
    ),
    Attack(
        number=22,
        name="connects to another bot's socket",
        program=escaping.dial_neighbours,
        achieved=effects.listed("reached"),
        control=Control(name="its own folder and user", template=loosening.share_folder_and_user),
    ),
    Attack(
        number=23,
        name="network scan",
        program=escaping.scan_network,
        achieved=effects.network,
        control=Control(
            name="no network, unix sockets only",
            template=loosening.connect,
            gvisor="its configuration already disables the network",
        ),
    ),
    Attack(
        number=24,
        name="harvests /proc, /sys, environment",
        program=probing.harvest,
        achieved=effects.beyond_allowed,
        control=Control(
            name="pid namespace, user, closed /proc and /sys",
            template=loosening.of_all_processes,
            opens=(
                "other_environments: python3",
                "processes",
                "kernel: keys",
                "kernel: loadavg",
                "system: kernel/mm",
            ),
            gvisor="it has only its own processes",
        ),
    ),
    Attack(
        number=25,
        name="forbidden system calls",
        program=probing.forbidden_calls,
        achieved=effects.listed("done", emulated=effects.EMULATED_CALLS),
        control=Control(
            name="list of system calls, no locked memory",
            template=loosening.without_filter,
            opens=(
                "ptrace: be traced",
                "process_vm_readv: read the parent's memory",
                "unshare: users",
                "unshare: users and mounts",
                "unshare: users and network",
                "clone: users",
                "setns: a child's user namespace",
                "keyctl: a session of keys",
                "add_key",
                "io_uring_setup",
                "userfaultfd",
                "personality: no random addresses",
                "kcmp: own files",
                "name_to_handle_at",
                "get_mempolicy",
                "set_mempolicy",
                "madvise: merge equal pages",
                "fcntl: size of a pipe",
                "signalfd4",
                "splice",
                "sendfile",
                "tee",
                "MSG_OOB",
                "setrlimit: core dumps",
                "AF_NETLINK",
            ),
            gvisor="it is the kernel itself",
        ),
    ),
    Attack(
        number=26,
        name="daemons that ignore signals",
        program=crowding.leave_daemons,
        achieved=effects.survivors,
        control=Control(name="removal", removal=True),
    ),
    Attack(
        number=27,
        name="HTML and bidi characters in text",
        program=talking.markup,
        achieved=shown,
        control=Control(name="escaping on the site", within=unescaped),
    ),
    Attack(
        number=61,
        name="lowers the priority of its init",
        program=crowding.lower_the_init,
        achieved=effects.listed("lowered"),
        control=Control(
            name="no priorities of others",
            template=loosening.allowing("setpriority"),
            opens=("priority of its process", "priority of its group"),
        ),
    ),
)
