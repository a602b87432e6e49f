"""A bot's page for everybody, and what its owner can do there: choose what plays, take it off, challenge."""

from dataclasses import dataclass
from typing import Annotated, Final, Literal

from fastapi import APIRouter, Depends, Form, HTTPException, Query, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from pydantic import BeforeValidator

from arena.owners import MOST_DEALS, MOST_OPPONENTS, Owners, WantedChallenge
from arena.store import KnownBot, Store
from web.api.refusals import REFUSED, refusal
from web.board import PROVISIONAL_DEVIATION
from web.boards import Boards
from web.bothistory import FAULTY, RECENT
from web.botpage import CURVE_VERSIONS, Where, read_bot_page
from web.caller import Callers
from web.cards import card_name
from web.opponents import read_opponents
from web.pages.account import Session
from web.privacy import viewer_of
from web.problems import Problem
from web.reading import LARGEST_VERSION, Before, BotName, OfBot, Offset, OfVersion, Players
from web.rendering import page
from web.text import visible

_METHODS: Final = ["GET", "HEAD"]
_LONGEST_OPPONENT: Final = 64
_MOST_POINTS: Final = 999
"""Nobody scores so much."""

VersionNumber = Annotated[int, Form(ge=1, le=LARGEST_VERSION)]
VersionsBefore = Annotated[int | None, Query(ge=1, le=LARGEST_VERSION)]
Place = Annotated[int | None, Query(ge=1, le=5)]
Score = Annotated[int | None, Query(ge=-_MOST_POINTS, le=_MOST_POINTS)]
WithFault = Annotated[Literal["yes", "no"] | None, Query()]
_BLANK: Final = BeforeValidator(lambda value: value.strip() or None if isinstance(value, str) else value)
"""A form sends what was left empty as well."""

