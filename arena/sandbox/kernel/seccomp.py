"""The system calls that a bot may make: an allow-list. All others are refused, most with EPERM.

The list contains what the runtimes of Python, Node, Go, Java, Rust and C++ need to compute, to use files in
/tmp, to start threads and processes, and to use unix sockets. It excludes everything that reaches the
network, other processes' memory, namespaces, mounts, keys, kernel modules or io_uring, or sets a clock. It
also excludes the ways to communicate through the page cache of layers that containers share: futexes keyed by
a file, and calls that query or change what is cached. File locks are excluded because containers share the
inode of eventfds.

A call that can do more than bots need is allowed only with certain arguments: see ``_BY_ARGUMENT``.

The engine skips names that an architecture lacks (aarch64 has no ``open``).
"""

from typing import Any, Final

AF_UNIX: Final = 1
EAGAIN: Final = 11
ENOMEM: Final = 12
EINVAL: Final = 22
ENOLCK: Final = 37
ENOSYS: Final = 38
ENOPROTOOPT: Final = 92
EAFNOSUPPORT: Final = 97

_NAMESPACE_FLAGS: Final = 0x7E02_0000
"""CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID and NEWNET; NEWTIME needs clone3 or unshare."""

_CLONE_PIDFD: Final = 0x1000
"""A pidfd's inode number comes from a host-wide counter of processes."""

_QUERY_PERSONALITY: Final = 0xFFFF_FFFF

_FILES: Final = """
    access chdir chmod close close_range copy_file_range creat dup dup2 dup3 faccessat faccessat2
    fallocate fchdir fchmod fchmodat fchmodat2 fgetxattr flistxattr fstat
    fstatfs ftruncate futimesat getcwd getdents getdents64 getxattr lgetxattr link linkat
    listxattr llistxattr lseek lstat mkdir mkdirat newfstatat pipe pipe2 pread64 preadv pwrite64 pwritev
    read readlink readlinkat readv rename renameat renameat2 rmdir stat statfs statx symlink
    symlinkat truncate umask unlink unlinkat utime utimensat utimes write writev
"""
"""`chown` and its variants are refused: even if they change no owner, they update the change time of any
file, including that of a namespace that all containers share."""

_MEMORY: Final = """
    brk mlock mlock2 mlockall mprotect mremap msync munlock munlockall munmap
"""

_PROCESSES: Final = """
    arch_prctl capget execve execveat exit exit_group fork get_robust_list getcpu getegid geteuid getgid
    getgroups getpgid getpgrp getpid getppid getresgid getresuid getrlimit getrusage getsid
    gettid getuid landlock_add_rule landlock_create_ruleset landlock_restrict_self rseq
    sched_get_priority_max sched_get_priority_min sched_getaffinity sched_getattr sched_getparam
    sched_getscheduler sched_yield set_robust_list set_tid_address setpgid setsid uname vfork
    wait4 waitid
"""

_SIGNALS_AND_TIME: Final = """
    alarm clock_getres clock_gettime clock_nanosleep getitimer gettimeofday nanosleep pause
    restart_syscall rt_sigaction rt_sigpending rt_sigprocmask rt_sigqueueinfo rt_sigreturn rt_sigsuspend
    rt_sigtimedwait rt_tgsigqueueinfo setitimer sigaltstack tgkill time timerfd_gettime times tkill
"""

_RLIMIT_CORE: Final = 4
_RESOURCES: Final = 16
"""The kernel's number of resource limits. Bots can't change the limit on core dumps: while it is 1 byte, the
kernel starts no program on the host when a bot crashes; if it were 0, the kernel could. The calls return
success: sanitizers such as ASan set the limit at the start, and exit if that fails."""

_PR_SET_VMA: Final = 0x5356_4D41
"""Names a mapping. No memory limit counts the names, and a bot could create millions. The option is refused
with the error that kernels without it return, so Go's runtime and C libraries stop using it."""

_POSIX_TIMERS: Final = "timer_create timer_delete timer_getoverrun timer_gettime timer_settime"
"""The kernel has one hash table of timers for the whole host, so the more timers other processes have, the
longer a call takes. Under gVisor, each bot has its own table, and the init needs these calls."""

_WAITING_AND_SOCKETS: Final = """
    accept accept4 connect epoll_create epoll_create1 epoll_ctl epoll_ctl_old epoll_pwait
    epoll_pwait2 epoll_wait epoll_wait_old eventfd eventfd2 getpeername getrandom getsockname listen poll
    ppoll pselect6 select shutdown
"""

