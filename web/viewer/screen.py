"""What the page around a frame needs: where its links lead, and what there is to choose."""

from dataclasses import dataclass
from html import escape
from typing import Final, NamedTuple

from web.viewer.address import EVERYBODY, Eyes, Frame, Sight, Stage, address
from web.viewer.events import Event, events
from web.viewer.film import Film
from web.viewer.scene import Scene, scene


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A game that is there to be watched, rated or not.

    Attributes:
        title: What it is called, such as ``Game 12``.
        replay: Its public replay, as JSON.
        home: The address of the page about it.
        base: The address that those of its frames begin with, without a slash at the end.
        download: The address of the replay.
        embed: As ``base``, for pages that other sites may frame; None for a game that is not everybody's.
    """

    title: str
    replay: str
    home: str
    base: str
    download: str
    embed: str | None


class Control(NamedTuple):
    """A way to another frame: its name, what it is called, its key if it has one."""

    name: str
    label: str
    key: str


BACK: Final = (
    Control("first", "Start", "Home"),
    Control("previous-round", "Previous round", "["),
    Control("previous-turn", "Previous turn", ""),
    Control("previous", "Step back", "←"),
)
FORWARD: Final = (
    Control("next", "Step forward", "→"),
    Control("next-turn", "Next turn", ""),
    Control("next-round", "Next round", "]"),
    Control("last", "End", "End"),
)


class Choice(NamedTuple):
    """A view to choose."""

    eyes: Eyes
    label: str
    address: str


@dataclass(frozen=True, slots=True)
class Screen:
    """A frame and what lies around it.

    Attributes:
        shown: The game.
        film: It, played again.
        scene: The frame as these eyes see it.
        eyes: Who looks.
        base: What the addresses of frames begin with here.
        events: Moments to jump to.
    """

    shown: Shown
    film: Film
    scene: Scene
    eyes: Eyes
    base: str
    events: tuple[Event, ...]

    @property
    def index(self) -> int:
        """Number of the frame, from 0."""
        return self.film.frames.index(self.scene.frame)

    def address(self, frame: Frame) -> str:
        """Return the address of another frame, seen by the same eyes."""
        return address(self.base, frame, self.eyes)

    @property
    def description(self) -> str:
        """Who plays what, for those who see a link to this frame."""
        replay = self.film.replay
        switches = [name for name in ("pass_both_ways", "soy_sauce", "dummy") if getattr(replay.rules, name)]
        variants = "".join(f", {name.replace('_', ' ')}" for name in switches)
        return f"Sushi Go! between bots: {', '.join(self.film.names[: self.film.rules.players])}{variants}."

    @property
    def here(self) -> str:
        """The address of this frame on the site itself, also where this is the page that others embed."""
        return address(self.shown.base, self.scene.frame, self.eyes)

    @property
    def picture(self) -> str:
        """The address of a picture of this frame; private games have none."""
        path, mark, query = self.here.partition("?")
        return f"{path}/og.png{mark}{query}"

    @property
    def ways(self) -> dict[str, str | None]:
        """The addresses behind the controls by their names; None where there is nothing in that direction."""
        at, frames = self.index, self.film.frames
        turns = [number for number, frame in enumerate(frames) if frame.stage is Stage.PICK]
        rounds = [number for number in turns if frames[number].turn == 1]
        targets = {
            "first": 0 if at else None,
            "previous-round": max((number for number in rounds if number < at), default=None),
            "previous-turn": max((number for number in turns if number < at), default=None),
            "previous": at - 1 if at else None,
            "next": at + 1 if at + 1 < len(frames) else None,
            "next-turn": min((number for number in turns if number > at), default=None),
            "next-round": min((number for number in rounds if number > at), default=None),
            "last": len(frames) - 1 if at + 1 < len(frames) else None,
        }
        return {
            name: None if number is None else self.address(frames[number]) for name, number in targets.items()
        }

    @property
    def all_hands(self) -> Choice:
        """The view of everything."""
        return self._choice(EVERYBODY, "All hands")

    @property
    def seen(self) -> tuple[Choice, ...]:
        """The views of what each player saw."""
        return self._choices(Sight.SEAT)

    @property
    def inferred(self) -> tuple[Choice, ...]:
        """The views of what each player could infer."""
        return self._choices(Sight.INFER)

    def _choices(self, sight: Sight) -> tuple[Choice, ...]:
        players = self.film.names[: self.film.rules.players]
        return tuple(self._choice(Eyes(sight, seat), name) for seat, name in enumerate(players))

    def _choice(self, eyes: Eyes, label: str) -> Choice:
        return Choice(eyes, label, address(self.base, self.scene.frame, eyes))


def embed_code(at: Screen, origin: str) -> str | None:
    """Return the HTML that shows this frame on another site; None where that is not allowed.

    Args:
        at: The frame.
        origin: What absolute addresses of this site begin with.
    """
    if at.shown.embed is None:
        return None
    source = escape(origin + address(at.shown.embed, at.scene.frame, at.eyes))
    title = escape(f"{at.shown.title} on Kaiten")
    return f'<iframe src="{source}" title="{title}" width="1000" height="760" loading="lazy"></iframe>'


def screen(shown: Shown, film: Film, frame: Frame, eyes: Eyes, base: str) -> Screen:
    """Return what the page of a frame needs.

    Args:
        shown: The game.
        film: It, played again.
        frame: One of its frames.
        eyes: Who looks; a seat that there is.
        base: What the addresses of frames begin with.
    """
    return Screen(shown, film, scene(film, frame, eyes), eyes, base, events(film))
