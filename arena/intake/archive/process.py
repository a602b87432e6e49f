"""The process that reads an archive: gives up all it can do without, reads, answers, ends."""

import ctypes
import os
import resource
import signal
import sys
import traceback
from typing import Final

import msgspec

from arena.intake.archive.image import repack_image
from arena.intake.errors import Rejected
from arena.intake.messages import Answer, Broken, FromReader, Job, Ready, Refused, Stopped

_PR_SET_PDEATHSIG: Final = 1
_PR_SET_NO_NEW_PRIVS: Final = 38
_MIB: Final = 1024 * 1024
_TRACE_CHARACTERS: Final = 4_000


def main() -> None:
    """Read one archive: the job on standard input, the answer on standard output."""
    job = msgspec.json.decode(sys.stdin.buffer.readline(), type=Job)
    _confine(job)
    _say(Ready())
    _say(_answer(job))


def _confine(job: Job) -> None:
    """Give up every privilege. All is imported, and from here on nothing can be opened or started."""
    limits = job.limits
    libc = ctypes.CDLL(None, use_errno=True)
    if job.uid is not None:
        os.setgroups([])
        os.setresgid(job.uid, job.uid, job.uid)
        os.setresuid(job.uid, job.uid, job.uid)
    libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    # After the change of user, which clears it.
    libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    file_bytes = max(limits.archive_bytes, limits.image_bytes)
    for kind, soft, hard in (
        (resource.RLIMIT_AS, limits.memory_bytes, limits.memory_bytes),
        # A second more, should the first signal find no way to end it.
        (resource.RLIMIT_CPU, limits.cpu_seconds, limits.cpu_seconds + 1),
        (resource.RLIMIT_FSIZE, file_bytes, file_bytes),
        (resource.RLIMIT_CORE, 0, 0),
        (resource.RLIMIT_NPROC, 0, 0),
        # What is open stays open. A limit of none means that nothing joins it: no file, no socket, no pipe.
        (resource.RLIMIT_NOFILE, 0, 0),
    ):
        resource.setrlimit(kind, (soft, hard))


def _answer(job: Job) -> Answer:
    try:
        return repack_image(job)
    except Rejected as refusal:
        return Refused(str(refusal))
    except MemoryError:
        return Refused(
            f"the archive takes more than {job.limits.memory_bytes // _MIB} MiB of memory to read: "
            "make the image smaller, with fewer files"
        )
    except OSError as error:
        return Stopped(str(error))
    except Exception:  # noqa: BLE001 - whatever it is, it is told to whoever mends it
        return Broken(traceback.format_exc()[-_TRACE_CHARACTERS:])


def _say(message: FromReader) -> None:
    sys.stdout.buffer.write(msgspec.json.encode(message) + b"\n")
    sys.stdout.buffer.flush()