_MSG_OOB: Final = 1

_MESSAGE_FLAGS_INDEX: Final = {"recvfrom sendmmsg recvmmsg sendto": 3, "recvmsg sendmsg": 2}
"""Index of the argument that contains the flags. Out-of-band data on unix sockets is a rarely used feature
that has allowed sandbox escapes (CVE-2025-38236)."""

_FUTEX_PRIVATE: Final = 128
"""Without this flag, a futex on a mapped file is keyed by the file. Other containers map the same file, so
another seat could wake a waiter. Waiting is refused, so nothing is woken, not even by the kernel when a
thread ends. The error is EAGAIN, as if the futex's value had just changed, so callers check the value
again."""

_SOL_SOCKET: Final = 1
_SOCKET_TYPE: Final = 0xF
_F_SETFL: Final = 4

_FILE_LOCKS: Final = {
    "F_GETLK": 5,
    "F_SETLK": 6,
    "F_SETLKW": 7,
    "F_OFD_GETLK": 36,
    "F_OFD_SETLK": 37,
    "F_OFD_SETLKW": 38,
}
"""All eventfds on the host share one inode. So do all descriptors of a namespace that containers share, such
as the user namespace. A lock on such an inode is visible to all containers."""

_MAP_HUGETLB: Final = 0x4_0000
"""Maps huge pages that the host has reserved. No memory limit counts them, and all containers share them."""

_MADV_FREE: Final = 8
_MAP_DROPPABLE: Final = 8
"""With these, the kernel may discard a bot's pages when the host is short of memory, so the bot could tell
that it is. Kernels without them return EINVAL."""

_MAP_SHARED: Final = 1
_MAP_ANONYMOUS: Final = 0x20
"""Memory that is mapped with both this flag and MAP_SHARED gets an inode number from a host-wide counter."""

_O_DIRECT: Final = {"amd64": 0x4000, "arm64": 0x1_0000}
"""Makes reads bypass the page cache. On the other architecture, the same bit means O_DIRECTORY."""

_O_ASYNC: Final = 0x2000

_BY_ARGUMENT: Final[dict[str, tuple[int, dict[str, int]]]] = {
    # Other requests are refused: a pseudo-terminal's line disciplines reach old kernel code.
    "ioctl": (
        1,
        {
            "TCGETS": 0x5401,
            "TIOCGPGRP": 0x540F,
            "TIOCGWINSZ": 0x5413,
            "FIONREAD": 0x541B,
            "FIONBIO": 0x5421,
            "FIONCLEX": 0x5450,
            "FIOCLEX": 0x5451,
            "TCGETS2": 0x802C_542A,
        },
    ),
    # No locks, leases, notifications, descriptor signals or changes to a pipe's size.
    "fcntl": (
        1,
        {
            "F_DUPFD": 0,
            "F_GETFD": 1,
            "F_SETFD": 2,
            "F_GETFL": 3,
            "F_DUPFD_CLOEXEC": 1030,
            "F_GETPIPE_SZ": 1032,
            "F_ADD_SEALS": 1033,
            "F_GET_SEALS": 1034,
        },
    ),
    "prctl": (
        0,
        {
            "PR_SET_PDEATHSIG": 1,
            "PR_GET_PDEATHSIG": 2,
            "PR_GET_DUMPABLE": 3,
            "PR_SET_DUMPABLE": 4,
            "PR_SET_NAME": 15,
            "PR_GET_NAME": 16,
            "PR_GET_SECCOMP": 21,
            # For the init. Its own filter refuses this option to the bot.
            "PR_SET_SECCOMP": 22,
            "PR_CAPBSET_READ": 23,
            # This option and PR_SET_THP_DISABLE are for the init, too.
            "PR_SET_TIMERSLACK": 29,
            "PR_GET_TIMERSLACK": 30,
            "PR_SET_CHILD_SUBREAPER": 36,
            "PR_GET_CHILD_SUBREAPER": 37,
            "PR_SET_NO_NEW_PRIVS": 38,
            "PR_GET_NO_NEW_PRIVS": 39,
            "PR_SET_THP_DISABLE": 41,
            "PR_GET_THP_DISABLE": 42,
            "PR_SVE_GET_VL": 51,
        },
    ),
    # Not by user (PRIO_USER): if the user has any threads, the kernel iterates over all threads on the
    # host, so the call's duration discloses which other bots are running.
    "getpriority": (0, {"PRIO_PROCESS": 0, "PRIO_PGRP": 1}),
    # No system-wide barrier: its duration discloses what the other cores are doing.
    "membarrier": (
        0,
        {
            "MEMBARRIER_CMD_QUERY": 0,
            "MEMBARRIER_CMD_PRIVATE_EXPEDITED": 8,
            "MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED": 16,
            "MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE": 32,
            "MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE": 64,
        },
    ),
    # No readahead, no dropping of file pages, no merging with other processes' pages.
    "madvise": (
        2,
        {
            "MADV_NORMAL": 0,
            "MADV_DONTNEED": 4,
            "MADV_DONTFORK": 10,
            "MADV_DOFORK": 11,
            "MADV_HUGEPAGE": 14,
            "MADV_NOHUGEPAGE": 15,
            "MADV_DONTDUMP": 16,
            "MADV_DODUMP": 17,
            "MADV_WIPEONFORK": 18,
            "MADV_KEEPONFORK": 19,
        },
    ),
}
"""Calls that are allowed only with certain values of one argument, each with the argument's index and those
values."""

