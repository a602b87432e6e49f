"""Browser sessions and API tokens, and the audit entries for their use.

A session's cookie contains only an opaque secret. Everything else is in the store. Tokens have scopes,
expire, can be revoked, and are shown only once.
"""

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from hashlib import sha256
from hmac import compare_digest
from hmac import digest as mac_of
from typing import Final

from arena.accounts.errors import TokenRefused, WrongCredentials
from arena.accounts.passwords import Passwords, encoded
from arena.db.accounts import AccountRepository, StoredPassword
from arena.db.audit import NewAuditEntry
from arena.db.credentials import Credentials, KnownAccount, KnownToken, NewApiToken, NewSession, OpenSession
from arena.db.errors import CredentialsChanged
from arena.platform.names import WrongName, check_name
from arena.platform.text import plain
from arena.protocol.states import Role, Scope


class AccountAction(StrEnum):
    """An action by a user or visitor, for the audit log."""

    REGISTER = "register"
    LOG_IN = "log-in"
    FAIL = "log-in-failed"
    """A wrong password or an unknown name, at login or when the account page asks for the password."""
    LOCK = "log-in-locked"
    """Too many attempts. Further attempts are refused for a while."""
    MAKE_TOKEN = "make-token"  # noqa: S105 - not a secret
    REVOKE_TOKEN = "revoke-token"  # noqa: S105 - as above
    CHANGE_PASSWORD = "change-password"  # noqa: S105 - as above
    SUBSCRIBE = "subscribe"
    CHANGE_SUBSCRIPTION = "change-subscription"
    UNSUBSCRIBE = "unsubscribe"
    DELETE = "delete-account"


def by_account(
    at: datetime, what: AccountAction, account: str, address: str, detail: str = ""
) -> NewAuditEntry:
    """Return the entry for an action by a user who is logged in or logging in."""
    return NewAuditEntry(at=at, who=account, what=what, detail=detail, address=address)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """Sources of time and secrets."""

    now: Callable[[], datetime]  # UTC
    new_secret: Callable[[], str]  # 256 unpredictable bits, as letters, digits, - and _
    new_pseudonym: Callable[[], str]  # a name for a deleted account, different each time


def hash_of(secret: str) -> str:
    """Return the SHA-256 hash of a secret, for storage. 256 random bits need no salt and no slow hash."""
    return sha256(encoded(secret)).hexdigest()


MAX_AGE: Final = timedelta(days=30)
"""Maximum age of a session."""

MAX_IDLE: Final = timedelta(days=7)
"""Maximum time between two uses of a session."""

KNOWN_BROWSER_TIME: Final = timedelta(days=180)
"""Time for which a browser counts as known after it has logged in to an account."""

_SEEN_INTERVAL: Final = timedelta(minutes=10)
_MAX_BROWSER_LENGTH: Final = 200


