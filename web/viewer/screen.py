"""The viewer's page around a frame: links, controls and choices."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from html import escape
from typing import Final, NamedTuple

from arena.rules import ROUNDS, RoundScore
from web.http.rendering import card_name, signed
from web.viewer.film import ALL_HANDS, Film, FilmStage, Frame, Viewpoint, VisibleHands, address
from web.viewer.scene import Scene, scene
from web.viewer.stacks import standing
from web.viewer.words import STAGES, where, who_does

_STEP: Final = 20
"""Points from one tick of the scale to the next."""


@dataclass(frozen=True, slots=True)
class Race:
    """The players' points by frame, as SVG paths. One unit is a frame or a point; the origin is at the top.

    The scale ends at a multiple of 20 points, so that it doesn't give the result away.
    """

    width: int
    height: int
    lines: tuple[str, ...]  # one per player
    rounds: str  # marks the ends of rounds
    ticks: tuple[int, ...]  # points at equal distances, highest first
    grid: str  # a line at each tick
    begins: int  # index of the first frame with points; the number of frames if there is none


def race(film: Film) -> Race:
    """Return the race of a game, as far as it is disclosed."""
    scoring = [
        (number, standing(film, frame).scores[: film.rules.players])
        for number, frame in enumerate(film.frames)
        if frame.stage not in {FilmStage.PICK, FilmStage.PASS}
    ]
    seen = [points for _, scores in scoring for points in scores]
    top = -(-max(seen, default=1) // _STEP) * _STEP or _STEP
    low = min(0, *seen) // _STEP * _STEP
    ticks = tuple(range(top, low - 1, -_STEP))
    ends = [number for number, frame in enumerate(film.frames) if frame.stage is FilmStage.SCORE]
    return Race(
        width=max(len(film.frames) - 1, 1),
        height=top - low,
        lines=tuple(
            f"M0 {top}" + "".join(f"L{number} {top - points[seat]}" for number, points in scoring)
            for seat in range(film.rules.players)
        ),
        rounds="".join(f"M{number} 0V{top - low}" for number in ends),
        ticks=ticks,
        grid="".join(f"M0 {top - tick}H{max(len(film.frames) - 1, 1)}" for tick in ticks),
        begins=next((number for number, scores in scoring if any(scores)), len(film.frames)),
    )


@dataclass(frozen=True, slots=True)
class SheetRow:
    """A player's points by round and by category."""

    seat: int
    place: int
    name: str
    rounds: tuple[int, ...]  # points by round, without puddings
    kinds: tuple[int, ...]  # points in all rounds, by category of :attr:`ScoreSheet.kinds`
    counted: int  # number of puddings
    puddings: int  # points for puddings
    total: int


@dataclass(frozen=True, slots=True)
class ScoreSheet:
    """The players' points at the end of a game, best place first."""

    kinds: tuple[str, ...]
    rows: tuple[SheetRow, ...]


def score_sheet(film: Film) -> ScoreSheet | None:
    """Return a game's score sheet; None if it isn't over."""
    replay = film.replay
    if len(replay.rounds) < ROUNDS or not replay.totals:
        return None
    kinds = RoundScore.kinds(film.rules)
    order = sorted(range(film.rules.players), key=lambda seat: (replay.places[seat], seat))
    return ScoreSheet(
        tuple(kind.replace("_", " ") for kind in kinds),
        tuple(
            SheetRow(
                seat,
                replay.places[seat],
                film.names[seat],
                tuple(played.scores[seat] for played in replay.rounds),
                tuple(sum(played.breakdown[seat][kind] for played in replay.rounds) for kind in kinds),
                replay.puddings.counts[seat],
                replay.puddings.scores[seat],
                replay.totals[seat],
            )
            for seat in order
        ),
    )


MANY_POINTS: Final = 9
"""Minimum gain, in points, that makes a turn an event."""


class ViewerEventKind(StrEnum):
    """The kinds of moments to jump to."""

    FAULT = "fault"
    TAKE_OVER = "take-over"
    CHOPSTICKS = "chopsticks"
    POINTS = "points"
    LEAD = "lead"
    ROUND = "round"
    END = "end"


@dataclass(frozen=True, slots=True)
class ViewerEvent:
    """A moment to jump to."""

    frame: Frame
    kind: ViewerEventKind
    text: str


def events(film: Film) -> tuple[ViewerEvent, ...]:
    """Return all events of a game, in order."""
    found: list[ViewerEvent] = []
    leader = None
    for frame in film.frames:
        if frame.stage is FilmStage.PICK:
            found += _faults(film, frame)
        if frame.stage is FilmStage.REVEAL:
            found += _moves(film, frame)
        leaders = standing(film, frame).leaders
        if len(leaders) == 1 and leader not in {None, *leaders}:
            (seat,) = leaders
            found.append(ViewerEvent(frame, ViewerEventKind.LEAD, f"{who_does(film, seat, 'take')} the lead"))
        leader = next(iter(leaders)) if len(leaders) == 1 else leader
        if frame.stage is FilmStage.SCORE:
            found.append(ViewerEvent(frame, ViewerEventKind.ROUND, f"end of round {frame.round}"))
        if frame.stage is FilmStage.END:
            found.append(ViewerEvent(frame, ViewerEventKind.END, "end of the game"))
    return tuple(found)