_SOCKET_OPTIONS: Final = {
    "SO_REUSEADDR": 2,
    "SO_SNDBUF": 7,
    "SO_RCVBUF": 8,
    "SO_KEEPALIVE": 9,
    "SO_LINGER": 13,
    "SO_REUSEPORT": 15,
    "SO_RCVLOWAT": 18,
    "SO_RCVTIMEO": 20,
    "SO_SNDTIMEO": 21,
    "SO_RCVTIMEO_NEW": 66,
    "SO_SNDTIMEO_NEW": 67,
}
"""Options that may be set and read. Socket filters are excluded because no control group counts the memory of
their programs. SO_PASSCRED is excluded because it gives a socket a name, just as binding to an address of
``_FAMILY_ONLY_BYTES`` bytes does."""

_FAMILY_ONLY_BYTES: Final = 2
"""Length of an address that consists of only a family. For such an address, the kernel chooses a name: before
Linux 5.17, the next number from a host-wide counter."""

_ADDRESS_BITS: Final = 7
"""Enough bits for the length of a unix socket's address, which is at most 110 bytes."""

_READ_ONLY_SOCKET_OPTIONS: Final = {
    "SO_TYPE": 3,
    "SO_ERROR": 4,
    "SO_ACCEPTCONN": 30,
    "SO_PROTOCOL": 38,
    "SO_DOMAIN": 39,
}
"""Options that may only be read."""

_TFD_NONBLOCK: Final = 0x800
"""Java's Netty fails if it can't create a timer descriptor with this flag, but on Linux 5.11 and later it
never sets the timer. C++'s Asio tries to create a timer descriptor without this flag, and does without one if
that fails."""

_SOCKET_TYPES: Final = {"SOCK_STREAM": 1, "SOCK_DGRAM": 2}

_PID_BITS: Final = 32

_ENOSYS_CALLS: Final = """
    get_mempolicy io_uring_setup
    futex_requeue futex_wait futex_waitv futex_wake
    cachestat fadvise64 mincore openat2 preadv2 process_madvise pwritev2 readahead sync_file_range
    inotify_init inotify_init1 memfd_create pidfd_open sysinfo
    signalfd signalfd4 timerfd_settime
"""
"""Refused with ENOSYS: nearly all libraries then assume an old kernel and use other calls.

A filter can't read the flags of futex_waitv and futex_requeue, which are behind pointers. The calls in the
third row disclose or change what is in the page cache, except for openat2, whose flags are behind a pointer.
The calls in the fourth row disclose what other programs are doing: they show the host's tasks and memory,
opened files, and counters of files and processes. The calls in the last row make descriptors ready in a timer
interrupt. The interrupt wakes every epoll that watches such a descriptor. With thousands of epolls, this
takes tens of milliseconds, which are charged to the interrupted bot."""


_COPY_IN_KERNEL: Final = "sendfile splice tee"
"""These calls hold a pipe's lock while they wait for data or space. Any other process that uses or closes the
pipe has to wait as well: the referee if the bot has passed the pipe to it, or the init's writer if the pipe
is the bot's stderr. The calls are refused with EINVAL, which they return for files that they can't copy, so
libraries fall back to reading and writing."""


def _rule(names: str, action: str = "SCMP_ACT_ALLOW", **more: object) -> dict[str, Any]:
    return {"names": names.split(), "action": action, **more}


