"""A public replay as a row of frames."""

from collections.abc import Iterator
from dataclasses import dataclass

from arena.replay import DisclosedGame, PublicReplay, Step, course, course_so_far, parse, parse_disclosed
from arena.rules import ROUNDS, Rules
from web.text import clean_name
from web.viewer.address import Frame, Stage


@dataclass(frozen=True, slots=True)
class Film:
    """A game to be looked at.

    Attributes:
        replay: Its document; of a game that is still being played what may be seen of it.
        rules: What is played.
        steps: Its turns, played again by the rules.
        frames: All frames, in order.
        names: What the participants are called here, the dummy last: two seats of one bot are told apart.
    """

    replay: PublicReplay | DisclosedGame
    rules: Rules
    steps: tuple[Step, ...]
    frames: tuple[Frame, ...]
    names: tuple[str, ...]

    @property
    def seed(self) -> str | None:
        """From which all deals follow; None as long as not all may be seen."""
        return self.replay.seed if isinstance(self.replay, PublicReplay) else None

    def step(self, frame: Frame) -> Step:
        """Return the turn of a frame."""
        return self.steps[(frame.round - 1) * self.rules.turns + frame.turn - 1]

    def following(self, frame: Frame) -> Step:
        """Return the turn after that of a frame."""
        return self.steps[(frame.round - 1) * self.rules.turns + frame.turn]


def film(text: str) -> Film:
    """Play a replay again.

    Args:
        text: The replay as JSON.

    Raises:
        InvalidReplay: It is no replay, or the rules do not agree with it.
    """
    replay = parse(text)
    rules = replay.variant
    return Film(replay, rules, course(replay), tuple(_frames(rules, ROUNDS)), _names(replay))


def film_so_far(text: str) -> Film:
    """Play again what may be seen of a game that is still being played.

    Args:
        text: As JSON (``kaiten-live/1``).

    Raises:
        InvalidReplay: It is something else, or the rules do not agree with it.
    """
    game = parse_disclosed(text)
    frames = tuple(_frames(game.variant, len(game.rounds)))
    return Film(game, game.variant, course_so_far(game), frames, _names(game))


def _frames(rules: Rules, rounds: int) -> Iterator[Frame]:
    for round_number in range(1, rounds + 1):
        for turn in range(1, rules.turns + 1):
            yield Frame(round_number, turn, Stage.PICK)
            yield Frame(round_number, turn, Stage.REVEAL)
            yield Frame(round_number, turn, Stage.PASS if turn < rules.turns else Stage.SCORE)
    if rounds == ROUNDS:
        yield Frame(ROUNDS, rules.turns, Stage.END)


def _names(replay: PublicReplay | DisclosedGame) -> tuple[str, ...]:
    bots = [clean_name(seat.bot) for seat in replay.seats]
    told_apart = [bot if bots.count(bot) == 1 else f"{bot} {seat}" for seat, bot in enumerate(bots)]
    return (*told_apart, *(["dummy"] if replay.rules.dummy else []))
