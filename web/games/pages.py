"""Pages for single games, rated and private, with their analysis."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Final, NamedTuple

from fastapi import APIRouter, Depends, HTTPException, Path, Request, Response

from arena.db.game_logs import GameLogs
from arena.db.games import GamePage
from arena.db.store import Store
from arena.platform.text import clean_name
from arena.play.replay.document import PublicReplay, ReplayTurn, parse
from arena.protocol.analysis import COSTLY, AnalysedDecision, Analysis
from arena.protocol.states import BotState
from arena.rules import RoundScore
from arena.rules.cards import NIGIRI_POINTS
from web.http.authentication import logged_in
from web.http.parameters import GameId, read_game
from web.http.rendering import PageRouter, bot_address, card_title, count, page, viewer_of
from web.viewer.logs import read_private_log
from web.viewer.pages import Find, viewer_routes
from web.viewer.screen import Shown

_NIGIRI: Final = frozenset(card.label for card in NIGIRI_POINTS)


@dataclass(frozen=True, slots=True)
class Placed:
    """A placed card."""

    kind: str  # its name in records, such as `maki_2`
    tripled: bool  # whether it is a nigiri on wasabi


@dataclass(frozen=True, slots=True)
class Cell:
    """A participant's move in one turn."""

    cards: tuple[Placed, ...]  # in the order in which they were placed
    chopsticks: bool  # whether chopsticks were returned for the second card
    standin: bool  # whether the stand-in played
    fault: str | None  # the kind of fault, or None
    millis: float | None  # from request to answer; None if there was no request or no answer


@dataclass(frozen=True, slots=True)
class TurnLine:
    """A turn; ``anchor`` is its fragment in the page's address."""

    anchor: str
    number: int
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class RoundTable:
    """A round: its turns, its points by kind, its total and the total so far."""

    number: int
    turns: tuple[TurnLine, ...]
    kinds: tuple[tuple[str, tuple[int, ...]], ...]
    scores: tuple[int, ...]
    so_far: tuple[int, ...]


class Participant(NamedTuple):
    """A participant; ``version`` and ``address`` (the bot's page) are None if missing."""

    name: str
    version: int | None
    address: str | None


@dataclass(frozen=True, slots=True)
class ReplayTable:
    """A whole game."""

    document: PublicReplay
    participants: tuple[Participant, ...]  # the dummy is the last
    rounds: tuple[RoundTable, ...]
    faults: tuple[tuple[str, str], ...]  # anchor and text of every fault, in order

    @property
    def ranking(self) -> tuple[int, ...]:
        """Seats, best first."""
        places = self.document.places
        return tuple(sorted(range(len(places)), key=places.__getitem__))


def replay_table(text: str, *, candidate: int | None = None) -> ReplayTable:
    """Lay out a replay.

    ``text`` is JSON. ``candidate`` is the seat of a submission, which has no page. Raises InvalidReplay, with
    the position of the error, if the text is not a ``sushigo-replay/1``.
    """
    replay = parse(text)
    seats = [
        Participant(clean_name(each.bot), each.version, None if seat == candidate else bot_address(each.bot))
        for seat, each in enumerate(replay.seats)
    ]
    rounds = tuple(_rounds(replay))
    return ReplayTable(
        document=replay,
        participants=(*seats, Participant("dummy", None, None)) if replay.rules.dummy else tuple(seats),
        rounds=rounds,
        faults=tuple(_faults(rounds, [f"{seat.name}@{seat.version}" for seat in seats])),
    )


def _rounds(replay: PublicReplay) -> Iterator[RoundTable]:
    so_far = [0] * len(replay.totals)
    for number, result in enumerate(replay.rounds, start=1):
        so_far = [before + now for before, now in zip(so_far, result.scores, strict=True)]
        turns = [turn for turn in replay.turns if turn.round == number]
        yield RoundTable(
            number=number,
            turns=tuple(_lines(turns)),
            kinds=tuple(
                (card_title(kind), tuple(points.get(kind, 0) for points in result.breakdown))
                for kind in RoundScore.kinds(replay.rules.as_rules)
            ),
            scores=tuple(result.scores),
            so_far=tuple(so_far),
        )


def _lines(turns: Sequence[ReplayTurn]) -> Iterator[TurnLine]:
    free_wasabi = [0] * len(turns[0].plays)
    for turn in turns:
        cells = []
        for seat, cards in enumerate(turn.plays):
            placed = []
            for kind in cards:
                tripled = kind in _NIGIRI and free_wasabi[seat] > 0
                free_wasabi[seat] += (kind == "wasabi") - tripled
                placed.append(Placed(kind, tripled))
            cells.append(_cell(turn, seat, tuple(placed)))
        yield TurnLine(f"r{turn.round}t{turn.turn}", turn.turn, tuple(cells))


def _cell(turn: ReplayTurn, seat: int, placed: tuple[Placed, ...]) -> Cell:
    chopsticks = len(placed) > 1
    if seat >= len(turn.standin):  # the dummy, which has no times
        return Cell(placed, chopsticks, standin=False, fault=None, millis=None)
    millis = turn.millis[seat] if turn.millis else None
    return Cell(placed, chopsticks, turn.standin[seat], turn.fault[seat], millis)