def _faults(film: Film, frame: Frame) -> Iterator[ViewerEvent]:
    step = film.step(frame)
    for seat, (fault, gone) in enumerate(zip(step.noted.fault, step.gone, strict=True)):
        if fault:
            yield ViewerEvent(frame, ViewerEventKind.FAULT, f"{film.names[seat]}: {fault}")
            if gone:
                yield ViewerEvent(frame, ViewerEventKind.TAKE_OVER, f"{film.names[seat]} is taken over")


def _moves(film: Film, frame: Frame) -> Iterator[ViewerEvent]:
    plays, gains = film.step(frame).moment.plays, standing(film, frame).gains
    for name, play, gain in zip(film.names, plays, gains, strict=True):
        if len(play) > 1:
            cards = " and ".join(map(card_name, play))
            yield ViewerEvent(frame, ViewerEventKind.CHOPSTICKS, f"{name}: chopsticks for {cards}")
        if gain >= MANY_POINTS:
            yield ViewerEvent(frame, ViewerEventKind.POINTS, f"{name}: {signed(gain, 0)}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A game to watch, rated or not."""

    title: str  # for example, `Game 12`
    replay: str  # its public replay, as JSON
    home: str  # the address of its page
    base: str  # prefix of its frames' addresses, without a trailing slash
    download: str  # the address of its replay
    embed: str | None = None  # like `base`, for pages that other sites may frame; None for a private game
    section: str = "mine"  # the site's section that the game belongs to
    viewers: str = "the owner and operators"  # who can open a private game
    # A private game's parent pages, outermost first: address and name.
    above: tuple[tuple[str, str], ...] = ()
    candidate: int | None = None  # the seat of a submission; None in other games


class Choice(NamedTuple):
    """A view to choose."""

    viewpoint: Viewpoint
    label: str
    address: str


@dataclass(frozen=True, slots=True)
class Screen:
    """A frame and its surroundings; ``base`` is the prefix of frames' addresses."""

    shown: Shown
    film: Film
    scene: Scene
    viewpoint: Viewpoint
    base: str
    events: tuple[ViewerEvent, ...]

    @property
    def index(self) -> int:
        """Index of the frame."""
        return self.film.frames.index(self.scene.frame)

    @property
    def where(self) -> str:
        """The frame's round, turn and stage in words."""
        return where(self.scene.frame)

    @property
    def stage(self) -> str:
        """The frame's stage in words."""
        return STAGES[self.scene.frame.stage]

    def address(self, frame: Frame) -> str:
        """Return the address of another frame from the same viewpoint."""
        return address(self.base, frame, self.viewpoint)

    @property
    def description(self) -> str:
        """The players and variants, for link previews."""
        rules = self.film.rules
        names = ", ".join(rules.variants).replace("_", " ")
        variants = f"; variants: {names}" if names else ""
        return f"Sushi Go! between bots: {', '.join(self.film.names[: rules.players])}{variants}."

    @property
    def here(self) -> str:
        """The frame's address on the site itself, even on embedded pages."""
        return address(self.shown.base, self.scene.frame, self.viewpoint)

    @property
    def picture(self) -> str:
        """The address of the frame's picture; private games have no pictures."""
        path, mark, query = self.here.partition("?")
        return f"{path}/og.png{mark}{query}"

    @property
    def race(self) -> Race:
        """The points from frame to frame."""
        return race(self.film)

    @property
    def sheet(self) -> ScoreSheet | None:
        """The score sheet; None if the game isn't over."""
        return score_sheet(self.film)

    @property
    def ways(self) -> dict[str, str | None]:
        """The controls' addresses by name; None if there is no such frame."""
        at, frames = self.index, self.film.frames
        turns = [number for number, frame in enumerate(frames) if frame.stage is FilmStage.PICK]
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
        return self._choice(ALL_HANDS, "All hands")

    @property
    def seen(self) -> tuple[Choice, ...]:
        """The views of what each player saw."""
        return self._choices(VisibleHands.SEAT)

    @property
    def inferred(self) -> tuple[Choice, ...]:
        """The views of what each player could infer."""
        return self._choices(VisibleHands.INFER)

    def _choices(self, visible: VisibleHands) -> tuple[Choice, ...]:
        players = self.film.names[: self.film.rules.players]
        return tuple(self._choice(Viewpoint(visible, seat), name) for seat, name in enumerate(players))

    def _choice(self, viewpoint: Viewpoint, label: str) -> Choice:
        return Choice(viewpoint, label, address(self.base, self.scene.frame, viewpoint))


def embed_code(at: Screen, origin: str) -> str | None:
    """Return the HTML that embeds this frame on another site; None for a private game."""
    if at.shown.embed is None:
        return None
    source = escape(origin + address(at.shown.embed, at.scene.frame, at.viewpoint))
    title = escape(f"{at.shown.title} on Kaiten")
    return f'<iframe src="{source}" title="{title}" width="1000" height="760" loading="lazy"></iframe>'


def screen(shown: Shown, film: Film, frame: Frame, viewpoint: Viewpoint, base: str) -> Screen:
    """Return a frame and its surroundings; the seat of ``viewpoint`` must exist."""
    return Screen(shown, film, scene(film, frame, viewpoint), viewpoint, base, events(film))
