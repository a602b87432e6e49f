"""The document ``sushigo-replay/1``: its types, its JSON, and how it is built from a finished game.

Fields are declared in the order of the format, and written in that order. Lists have one entry per seat
(``standin``, ``fault``, ``millis``, ``seats``, ``places``, ``rules_places``) or per participant, with the
dummy last (``plays``, ``deals``, ``scores``, ``breakdown``, ``totals``, ``puddings``).
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Annotated, Final, Self

import msgspec

from arena.protocol.faults import Fault
from arena.protocol.match import Decision
from arena.rules import SHUFFLE, Card, RoundScore, Rules, State, Turn, deals

FORMAT: Final = "sushigo-replay/1"

Cards = tuple[str, ...]
"""Names of kinds, such as ``maki_2``."""

HexSeed = Annotated[str, msgspec.Meta(pattern="^[0-9a-fA-F]{32}$")]
Millis = Annotated[float, msgspec.Meta(ge=0)]


class InvalidReplay(ValueError):
    """The text isn't a replay in this format. The message describes the first error and its position."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """The rules of a game, with every variant stated.

    Attributes:
        players: Number of players.
        pass_both_ways: Whether hands go in the opposite direction in round two.
        soy_sauce: Whether soy sauce is in the deck.
        dummy: Whether a dummy plays with the two players.
    """

    players: int
    pass_both_ways: bool
    soy_sauce: bool
    dummy: bool

    @classmethod
    def of(cls, rules: Rules) -> Self:
        """Return rules as they are written in a replay."""
        return cls(**asdict(rules))

    @property
    def as_rules(self) -> Rules:
        """The rules of the game. Raises InvalidRules."""
        return Rules(**asdict(self))


@dataclass(frozen=True, slots=True, kw_only=True)
class Seat:
    """The player in a seat.

    Attributes:
        bot: The bot's name.
        version: The version's number, from 1; 0 for a person.
        author: The author's name.
    """

    bot: str
    version: int
    author: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayTurn:
    """A revealed turn, which may be the automatic last one of a round.

    Attributes:
        round: Round number, from 1.
        turn: Number in the round, from 1.
        plays: The cards of each participant, in the order in which they were placed.
        standin: Whether the stand-in chose instead of the bot.
        fault: Each bot's fault in this decision; null if it had none.
        millis: Each bot's time in milliseconds, or null for a seat without an answer. The whole list is null
            if nothing was measured.
    """

    round: int
    turn: int
    plays: tuple[Cards, ...]
    standin: tuple[bool, ...]
    fault: tuple[Fault | None, ...]
    millis: tuple[Millis | None, ...] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayRound:
    """The points scored in one round.

    Attributes:
        scores: Total points.
        breakdown: Points by kind, including zeros.
    """

    scores: tuple[int, ...]
    breakdown: tuple[dict[str, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayPuddings:
    """Puddings at the end of the game.

    Attributes:
        counts: Numbers of puddings.
        scores: Points for puddings.
    """

    counts: tuple[int, ...]
    scores: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicReplay:
    """A finished game.

    Attributes:
        format: ``sushigo-replay/1``.
        game: The game's id.
        seed: 32 hexadecimal digits, which determine the deck.
        shuffle: Name of the shuffling algorithm.
        rules: The rules.
        seats: The players, in seat order.
        deals: The hands as dealt: ``[round][participant]``, each in deal order.
        turns: All turns, in order.
        rounds: All three rounds.
        puddings: Puddings at the end of the game.
        totals: Points including puddings.
        places: Places from 1; taken-over seats come last.
        rules_places: Places from 1, without regard to take-overs.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Head:
    format: str


_head: Final = msgspec.json.Decoder(_Head)
_document: Final = msgspec.json.Decoder(PublicReplay)
_encoder: Final = msgspec.json.Encoder()


def is_json(text: bytes | str) -> bool:
    """Return True if the text is one JSON document."""
    try:
        msgspec.json.decode(text, type=msgspec.Raw)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return False
    return True


def encode(replay: PublicReplay) -> bytes:
    """Return one line of compact JSON without a newline; the same replay gives the same bytes."""
    return _encoder.encode(replay)


