"""Subscriptions to notifications: their API, their page, and the links in their emails."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Annotated, Final

import msgspec
from fastapi import APIRouter, Form, HTTPException, Path, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from arena.db.credentials import KnownAccount
from arena.db.errors import CredentialsChanged, TooManySubscriptions
from arena.db.subscriptions import Subscription, SubscriptionKind, Subscriptions
from arena.notices.addresses import SubscriptionRefused
from arena.notices.subscriptions import NotConfirmed, OwnSubscriptions
from arena.protocol.decoding import prepared
from arena.protocol.news import Topic
from arena.protocol.states import Scope
from web.http.api import DataRouter, Owner, Reader, problems
from web.http.authentication import Caller, Session
from web.http.errors import Problem
from web.http.notices import redirect_with_notice, with_notice
from web.http.parameters import MAX_INTEGER
from web.http.rate_limits import RateLimits, address_of
from web.http.rendering import PageRouter, page
from web.http.security import MAIL_LINKS

_MAX_LENGTH: Final = 500
_HOME: Final = "/account/notifications"
_MISSING: Final = "You have no such subscription."
_ENDED: Final = "This subscription has ended, or nobody confirmed it within a week."

_EMPTY: Final = {"address": "", "topics": tuple(Topic)}
"""A form for a new subscription."""

Number = Annotated[int, Path(ge=1, le=MAX_INTEGER, description="A subscription's id.")]
Topics = Annotated[list[Topic], Form(default_factory=list)]
Secret = Annotated[str, Path(pattern=r"^[A-Za-z0-9_-]{1,64}$")]


@dataclass(frozen=True, slots=True, kw_only=True)
class AddedSubscription(Subscription):
    """A new subscription.

    Attributes:
        secret: The secret with which a webhook's requests are signed, shown only once; null for mail.
    """

    secret: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SubscriptionList:
    """Subscriptions.

    Attributes:
        subscriptions: The account's subscriptions, oldest first.
        next: Always null: all subscriptions fit on one page.
    """

    subscriptions: tuple[Subscription, ...]
    next: None = None


class WantedSubscription(BaseModel):
    """A requested subscription.

    Attributes:
        kind: How notifications are delivered.
        address: The URL of a webhook, or an email address.
        topics: The events to report.
    """

    model_config = ConfigDict(extra="forbid")

    kind: SubscriptionKind
    address: Annotated[str, Field(min_length=1, max_length=_MAX_LENGTH)]
    topics: Annotated[set[Topic], Field(min_length=1)]


class WantedTopics(BaseModel):
    """A change to a subscription's events.

    Attributes:
        topics: The events to report from now on.
    """

    model_config = ConfigDict(extra="forbid")

    topics: Annotated[set[Topic], Field(min_length=1)]


def subscription_api(subscriptions: OwnSubscriptions, limits: RateLimits) -> APIRouter:
    """Return the API routes for subscriptions."""
    router = DataRouter("account")

    @router.get("/account/subscriptions")
    def listed(caller: Reader) -> SubscriptionList:
        """List the caller's subscriptions to notifications."""
        return SubscriptionList(subscriptions=subscriptions.of(caller.account))

    @router.post(
        "/account/subscriptions",
        status_code=201,
        responses=problems({429: "Too many attempts to subscribe."}),
    )
    def add(request: Request, caller: Owner, body: WantedSubscription) -> AddedSubscription:
        """Add a webhook or an email address. Also requires `read`, since notifications may be private."""
        _require_read_scope(caller)
        limits.count_subscription(request, caller.account, body.address)
        try:
            secret, added = subscriptions.add(
                caller.account, body.kind, body.address, body.topics, address=address_of(request)
            )
        except (CredentialsChanged, SubscriptionRefused, TooManySubscriptions) as error:
            raise Problem(422, f"{error}.") from error
        return msgspec.convert(asdict(added) | {"secret": secret}, prepared(AddedSubscription))

    @router.patch("/account/subscriptions/{number}")
    def set_topics(request: Request, caller: Owner, number: Number, body: WantedTopics) -> Subscription:
        """Change a subscription's events. Also requires `read`, since notifications may be private."""
        _require_read_scope(caller)
        return _known_or_404(
            subscriptions.set_topics(caller.account, number, body.topics, address=address_of(request))
        )

    @router.post(
        "/account/subscriptions/{number}/test",
        status_code=202,
        responses=problems({409: "The email address is not confirmed.", 429: "Too many tests."}),
    )
    def test(request: Request, caller: Owner, number: Number) -> Subscription:
        """Send a test notification. If the subscription is off, this switches it on again."""
        limits.count_test(request, caller.account)
        try:
            return _known_or_404(subscriptions.test(caller.account, number))
        except NotConfirmed as error:
            raise Problem(409, f"{error}.") from error

    @router.delete("/account/subscriptions/{number}", status_code=204)
    def remove(request: Request, caller: Owner, number: Number) -> None:
        """Remove a subscription."""
        if not subscriptions.remove(caller.account, number, address=address_of(request)):
            raise Problem(404, _MISSING)

    return router


def _require_read_scope(caller: Caller) -> None:
    if Scope.READ not in caller.scopes:
        raise Problem(403, "This request requires the read and submit scopes.")


