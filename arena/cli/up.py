"""``arena up``: the arena and its site on this machine, for as long as it runs."""

import subprocess
import threading

from arena.bootstrap import Arena, CannotStart, open_arena
from arena.cli.console import say
from arena.cli.playing import Quiet, explained, playing, prepare, settings_of_arena, warn_of_processes
from arena.cli.site import check_port, site
from arena.coordinator import Coordinator
from arena.settings import Settings


def up() -> None:
    """Run a whole arena on this machine: rated games, submissions, the site.

    SIGTERM lets the matches that run end, and begins no more; a second one, or Ctrl-C, throws them away.
    They are played again next time.
    """
    with explained():
        settings = settings_of_arena()
        warn_of_processes(settings)
        check_port(settings)
        with open_arena(settings) as arena:
            prepare(arena, settings.sandbox)
            serve(settings, arena)


def serve(settings: Settings, arena: Arena) -> None:
    """Serve the site and play rated games until a signal comes.

    Raises:
        CannotStart: The site does not start, or has ended.
    """
    with site(settings) as process, playing(arena, Quiet()) as coordinator:
        say(f"the site is at http://{settings.host}:{settings.port}/")
        say("more games are played; Ctrl-C ends both")

        def refill() -> bool:
            arena.ladder.add_set()
            return True

        alone = threading.Event()
        threading.Thread(target=_watch, args=(process, coordinator, alone), name="site", daemon=True).start()
        coordinator.run(refill)
        if alone.is_set():
            raise CannotStart(f"the site ended with exit code {process.returncode}")
    say("stopped; nothing is left running")


def _watch(process: subprocess.Popen[bytes], coordinator: Coordinator, alone: threading.Event) -> None:
    """Let the arena end as on SIGTERM when its site has ended by itself, so that a supervisor starts both."""
    process.wait()
    if not (coordinator.draining or coordinator.stopped):
        alone.set()
        coordinator.drain()
