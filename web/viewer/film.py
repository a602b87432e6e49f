"""A public replay as a row of frames."""

from collections.abc import Iterator
from dataclasses import dataclass

from arena.replay import PublicReplay, Step, course, parse
from arena.rules import ROUNDS, Rules
from web.text import clean_name
from web.viewer.address import Frame, Stage


@dataclass(frozen=True, slots=True)
class Film:
    """A game to be looked at.

    Attributes:
        replay: Its document.
        rules: What is played.
        steps: Its turns, played again by the rules.
        frames: All frames, in order.
        names: What the participants are called here, the dummy last: two seats of one bot are told apart.
    """

    replay: PublicReplay
    rules: Rules
    steps: tuple[Step, ...]
    frames: tuple[Frame, ...]
    names: tuple[str, ...]

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
    return Film(replay, rules, course(replay), tuple(_frames(rules)), _names(replay))


def _frames(rules: Rules) -> Iterator[Frame]:
    for round_number in range(1, ROUNDS + 1):
        for turn in range(1, rules.turns + 1):
            yield Frame(round_number, turn, Stage.PICK)
            yield Frame(round_number, turn, Stage.REVEAL)
            yield Frame(round_number, turn, Stage.PASS if turn < rules.turns else Stage.SCORE)
    yield Frame(ROUNDS, rules.turns, Stage.END)


def _names(replay: PublicReplay) -> tuple[str, ...]:
    bots = [clean_name(seat.bot) for seat in replay.seats]
    told_apart = [bot if bots.count(bot) == 1 else f"{bot} {seat}" for seat, bot in enumerate(bots)]
    return (*told_apart, *(["dummy"] if replay.rules.dummy else []))