def parse(text: bytes | str) -> PublicReplay:
    """Read a replay. To check it against the rules, use :mod:`arena.play.replay.verify`.

    Raises InvalidReplay.
    """
    try:
        form = _head.decode(text).format
        if form != FORMAT:
            raise InvalidReplay(f'the format is "{form[:64]}"; this program reads only "{FORMAT}"')
        return _document.decode(text)
    except msgspec.ValidationError as error:
        raise InvalidReplay(f"not a replay: {error}") from error
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise InvalidReplay(f"not JSON: {error}") from error


_LABELS: Final = {card: card.label for card in Card}

Step = Sequence[Decision | None]
"""A joint decision: one entry per seat, None for a seat that had no move to make."""


def build(  # noqa: PLR0913 - the parts of a replay, passed only by keyword
    *,
    game: str,  # its id
    seed: str,  # 32 hexadecimal digits; the deck of `state` follows from it
    state: State,  # the game at its end
    seats: Sequence[Seat],  # the players, one per seat
    # The final places, from `arena.protocol.faults.places_with_faults`; None means the rules' places.
    places: Sequence[int] | None = None,
    # The recorded decisions in order; without them the replay has no faults and no times.
    steps: Sequence[Step] | None = None,
) -> PublicReplay:
    """Build the public replay of a game that is over.

    Raises ValueError if the game isn't over, or if the lists don't match it.
    """
    rules, result = state.rules, state.result
    if result is None:
        raise ValueError(f"game {game} is not over, so it has no replay yet")
    places = result.places if places is None else places
    if not len(seats) == len(places) == rules.players:
        raise ValueError(
            f"game {game}: {len(seats)} seats and {len(places)} places for {rules.players} players"
        )
    return PublicReplay(
        format=FORMAT,
        game=game,
        seed=seed,
        shuffle=SHUFFLE,
        rules=Variant.of(rules),
        seats=tuple(seats),
        deals=dealt(rules, state.deck),
        turns=turns_of(state, steps),
        rounds=tuple(scored(scores) for scores in state.rounds),
        puddings=ReplayPuddings(counts=result.puddings, scores=result.pudding_scores),
        totals=result.totals,
        places=tuple(places),
        rules_places=result.places,
    )


def dealt(rules: Rules, deck: Sequence[Card]) -> tuple[tuple[Cards, ...], ...]:
    """Return a game's deals as names of kinds: ``[round][participant]``, each in deal order."""
    return tuple(tuple(labels(hand) for hand in hands) for hands in deals(rules, deck))


def scored(scores: Sequence[RoundScore]) -> ReplayRound:
    """Return the points for one round, one entry per participant."""
    return ReplayRound(
        scores=tuple([sum(score) for score in scores]),
        breakdown=tuple([score._asdict() for score in scores]),
    )


def labels(cards: Sequence[Card]) -> Cards:
    """Return the names of cards."""
    return tuple([_LABELS[card] for card in cards])


def is_automatic(rules: Rules, turn: int) -> bool:
    """Return True if no seat has a choice in this turn of a round, because each hand has only one card."""
    return turn == rules.turns and not rules.dummy


def turns_of(state: State, steps: Sequence[Step] | None) -> tuple[ReplayTurn, ...]:
    """Join the revealed turns with the recorded decisions, which exclude automatic turns.

    ``state`` is the game at the end of a round. Raises ValueError if the number of ``steps`` doesn't match
    the turns.
    """
    joint_decisions = sum(not is_automatic(state.rules, turn.turn) for turn in state.turns)
    if steps is not None and len(steps) != joint_decisions:
        raise ValueError(f"{len(steps)} steps given for a game with {joint_decisions} joint decisions")
    undecided: Step = (None,) * state.rules.players
    remaining = iter([undecided] * joint_decisions if steps is None else steps)
    turns = []
    for turn in state.turns:
        step = undecided if is_automatic(state.rules, turn.turn) else next(remaining)
        turns.append(_turn(turn, step, timed=steps is not None))
    return tuple(turns)


def _turn(turn: Turn, step: Step, *, timed: bool) -> ReplayTurn:
    return ReplayTurn(
        round=turn.round,
        turn=turn.turn,
        plays=tuple([labels(play) for play in turn.plays]),
        standin=tuple([seat is not None and seat.standin for seat in step]),
        fault=tuple([seat.fault if seat else None for seat in step]),
        millis=tuple([seat.millis if seat else None for seat in step]) if timed else None,
    )
