"""``arena coordinator``: rated games between the sample bots, for as long as it runs, without the site."""

from arena.bootstrap import open_arena
from arena.cli.console import say
from arena.cli.playing import Quiet, explained, playing, prepare, settings_of_arena, warn_of_processes


def coordinator() -> None:
    """Play rated games among the sample bots until SIGTERM or Ctrl-C; `python -m web` shows them."""
    with explained():
        settings = settings_of_arena()
        warn_of_processes(settings)
        with open_arena(settings) as arena:
            prepare(arena, settings.sandbox)

            def refill() -> bool:
                arena.ladder.add_set()
                return True

            with playing(arena, Quiet()) as player:
                say("rated games are played; SIGTERM or Ctrl-C ends it")
                player.run(refill)
        say("stopped; nothing is left running")
