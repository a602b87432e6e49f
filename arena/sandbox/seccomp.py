"""The system calls that a bot may make: an allow-list, everything else is refused with EPERM.

The rule for the list: what the runtimes of Python, Node, Go, Java, Rust and C++ need to
compute, to keep files in /tmp, to start threads and processes, and to talk over unix
sockets. Nothing that reaches the network, other processes' memory, namespaces, mounts,
keys, clocks, kernel modules or asynchronous I/O rings.

Names that one architecture lacks (aarch64 has no ``open``) are skipped by the engine.
"""

import json
from typing import Any, Final

AF_UNIX: Final = 1
EAFNOSUPPORT: Final = 97
ENOSYS: Final = 38

_NAMESPACE_FLAGS: Final = 0x7E02_0000
"""CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID and NEWNET; NEWTIME needs clone3 or unshare."""

_QUERY_PERSONALITY: Final = 0xFFFF_FFFF

_FILES: Final = """
    access chdir chmod chown close close_range copy_file_range creat dup dup2 dup3 faccessat faccessat2
    fadvise64 fallocate fchdir fchmod fchmodat fchmodat2 fchown fchownat fcntl fdatasync fgetxattr flistxattr
    flock fstat fstatfs fsync ftruncate futimesat getcwd getdents getdents64 getxattr lchown lgetxattr link
    linkat listxattr llistxattr lseek lstat mkdir mkdirat newfstatat open openat openat2 pipe pipe2 pread64
    preadv preadv2 pwrite64 pwritev pwritev2 read readahead readlink readlinkat readv rename renameat
    renameat2 rmdir sendfile splice stat statfs statx symlink symlinkat tee truncate umask unlink unlinkat
    utime utimensat utimes write writev
    inotify_add_watch inotify_init inotify_init1 inotify_rm_watch
"""

_MEMORY: Final = """
    brk madvise membarrier memfd_create mincore mlock mlock2 mlockall mmap mprotect mremap msync munlock
    munlockall munmap
"""

_PROCESSES: Final = """
    arch_prctl capget execve execveat exit exit_group fork futex futex_requeue futex_wait futex_waitv
    futex_wake get_robust_list getcpu getegid geteuid getgid getgroups getpgid getpgrp getpid getppid
    getpriority getresgid getresuid getrlimit getrusage getsid gettid getuid pidfd_open pidfd_send_signal
    prctl prlimit64 rseq sched_get_priority_max sched_get_priority_min sched_getaffinity sched_getattr
    sched_getparam sched_getscheduler sched_rr_get_interval sched_setaffinity sched_yield set_robust_list
    set_tid_address setpgid setpriority setrlimit setsid sysinfo uname vfork wait4 waitid
"""

_SIGNALS_AND_TIME: Final = """
    alarm clock_getres clock_gettime clock_nanosleep getitimer gettimeofday kill nanosleep pause
    restart_syscall rt_sigaction rt_sigpending rt_sigprocmask rt_sigqueueinfo rt_sigreturn rt_sigsuspend
    rt_sigtimedwait rt_tgsigqueueinfo setitimer sigaltstack signalfd signalfd4 tgkill time timer_create
    timer_delete timer_getoverrun timer_gettime timer_settime timerfd_create timerfd_gettime
    timerfd_settime times tkill
"""

_WAITING_AND_SOCKETS: Final = """
    accept accept4 bind connect epoll_create epoll_create1 epoll_ctl epoll_ctl_old epoll_pwait epoll_pwait2
    epoll_wait epoll_wait_old eventfd eventfd2 getpeername getrandom getsockname getsockopt listen poll
    ppoll pselect6 select setsockopt shutdown
"""

_MSG_OOB: Final = 1

_FLAGS_ARGUMENT: Final = {"recvfrom sendmmsg recvmmsg sendto": 3, "recvmsg sendmsg": 2}
"""Where these calls have their flags. Out-of-band data on unix sockets is code that nobody needs, and
from which sandboxes were left (CVE-2025-38236)."""

_IOCTLS: Final = {
    # Others are refused: a pseudo-terminal's line disciplines are a door to old kernel code.
    "TCGETS": 0x5401,
    "TIOCGPGRP": 0x540F,
    "TIOCGWINSZ": 0x5413,
    "FIONREAD": 0x541B,
    "FIONBIO": 0x5421,
    "FIONCLEX": 0x5450,
    "FIOCLEX": 0x5451,
    "TCGETS2": 0x802C_542A,
}

_DONE_WITHOUT: Final = "clone3 get_mempolicy io_uring_setup"
"""Refused with ENOSYS: libraries take that for an old kernel and go on with something else."""


def _rule(names: str, action: str = "SCMP_ACT_ALLOW", **more: object) -> dict[str, Any]:
    return {"names": names.split(), "action": action, **more}


def _argument(index: int, comparison: str, value: int, second: int = 0) -> list[dict[str, Any]]:
    return [{"index": index, "op": f"SCMP_CMP_{comparison}", "value": value, "valueTwo": second}]


def profile() -> dict[str, Any]:
    """Return the profile in the engine's form (its JSON goes behind ``seccomp=``)."""
    plain = f"{_FILES} {_MEMORY} {_PROCESSES} {_SIGNALS_AND_TIME} {_WAITING_AND_SOCKETS}"
    unix = _argument(0, "EQ", AF_UNIX)
    others = _argument(0, "NE", AF_UNIX)
    return {
        "defaultAction": "SCMP_ACT_ERRNO",
        # Only the native calls of each: those of 32-bit programs have other numbers and other arguments.
        "archMap": [
            {"architecture": f"SCMP_ARCH_{name}", "subArchitectures": []} for name in ("X86_64", "AARCH64")
        ],
        "syscalls": [
            _rule(plain),
            _rule("socket socketpair", args=unix),
            # What a kernel without IPv6 answers: gRPC and resolvers probe for it and go on.
            _rule("socket socketpair", "SCMP_ACT_ERRNO", errnoRet=EAFNOSUPPORT, args=others),
            _rule("clone", args=_argument(0, "MASKED_EQ", _NAMESPACE_FLAGS)),
            *(
                _rule(names, args=_argument(index, "MASKED_EQ", _MSG_OOB))
                for names, index in _FLAGS_ARGUMENT.items()
            ),
            # The flags of clone3 lie behind a pointer, where a filter can't look.
            _rule(_DONE_WITHOUT, "SCMP_ACT_ERRNO", errnoRet=ENOSYS),
            _rule("personality", args=_argument(0, "EQ", _QUERY_PERSONALITY)),
            *(_rule("ioctl", args=_argument(1, "EQ", request)) for request in _IOCTLS.values()),
        ],
    }


def profile_json() -> str:
    """Return the profile as compact JSON, the same bytes every time."""
    return json.dumps(profile(), separators=(",", ":"))
