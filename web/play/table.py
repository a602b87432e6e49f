"""The table, as seen by the person who has to choose."""

from collections import Counter
from dataclasses import dataclass

from arena.db.person_games import PersonGame
from arena.rules import Card, IllegalMove, Move, View, check_move
from web.http.rendering import card_name
from web.viewer.film import earned
from web.viewer.stacks import Stack, stacks

YOU = "You"
DUMMY = "The dummy"


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatAtTable:
    """A participant."""

    name: str  # the person's is ``YOU``
    bot: tuple[str, int] | None  # name and version; None for the person and the dummy
    you: bool
    score: int  # points from earlier rounds, and those already certain in this round
    puddings: int
    stacks: tuple[Stack, ...]
    cards: int  # number of cards in its hand; for the dummy, in its pile


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """The person's options."""

    hand: tuple[tuple[Card, int], ...]  # kinds with their counts, sorted by kind
    two: bool  # whether chopsticks allow a second card
    dummy: bool  # whether the dummy's card must also be chosen
    drawn: Card | None  # the card that was drawn from the dummy's pile

    @property
    def simple(self) -> bool:
        """True if the choice is a single card."""
        return not self.two and not self.dummy


@dataclass(frozen=True, slots=True, kw_only=True)
class TableView:
    """A person's view of the table."""

    round: int
    turn: int
    turns: int  # number of turns in a round
    seats: tuple[SeatAtTable, ...]  # the person's last
    news: tuple[str, ...]  # events in the last turn, one sentence each
    choices: Choices
    towards: str  # the name of the player who gets the hand next


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatingPlan:
    """The seating of a game."""

    names: tuple[str, ...]  # by seat, with ``DUMMY`` at the end if there is one; the person's is ``YOU``
    bots: tuple[tuple[str, int] | None, ...]  # name and version by seat; None for the person


def seating_of(game: PersonGame) -> SeatingPlan:
    """Return the seating of a person's game."""
    bots: list[tuple[str, int] | None] = [(each.bot, each.version) for each in game.opponents]
    bots.insert(game.seat, None)
    return seated(tuple(bots), dummy=game.rules.dummy)


def seated(bots: tuple[tuple[str, int] | None, ...], *, dummy: bool) -> SeatingPlan:
    """Return a seating; seats occupied by the same bot are numbered."""
    counts = Counter(bot[0] for bot in bots if bot)
    number: Counter[str] = Counter()
    names = []
    for bot in bots:
        name = bot[0] if bot else YOU
        number[name] += 1
        names.append(name if counts[name] < 2 else f"{name} {number[name]}")  # noqa: PLR2004 - more than one
    return SeatingPlan(names=(*names, DUMMY) if dummy else tuple(names), bots=bots)


def within(name: str) -> str:
    """Return a name as it is written within a sentence."""
    return "the dummy" if name == DUMMY else name


def table_view(seating: SeatingPlan, view: View) -> TableView:
    """Return the table as the person sees it when asked for a decision."""
    names = seating.names
    others = [*range(view.seat + 1, len(names)), *range(view.seat)]
    plays = _last_plays(view)
    return TableView(
        round=view.round,
        turn=view.turn,
        turns=view.rules.turns,
        seats=tuple(_seat(seating, view, plays, seat) for seat in (*others, view.seat)),
        news=tuple(_news(view, names)),
        choices=Choices(
            hand=tuple(sorted(Counter(view.hand).items())),
            two=Card.CHOPSTICKS in view.table and len(view.hand) - view.control > 1,
            dummy=view.control,
            drawn=view.drawn,
        ),
        towards=names[(view.seat + view.rules.direction(view.round)) % view.rules.players],
    )


def move_of(view: View, cards: list[str], dummy: str) -> Move:
    """Return the move with these cards. Raises ValueError, with the reason, if it is illegal."""
    try:
        move = Move(
            tuple([Card.from_label(card) for card in cards if card]),
            Card.from_label(dummy) if dummy else None,
        )
        check_move(view.seat, view.hand, view.table, move, control=view.control)
    except IllegalMove as error:
        raise ValueError(error.what) from error
    return move


def _seat(seating: SeatingPlan, view: View, plays: tuple[int, ...], seat: int) -> SeatAtTable:
    return SeatAtTable(
        name=seating.names[seat],
        bot=seating.bots[seat] if seat < len(seating.bots) else None,
        you=seat == view.seat,
        score=view.scores[seat] + earned(view.rules, view.tables[seat]),
        puddings=view.puddings[seat] + view.tables[seat].count(Card.PUDDING),
        stacks=stacks(view.rules, view.tables[seat], kept=view.puddings[seat], new=plays[seat]),
        cards=view.hand_sizes[seat],
    )


def _last_plays(view: View) -> tuple[int, ...]:
    """Return the number of cards placed at each table in the last turn."""
    if not view.turns or view.turn == 1:
        return (0,) * len(view.tables)
    return tuple(map(len, view.turns[-1].plays))


def _news(view: View, names: tuple[str, ...]) -> list[str]:
    if not view.turns:
        return ["The game begins."]
    if view.turn == 1:
        points = ", ".join(f"{within(name)} {score}" for name, score in zip(names, view.scores, strict=True))
        return [f"Round {view.round - 1} is over. Points so far: {points}."]
    plays = zip(names, view.turns[-1].plays, strict=True)
    return [f"{name} took {' and '.join(map(card_name, play))}." for name, play in plays if play]