class Sessions:
    """Logs users in and out."""

    def __init__(
        self, repository: AccountRepository, credentials: Credentials, passwords: Passwords, sources: Sources
    ) -> None:
        self._repository = repository
        self._credentials = credentials
        self._passwords = passwords
        self._sources = sources

    def check(self, name: str, password: str, *, address: str = "") -> StoredPassword:
        """Return the account with this name (case-insensitive) and password, and replace an outdated hash.

        An action that needs the password must pass the returned hash to the store, so that the action fails
        if the password has been changed in the meantime. A failed check is recorded in the audit log with
        ``address``. Raises Busy, or WrongCredentials if no account matches. Checking an unknown name takes as
        long as checking a wrong password.
        """
        found = self._account(name)
        if not self._passwords.matches(password, None if found is None else found.password) or found is None:
            self._record_refusal(AccountAction.FAIL, found, address)
            raise WrongCredentials("the name or the password is wrong: check both, and try again")
        if not self._passwords.is_outdated(found.password):
            return found
        new = self._passwords.hash(password)
        if self._repository.rehash(found.account.id, found.password, new):
            return replace(found, password=new)
        return self.check(name, password, address=address)  # another login or the owner replaced the hash

    def confirm(self, account: KnownAccount, password: str, *, address: str = "") -> StoredPassword:
        """Check the password of a user who is already logged in. See :meth:`check`."""
        try:
            return self.check(account.name, password, address=address)
        except WrongCredentials as error:
            raise WrongCredentials("the password is wrong: check it, and try again") from error

    def open(
        self, checked: StoredPassword, browser: str, *, instead_of: str | None, address: str = ""
    ) -> str:
        """Open a session for an account whose password has been checked, and return the session's secret.

        ``instead_of`` is the browser's earlier secret, which stops working. ``browser`` is the User-Agent.
        ``address`` is the client's address, for the audit log. Raises WrongCredentials if the password has
        been changed since it was checked.
        """
        account = checked.account
        now = self._sources.now()
        self._credentials.end_old_sessions(created_before=now - MAX_AGE, seen_before=now - MAX_IDLE)
        secret = self._sources.new_secret()
        with unless_changed():
            self._credentials.open_session(
                NewSession(
                    account=account.id,
                    hash=hash_of(secret),
                    browser=browser[:_MAX_BROWSER_LENGTH],
                    created=now,
                ),
                password=checked.password,
                instead_of=None if instead_of is None else hash_of(instead_of),
                entry=by_account(now, AccountAction.LOG_IN, account.name, address),
            )
        return secret

    def find(self, secret: str) -> OpenSession | None:
        """Return the open session with this secret, or None."""
        found = self._credentials.session(hash_of(secret))
        now = self._sources.now()
        if found is None or _has_ended(found, now):
            return None
        if now - found.seen >= _SEEN_INTERVAL:
            self._credentials.session_seen(found.id, now)
        return found

    def record_lockout(self, name: str, address: str) -> None:
        """Record in the audit log that a name or an address has reached its limit on login attempts."""
        self._record_refusal(AccountAction.LOCK, self._account(name), address)

    def known_browser_mark(self, checked: StoredPassword) -> str:
        """Return a new mark for a browser that has just logged in. See :meth:`is_known_browser`."""
        issued = f"{self._sources.now().timestamp():.0f}.{self._sources.new_secret()}"
        return f"{issued}.{_mac(checked.password, issued)}"

    def is_known_browser(self, name: str, mark: str) -> bool:
        """Return True if a browser with this mark has logged in to the account with its current password.

        Marks are not stored. A mark is authenticated with the password's hash, whose salt can't be guessed.
        The mark expires after ``KNOWN_BROWSER_TIME``, or when the hash is replaced.
        """
        found = self._account(name)
        issued, _, mac = mark.rpartition(".")
        if found is None or not compare_digest(_mac(found.password, issued).encode(), encoded(mac)):
            return False
        made_at = datetime.fromtimestamp(int(issued.partition(".")[0]), UTC)
        return self._sources.now() < made_at + KNOWN_BROWSER_TIME

    def end(self, secret: str) -> None:
        """End the session with this secret."""
        self._credentials.end_session(hash_of(secret))

    def of(self, account: KnownAccount) -> tuple[OpenSession, ...]:
        """Return an account's open sessions, most recently used first."""
        now = self._sources.now()
        sessions = self._credentials.sessions(account.id)
        return tuple(session for session in sessions if not _has_ended(session, now))

    def end_of(self, account: KnownAccount, session: int) -> bool:
        """End a session of an account; return False if the account has no session with that id."""
        return self._credentials.end_session_of(account.id, session)

    def _account(self, name: str) -> StoredPassword | None:
        """Return the account with this name, or None if there is none or the name is invalid."""
        try:
            check_name(name, "account")
        except WrongName:
            return None
        return self._repository.account(name)

    def _record_refusal(self, what: AccountAction, found: StoredPassword | None, address: str) -> None:
        """Record a failed or refused login; ``found`` is None if no account has the name.

        An unknown name is not recorded, because it may be a password typed into the wrong field.
        """
        subject = "" if found is None else f"account:{found.account.name}"
        entry = NewAuditEntry(at=self._sources.now(), who="", what=what, subject=subject, address=address)
        self._repository.record(entry)


def _has_ended(session: OpenSession, now: datetime) -> bool:
    return now >= min(session.created + MAX_AGE, session.seen + MAX_IDLE)


@contextmanager
def unless_changed() -> Iterator[None]:
    """Turn the store's CredentialsChanged into WrongCredentials."""
    try:
        yield
    except CredentialsChanged as error:
        raise WrongCredentials(str(error)) from error


def _mac(password: str, issued: str) -> str:
    return mac_of(encoded(password), b"known browser\0" + encoded(issued), "sha256").hex()