def _argument(index: int, comparison: str, value: int, second: int = 0) -> dict[str, Any]:
    return {"index": index, "op": f"SCMP_CMP_{comparison}", "value": value, "valueTwo": second}


def _refuse(names: str, errno: int, *arguments: dict[str, Any], **more: object) -> dict[str, Any]:
    return _rule(names, "SCMP_ACT_ERRNO", errnoRet=errno, args=[*arguments], **more)


def profile(*, own_kernel: bool = False) -> dict[str, Any]:
    """Return the profile. The engine expects it as JSON, after ``seccomp=``.

    ``own_kernel`` is True if the sandbox has its own kernel, as with gVisor. In that case, futexes aren't
    shared between sandboxes, so all futex calls are allowed. Some gVisor versions would refuse them with
    EPERM, whatever error the rule specifies, and the C library would then abort the program.
    """
    # The flags of clone3 are behind a pointer, which a filter can't follow.
    unsupported = _ENOSYS_CALLS if own_kernel else f"clone3 timer_create {_ENOSYS_CALLS}"
    allowed = f"{_FILES} {_MEMORY} {_PROCESSES} {_SIGNALS_AND_TIME} {_WAITING_AND_SOCKETS}"
    return {
        "defaultAction": "SCMP_ACT_ERRNO",
        # Only native calls: those of 32-bit programs have other numbers and arguments.
        "archMap": [
            {"architecture": f"SCMP_ARCH_{name}", "subArchitectures": []} for name in ("X86_64", "AARCH64")
        ],
        "syscalls": [
            _rule(allowed),
            *([_rule("futex")] if own_kernel else _futexes()),
            *_open_calls(),
            *_sockets(),
            *_file_locks(),
            _rule("clone", args=[_argument(0, "MASKED_EQ", _NAMESPACE_FLAGS | _CLONE_PIDFD)]),
            *_mmap(),
            *_signals(),
            # PRIO_PROCESS, and only for the caller: a bot that lowered its init's priority and kept all
            # processors busy would outlive its deadline.
            _rule("setpriority", args=[_argument(0, "EQ", 0), _argument(1, "EQ", 0)]),
            _rule("timerfd_create", args=[_argument(1, "MASKED_EQ", _TFD_NONBLOCK, _TFD_NONBLOCK)]),
            _refuse("timerfd_create", ENOSYS, _argument(1, "MASKED_EQ", _TFD_NONBLOCK)),
            # These calls return success without flushing anything: bots can't write to the host's disk.
            _refuse("fsync fdatasync", 0),
            # Some gVisor versions would refuse clone3 with EPERM, whatever error the rule specifies, and the
            # C library would then start no threads. Under gVisor, namespaces that clone3 creates belong to
            # gVisor and not to the host.
            *([_rule("clone3"), _rule(_POSIX_TIMERS)] if own_kernel else []),
            # gVisor's name for pselect6, which the C library's select() calls.
            *([_rule("pselect")] if own_kernel else []),
            _rule(unsupported, "SCMP_ACT_ERRNO", errnoRet=ENOSYS),
            _rule(_COPY_IN_KERNEL) if own_kernel else _refuse(_COPY_IN_KERNEL, EINVAL),
            _refuse("prctl", EINVAL, _argument(0, "EQ", _PR_SET_VMA)),
            # gVisor's kernel itself returns EINVAL. Some versions would return EPERM for the filter's EINVAL.
            _rule("madvise", args=[_argument(2, "EQ", _MADV_FREE)])
            if own_kernel
            else _refuse("madvise", EINVAL, _argument(2, "EQ", _MADV_FREE)),
            *_resource_limits(own_kernel=own_kernel),
            _rule("personality", args=[_argument(0, "EQ", _QUERY_PERSONALITY)]),
            *(
                _rule(name, args=[_argument(index, "EQ", value)])
                for name, (index, values) in _BY_ARGUMENT.items()
                for value in values.values()
            ),
        ],
    }


def _futexes() -> list[dict[str, Any]]:
    return [
        _rule("futex", args=[_argument(1, "MASKED_EQ", _FUTEX_PRIVATE, _FUTEX_PRIVATE)]),
        _refuse("futex", EAGAIN, _argument(1, "MASKED_EQ", _FUTEX_PRIVATE)),
    ]


def _file_locks() -> list[dict[str, Any]]:
    return [
        _refuse("flock", ENOLCK),
        *(_refuse("fcntl", ENOLCK, _argument(1, "EQ", command)) for command in _FILE_LOCKS.values()),
    ]