_WORDS: Final = {
    "timeout": "no answer in time",
    "illegal": "a move that the rules forbid",
    "protocol": "a message that breaks the protocol",
    "crash": "ended, or closed its stream",
    "absent": "no valid Hello in time",
    "expelled": "its stream was no conversation",
}
"""What the kinds of faults mean."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Typed:
    """What stands in the form of a challenge."""

    opponents: tuple[str, ...] = ()
    deals: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class _Refused:
    """What was refused: the form to which it belongs, why, and what was typed there."""

    form: str
    problem: Problem
    typed: _Typed = _Typed()


def _where(  # noqa: PLR0913, PLR0917 - what of a bot can be looked at
    version: Annotated[OfVersion, _BLANK] = None,
    opponent: Annotated[OfBot, _BLANK] = None,
    players: Annotated[Players, _BLANK] = None,
    place: Annotated[Place, _BLANK] = None,
    min: Annotated[Score, _BLANK] = None,  # noqa: A002 - as in addresses
    max: Annotated[Score, _BLANK] = None,  # noqa: A002 - as in addresses
    fault: Annotated[WithFault, _BLANK] = None,
    before: Before = None,
    versions: VersionsBefore = None,
    opponents: Offset = 0,
    curve: Players = None,
) -> Where:
    return Where(
        version=version,
        opponent=opponent,
        players=players,
        place=place,
        min=min,
        max=max,
        fault=fault,
        before=before,
        versions=versions,
        opponents=opponents or None,
        curve=curve,
    )


def bot_pages(store: Store, boards: Boards, owners: Owners, callers: Callers) -> APIRouter:
    """Return the routes of bots. What changes something takes a session; programs have the API."""
    router = APIRouter(
        prefix="/bots/{bot}", default_response_class=HTMLResponse, dependencies=[Depends(callers.note)]
    )
    bots = _Bots(store, boards, owners)
    router.add_api_route("", bots.show, methods=_METHODS)
    for path, action in (
        ("/version", bots.play_version),
        ("/state", bots.change_state),
        ("/challenges", bots.challenge),
    ):
        router.add_api_route(path, action, methods=["POST"])
    return router


class _Bots:
    """Answers the requests."""

    def __init__(self, store: Store, boards: Boards, owners: Owners) -> None:
        self._store = store
        self._boards = boards
        self._owners = owners

    def show(
        self, request: Request, bot: BotName, where: Annotated[Where, Depends(_where)], done: str = ""
    ) -> Response:
        known = self._store.bots.find(bot)
        if known is None:
            raise HTTPException(404, "There is no bot of this name.")
        return self._page(request, known, where, done=done)

    def play_version(
        self, request: Request, session: Session, bot: BotName, number: VersionNumber
    ) -> Response:
        try:
            self._owners.play_version(session.account.id, bot, number)
        except REFUSED as error:
            return self._refused(request, bot, _Refused(form="version", problem=refusal(error)))
        return _back(bot, "version")

    def change_state(
        self,
        request: Request,
        session: Session,
        bot: BotName,
        state: Annotated[Literal["active", "retired"], Form()],
    ) -> Response:
        change = self._owners.retire if state == "retired" else self._owners.come_back
        try:
            change(session.account.id, bot)
        except REFUSED as error:
            return self._refused(request, bot, _Refused(form="state", problem=refusal(error)))
        return _back(bot, state)

    def challenge(
        self,
        request: Request,
        session: Session,
        bot: BotName,
        opponent: Annotated[list[str], Form(default_factory=list)],
        deals: Annotated[int, Form(ge=1, le=MOST_DEALS)] = 1,
    ) -> Response:
        # Written out, what is no name can be shown, and looked up: some databases take no NUL.
        names = tuple(visible(name.strip())[:_LONGEST_OPPONENT] for name in opponent if name.strip())
        wanted = WantedChallenge(bot=bot, version=None, opponents=names, deals=deals)
        try:
            made = self._owners.challenge(session.account.id, wanted)
        except REFUSED as error:
            typed = _Typed(opponents=names, deals=deals)
            refused = _Refused(form="challenge", problem=refusal(error), typed=typed)
            return self._refused(request, bot, refused)
        return RedirectResponse(f"/challenges/{made.id}", 303)

    def _refused(self, request: Request, bot: str, refused: _Refused) -> Response:
        """Say why beside the form, to whom has one.

        Raises:
            Problem: The bot is not theirs.
        """
        known = self._store.bots.find(bot)
        if known is None or not viewer_of(request).owns(known.account):
            raise refused.problem
        return self._page(request, known, refused=refused)

    def _page(
        self,
        request: Request,
        bot: KnownBot,
        where: Where = Where(),  # noqa: B008 - frozen
        *,
        done: str = "",
        refused: _Refused | None = None,
    ) -> Response:
        viewer = viewer_of(request)
        owns, private = viewer.owns(bot.account), viewer.may_see(bot.account)
        typed = _Typed() if refused is None else refused.typed
        shown = page(
            request,
            "bot.html",
            status=200 if refused is None else refused.problem.status_code,
            bot=bot,
            shown=read_bot_page(self._store, bot, where, private=private),
            where=where,
            owns=owns,
            private=private,
            opponents=read_opponents(self._store, self._boards, bot, typed.opponents) if owns else (),
            most_opponents=MOST_OPPONENTS,
            most_deals=MOST_DEALS,
            provisional_deviation=PROVISIONAL_DEVIATION,
            recent=RECENT,
            faulty=FAULTY,
            curve_versions=CURVE_VERSIONS,
            fault_words=_WORDS,
            card_name=card_name,
            done=done if owns else "",
            wrong="" if refused is None else refused.form,
            error=None if refused is None else refused.problem.detail.removesuffix("."),
            typed=typed,
        )
        shown.headers.update({} if refused is None else refused.problem.headers or {})
        return shown


def _back(bot: str, done: str) -> Response:
    # The notice stands at the top; without a place of its own the answer would keep that of the form.
    return RedirectResponse(f"/bots/{bot}?done={done}#main", 303)
