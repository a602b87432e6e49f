"""Rate limits, counted in the database so that all processes share them."""

import re
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from hashlib import sha256
from ipaddress import IPv6Address, ip_address, ip_network
from threading import Lock
from typing import Final

from fastapi import Request

from arena.accounts.accounts import Accounts
from arena.accounts.errors import WrongCredentials
from arena.db.credentials import KnownAccount, OpenSession
from arena.db.rate_limits import RateLimit, RateLimitExceeded, RateLimitRepository
from web.http.authentication import Caller, browser_mark
from web.http.errors import too_many_requests

_NETWORK: Final = 48
"""Length of an IPv6 prefix that a provider may assign to one customer (65,536 /64 networks)."""


def address_of(request: Request) -> str:
    """Return the visitor's address, even behind a trusted proxy."""
    return request.client.host if request.client else ""


def network_of_host(host: str) -> str:
    """Return what an address counts as for rate limiting: for IPv6, its /48, which one person may control."""
    try:
        address = ip_address(host)
    except ValueError:
        return host
    if isinstance(address, IPv6Address):
        if address.ipv4_mapped is not None:
            return str(address.ipv4_mapped)
        return str(ip_network((address, _NETWORK), strict=False))
    return host


def network_of_visitor(request: Request) -> str:
    """Return what the visitor counts as for rate limiting: an IPv4 address or an IPv6 network."""
    return network_of_host(address_of(request))


_QUARTER: Final = timedelta(minutes=15)
_HOUR: Final = timedelta(hours=1)
_DAY: Final = timedelta(days=1)
_MAX_NAME_LENGTH: Final = 64
_MAX_ADDRESS_LENGTH: Final = 500
_MAX_REMEMBERED: Final = 10_000
"""Maximum number of exhausted limits that this process remembers."""


