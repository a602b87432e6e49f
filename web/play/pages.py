"""People's games against bots: choosing opponents, playing, and the result."""

import asyncio
import random
import secrets
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from http import HTTPStatus
from threading import Lock
from typing import Annotated, Final

from fastapi import APIRouter, Form, HTTPException, Path, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import RedirectResponse
from pydantic import BaseModel, Field

from arena.db.bots import KnownBot
from arena.db.errors import CredentialsChanged, QuotaReached
from arena.db.person_games import ChosenMove, NewPersonGame, PersonGame, PersonGames
from arena.db.store import Store
from arena.play.replay.document import parse
from arena.protocol.states import BotState, PersonGameState
from arena.rules import InvalidRules, Rules
from web.games.pages import Participant, lay_out
from web.http.authentication import set_visitor, visitor_of
from web.http.errors import Problem
from web.http.parameters import GameId
from web.http.rate_limits import RateLimits, network_of_visitor
from web.http.rendering import PageRouter, page, viewer_of, visible
from web.play.table import YOU, move_of, seating_of, table_view, within
from web.viewer.pages import viewer_routes
from web.viewer.screen import Shown

MAX_OPPONENTS: Final = 4
_HISTORY: Final = 10
_MAX_BOTS: Final = 200

_WAIT_SECONDS: Final = 5.0
"""Maximum time a page waits for the bots before it says that they are still deciding."""

_POLL_SECONDS: Final = 0.1
_MAX_ANALYSIS_WAIT: Final = timedelta(minutes=10)
"""Maximum time a page waits for an analysis."""

_PRESENCE_INTERVAL: Final = timedelta(seconds=8)
"""Minimum interval between updates of a person's presence."""

PersonGameId = Annotated[str, Path(alias="id", pattern=r"^[0-9a-f]{32}$", description="A game's id.")]
_LOBBY: Final = ("/play", "Play against the bots")
"""Address and name of the page where opponents are chosen."""

_STEP: Final = r"^[1-3]\.(10|[1-9])$"
Step = Annotated[str | None, Query(pattern=_STEP)]
CardName = Annotated[str, Field(max_length=20)]


class ChosenCards(BaseModel):
    """The form for a decision: ``step`` is its round and turn; an empty card stands for no card."""

    step: Annotated[str, Field(pattern=_STEP)]
    card: CardName = ""
    second: CardName = ""
    dummy: CardName = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FinalPlace:
    """A participant's final result."""

    place: int
    name: str
    bot: tuple[str, int] | None  # name and version; None for the person
    rounds: tuple[int, ...]  # points
    puddings: int  # points
    total: int


class OpenGameLimits:
    """Adds people's games, and limits how many are open per address. Thread-safe.

    Without limits, one person could occupy all ``tables`` and waiting places. Only games added
    by this process are counted.
    """

    def __init__(self, games: PersonGames, *, tables: int) -> None:
        self._games = games
        self._tables = tables
        self._lock = Lock()
        self._open: dict[str, tuple[str, str]] = {}  # address and visitor, by the game's id

    def add(self, new: NewPersonGame, source: str) -> None:
        """Add a game from an address.

        Raises QuotaReached if too many games are waiting, or if the address has too many open games. If all
        tables are in use and people at other addresses are waiting, one open game is too many.
        """
        with self._lock:
            waiting = self._games.open_games()
            self._open = {id_: opened for id_, opened in self._open.items() if id_ in waiting}
            here = [who for address, who in self._open.values() if address == source]
            # The visitor's own open game doesn't count, because adding the new one ends it.
            others = len(here) - here.count(new.visitor)
            if others > self._tables:
                raise QuotaReached(
                    f"{others} other people at your IP address are already playing or waiting: "
                    "try again later"
                )
            # Otherwise one address that always has a waiting game would get every table that becomes free.
            full = list(waiting.values()).count(False) >= self._tables
            wait = any(waiting[id_] and address != source for id_, (address, _) in self._open.items())
            if full and wait and here and new.visitor not in here:
                raise QuotaReached(
                    "People at other IP addresses are waiting, and someone at yours is already playing or "
                    "waiting: try again later"
                )
            self._games.add(new)
            self._open[new.id] = source, new.visitor