def _known_or_404(known: Subscription | None) -> Subscription:
    if known is None:
        raise Problem(404, _MISSING)
    return known


def subscription_pages(subscriptions: OwnSubscriptions, limits: RateLimits) -> APIRouter:
    """Return the routes for an account's notifications page. They require a session."""
    router = PageRouter(prefix=_HOME)
    own = _OwnPages(subscriptions, limits)
    router.add_api_route("", own.show)
    router.add_api_route("", own.add, methods=["POST"])
    for path, action in (
        ("/{number}/topics", own.set_topics),
        ("/{number}/test", own.test),
        ("/{number}/remove", own.remove),
    ):
        router.add_form(path, action)
    return router


class _OwnPages:
    """The pages' request handlers."""

    def __init__(self, subscriptions: OwnSubscriptions, limits: RateLimits) -> None:
        self._subscriptions = subscriptions
        self._limits = limits

    def show(self, request: Request, session: Session) -> Response:
        return with_notice(request, lambda notice: self._page(request, session.account, notice=notice))

    def add(
        self,
        request: Request,
        session: Session,
        topics: Topics,
        kind: Annotated[SubscriptionKind, Form()],
        address: Annotated[str, Form(max_length=_MAX_LENGTH)] = "",
    ) -> Response:
        self._limits.count_subscription(request, session.account, address)
        try:
            secret, _ = self._subscriptions.add(
                session.account, kind, address.strip(), topics, address=address_of(request)
            )
        except (CredentialsChanged, SubscriptionRefused, TooManySubscriptions) as error:
            typed = {"address": address, "topics": topics}
            return self._page(request, session.account, wrong=kind, error=str(error), typed=typed)
        if secret is None:
            return redirect_with_notice(request, _HOME, "mail")
        # Like a token's secret, this secret is shown only in this response.
        return page(request, "webhook.html", secret=secret)

    def set_topics(self, request: Request, session: Session, topics: Topics, number: Number) -> Response:
        try:
            found = self._subscriptions.set_topics(
                session.account, number, topics, address=address_of(request)
            )
        except SubscriptionRefused as error:
            return self._page(request, session.account, wrong=str(number), error=str(error))
        return _redirect_or_404(request, found is not None, "topics")

    def test(self, request: Request, session: Session, number: Number) -> Response:
        self._limits.count_test(request, session.account)
        try:
            found = self._subscriptions.test(session.account, number)
        except NotConfirmed as error:
            return self._page(request, session.account, wrong=str(number), error=str(error))
        return _redirect_or_404(request, found is not None, "test")

    def remove(self, request: Request, session: Session, number: Number) -> Response:
        return _redirect_or_404(
            request,
            self._subscriptions.remove(session.account, number, address=address_of(request)),
            "removed",
        )

    def _page(  # noqa: PLR0913 - what the page shows
        self,
        request: Request,
        account: KnownAccount,
        *,
        notice: str = "",
        wrong: str = "",
        error: str = "",
        typed: Mapping[str, object] = _EMPTY,
    ) -> Response:
        """Return the page; ``wrong`` is the name of the form with the error, and ``typed`` is its input."""
        return page(
            request,
            "notifications.html",
            status=422 if error else 200,
            subscriptions=self._subscriptions.of(account),
            sends_mail=self._subscriptions.sends_mail,
            topics=tuple(Topic),
            longest=_MAX_LENGTH,
            notice=notice,
            wrong=wrong,
            error=error,
            typed=typed,
        )


def _redirect_or_404(request: Request, found: bool, notice: str) -> Response:  # noqa: FBT001 - whether the subscription exists
    if not found:
        raise HTTPException(404, _MISSING)
    return redirect_with_notice(request, _HOME, notice)


def mail_pages(subscriptions: Subscriptions, now: Callable[[], datetime]) -> APIRouter:
    """Return the routes for the links in emails. They need no session: the secret in them grants access."""
    router = PageRouter(prefix=MAIL_LINKS)

    # Mail scanners open links, so opening one changes nothing.
    @router.get("/{secret}")
    def show(request: Request, secret: Secret) -> Response:
        request.state.private = True
        found = subscriptions.by_secret(secret)
        if found is None:
            raise HTTPException(404, _ENDED)
        return page(request, "mail.html", subscription=found, done="")

    @router.post("/{secret}")
    def act(
        request: Request,
        secret: Secret,
        action: Annotated[str, Form()] = "",
        one_click: Annotated[str, Form(alias="List-Unsubscribe")] = "",
    ) -> Response:
        request.state.private = True
        if action == "confirm":
            found, done = subscriptions.confirm(secret, now()), "confirmed"
        elif action in set(Topic):
            found, done = subscriptions.unsubscribe(secret, Topic(action)), "topic"
        elif action == "all" or one_click == "One-Click":
            found, done = subscriptions.unsubscribe(secret, None), "all"
        else:
            raise HTTPException(
                422,
                "Nothing was chosen: open the link in the email, and use the buttons on the page that opens.",
            )
        # Repeated requests are fine: mail programs send them, and people click twice.
        if not found and done == "confirmed":
            raise HTTPException(404, _ENDED)
        left = subscriptions.by_secret(secret)
        return page(request, "mail.html", subscription=left, done=done)

    return router
