"""Opens runtimes by their names, and the engine that builds images."""

from arena.protocol.match import RuntimeName
from arena.sandbox.builder import ImageBuilder
from arena.sandbox.docker.builder import DockerBuilder
from arena.sandbox.docker.engine import connect
from arena.sandbox.docker.runtime import DockerRuntime
from arena.sandbox.process.runtime import ProcessRuntime
from arena.sandbox.runtime import ImageSource, Runtime


def open_runtime(
    name: RuntimeName, install: str, *, cores: str, container_runtime: str | None, images: ImageSource | None
) -> Runtime:
    """Return a runtime for an installation's bots.

    ``cores`` lists the cores for bots, such as ``0,1``. ``container_runtime`` names one of the
    engine's container runtimes; None means its default. ``images`` is None if no submitted bots will run.
    Raises RuntimeFailure if the engine is not responding or can't run bots with these arguments.
    """
    if name is RuntimeName.PROCESS:
        return ProcessRuntime()
    return DockerRuntime(connect(), cores=cores, runtime=container_runtime, install=install, images=images)


def open_builder() -> ImageBuilder:
    """Return the engine that builds images; the caller closes it.

    Raises EngineUnavailable if no engine is responding.
    """
    return DockerBuilder(connect())
