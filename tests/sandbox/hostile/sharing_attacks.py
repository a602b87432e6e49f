"""The attacks on what containers share (the kernel and its page cache): numbers from 31 on."""

from typing import Final

from tests.sandbox.hostile import effects, loosening
from tests.sandbox.hostile.attack import PATIENT, Attack, Control
from tests.sandbox.hostile.system import counting, crowding, hoarding, meeting, probing, whispering

_PRIVATE_FUTEXES: Final = Control(
    name="only private futexes", template=loosening.allowing("futex"), gvisor="it has its own futexes"
)
_NO_QUEUES: Final = Control(
    name="no queues, and an IPC namespace",
    template=loosening.share_queues,
    gvisor="it has its own queues",
)

ATTACKS: Final = (
    Attack(
        number=31,
        name="signals by futexes on a shared file",
        program=whispering.hear_by_futex,
        accomplice=whispering.say_by_futex,
        achieved=effects.whispers,
        control=_PRIVATE_FUTEXES,
    ),
    Attack(
        number=32,
        name="signals by ending threads",
        program=whispering.hear_by_futex,
        accomplice=whispering.say_by_ends_of_threads,
        achieved=effects.whispers,
        control=_PRIVATE_FUTEXES,
    ),
    Attack(
        number=33,
        name="asks what is in the page cache",
        program=whispering.ask_the_page_cache,
        achieved=effects.listed("answered"),
        control=Control(
            name="no calls on the page cache",
            template=loosening.allowing(
                "cachestat",
                "fadvise64",
                "madvise",
                "mincore",
                "pidfd_open",
                "preadv2",
                "process_madvise",
                "readahead",
                "sync_file_range",
            ),
            gvisor="it has its own page cache",
        ),
    ),
    Attack(
        number=34,
        name="memory in socket filters",
        program=hoarding.filters,
        achieved=effects.counted("filters"),
        control=Control(
            name="list of socket options",
            template=loosening.allowing("setsockopt"),
            gvisor="it attaches no filters",
        ),
    ),
    Attack(
        number=35,
        name="takes the host's terminals",
        program=hoarding.terminals,
        achieved=effects.counted("terminals", emulated=True),
        control=Control(
            name="no /dev/pts",
            template=loosening.unmasking("/dev/pts"),
            gvisor="it has its own terminals",
        ),
    ),
    Attack(
        number=36,
        name="reads past the page cache",
        program=hoarding.direct,
        achieved=effects.counted("direct"),
        control=Control(
            name="no O_DIRECT",
            template=loosening.allowing("open", "openat", "fcntl"),
            gvisor="its own process reads the files",
        ),
    ),
    Attack(
        number=37,
        name="watches the host's counters",
        program=whispering.read_counters,
        achieved=effects.listed("counters", emulated=effects.EMULATED_COUNTERS),
        control=Control(
            name="masked and closed /proc and /sys",
            template=loosening.open_proc("/proc", "/sys"),
            gvisor="it has its own counters",
        ),
    ),
    Attack(
        number=40,
        name="signals by mapped pages",
        program=counting.hear_by_pages,
        accomplice=counting.say_by_pages,
        achieved=effects.whispers,
        control=Control(
            name="closed /proc",
            template=loosening.open_proc(),
            gvisor="it has its own maps",
        ),
    ),
    Attack(
        number=41,
        name="watches the host's activity",
        program=counting.ask_the_host,
        achieved=effects.listed("counted"),
        control=Control(
            name="no calls that show it",
            template=loosening.allowing(
                "sysinfo",
                "inotify_init1",
                "memfd_create",
                "pidfd_open",
                "membarrier",
                "sched_setaffinity",
                "clone",
            ),
            gvisor="it has its own counts",
        ),
    ),
    Attack(
        number=42,
        name="signals by System V queues",
        program=meeting.hear_by_system_v_queue,
        accomplice=meeting.say_by_system_v_queue,
        achieved=effects.whispers,
        control=_NO_QUEUES,
    ),
    Attack(
        number=43,
        name="signals by POSIX queues",
        program=meeting.hear_by_posix_queue,
        accomplice=meeting.say_by_posix_queue,
        achieved=effects.whispers,
        control=_NO_QUEUES,
    ),
    Attack(
        number=44,
        name="signals by abstract sockets",
        program=meeting.hear_by_abstract_socket,
        accomplice=meeting.say_by_abstract_socket,
        achieved=effects.whispers,
        control=Control(
            name="its own network",
            template=loosening.share_network,
            gvisor="it has its own sockets",
        ),
    ),
    Attack(
        number=45,
        name="signals by locks on eventfds",
        program=meeting.hear_by_locks,
        accomplice=meeting.say_by_locks,
        achieved=effects.whispers,
        control=Control(
            name="no file locks",
            template=loosening.allowing("fcntl"),
            gvisor="it has its own locks",
        ),
    ),
    Attack(
        number=46,
        name="lists the host's sockets",
        program=meeting.list_sockets,
        achieved=effects.listed("sockets"),
        control=Control(
            name="its own network, closed /proc",
            template=loosening.share_network,
            gvisor="it has its own sockets",
        ),
    ),
    Attack(
        number=47,
        name="file leases and notifications",
        program=meeting.watch_files,
        achieved=effects.listed("granted"),
        control=Control(
            name="no calls for them",
            template=loosening.allowing("fanotify_init", "fcntl"),
            gvisor="it has its own files",
        ),
    ),
    Attack(
        number=48,
        name="flushes the host's disk",
        program=hoarding.flushes,
        achieved=effects.listed("flushes"),
        control=Control(
            name="no flushes",
            template=loosening.allowing("fsync", "fdatasync"),
            gvisor="its own process flushes",
        ),
    ),
    Attack(
        number=49,
        name="takes the host's huge pages",
        program=hoarding.huge_pages,
        achieved=effects.counted("huge"),
        control=Control(
            name="no MAP_HUGETLB",
            template=loosening.allowing("mmap"),
            within=loosening.huge_pages,
            gvisor="it has its own memory",
        ),
    ),
    Attack(
        number=50,
        name="fills the host's table of timers",
        program=hoarding.timers,
        achieved=effects.counted("timers", emulated=True),
        control=Control(
            name="no POSIX timers",
            template=loosening.allowing("timer_create"),
            gvisor="it has its own timers",
        ),
    ),
    Attack(
        number=51,
        name="signals by inode numbers of shared memory",
        program=counting.hear_by_numbers,
        accomplice=counting.say_by_numbers,
        achieved=effects.whispers,
        control=Control(
            name="no shared memory without a file",
            template=loosening.allowing("mmap"),
            gvisor="it has its own memory",
        ),
        clock=PATIENT,
    ),
    Attack(
        number=52,
        name="asks for host-wide numbers",
        program=counting.ask_for_numbers,
        achieved=effects.listed("numbers"),
        control=Control(
            name="no calls for them",
            template=loosening.allowing("bind", "getsockopt", "setsockopt", "sched_rr_get_interval"),
            gvisor="it has its own numbers",
        ),
    ),
    Attack(
        number=53,
        name="watches the host's disk",
        program=counting.ask_the_disk,
        achieved=effects.listed("disk"),
        control=Control(name="the init's filter", template=loosening.open_disk),
    ),
    Attack(
        number=54,
        name="signals by names missing next to the init",
        program=meeting.hear_by_missing_names,
        accomplice=meeting.say_by_missing_names,
        achieved=effects.whispers,
        control=Control(
            name="no shared folder for the init",
            template=loosening.share_inits_folder,
            gvisor="its own process looks up names",
        ),
    ),
    Attack(
        number=55,
        name="memory in filters of system calls",
        program=hoarding.filters_of_calls,
        achieved=effects.listed("installed"),
        control=Control(
            name="the init's filter, list of system calls",
            template=loosening.without_init,
            gvisor="its filters use the bot's memory",
        ),
    ),
    Attack(
        number=56,
        name="locks whole files",
        program=meeting.lock_whole_files,
        achieved=effects.listed("locked"),
        control=Control(
            name="no file locks",
            template=loosening.allowing("flock"),
            gvisor="it has its own locks",
        ),
    ),
    Attack(
        number=57,
        name="signals by the number of pending signals",
        program=meeting.hear_by_pending_signals,
        accomplice=meeting.say_by_pending_signals,
        achieved=effects.whispers,
        control=Control(
            name="a user for each seat",
            template=loosening.share_user,
            gvisor="it has its own signals",
        ),
    ),
    Attack(
        number=58,
        name="compares what identifies host and seat",
        program=probing.identify,
        accomplice=probing.identify,
        achieved=effects.recognised,
        control=Control(name="a user for each seat, masked /proc/sys", template=loosening.share_identity),
    ),
    Attack(
        number=59,
        name="long interrupts of timers",
        program=crowding.wake_in_interrupts,
        verdicts="NC",  # only gVisor may end it
        achieved=effects.listed("late"),
        control=Control(
            name="no timers with descriptors",
            template=loosening.allowing("timerfd_settime"),
            gvisor="it has its own timers",
        ),
        clock=PATIENT,
    ),
    Attack(
        number=60,
        name="looks for the users of other seats",
        program=counting.find_users,
        accomplice=counting.find_users,
        achieved=effects.listed("users"),
        control=Control(
            name="no priorities by user",
            template=loosening.allowing("getpriority"),
            gvisor="it has its own users",
        ),
    ),
    Attack(
        number=62,
        name="locks shared pages in memory",
        program=whispering.lock_pages,
        achieved=effects.listed("locked"),
        control=Control(name="no locked memory", template=loosening.without_limit("memlock")),
    ),
)
