"""Pages about bots: one bot and its owner's actions, an author's bots, the viewer's own, and comparisons."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Final, Literal

from fastapi import APIRouter, Depends, Form, HTTPException, Query, Request, Response
from fastapi.responses import RedirectResponse

from arena.db.bots import KnownBot
from arena.db.store import Store
from arena.ladder.card_table import CardHabit
from arena.ladder.rating import PROVISIONAL_DEVIATION
from arena.ladder.standings import BoardQuery
from arena.platform.text import NAME_LENGTH, plain
from arena.protocol.leaderboard import Row
from arena.protocol.states import BotState
from arena.rules import Card
from arena.services.owners import MAX_DEALS, MAX_OPPONENTS, Owners, RequestedChallenge
from web.bots.curve import draw_together
from web.bots.history import Habits, read_habits
from web.bots.model import CURVE_VERSIONS, BotPageQuery, read_bot_page, version_line
from web.http.api import REFUSED, refusal
from web.http.authentication import Session
from web.http.errors import Problem
from web.http.notices import redirect_with_notice, with_notice
from web.http.parameters import MAX_VERSION, AfterBot, AuthorName, BotName, read_bot
from web.http.rendering import PageRouter, page, viewer_of, visible
from web.leaderboard.cache import Boards

_MAX_OLDER: Final = 20
_MAX_OTHERS: Final = 50
"""Number of leaders suggested. The form's script asks the leaderboard for others."""
_MAX_ALIKE: Final = 20
"""Number of suggestions for each typed name."""


def suggested_opponents(store: Store, boards: Boards, bot: KnownBot, typed: Sequence[str]) -> tuple[str, ...]:
    """Return suggested opponents for a challenge.

    Bots with names like those typed in a refused form (``typed``) come first. The bot's other versions
    follow, then the leaders. The bot's active version is left out, because it takes part anyway.
    """
    own = (
        f"{bot.name}@{version.number}"
        for version in store.bots.versions(bot.name, None, _MAX_OLDER)
        if version.available and not version.playing
    )
    alike = (
        name
        for text in typed
        for name in _names_on_board(boards, BoardQuery(search=_search_term(text), limit=_MAX_ALIKE))
    )
    ahead = _names_on_board(boards, BoardQuery(limit=_MAX_OTHERS))
    names = dict.fromkeys((*alike, *own, *ahead))
    names.pop(bot.name, None)
    return tuple(names)


def _search_term(typed: str) -> str:
    """Return the bot's name from typed text such as ``greedy@2``."""
    return plain(typed.partition("@")[0][:NAME_LENGTH])


def _names_on_board(boards: Boards, query: BoardQuery) -> Iterator[str]:
    return (row.bot for row in boards.board(query).rows)


_MAX_OPPONENT_LENGTH: Final = 64
VersionNumber = Annotated[int, Form(ge=1, le=MAX_VERSION)]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Refused:
    """A refused form: its name, the problem, and the challenge that was entered in it."""

    form: str
    problem: Problem
    typed: RequestedChallenge | None = None


def bot_pages(store: Store, boards: Boards, owners: Owners) -> APIRouter:
    """Return the routes for a bot's page. Changes require a session; programs use the API."""
    router = PageRouter(prefix="/bots/{bot}")
    bots = _Bots(store, boards, owners)
    router.add_api_route("", bots.show)
    for path, action in (
        ("/version", bots.play_version),
        ("/state", bots.change_state),
        ("/people", bots.open_to_people),
        ("/challenges", bots.challenge),
    ):
        router.add_form(path, action)
    return router