def play_pages(
    store: Store,
    limits: RateLimits,
    now: Callable[[], datetime],
    *,
    tables: int,
    analyses: bool,
) -> APIRouter:
    """Return the routes.

    ``tables`` is how many tables the arena has for people. ``analyses`` is True if the arena analyses
    people's games.
    """
    pages = _Play(store, limits, now, tables=tables, analyses=analyses)
    games = viewer_routes(pages.shown, store.logs, base="/play/{id}/games")
    router = PageRouter(prefix="/play")
    router.add_api_route("", pages.lobby)
    router.add_api_route("", pages.open_table, methods=["POST"])
    router.add_api_route("/{id}", pages.table)
    router.add_form("/{id}/move", pages.move, "/play/{id}")
    router.add_form("/{id}/leave", pages.leave, "/play/{id}")
    router.add_api_route("/{id}/decisions", pages.decisions)
    router.add_api_route("/{id}/replay.json", pages.replay)
    games.routes += router.routes
    return games


class _Play:
    """The pages' request handlers."""

    def __init__(
        self,
        store: Store,
        limits: RateLimits,
        now: Callable[[], datetime],
        *,
        tables: int,
        analyses: bool,
    ) -> None:
        self._store = store
        self._games = store.person_games
        self._limits = limits
        self._now = now
        self._tables = tables
        self._analyses = analyses
        self._limits_per_address = OpenGameLimits(store.person_games, tables=tables)
        self._waiting: set[str] = set()

    def lobby(self, request: Request) -> Response:
        """Show the available bots, and the person's games."""
        return self._lobby(request)

    def _lobby(
        self,
        request: Request,
        problem: Problem | None = None,
        opponents: Sequence[str] = (),
        variants: Collection[str] = (),
    ) -> Response:
        """Show the lobby. After a refusal, include the problem and the visitor's choices."""
        request.state.private = True
        visitor = visitor_of(request)
        account = viewer_of(request).account
        shown = page(
            request,
            "play.html",
            status=problem.status_code if problem else 200,
            problem=problem,
            chosen=opponents,
            variants=variants,
            tables=self._tables,
            bots=self._bots(account),
            max_opponents=MAX_OPPONENTS,
            max_listed=_HISTORY,
            open_game=None if visitor is None else self._games.open_of(visitor),
            games=[(game, _places(game)) for game in self._games.newest(visitor or "", account, _HISTORY)],
        )
        if problem is not None:
            shown.headers.update(problem.headers or {})
        return shown

    def open_table(
        self,
        request: Request,
        opponent: Annotated[list[str], Form(default_factory=list)],
        *,
        pass_both_ways: Annotated[bool, Form()] = False,
        soy_sauce: Annotated[bool, Form()] = False,
        dummy: Annotated[bool, Form()] = False,
    ) -> Response:
        """Open a table. If that is refused, show the lobby again with the reason."""
        if not self._tables:
            raise Problem(HTTPStatus.CONFLICT, "People can't play against the bots in this arena.")
        variants = {"pass_both_ways": pass_both_ways, "soy_sauce": soy_sauce, "dummy": dummy}
        try:
            return self._open_table(request, opponent, variants)
        except Problem as problem:
            return self._lobby(request, problem, opponent, [name for name, used in variants.items() if used])

    def _open_table(
        self, request: Request, opponent: Sequence[str], variants: Mapping[str, bool]
    ) -> Response:
        account = viewer_of(request).account
        names = [visible(name) for name in opponent if name]  # escaped, because PostgreSQL rejects NUL
        if not 1 <= len(names) <= MAX_OPPONENTS:
            raise Problem(
                HTTPStatus.UNPROCESSABLE_ENTITY, f"Choose 1 to {MAX_OPPONENTS} bots to play against."
            )
        versions = [self._version(name, account) for name in names]
        try:
            rules = Rules(players=len(names) + 1, **variants)
        except InvalidRules as error:
            raise Problem(HTTPStatus.UNPROCESSABLE_ENTITY, f"Choose other variants: {error}.") from error
        self._limits.count_game(request)
        answer = RedirectResponse("/play", 303)
        new = NewPersonGame(
            id=secrets.token_hex(16),
            visitor=visitor_of(request) or set_visitor(request, answer),
            account=account,
            rules=rules,
            opponents=tuple(versions),
            seat=random.SystemRandom().randrange(rules.players),
            created=self._now(),
        )
        try:
            self._limits_per_address.add(new, network_of_visitor(request))
        except QuotaReached as error:
            raise Problem(HTTPStatus.SERVICE_UNAVAILABLE, f"{error}.") from error
        except CredentialsChanged as error:
            raise Problem(HTTPStatus.CONFLICT, f"{error}.") from error
        answer.headers["Location"] = f"/play/{new.id}"
        return answer

    def _awaits_analysis(self, game: PersonGame, moment: datetime) -> bool:
        recent = game.ended is not None and moment - game.ended < _MAX_ANALYSIS_WAIT
        return self._analyses and recent and game.state is PersonGameState.OVER and game.analysis is None

    async def table(self, request: Request, id_: PersonGameId, after: Step = None) -> Response:
        """Show a game; wait a moment if the bots are still deciding.

        ``after`` is the round and turn of the person's latest decision. Only one request per game waits:
        the site handles only a few requests at a time from one address.
        """
        game = await run_in_threadpool(self._own_game, request, id_)
        if after is not None and id_ not in self._waiting:
            self._waiting.add(id_)
            try:
                game = await self._wait(request, game, after)
            finally:
                self._waiting.discard(id_)
        return await run_in_threadpool(self._page, request, game)

    async def _wait(self, request: Request, game: PersonGame, after: str) -> PersonGame:
        """Wait up to ``_WAIT_SECONDS`` for the bots' decisions. Return the current state of the game."""
        deadline = time.monotonic() + _WAIT_SECONDS
        while time.monotonic() < deadline and _is_waiting_for_bots(game, after):
            await asyncio.sleep(_POLL_SECONDS)
            game = await run_in_threadpool(self._own_game, request, game.id)
        return game

    def _page(self, request: Request, game: PersonGame) -> Response:
        moment = self._now()
        if game.ended is None and moment - game.seen > _PRESENCE_INTERVAL:
            self._games.mark_present(game.id, moment)
        return page(
            request,
            "play_game.html",
            game=game,
            title=_title(game),
            table=None if game.asked is None else table_view(seating_of(game), game.asked),
            places=_places(game),
            base=_base(game),
            participants=[Participant(name, None, None) for name in seating_of(game).names],
            analysed=None if game.analysis is None else lay_out(game.analysis),
            decisions={game.seat: f"/play/{game.id}/decisions"},
            awaited=self._awaits_analysis(game, moment),
        )

    def move(
        self,
        request: Request,
        id_: PersonGameId,
        chosen: Annotated[ChosenCards, Form()],
    ) -> Response:
        game = self._own_game(request, id_)
        view = game.asked
        round_number, turn = map(int, chosen.step.split("."))
        if view is None or game.chosen or (view.round, view.turn) != (round_number, turn):
            raise _decision_conflict(game)
        try:
            move = move_of(view, [chosen.card, chosen.second], chosen.dummy)
        except ValueError as error:
            raise Problem(
                HTTPStatus.UNPROCESSABLE_ENTITY,
                f"This move isn't legal: {error}.",
                instead=(f"/play/{game.id}", "Choose again"),
            ) from error
        if not self._games.choose(id_, ChosenMove(round=round_number, turn=turn, move=move), self._now()):
            raise _decision_conflict(game)
        return RedirectResponse(f"/play/{id_}?after={chosen.step}", 303)

    def leave(self, request: Request, id_: PersonGameId) -> Response:
        self._games.leave(self._own_game(request, id_).id, self._now())
        return RedirectResponse("/play", 303)

    def replay(self, request: Request, id_: PersonGameId) -> Response:
        return Response(self._finished_game(request, id_).replay, media_type="application/json")

    def decisions(self, request: Request, id_: PersonGameId) -> Response:
        """Show all of the person's decisions, and the house bots' choices."""
        game = self._finished_game(request, id_)
        if game.analysis is None:
            raise HTTPException(404, "This game has not been analysed.")
        return page(
            request,
            "decisions.html",
            section="play",
            title=_title(game),
            game=f"/play/{id_}",
            base=_base(game),
            name=YOU,
            decisions=[each for each in game.analysis.decisions if each.seat == game.seat],
        )

    def shown(self, request: Request, id_: PersonGameId, game: GameId) -> Shown:
        found = self._finished_game(request, id_)
        if parse(found.replay).game != game:
            raise HTTPException(404, "There is no such game.")
        home = f"/play/{id_}"
        return Shown(
            title=_title(found),
            replay=found.replay,
            home=home,
            base=_base(found),
            download=f"{home}/replay.json",
            section="play",
            viewers="you",
        )

    def _own_game(self, request: Request, id_: str) -> PersonGame:
        """Return one of the visitor's games. Raises Problem (404) for other people's games."""
        request.state.private = True  # otherwise the browser's Back button would show an old table
        game = self._games.find(id_)
        if game is None or not (game.visitor == visitor_of(request) or viewer_of(request).owns(game.account)):
            raise Problem(404, "You have no such game. Games are kept for 30 days.", instead=_LOBBY)
        return game

    def _finished_game(self, request: Request, id_: str) -> PersonGame:
        game = self._own_game(request, id_)
        if game.state is not PersonGameState.OVER:
            raise HTTPException(404, "This game has no replay, because it isn't finished.")
        return game

    def _bots(self, account: int | None) -> tuple[tuple[str, bool], ...]:
        """Return the bots that can be played against, and whether each is the person's own."""
        own = () if account is None else self._store.bots.of_account(account)
        names = {bot.name: True for bot in own if bot.state is BotState.ACTIVE}
        names |= {
            bot.name: False for bot in self._store.bots.against_people(_MAX_BOTS) if bot.name not in names
        }
        return tuple(names.items())

    def _version(self, name: str, account: int | None) -> int:
        bot = self._store.bots.find(name)
        version = None
        if bot is not None and _may_play(bot, account):
            version = self._store.bots.version_id(name, bot.version)
        if version is None:
            raise Problem(
                HTTPStatus.UNPROCESSABLE_ENTITY,
                f"You can't play against {name[:64]}. Choose a bot from the list; log in to see your own.",
            )
        return version