PREFIX: Final = "kaiten_"
"""Prefix of every token, by which people and scanners recognise leaked tokens."""

MAX_DAYS: Final = 366
MAX_TOKENS: Final = 20
NAME_LENGTH: Final = 60

_SHOWN_LENGTH: Final = len(PREFIX) + 4
_USED_INTERVAL: Final = timedelta(minutes=1)


def scopes_of(role: Role) -> frozenset[Scope]:
    """Return the scopes that a token can have if its account has this role."""
    return frozenset(Scope) if role is Role.OPERATOR else frozenset(Scope) - {Scope.OPERATE}


@dataclass(frozen=True, slots=True, kw_only=True)
class Bearer:
    """A request's token and its account."""

    account: KnownAccount
    token: KnownToken
    scopes: frozenset[Scope]  # the token's scopes that the account's role still allows


class Tokens:
    """Creates, finds and revokes tokens."""

    def __init__(self, credentials: Credentials, sources: Sources) -> None:
        self._credentials = credentials
        self._sources = sources

    def create(  # noqa: PLR0913 - a token's properties
        self,
        account: KnownAccount,
        *,
        name: str,
        scopes: Collection[Scope],
        days: int,
        by: StoredPassword | Bearer | None = None,
        address: str = "",
    ) -> tuple[str, KnownToken]:
        """Create a token. Return its secret, which can't be read again, and its description.

        ``by`` is the password or the token that authorises the request. If it is a token, the new token can't
        have scopes that ``by`` lacks, or expire later than ``by``. ``address`` is the client's address, for
        the audit log. Raises TooManyTokens; TokenRefused if the name, a scope or the lifetime is missing or
        not allowed; or WrongCredentials if ``by`` is no longer valid.
        """
        name = plain(name)[:NAME_LENGTH]
        parent = by if isinstance(by, Bearer) else None
        allowed = scopes_of(account.role) if parent is None else parent.scopes
        if not name:
            raise TokenRefused("give the token a name, such as the name of the machine that will use it")
        if not scopes:
            raise TokenRefused("choose at least one scope for the token")
        if excess := sorted(set(scopes) - allowed):
            raise TokenRefused(f"this account or token lacks these scopes: {', '.join(excess)}")
        if not 1 <= days <= MAX_DAYS:
            raise TokenRefused(
                f"a token can be valid for 1 to {MAX_DAYS} days: choose a number in this range"
            )
        now = self._sources.now()
        expires = now + timedelta(days=days)
        secret = PREFIX + self._sources.new_secret()
        new = NewApiToken(
            account=account.id,
            name=name,
            prefix=secret[:_SHOWN_LENGTH],
            hash=hash_of(secret),
            scopes=tuple(sorted(set(scopes))),
            created=now,
            expires=expires if parent is None else min(expires, parent.token.expires),
        )
        entry = by_account(
            now, AccountAction.MAKE_TOKEN, account.name, address, f"{new.prefix}… for {', '.join(new.scopes)}"
        )
        with unless_changed():
            return secret, self._credentials.add_token(
                new,
                max_tokens=MAX_TOKENS,
                password=by.password if isinstance(by, StoredPassword) else None,
                by=None if parent is None else parent.token.id,
                entry=entry,
            )

    def find(self, secret: str) -> Bearer | None:
        """Return the token with this secret and its account, or None if the secret is invalid."""
        found = self._credentials.token(hash_of(secret))
        now = self._sources.now()
        if found is None or not found[0].works(now):
            return None
        token, account = found
        if token.last_used is None or now - token.last_used >= _USED_INTERVAL:
            self._credentials.token_used(token.id, now)
        known = frozenset(Scope(scope) for scope in token.scopes)
        return Bearer(account=account, token=token, scopes=known & scopes_of(account.role))

    def of(self, account: KnownAccount) -> tuple[KnownToken, ...]:
        """Return an account's valid tokens, newest first."""
        now = self._sources.now()
        return tuple(token for token in self._credentials.tokens(account.id) if token.works(now))

    def revoke(self, account: KnownAccount, token: int, *, address: str = "") -> bool:
        """Revoke an account's token; return False if the account has no unrevoked token with that id."""
        now = self._sources.now()
        entry = by_account(now, AccountAction.REVOKE_TOKEN, account.name, address, f"token {token}")
        return self._credentials.revoke_token(account.id, token, now, entry=entry)
