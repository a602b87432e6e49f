"""The scheduler: knows who is there, and passes bytes on. It keeps nothing that would have to be kept."""

from collections.abc import Callable

from distributed import Scheduler

from arena.cluster.addresses import Keys, address_of, security_of
from arena.cluster.member import Standing, told_by_signals
from arena.cluster.tuning import NOWHERE, tune


async def run_scheduler(
    host: str, port: int, keys: Keys | None, standing: Standing, listening: Callable[[str], None]
) -> None:
    """Listen for workers and coordinators until a signal says to end.

    Args:
        host: An address of this machine, or one that means all of them.
        port: 0 for a free one.
        keys: Who is let in; None only where nobody else can come.
        standing: Is told when it listens.
        listening: Hears the address.

    Raises:
        OSError: It can't listen there.
        WrongCluster: It must not listen there without keys, or they can't be read.
    """
    tune()
    address = address_of(host, port, keys)
    with told_by_signals() as told:
        # A match that was lost with its worker is the coordinator's to give again, and never dask's.
        async with (
            standing.turning(),
            Scheduler(
                host=address,
                security=security_of(keys),
                allowed_failures=0,
                dashboard=False,
                dashboard_address=NOWHERE,
            ) as scheduler,
        ):
            standing.missing = None
            listening(scheduler.address)
            await told.once.wait()
            standing.missing = "it ends"
