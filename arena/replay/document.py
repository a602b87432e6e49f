"""The document ``sushigo-replay/1`` as types, from and to JSON.

The fields stand in the order of the format, which is the order they are
written in. Lists have one entry a seat (``standin``, ``fault``, ``millis``,
``seats``, ``places``, ``rules_places``) or one a participant, the dummy last
(``plays``, ``deals``, ``scores``, ``breakdown``, ``totals``, ``puddings``).
"""

from dataclasses import dataclass
from typing import Annotated, Final, Self

import msgspec

from arena.match import Fault
from arena.rules import Rules

FORMAT: Final = "sushigo-replay/1"

Cards = tuple[str, ...]
"""Names of kinds, such as ``maki_2``."""

HexSeed = Annotated[str, msgspec.Meta(pattern="^[0-9a-fA-F]{32}$")]
Millis = Annotated[float, msgspec.Meta(ge=0)]


class InvalidReplay(ValueError):
    """The text is no replay of this format; says what is wrong where."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """What was played, all switches written out.

    Attributes:
        players: How many.
        pass_both_ways: Whether hands go the other way round in round two.
        soy_sauce: Whether soy sauce is in the deck.
        dummy: Whether a dummy sits with two players.
    """

    players: int
    pass_both_ways: bool
    soy_sauce: bool
    dummy: bool

    @classmethod
    def of(cls, rules: Rules) -> Self:
        """Write rules out."""
        return cls(
            players=rules.players,
            pass_both_ways=rules.pass_both_ways,
            soy_sauce=rules.soy_sauce,
            dummy=rules.dummy,
        )

    @property
    def as_rules(self) -> Rules:
        """What was played, as the rules know it.

        Raises:
            InvalidRules: There is no such game.
        """
        return Rules(
            players=self.players,
            pass_both_ways=self.pass_both_ways,
            soy_sauce=self.soy_sauce,
            dummy=self.dummy,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Seat:
    """Who played a seat.

    Attributes:
        bot: Name.
        version: Number, from 1.
        author: Name.
    """

    bot: str
    version: int
    author: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayTurn:
    """A revealed turn, the automatic last one of a round included.

    Attributes:
        round: From 1.
        turn: In its round, from 1.
        plays: What each placed, in the order of placing.
        standin: Whether the stand-in chose instead of the bot.
        fault: Why it did, where this decision is the reason.
        millis: How long each bot took; None for a seat without an answer, and
            as a whole where nothing was measured.
    """

    round: int
    turn: int
    plays: tuple[Cards, ...]
    standin: tuple[bool, ...]
    fault: tuple[Fault | None, ...]
    millis: tuple[Millis | None, ...] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayRound:
    """The points of one round.

    Attributes:
        scores: All points.
        breakdown: By kind; zeros included.
    """

    scores: tuple[int, ...]
    breakdown: tuple[dict[str, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayPuddings:
    """Puddings at the end of the game.

    Attributes:
        counts: How many.
        scores: The points for them.
    """

    counts: tuple[int, ...]
    scores: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicReplay:
    """A game from the seed to the places.

    Attributes:
        format: ``sushigo-replay/1``.
        game: Id.
        seed: 32 hexadecimal digits; the deck follows from it.
        shuffle: Name of the way from seed to deck.
        rules: What was played.
        seats: Who played.
        deals: ``[round][participant]``, each in deal order.
        turns: In order.
        rounds: All three.
        puddings: At the end.
        totals: Points with puddings.
        places: From 1; seats that were taken over come last.
        rules_places: From 1; by points alone.
    """

    format: str
    game: str
    seed: HexSeed
    shuffle: str
    rules: Variant
    seats: tuple[Seat, ...]
    deals: tuple[tuple[Cards, ...], ...]
    turns: tuple[ReplayTurn, ...]
    rounds: tuple[ReplayRound, ...]
    puddings: ReplayPuddings
    totals: tuple[int, ...]
    places: tuple[int, ...]
    rules_places: tuple[int, ...]

    @property
    def variant(self) -> Rules:
        """What was played, as the rules know it.

        Raises:
            InvalidRules: There is no such game.
        """
        return self.rules.as_rules


@dataclass(frozen=True, slots=True, kw_only=True)
class _Head:
    format: str


_head: Final = msgspec.json.Decoder(_Head)
_document: Final = msgspec.json.Decoder(PublicReplay)
_encoder: Final = msgspec.json.Encoder()


def is_json(text: bytes | str) -> bool:
    """Whether the text is one JSON document, whatever it says."""
    try:
        msgspec.json.decode(text, type=msgspec.Raw)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return False
    return True


def encode(replay: PublicReplay) -> bytes:
    """Return the replay as one line of compact JSON, without the line's end; same replay, same bytes."""
    return _encoder.encode(replay)


def parse(text: bytes | str) -> PublicReplay:
    """Read a replay. What it says is not checked against the rules: see :func:`arena.replay.verify`.

    Raises:
        InvalidReplay: The text is not JSON or not of this format.
    """
    try:
        form = _head.decode(text).format
        if form != FORMAT:
            raise InvalidReplay(f'format: is "{form[:64]}", this program reads "{FORMAT}"')
        return _document.decode(text)
    except msgspec.ValidationError as error:
        raise InvalidReplay(f"not a replay: {error}") from error
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise InvalidReplay(f"not JSON: {error}") from error