class _Bots:
    """The pages' request handlers."""

    def __init__(self, store: Store, boards: Boards, owners: Owners) -> None:
        self._store = store
        self._boards = boards
        self._owners = owners

    def show(self, request: Request, bot: BotName, where: Annotated[BotPageQuery, Depends()]) -> Response:
        known = self._store.bots.find_in_any_case(bot) or read_bot(self._store.bots, bot)  # raises a 404
        if known.name != bot:
            query = f"?{request.url.query}" if request.url.query else ""
            return RedirectResponse(f"/bots/{known.name}{query}", 307)
        if where.opponent is not None and (other := self._store.bots.find_in_any_case(where.opponent)):
            where = replace(where, opponent=other.name)
        return with_notice(request, lambda notice: self._page(request, known, where, notice=notice))

    def play_version(
        self, request: Request, session: Session, bot: BotName, number: VersionNumber
    ) -> Response:
        account = session.account.id
        return self._change(
            request, bot, "version", "version", lambda: self._owners.play_version(account, bot, number)
        )

    def change_state(
        self,
        request: Request,
        session: Session,
        bot: BotName,
        state: Annotated[Literal["active", "retired"], Form()],
    ) -> Response:
        change = self._owners.retire if state == "retired" else self._owners.reactivate
        return self._change(request, bot, "state", state, lambda: change(session.account.id, bot))

    def open_to_people(
        self, request: Request, session: Session, bot: BotName, is_open: Annotated[bool, Form(alias="open")]
    ) -> Response:
        account, notice = session.account.id, "open" if is_open else "closed"
        return self._change(
            request, bot, "state", notice, lambda: self._owners.open_to_people(account, bot, is_open=is_open)
        )

    def challenge(
        self,
        request: Request,
        session: Session,
        bot: BotName,
        opponent: Annotated[list[str], Form(default_factory=list)],
        deals: Annotated[int, Form(ge=1, le=MAX_DEALS)] = 1,
    ) -> Response:
        # Escape invalid names, so that they can be shown and looked up: PostgreSQL rejects NUL.
        names = tuple(visible(name.strip())[:_MAX_OPPONENT_LENGTH] for name in opponent if name.strip())
        requested = RequestedChallenge(bot=bot, version=None, opponents=names, deals=deals)
        try:
            challenge = self._owners.challenge(session.account.id, requested)
        except REFUSED as error:
            refused = _Refused(form="challenge", problem=refusal(error), typed=requested)
            return self._show_refusal(request, bot, refused)
        return RedirectResponse(f"/challenges/{challenge.id}", 303)

    def _change(
        self, request: Request, bot: str, form: str, notice: str, change: Callable[[], object]
    ) -> Response:
        """Change a bot. Show its page with this notice, or with the reason for a refusal."""
        try:
            change()
        except REFUSED as error:
            return self._show_refusal(request, bot, _Refused(form=form, problem=refusal(error)))
        return redirect_with_notice(request, f"/bots/{bot}", notice)

    def _show_refusal(self, request: Request, bot: str, refused: _Refused) -> Response:
        """Show the reason next to the form. Raises Problem if the bot belongs to another account."""
        known = self._store.bots.find(bot)
        if known is None or not viewer_of(request).owns(known.account):
            raise refused.problem
        return self._page(request, known, refused=refused)

    def _page(
        self,
        request: Request,
        bot: KnownBot,
        where: BotPageQuery = BotPageQuery(),  # noqa: B008 - a frozen dataclass
        *,
        notice: str = "",
        refused: _Refused | None = None,
    ) -> Response:
        viewer = viewer_of(request)
        owns, private = viewer.owns(bot.account), viewer.may_see(bot.account)
        typed = refused.typed if refused else None
        typed = typed or RequestedChallenge(bot=bot.name, version=None, opponents=(), deals=1)
        ranked, bots = self._boards.find(bot.name)
        shown = page(
            request,
            "bot.html",
            status=200 if refused is None else refused.problem.status_code,
            bot=bot,
            ranked=ranked,
            bots=bots,
            shown=read_bot_page(self._store, bot, where, private=private),
            where=where,
            owns=owns,
            private=private,
            opponents=suggested_opponents(self._store, self._boards, bot, typed.opponents) if owns else (),
            max_opponents=MAX_OPPONENTS,
            max_deals=MAX_DEALS,
            provisional_deviation=PROVISIONAL_DEVIATION,
            curve_versions=CURVE_VERSIONS,
            notice=notice if owns else "",
            wrong="" if refused is None else refused.form,
            error=None if refused is None else refused.problem.detail.removesuffix("."),
            typed=typed,
        )
        shown.headers.update({} if refused is None else refused.problem.headers or {})
        return shown


