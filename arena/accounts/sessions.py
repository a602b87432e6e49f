"""Browsers that are logged in: an opaque secret in a cookie, everything else in the store."""

from datetime import timedelta
from typing import Final

from arena.accounts.errors import WrongCredentials
from arena.accounts.passwords import Passwords
from arena.accounts.sources import Sources, hash_of
from arena.names import WrongName, check_name
from arena.store import KnownAccount, NewSession, OpenSession, People

LIFE: Final = timedelta(days=30)
"""After that a session ends, however much it is used."""

IDLE: Final = timedelta(days=7)
"""After that a session that is not used ends."""

_NOTED_EVERY: Final = timedelta(minutes=10)
_BROWSER: Final = 200


class Sessions:
    """Logs people in and out.

    Args:
        people: Where sessions are kept.
        passwords: Checks the passwords.
        sources: Time and secrets.
    """

    def __init__(self, people: People, passwords: Passwords, sources: Sources) -> None:
        self._people = people
        self._passwords = passwords
        self._sources = sources

    def check(self, name: str, password: str) -> KnownAccount:
        """Return the account with this name and password; a hash of old parameters is replaced.

        Raises:
            Busy: Too many passwords are being checked.
            WrongCredentials: There is none. Finding out takes the same work for every reason.
        """
        found = self._people.account(name) if _is_name(name) else None
        if not self._passwords.holds(password, None if found is None else found.password) or found is None:
            raise WrongCredentials("name or password is wrong")
        if self._passwords.is_outdated(found.password):
            self._people.rehash(found.account.id, found.password, self._passwords.hash(password))
        return found.account

    def open(self, account: KnownAccount, browser: str, *, instead_of: str | None) -> str:
        """Open a session and return its secret, which was never seen before.

        Args:
            account: Whose; the caller has made sure of that.
            browser: What it calls itself.
            instead_of: The secret that it had before, which is good for nothing from now on.
        """
        now = self._sources.now()
        self._people.end_old_sessions(created_before=now - LIFE, seen_before=now - IDLE)
        secret = self._sources.new_secret()
        self._people.open_session(
            NewSession(account=account.id, hash=hash_of(secret), browser=browser[:_BROWSER], created=now),
            instead_of=None if instead_of is None else hash_of(instead_of),
        )
        return secret

    def find(self, secret: str) -> OpenSession | None:
        """Return the session of a secret, or None where there is none or it has ended."""
        found = self._people.session(hash_of(secret))
        now = self._sources.now()
        if found is None or now >= min(found.created + LIFE, found.seen + IDLE):
            return None
        if now - found.seen >= _NOTED_EVERY:
            self._people.session_seen(found.id, now)
        return found

    def end(self, secret: str) -> None:
        """End the session of a secret."""
        self._people.end_session(hash_of(secret))

    def of(self, account: KnownAccount) -> tuple[OpenSession, ...]:
        """Return the sessions of an account that have not ended, the one that was seen last first."""
        now = self._sources.now()
        return tuple(
            session
            for session in self._people.sessions(account.id)
            if now < min(session.created + LIFE, session.seen + IDLE)
        )

    def end_of(self, account: KnownAccount, session: int) -> bool:
        """End one of an account's own sessions; False where it has none of that id."""
        return self._people.end_session_of(account.id, session)


def _is_name(name: str) -> bool:
    try:
        check_name(name, "account")
    except WrongName:
        return False
    return True
