"""What takes in bots of strangers, and keeps their images."""

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from typing import Final

import structlog

from arena.admission import Gate
from arena.bootstrap.chances import utc_now
from arena.bootstrap.errors import CannotStart
from arena.bootstrap.folders import incoming, install_id
from arena.bootstrap.host import engine_client, runtime_of
from arena.bootstrap.results import open_results
from arena.imagekeeper import ImageKeeper
from arena.images import ImageTrouble, ensure_base_image
from arena.intake import IntakeTrouble, Platform
from arena.intake.intake import Bases, Intake
from arena.intake.objects import Objects
from arena.intake.source import StoreSource
from arena.intake.store import ImageStore
from arena.languages import Language
from arena.sandbox.docker_engine import connect, engine_errors
from arena.sandbox.docker_images import export_image
from arena.sandbox.docker_runtime import DockerRuntime
from arena.services import Ladder
from arena.settings import Settings
from arena.store import Store
from arena.submissions import Submissions
from arena.submitting.opening import uploads_of
from arena.submitting.pipeline import Pipeline

_GIB: Final = 1024**3

_log = structlog.get_logger()


@contextmanager
def open_submissions(settings: Settings, say: Callable[[str], None]) -> Iterator[Submissions]:
    """Put together what takes in bots of strangers. An arena may be running in the same data directory.

    Args:
        settings: Those of the arena.
        say: Is told what takes time.

    Raises:
        CannotStart: There is no arena, bots don't run in containers, or images can't be kept.
        StoreError: The database can't be used.
        RuntimeTrouble: The engine does not answer.
    """
    with _beside(settings) as (store, runtime), _intake_of(settings, say) as intake:
        yield Submissions(
            store=store,
            intake=intake,
            keeper=keeper_of(settings, store, runtime),
            engine=runtime,
            accepted=settings.accept_missing,
            now=utc_now,
        )


@contextmanager
def pipeline_of(
    settings: Settings, store: Store, runtime: DockerRuntime, gate: Gate, ladder: Ladder
) -> Iterator[Pipeline]:
    """Give what takes received files on to the ladder.

    Raises:
        CannotStart: Images can't be kept.
        RuntimeTrouble: The engine does not answer.
    """
    with _intake_of(settings, lambda text: _log.info("bots' images", doing=text)) as intake:
        yield Pipeline(
            store=store,
            uploads=uploads_of(settings),
            intake=intake,
            keeper=keeper_of(settings, store, runtime),
            engine=runtime,
            gate=gate,
            ladder=ladder,
            now=utc_now,
            clock=time.monotonic,
        )


@contextmanager
def _intake_of(settings: Settings, say: Callable[[str], None]) -> Iterator[Intake]:
    """Give what makes images of files."""
    with closing(connect()) as client, closing(engine_client()) as builder:
        with engine_errors("read what the engine is"):
            version = client.version()

        def find(language: Language) -> str:
            try:
                return ensure_base_image(builder, language, say)
            except ImageTrouble as error:
                raise IntakeTrouble(str(error)) from error

        bases = Bases(find=find, export=lambda id_: export_image(client, id_))
        platform = Platform(version["Os"], version["Arch"])
        yield Intake(images_of(settings), bases, incoming(settings), platform, utc_now)


@contextmanager
def open_keeper(settings: Settings) -> Iterator[ImageKeeper]:
    """Put together what prunes images. An arena may be running in the same data directory.

    Raises:
        CannotStart: There is no arena, bots don't run in containers, or images can't be kept.
        StoreError: The database can't be used.
        RuntimeTrouble: The engine does not answer.
    """
    with _beside(settings) as (store, runtime):
        yield keeper_of(settings, store, runtime)


@contextmanager
def _beside(settings: Settings) -> Iterator[tuple[Store, DockerRuntime]]:
    """Give the store and the engine of an arena that exists, whether it runs or not."""
    with (
        closing(open_results(settings)) as store,
        closing(runtime_of(settings, install_id(settings.data_dir), image_source)) as runtime,
    ):
        if not isinstance(runtime, DockerRuntime):
            raise CannotStart(
                "submitted bots run in containers only: they are images. Use ARENA_SANDBOX=docker"
            )
        yield store, runtime


def images_of(settings: Settings) -> ImageStore:
    """Return where the images of submitted bots are kept.

    Raises:
        CannotStart: Nothing can be kept there.
    """
    return _images_in(image_objects(settings), settings)


def _images_in(objects: Objects, settings: Settings) -> ImageStore:
    return ImageStore(objects, settings.data_dir / "images.lock")


def image_objects(settings: Settings, *, make: bool = True) -> Objects:
    """Return the objects that these images are made of.

    Args:
        settings: Those of the arena.
        make: Whether a folder of this host is made where it is missing.

    Raises:
        CannotStart: Nothing can be kept there.
    """
    url = settings.images_url or str(settings.data_dir.absolute() / "images")
    try:
        return Objects(url, make=make)
    except IntakeTrouble as error:
        raise CannotStart(str(error)) from error


def image_source(settings: Settings) -> StoreSource:
    """Return where the engine's images are loaded from."""
    return StoreSource(images_of(settings), install_id(settings.data_dir), utc_now)


def shared_images(
    settings: Settings,
    keeper: ImageKeeper,
    sources: Iterable[tuple[str, str]],
    say: Callable[[str], None],
) -> tuple[tuple[str, str], ...]:
    """Put images of the arena's own, which only this host's engine has, where every host finds them.

    Args:
        settings: Those of the arena.
        keeper: Knows how much room there is.
        sources: (name, the engine's id) of each.
        say: Is told what takes time.

    Returns:
        (name, id by content) of each.

    Raises:
        CannotStart: One can't be kept.
        RuntimeTrouble: The engine does not answer.
    """
    with _intake_of(settings, say) as intake:
        try:
            return tuple((name, intake.take_own(id_, keeper.room()).id) for name, id_ in sources)
        except IntakeTrouble as error:
            raise CannotStart(str(error)) from error


def fetched_images(settings: Settings) -> StoreSource:
    """Return where a worker's engine loads images from: it only reads there, and writes down no uses.

    Raises:
        CannotStart: It is not there, such as a folder that has not been mounted.
    """
    images = _images_in(image_objects(settings, make=False), settings)
    return StoreSource(images, install_id(settings.data_dir), None)


def keeper_of(settings: Settings, store: Store, runtime: DockerRuntime) -> ImageKeeper:
    """Return what prunes them."""
    return ImageKeeper(
        images=images_of(settings),
        store=store,
        engine=runtime,
        quota=settings.image_quota_gib * _GIB,
        folder=incoming(settings),
        now=utc_now,
    )
