"""How often somebody may try. Counted in the memory of this process: a restart forgets it."""

import time
from datetime import timedelta
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Final

from fastapi import Request
from limits import RateLimitItem, RateLimitItemPerHour, RateLimitItemPerMinute
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter

from web.problems import too_much

NAME_FROM_ADDRESS: Final = RateLimitItemPerMinute(10, 15)
"""Attempts to log in to one account from one address."""

NAME: Final = RateLimitItemPerHour(50)
"""Attempts to log in to one account from anywhere: more would help to guess, fewer to lock its owner out."""

ADDRESS: Final = RateLimitItemPerMinute(100, 15)
"""Attempts to log in from one address. A classroom behind one router is one address."""

REGISTER: Final = RateLimitItemPerHour(50)
"""Attempts to register from one address."""

_NETWORK: Final = 64


class Attempts:
    """Counts attempts and refuses those beyond the limits."""

    def __init__(self) -> None:
        self._limiter = MovingWindowRateLimiter(MemoryStorage())

    def log_in(self, request: Request, name: str) -> None:
        """Count an attempt at a password.

        Raises:
            Problem: 429, there have been too many.
        """
        address, key = _address(request), name.lower()[:_NETWORK]
        self._hit(NAME_FROM_ADDRESS, "log in", key, address)
        self._hit(ADDRESS, "log in", address)
        self._hit(NAME, "log in", key)

    def register(self, request: Request) -> None:
        """Count an attempt to register.

        Raises:
            Problem: 429, there have been too many.
        """
        self._hit(REGISTER, "register", _address(request))

    def _hit(self, limit: RateLimitItem, what: str, *keys: str) -> None:
        if self._limiter.hit(limit, what, *keys):
            return
        again = self._limiter.get_window_stats(limit, what, *keys).reset_time
        raise too_much(f"There were too many attempts to {what}.", timedelta(seconds=again - time.time()))


def _address(request: Request) -> str:
    """Return who asks; of IPv6 the network, since one machine has all addresses of it."""
    host = request.client.host if request.client else ""
    try:
        address = ip_address(host)
    except ValueError:
        return host
    if isinstance(address, IPv6Address):
        return str(ip_network((address, _NETWORK), strict=False))
    return host