_MAX_BOTS: Final = 50
_MAX_VERSIONS: Final = 20


def author_pages(store: Store, boards: Boards) -> APIRouter:
    """Return the routes."""
    router = PageRouter()

    # An operator may add bots by an author with any name, even one with a slash.
    @router.get("/authors/{author:path}")
    def author(request: Request, author: AuthorName, after: AfterBot = None) -> Response:
        found = store.bots.listed(after, _MAX_BOTS + 1, author=author)
        bots = found[:_MAX_BOTS]
        if not bots:
            raise HTTPException(404, "This author has no bots.")
        versions = [
            (bot.name, version)
            for bot in bots
            for version in store.bots.versions(bot.name, None, _MAX_VERSIONS)
        ]
        versions.sort(key=lambda each: each[1].created, reverse=True)
        return page(
            request,
            "author.html",
            author=bots[0].author,
            bots=[(bot, boards.find(bot.name)[0]) for bot in bots],
            versions=[(bot, *version_line(each, noted=False)) for bot, each in versions[:_MAX_VERSIONS]],
            active={bot.name for bot in bots if bot.state is BotState.ACTIVE},
            after=bots[-1].name if len(found) > len(bots) else None,
        )

    @router.get("/mine")
    def mine(request: Request, session: Session) -> Response:
        account = session.account.id

        def lines(bot: KnownBot) -> tuple[object, ...]:
            newest = store.submissions.newest(account=account, bot=bot.name, limit=1)
            return bot, boards.find(bot.name)[0], next(iter(newest), None)

        return page(
            request,
            "mine.html",
            bots=[lines(bot) for bot in store.bots.of_account(account)],
            submitted=bool(store.submissions.newest(account=account, limit=1)),
            open_submissions=[
                each for each in store.submissions.open_submissions() if each.account == account
            ],
        )

    @router.get("/bots")
    def bots() -> Response:
        # The visitor is probably an owner who removed the bot's name from the address of its page.
        return RedirectResponse("/mine", 303)

    return router


MAX_COMPARED: Final = 4
_SUGGESTED: Final = 50

Names = Annotated[list[str], Query(description="Names of bots, one per parameter or comma-separated.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedBot:
    """A bot in the comparison; ``row`` is None if it isn't on the leaderboard."""

    name: str
    row: Row | None
    habits: Habits

    def habit(self, card: str) -> CardHabit | None:
        """Return how often the bot takes a kind of card, or None if it never had one in hand."""
        return next((each for each in self.habits.cards if each.card == card), None)


def comparison_page(store: Store, boards: Boards) -> APIRouter:
    """Return the route for the comparison."""
    router = PageRouter()

    @router.get("/compare")
    def compare(request: Request, bots: Names = []) -> Response:  # noqa: B006 - FastAPI copies defaults
        typed = _parse_names(bots)
        found = {name: store.bots.find_in_any_case(name) for name in typed[:MAX_COMPARED]}
        known = list(dict.fromkeys(bot.name for bot in found.values() if bot is not None))
        compared = [
            ComparedBot(name=name, row=boards.find(name)[0], habits=read_habits(store, name))
            for name in known
        ]
        had = {habit.card for each in compared for habit in each.habits.cards}
        return page(
            request,
            "compare.html",
            names=[name if bot is None else bot.name for name, bot in found.items()],
            left_out=typed[MAX_COMPARED:],
            max_bots=MAX_COMPARED,
            bots=compared,
            missing=[name for name, bot in found.items() if bot is None],
            plot=draw_together([store.histories.curve(name) for name in known]),
            meetings={pair: met for pair, met in store.histories.meetings(known).items() if met.games},
            suggested=[row.bot for row in boards.board(BoardQuery(limit=_SUGGESTED)).rows],
            cards=[card.label for card in Card if card.label in had],
        )

    return router


def _parse_names(texts: list[str]) -> list[str]:
    """Return the distinct names in comma-separated lists; unprintable characters are escaped."""
    # Escaped, because PostgreSQL rejects NUL.
    names = [visible(name.strip()) for text in texts for name in text.split(",")]
    return list(dict.fromkeys(name for name in names if name))