def _may_play(bot: KnownBot, account: int | None) -> bool:
    own = account is not None and bot.account == account
    return bot.state is BotState.ACTIVE and (bot.house or bot.open_to_people or own)


def _base(game: PersonGame) -> str:
    """Return the address prefix of a game's frames."""
    return f"/play/{game.id}/games/person-{game.number}"


def _is_waiting_for_bots(game: PersonGame, after: str) -> bool:
    """Return True if the bots are still deciding: the person's decision is still the latest."""
    if game.state is not PersonGameState.PLAYING or game.asked is None:
        return False
    return game.chosen and f"{game.asked.round}.{game.asked.turn}" == after


def _decision_conflict(game: PersonGame) -> Problem:
    if game.ended is not None:
        return Problem(HTTPStatus.CONFLICT, "This game is over.", instead=(f"/play/{game.id}", "Your game"))
    return Problem(
        HTTPStatus.CONFLICT,
        "You can't make this decision now: you have already made it, or its turn hasn't begun.",
        instead=(f"/play/{game.id}", "Back to the table"),
    )


def _title(game: PersonGame) -> str:
    names = seating_of(game).names
    *others, last = [within(name) for seat, name in enumerate(names) if seat != game.seat]
    return f"You against {', '.join(others)} and {last}" if others else f"You against {last}"


def _places(game: PersonGame) -> tuple[FinalPlace, ...]:
    """Return the participants in a game that is over, the winner first."""
    if not game.replay:
        return ()
    replay = parse(game.replay)
    names = seating_of(game).names
    found = [
        FinalPlace(
            place=place,
            name=names[seat],
            bot=None if seat == game.seat else (replay.seats[seat].bot, replay.seats[seat].version),
            rounds=tuple(scored.scores[seat] for scored in replay.rounds),
            puddings=replay.puddings.scores[seat],
            total=replay.totals[seat],
        )
        for seat, place in enumerate(replay.places)
    ]
    return tuple(sorted(found, key=lambda each: each.place))
