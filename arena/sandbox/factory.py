"""Opens runtimes, and image builders for them."""

from arena.protocol.match import RuntimeName
from arena.sandbox.builder import ImageBuilder
from arena.sandbox.docker.builder import DockerBuilder
from arena.sandbox.docker.engine import connect
from arena.sandbox.docker.runtime import DockerRuntime
from arena.sandbox.process.runtime import ProcessRuntime
from arena.sandbox.runtime import ImageSource, Runtime, RuntimeFailure


def open_runtime(
    name: RuntimeName, install: str, *, cores: str, container_runtime: str | None, images: ImageSource | None
) -> Runtime:
    """Return a runtime for an installation's bots.

    ``cores`` lists the cores for bots, such as ``0,1``. ``container_runtime`` names one of the
    engine's container runtimes; None means the default; see
    :func:`arena.sandbox.docker.runtime.choose_runtime`. ``images`` is None if no submitted bots will run.
    Raises RuntimeFailure if the engine is not responding or can't run bots with these arguments.
    """
    match name:
        case RuntimeName.DOCKER:
            return DockerRuntime(
                connect(), cores=cores, runtime=container_runtime, install=install, images=images
            )
        case RuntimeName.PROCESS:
            return ProcessRuntime()


def open_builder(name: RuntimeName) -> ImageBuilder:
    """Return a builder of images for a runtime's bots; the caller closes it.

    Raises RuntimeFailure if the engine is not responding, or if the runtime doesn't use images.
    """
    match name:
        case RuntimeName.DOCKER:
            return DockerBuilder(connect())
        case RuntimeName.PROCESS:
            raise RuntimeFailure("bots that run as plain processes have no images: use ARENA_SANDBOX=docker")