def _signals() -> list[dict[str, Any]]:
    """Return the rules that allow signals to any process id except -1.

    -1 stands for all processes, so the kernel would iterate over all processes on the host.
    """
    # Allow any number that has a zero among its lower 32 bits.
    bits = (1 << place for place in range(_PID_BITS))
    return [_rule("kill", args=[_argument(0, "MASKED_EQ", bit)]) for bit in bits]


def _resource_limits(*, own_kernel: bool) -> list[dict[str, Any]]:
    if own_kernel:  # it writes no core dumps
        return [_rule("setrlimit prlimit64")]
    changeable = [resource for resource in range(_RESOURCES) if resource != _RLIMIT_CORE]
    return [
        *(_rule("setrlimit", args=[_argument(0, "EQ", resource)]) for resource in changeable),
        *(_rule("prlimit64", args=[_argument(1, "EQ", resource)]) for resource in changeable),
        # Without a new limit, the call is only a query.
        _rule("prlimit64", args=[_argument(1, "EQ", _RLIMIT_CORE), _argument(2, "EQ", 0)]),
        _refuse("setrlimit", 0, _argument(0, "EQ", _RLIMIT_CORE)),
        _refuse("prlimit64", 0, _argument(1, "EQ", _RLIMIT_CORE), _argument(2, "NE", 0)),
    ]


def _mmap() -> list[dict[str, Any]]:
    never, shared = _MAP_HUGETLB | _MAP_DROPPABLE, _MAP_SHARED | _MAP_ANONYMOUS
    return [
        *(
            _rule("mmap", args=[_argument(3, "MASKED_EQ", never | flag)])
            for flag in (_MAP_SHARED, _MAP_ANONYMOUS)
        ),
        _refuse("mmap", EINVAL, _argument(3, "MASKED_EQ", _MAP_DROPPABLE, _MAP_DROPPABLE)),
        _refuse("mmap", ENOMEM, _argument(3, "MASKED_EQ", never, _MAP_HUGETLB)),
        _refuse("mmap", ENOMEM, _argument(3, "MASKED_EQ", never | shared, shared)),
    ]


def _open_calls() -> list[dict[str, Any]]:
    """Return the rules for calls that could make reads bypass the page cache."""
    rules = []
    for arch, direct in _O_DIRECT.items():
        for name, index in {"open": 1, "openat": 2}.items():
            rules += [
                _rule(name, args=[_argument(index, "MASKED_EQ", direct)], includes={"arches": [arch]}),
                _refuse(
                    name, EINVAL, _argument(index, "MASKED_EQ", direct, direct), includes={"arches": [arch]}
                ),
            ]
    unchanged = sum(_O_DIRECT.values()) | _O_ASYNC
    return [*rules, _rule("fcntl", args=[_argument(1, "EQ", _F_SETFL), _argument(2, "MASKED_EQ", unchanged)])]


def _sockets() -> list[dict[str, Any]]:
    options = _argument(1, "EQ", _SOL_SOCKET)
    readable = {**_SOCKET_OPTIONS, **_READ_ONLY_SOCKET_OPTIONS}
    return [
        *(
            _rule(
                "socket socketpair",
                args=[_argument(0, "EQ", AF_UNIX), _argument(1, "MASKED_EQ", _SOCKET_TYPE, kind)],
            )
            for kind in _SOCKET_TYPES.values()
        ),
        # Allow any length that has a bit set other than `_FAMILY_ONLY_BYTES`.
        *(
            _rule("bind", args=[_argument(2, "MASKED_EQ", bit, bit)])
            for bit in (1 << place for place in range(_ADDRESS_BITS))
            if bit != _FAMILY_ONLY_BYTES
        ),
        # The error that a kernel without IPv6 returns: gRPC and resolvers probe for IPv6, and continue
        # without it.
        _refuse("socket socketpair", EAFNOSUPPORT, _argument(0, "NE", AF_UNIX)),
        *(
            _rule(call, args=[options, _argument(2, "EQ", option)])
            for call, allowed in {"setsockopt": _SOCKET_OPTIONS, "getsockopt": readable}.items()
            for option in allowed.values()
        ),
        # The error that a unix socket returns for TCP and IP options, which gRPC queries.
        _refuse("setsockopt getsockopt", ENOPROTOOPT, _argument(1, "NE", _SOL_SOCKET)),
        *(
            _rule(names, args=[_argument(index, "MASKED_EQ", _MSG_OOB)])
            for names, index in _MESSAGE_FLAGS_INDEX.items()
        ),
    ]