class RateLimits:
    """Refuses attempts beyond the limits, before a password is checked. Thread-safe.

    Refused logins are recorded in the audit log, once per window.
    """

    def __init__(
        self, counters: RateLimitRepository, accounts: Accounts, now: Callable[[], datetime]
    ) -> None:
        self._counters = counters
        self._accounts = accounts
        self._now = now
        self._lock = Lock()
        self._exhausted: OrderedDict[str, datetime] = OrderedDict()

    @contextmanager
    def count_login(self, request: Request, name: str) -> Iterator[None]:
        """Count the login attempt made in the ``with`` block. Some limits count only wrong passwords.

        Browsers that have logged in to the account have their own limits, so other people's attempts can't
        lock them out. Raises Problem (429) after too many attempts.
        """
        # Count before the password is checked, so that simultaneous attempts can't exceed a limit.
        failure_limits = self._count_login(request, name)
        is_wrong = False
        try:
            yield
        except WrongCredentials:
            is_wrong = True
            raise
        finally:
            if not is_wrong:
                self._uncount(failure_limits)

    def _count_login(self, request: Request, name: str) -> tuple[RateLimit, ...]:
        """Count an attempt to log in; return the limits that count only wrong passwords.

        Raises Problem (429) after too many attempts.
        """
        address, source = address_of(request), network_of_visitor(request)
        key, browser = name.lower()[:_MAX_NAME_LENGTH], browser_mark(request)

        def refused() -> None:
            self._accounts.sessions.record_lockout(name, address)

        if browser and self._accounts.sessions.is_known_browser(name, browser):
            with_browser = _limit(10, _HOUR, "log in", "with", browser)
            # Correct passwords count towards the second limit too, since checking any password requires an
            # expensive hash.
            self._count(
                "to log in", with_browser, _limit(20, _QUARTER, "log in", "known to", key), refused=refused
            )
            return (with_browser,)
        # Correct passwords count towards the first limit here, for the same reason. It is high, because a
        # classroom may share one address.
        from_source = _limit(100, _QUARTER, "log in", "from", source)
        from_source_to_name = _limit(10, _QUARTER, "log in", "from", source, "to", key)
        self._count("to log in", from_source, from_source_to_name, refused=refused)
        # Owners usually log in from an address that has sent few wrong passwords that day. Some attempts per
        # name are reserved for such addresses, and guessers need ever more addresses to use them up. An
        # address has one counter for all names, so that made-up names don't multiply the counters.
        reserved = (
            _limit(3, _DAY, "log in", "first from", source),
            _limit(60, _HOUR, "log in", "first to", key),
        )
        if self._count_if_within(*reserved):
            return (from_source_to_name, *reserved)
        # This limit counts all other attempts, from any address. A higher one would help guessers.
        to_name = _limit(30, _HOUR, "log in", "to", key)
        self._count("to log in", to_name, refused=refused)
        return (from_source_to_name, to_name)

    def confirm_password(self, session: OpenSession) -> None:
        """Count a password attempt within a session; attempts outside it don't count here.

        Raises Problem (429) after too many attempts.
        """
        self._count("to confirm the password", _limit(10, _QUARTER, "session", *_name_of(session)))

    def count_change(self, caller: Caller) -> None:
        """Count a request to change data. Raises Problem (429) if there are too many.

        Without a limit, one account could slow down the site and fill the database. Each session has its own
        limit, so that someone with a stolen token can't keep the owner from revoking it.
        """
        by = (
            ("tokens of", str(caller.account.id))
            if caller.session is None
            else ("session", *_name_of(caller.session))
        )
        self._count("to change data", _limit(300, _HOUR, "change", *by))

    def count_registration(self, request: Request) -> None:
        """Count an attempt to register. Raises Problem (429) after too many attempts."""
        source = network_of_visitor(request)
        self._count("to register", _limit(50, _HOUR, "register", "from", source))

    def count_game(self, request: Request) -> None:
        """Count a game against bots. Raises Problem (429) if there are too many."""
        source = network_of_visitor(request)
        self._count("to start a game", _limit(200, _HOUR, "play", "from", source))

    def count_subscription(self, request: Request, account: KnownAccount, address: str) -> None:
        """Count a new subscription for an address. Raises Problem (429) if there are too many.

        These limits stop anyone from flooding other people's mailboxes with confirmation requests, even with
        many accounts.
        """
        to = _mailbox(address.strip().lower()[:_MAX_ADDRESS_LENGTH])
        self._count(
            "to subscribe",
            _limit(10, _HOUR, "subscribe", "as", str(account.id)),
            _limit(30, _DAY, "subscribe", "from", network_of_visitor(request)),
            _limit(5, _DAY, "subscribe", "to", to),
        )

    def count_test(self, request: Request, account: KnownAccount) -> None:
        """Count a test of a subscription. Raises Problem (429) if there are too many."""
        self._count(
            "to send a test message",
            _limit(20, _HOUR, "test", "as", str(account.id)),
            _limit(60, _HOUR, "test", "from", network_of_visitor(request)),
        )

    def _count(self, what: str, *limits: RateLimit, refused: Callable[[], None] = lambda: None) -> None:
        """Count an attempt; call ``refused`` once per window, at the first attempt beyond a limit."""
        now = self._now()
        exceeded = self._known_exceeded(limits, now) or self._attempt(limits, now)
        if exceeded is None:
            return
        if exceeded.is_first:
            refused()
        raise too_many_requests(f"Too many attempts {what}.", exceeded.wait)

    def _count_if_within(self, *limits: RateLimit) -> bool:
        """Count an attempt and return True, or count nothing and return False if it exceeds a limit."""
        now = self._now()
        if self._known_exceeded(limits, now) is not None:
            return False
        exceeded = self._attempt(limits, now)
        if exceeded is not None:
            self._counters.uncount(limits[: limits.index(exceeded.limit) + 1])
        return exceeded is None

    def _uncount(self, limits: tuple[RateLimit, ...]) -> None:
        """Uncount an attempt, and forget which limits are exhausted: the attempt may have exhausted them."""
        self._counters.uncount(limits)
        with self._lock:
            for limit in limits:
                self._exhausted.pop(limit.key, None)

    def _known_exceeded(self, limits: tuple[RateLimit, ...], now: datetime) -> RateLimitExceeded | None:
        """Return the first limit known to be exceeded, so that further attempts cost no transaction."""
        with self._lock:
            for limit in limits:
                ends = self._exhausted.get(limit.key, now)
                if ends > now:
                    return RateLimitExceeded(limit=limit, wait=ends - now, is_first=False)
                self._exhausted.pop(limit.key, None)
        return None

    def _attempt(self, limits: tuple[RateLimit, ...], now: datetime) -> RateLimitExceeded | None:
        exceeded = self._counters.count(limits, now)
        if exceeded is not None:
            with self._lock:
                self._exhausted[exceeded.limit.key] = now + exceeded.wait
                while len(self._exhausted) > _MAX_REMEMBERED:
                    self._exhausted.popitem(last=False)
        return exceeded


def _mailbox(address: str) -> str:
    """Return an address without its tag, if it is an email address such as ``ann+tag@mail.example``."""
    return re.sub(r"\+[^@/]*(?=@[^@/]+$)", "", address)


def _limit(max_attempts: int, window: timedelta, *what: str) -> RateLimit:
    key = sha256("\0".join(what).encode("utf-8", "surrogatepass")).hexdigest()
    return RateLimit(key=key, max_attempts=max_attempts, window=window)


def _name_of(session: OpenSession) -> tuple[str, str]:
    """Return a key that no other session has. SQLite reuses the highest id once its session was deleted."""
    return str(session.id), session.created.isoformat()
