"""Opens the intake for submitted bots and the store for their images."""

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from typing import Final

import structlog

from arena.app.folders import CannotStart, incoming, install_id, open_results, utc_now
from arena.app.host import runtime_of
from arena.db.store import Store
from arena.images.build.base import ensure_base_image
from arena.images.image import IntakeError, Platform
from arena.images.intake import Bases, Intake
from arena.images.keeper import ImageKeeper
from arena.images.objects import Objects
from arena.images.source import StoreSource
from arena.images.store import ImageStore
from arena.platform.settings import Settings
from arena.protocol.sandbox_controls import Gate
from arena.sandbox.factory import open_builder
from arena.sandbox.runtime import Runtime
from arena.scheduler.ladder import Ladder
from arena.submissions.pipeline import OperatorSubmissions, Pipeline
from arena.submissions.receiver import uploads_of

_GIB: Final = 1024**3

_log = structlog.get_logger()


@contextmanager
def open_submissions(settings: Settings, say: Callable[[str], None]) -> Iterator[OperatorSubmissions]:
    """Open the service that submits bots for operators. An arena may be running in the same data directory.

    ``say`` receives progress messages. Raises StoreError, RuntimeFailure, or CannotStart if there is no
    arena, bots don't run in containers, or images can't be stored.
    """
    with _existing_arena(settings) as (store, runtime), _intake_of(settings, say) as intake:
        yield OperatorSubmissions(
            store=store,
            intake=intake,
            keeper=keeper_of(settings, store, runtime),
            check_source=runtime.check_source,
            accepted=settings.accept_missing,
            now=utc_now,
        )


@contextmanager
def pipeline_of(
    settings: Settings, store: Store, runtime: Runtime, gate: Gate, ladder: Ladder
) -> Iterator[Pipeline]:
    """Open the pipeline from received files to the ladder.

    Raises RuntimeFailure, or CannotStart if images can't be stored.
    """
    with _intake_of(settings, lambda text: _log.info("building base image", doing=text)) as intake:
        yield Pipeline(
            store=store,
            uploads=uploads_of(settings),
            intake=intake,
            keeper=keeper_of(settings, store, runtime),
            check_source=runtime.check_source,
            gate=gate,
            ladder=ladder,
            now=utc_now,
            clock=time.monotonic,
        )


@contextmanager
def _intake_of(settings: Settings, say: Callable[[str], None]) -> Iterator[Intake]:
    with closing(open_builder(settings.sandbox)) as builder:
        find = partial(ensure_base_image, builder, say=say)
        bases = Bases(find=find, export=builder.export)
        platform = Platform(*builder.platform())
        yield Intake(images_of(settings), bases, incoming(settings), platform, utc_now)


@contextmanager
def open_keeper(settings: Settings) -> Iterator[ImageKeeper]:
    """Open the image keeper. An arena may be running in the same data directory.

    Raises StoreError, RuntimeFailure, or CannotStart if there is no arena, bots don't run in containers, or
    images can't be stored.
    """
    with _existing_arena(settings) as (store, runtime):
        yield keeper_of(settings, store, runtime)


@contextmanager
def _existing_arena(settings: Settings) -> Iterator[tuple[Store, Runtime]]:
    """Open the store and the engine of an existing arena, running or not."""
    with (
        closing(open_results(settings)) as store,
        closing(runtime_of(settings, install_id(settings.data_dir), image_source)) as runtime,
    ):
        if not runtime.isolates:
            raise CannotStart(
                "submitted bots are images and run only in containers: use ARENA_SANDBOX=docker"
            )
        yield store, runtime


def images_of(settings: Settings, *, make: bool = True) -> ImageStore:
    """Return the store of submitted bots' images. See :func:`image_objects` for ``make`` and the errors."""
    return ImageStore(image_objects(settings, make=make), settings.data_dir / "images.lock")


def image_objects(settings: Settings, *, make: bool = True) -> Objects:
    """Return the image store's objects. If ``make`` is True, create a local folder that doesn't exist.

    Raises CannotStart if the store can't be used.
    """
    url = settings.images_url or str(settings.data_dir.absolute() / "images")
    try:
        return Objects(url, make=make)
    except IntakeError as error:
        raise CannotStart(str(error)) from error


def image_source(settings: Settings) -> StoreSource:
    """Return the source from which the engine loads images."""
    return StoreSource(images_of(settings), install_id(settings.data_dir), utc_now)


def shared_images(
    settings: Settings,
    keeper: ImageKeeper,
    sources: Iterable[tuple[str, str]],
    say: Callable[[str], None],
) -> tuple[tuple[str, str], ...]:
    """Copy house bots' images from this host's engine into the shared store.

    ``sources`` are pairs of a bot's name and the engine's image id; ``say`` receives progress messages.
    Returns (name, content id) pairs. Raises RuntimeFailure, or CannotStart if an image can't be stored.
    """
    with _intake_of(settings, say) as intake:
        try:
            return tuple((name, intake.take_own(id_, keeper.prune_policy()).id) for name, id_ in sources)
        except IntakeError as error:
            raise CannotStart(str(error)) from error


def fetched_images(settings: Settings) -> StoreSource:
    """Return a read-only source of images for a worker's engine. It doesn't record their use.

    Raises CannotStart if the store is missing, for example because its disk is not mounted.
    """
    return StoreSource(images_of(settings, make=False), install_id(settings.data_dir), None)


def keeper_of(settings: Settings, store: Store, runtime: Runtime) -> ImageKeeper:
    """Return the image keeper, which prunes submitted images."""
    return ImageKeeper(
        images=images_of(settings),
        store=store,
        prune_engine=runtime.prune_images,
        quota=settings.image_quota_gib * _GIB,
        folder=incoming(settings),
        now=utc_now,
    )
