"""Rate limits of log-ins and registrations, counted in the database so that all processes share them."""

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
from arena.db.people import People, RateLimit
from web.http.authentication import browser_mark
from web.http.errors import Problem, too_much

_NETWORK: Final = 64


def address_of(request: Request) -> str:
    """Return the client's address; behind a trusted proxy, the visitor's."""
    return request.client.host if request.client else ""


def network_of(host: str) -> str:
    """Return the source of an address: for IPv6 its /64, since one host has all addresses in it."""
    try:
        address = ip_address(host)
    except ValueError:
        return host
    if isinstance(address, IPv6Address):
        if address.ipv4_mapped is not None:
            return str(address.ipv4_mapped)
        return str(ip_network((address, _NETWORK), strict=False))
    return host


_QUARTER: Final = timedelta(minutes=15)
_HOUR: Final = timedelta(hours=1)
_DAY: Final = timedelta(days=1)
_LONGEST_NAME: Final = 64
_LONGEST_ADDRESS: Final = 500
_MOST_FULL: Final = 10_000
"""Maximum number of full windows that this process remembers."""


class RateLimits:
    """Refuses attempts beyond the limits, before a password is checked. Thread-safe.

    Refusals go to the audit log.
    """

    def __init__(self, people: People, accounts: Accounts, now: Callable[[], datetime]) -> None:
        self._people = people
        self._accounts = accounts
        self._now = now
        self._lock = Lock()
        self._full: OrderedDict[str, datetime] = OrderedDict()

    @contextmanager
    def log_in(self, request: Request, name: str) -> Iterator[None]:
        """Count the attempt to log in that the context makes; some limits count only wrong passwords.

        A browser that has logged in to the account has its own limits: nobody else can lock it out. Raises
        Problem (429) after too many attempts.
        """
        address, key, mark = address_of(request), name.lower()[:_LONGEST_NAME], browser_mark(request)
        source = network_of(address)
        limits: tuple[RateLimit, ...]
        of_failures: tuple[RateLimit, ...]
        if mark and self._accounts.sessions.knows(name, mark):
            with_it = _limit(10, _HOUR, "log in", "with", mark)
            # Right passwords count here too, since each attempt costs a hash.
            limits = (with_it, _limit(20, _QUARTER, "log in", "known to", key))
            of_failures = limits[:1]
        else:
            limits = (
                # Right passwords count, as above. A classroom behind one router is one address.
                _limit(100, _QUARTER, "log in", "from", source),
                _limit(10, _QUARTER, "log in", "from", source, "to", key),
                _limit(50, _HOUR, "log in", "to", key),  # from all addresses; more would help guessing
            )
            of_failures = limits[1:]
        # Counted before the password is checked: attempts at the same moment can't exceed a limit.
        self._count("to log in", *limits, refused=lambda: self._accounts.sessions.locked(name, address))
        is_wrong = False
        try:
            yield
        except WrongCredentials:
            is_wrong = True
            raise
        finally:
            if not is_wrong:
                self._people.take_back(of_failures)

    def once_more(self, session: OpenSession) -> None:
        """Count a password attempt within a session; attempts elsewhere don't count.

        Raises Problem (429) after too many attempts.
        """
        self._count("at the password", _limit(10, _QUARTER, "session", str(session.id)))

    def register(self, request: Request) -> None:
        """Count an attempt to register. Raises Problem (429) after too many attempts."""
        source = network_of(address_of(request))
        self._count("to register", _limit(50, _HOUR, "register", "from", source))

    def play(self, request: Request) -> None:
        """Count a game against bots. Raises Problem (429) after too many."""
        source = network_of(address_of(request))
        self._count("to play", _limit(200, _HOUR, "play", "from", source))

    def subscribe(self, account: KnownAccount, address: str) -> None:
        """Count a new subscription, and what is sent to its address. Raises Problem (429) after too many.

        The limit per address protects mailboxes from repeated requests to confirm.
        """
        to = address.lower()[:_LONGEST_ADDRESS]
        self._count(
            "to subscribe",
            _limit(10, _HOUR, "subscribe", "as", str(account.id)),
            _limit(5, _DAY, "subscribe", "to", to),
        )

    def test(self, account: KnownAccount) -> None:
        """Count a test of a subscription. Raises Problem (429) after too many."""
        self._count("to test", _limit(20, _HOUR, "test", "as", str(account.id)))

    def _count(self, what: str, *limits: RateLimit, refused: Callable[[], None] = lambda: None) -> None:
        """Count an attempt; call ``refused`` once per window, at the first attempt beyond a limit."""
        now = self._now()
        # Check before counting: repeated attempts beyond the limit then cost no transaction.
        for limit in limits:
            if (ends := self._full_until(limit.key, now)) is not None:
                raise _too_many(what, ends - now)
        passed = self._people.attempt(limits, now)
        if passed is None:
            return
        self._remember(passed.limit.key, now + passed.wait)
        if passed.is_first:
            refused()
        raise _too_many(what, passed.wait)

    def _full_until(self, key: str, now: datetime) -> datetime | None:
        with self._lock:
            ends = self._full.get(key)
            if ends is not None and ends <= now:
                del self._full[key]
                return None
            return ends

    def _remember(self, key: str, ends: datetime) -> None:
        with self._lock:
            self._full[key] = ends
            while len(self._full) > _MOST_FULL:
                self._full.popitem(last=False)


def _limit(most: int, window: timedelta, *what: str) -> RateLimit:
    key = sha256("\0".join(what).encode("utf-8", "surrogatepass")).hexdigest()
    return RateLimit(key=key, most=most, window=window)


def _too_many(what: str, wait: timedelta) -> Problem:
    return too_much(f"Too many attempts {what}.", wait)