def _faults(rounds: Sequence[RoundTable], names: Sequence[str]) -> Iterator[tuple[str, str]]:
    for played in rounds:
        for line in played.turns:
            for name, cell in zip(names, line.cells, strict=False):  # the dummy has no faults
                if cell.fault:
                    yield line.anchor, f"{name}: {cell.fault}, round {played.number}, turn {line.number}"


MAX_COSTLY: Final = 10
"""Maximum number of costly decisions shown."""

HEIGHT: Final = 100
"""Height of graphs: one unit per percentage point, with 100% at the top."""


@dataclass(frozen=True, slots=True)
class Graph:
    """Chances by turn, as paths with one unit per turn."""

    lines: tuple[str, ...]  # one per seat
    width: int
    rounds: str  # marks the start of each round except the first
    turning_points: str  # marks the turns that mattered most


@dataclass(frozen=True, slots=True)
class ShownAnalysis:
    """An analysis, laid out."""

    whole: Analysis
    known: Graph  # computed from what each seat could know
    dealt: Graph  # computed from all hands
    costly: tuple[AnalysedDecision, ...]  # costliest first


def lay_out(analysis: Analysis) -> ShownAnalysis:
    """Lay out an analysis."""
    found = [each for each in analysis.decisions if each.grade in COSTLY]
    found.sort(key=lambda each: -each.lost_chance)
    return ShownAnalysis(
        whole=analysis,
        known=_graph(analysis, [[it.chance for it in turn.known] for turn in analysis.turns]),
        dealt=_graph(analysis, [[it.chance for it in turn.dealt] for turn in analysis.turns]),
        costly=tuple(found[:MAX_COSTLY]),
    )


def _graph(analysis: Analysis, chances: list[list[float]]) -> Graph:
    rows = [*chances, list(analysis.result)]
    begins = [number for number, turn in enumerate(analysis.turns) if number and turn.turn == 1]
    return Graph(
        lines=tuple(
            "M" + "L".join(f"{at} {HEIGHT * (1 - row[seat]):.4g}" for at, row in enumerate(rows))
            for seat in range(len(analysis.seats))
        ),
        width=len(analysis.turns),
        rounds="".join(f"M{at} 0V{HEIGHT}" for at in begins),
        turning_points="".join(f"M{at} 0V{HEIGHT}" for at in analysis.turning_points),
    )


def game_pages(store: Store) -> APIRouter:
    """Return the routes for games."""
    router = PageRouter()

    @router.get("/games/{game}")
    def one_game(request: Request, game: GameId) -> Response:
        found = read_game(store.games, game)
        return page(
            request,
            "game.html",
            game=found,
            disqualified=() if found.counts else _disqualified_bots(store, found),
            replay=replay_table(found.replay) if found.replay else None,
            analysed=None if (analysis := store.analyses.find(game)) is None else lay_out(analysis),
            decisions={seat: f"/games/{game}/decisions/{seat}" for seat in range(len(found.seats))},
            log=read_private_log(store.logs, game, viewer_of(request)),
        )

    @router.get("/games/{game}/decisions/{seat}")
    def decisions(request: Request, game: GameId, seat: Annotated[int, Path(ge=0, le=4)]) -> Response:
        found = read_game(store.games, game)
        analysis = store.analyses.find(game)
        if analysis is None or not found.replay:
            raise HTTPException(404, "This game has not been analysed.")
        if seat >= len(found.seats):
            raise HTTPException(404, f"This game has no seat {seat}.")
        return page(
            request,
            "decisions.html",
            section="games",
            title=f"Game {count(found.number)}",
            game=f"/games/{game}",
            base=f"/games/{game}",
            name=replay_table(found.replay).participants[seat].name,
            decisions=[each for each in analysis.decisions if each.seat == seat],
        )

    return router


def _disqualified_bots(store: Store, game: GamePage) -> tuple[str, ...]:
    """Return the game's disqualified bots. If there are any, the game doesn't count towards ratings."""
    known = (store.bots.find(seat.bot) for seat in game.seats)
    return tuple(bot.name for bot in known if bot is not None and bot.state is BotState.DISQUALIFIED)


def private_game_pages(find: Find, logs: GameLogs, *, base: str) -> APIRouter:
    """Return the routes for the games of challenges or submissions.

    ``base`` is the prefix of their addresses, without a trailing slash.
    """
    router = viewer_routes(find, logs, base=base, private=True)
    Found = Annotated[Shown, Depends(find)]  # noqa: N806 - a type alias

    @router.get(f"{base}/{{game}}", dependencies=[Depends(logged_in)])
    def one_game(request: Request, game: GameId, shown: Found) -> Response:
        return page(
            request,
            "private_game.html",
            shown=shown,
            replay=replay_table(shown.replay, candidate=shown.candidate),
            log=read_private_log(logs, game, viewer_of(request)),
        )

    return router
