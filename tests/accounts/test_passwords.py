"""Passwords: which may be chosen, how they are kept, how few are worked on at once."""

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Literal

import pytest
from argon2 import PasswordHasher, Type, extract_parameters

from arena.accounts.errors import Busy, PasswordRefused, WrongCredentials
from arena.accounts.passwords import LONGEST, Passwords, check_new_password, strong_hasher
from tests.accounts.world import CHEAP, PASSWORD, World


@pytest.mark.parametrize(
    "password", [PASSWORD, "x7#kq!zp", "ひみつのことばです", "a b c d e f", "Zq" + "7x" * 127]
)
def test_long_enough_is_good_enough(password: str) -> None:
    """No rules of composition; spaces and all scripts, from 8 to 256 characters."""
    check_new_password(password, "ann")


@pytest.mark.parametrize(
    ("password", "why"),
    [
        ("x7#kq!z", "at least 8"),
        ("xy" * (LONGEST // 2) + "z", "at most 256"),
        ("password1", "most common passwords"),
        ("PassWord1", "most common passwords"),
        ("ann-lovelace1", "account's name"),
        ("Kaiten123", "word of this site"),
        ("abababab", "repeats"),
    ],
)
def test_what_is_guessed_first_is_refused(password: str, why: str) -> None:
    """The reason is given, the password isn't."""
    with pytest.raises(PasswordRefused, match=why) as caught:
        check_new_password(password, "Ann-Lovelace")
    assert password not in str(caught.value)


def test_three_thousand_common_passwords_are_known() -> None:
    """ASVS asks for the 3000 commonest of those that are long enough."""
    from arena.accounts import passwords as password_rules  # noqa: PLC0415 - looks at what the module holds

    assert sum(len(word) >= password_rules.SHORTEST for word in password_rules._common()) >= 3000  # noqa: SLF001


def test_hashes_are_strong_argon2id() -> None:
    """At least what RFC 9106 recommends second, and salted."""
    passwords = Passwords(strong_hasher())
    stored = passwords.hash(PASSWORD)
    parameters = extract_parameters(stored)
    assert (parameters.type, parameters.memory_cost, parameters.time_cost) == (Type.ID, 64 * 1024, 3)
    assert (parameters.hash_len, parameters.salt_len) == (32, 16)
    assert stored != passwords.hash(PASSWORD)
    assert passwords.holds(PASSWORD, stored)
    assert not passwords.holds(PASSWORD + " ", stored)
    # Unknown names take as long: what is checked for them has the same parameters.
    assert extract_parameters(passwords._decoy) == parameters  # noqa: SLF001 - as above


def test_a_login_raises_weak_parameters(world: World) -> None:
    """A hash of old parameters is replaced when its password is known, and still holds."""
    ann = world.add("ann")
    stronger = PasswordHasher(time_cost=2, memory_cost=16, parallelism=1)
    old = world.store.people.account("ann")
    world.store.people.set_password(ann.id, stronger.hash(PASSWORD), world.now)
    before = world.store.people.account("ann")
    assert world.accounts.sessions.check("ann", PASSWORD).account == ann
    after = world.store.people.account("ann")
    assert old is not None
    assert before is not None
    assert after is not None
    assert extract_parameters(before.password).time_cost == 2
    assert extract_parameters(after.password) == extract_parameters(old.password)
    assert world.accounts.sessions.check("ann", PASSWORD).account == ann


class Counting(PasswordHasher):
    """Counts what it verifies."""

    def __init__(self) -> None:
        super().__init__(time_cost=1, memory_cost=8, parallelism=1)
        self.verified = 0

    def verify(self, hash: str | bytes, password: str | bytes) -> Literal[True]:  # noqa: A002 - as the library has it
        """Count, then verify."""
        self.verified += 1
        return super().verify(hash, password)


@pytest.mark.parametrize("name", ["ann", "nobody-of-that-name", "\0", "no name at all", "former-1"])
def test_unknown_names_take_the_same_work(world: World, name: str) -> None:
    """A wrong password, an unknown name, an impossible one, a deleted one: one hash each, the same words."""
    deleted = world.add("ben")
    world.add("ann")
    world.accounts.own.delete(deleted, PASSWORD)
    hasher = Counting()
    sessions = world.with_hasher(hasher).sessions
    with pytest.raises(
        WrongCredentials, match=r"^the name or the password is wrong: check both, and try again$"
    ):
        sessions.check(name, "not the password")
    assert hasher.verified == 1


class Waiting(PasswordHasher):
    """Waits for the test before it hashes."""

    def __init__(self) -> None:
        super().__init__(time_cost=1, memory_cost=8, parallelism=1)
        self.go = threading.Event()
        self.go.set()
        self.inside = 0
        self.most = 0
        self.lock = threading.Lock()

    def hash(self, password: str | bytes, *, salt: bytes | None = None) -> str:
        """Count who is inside, then wait."""
        with self.lock:
            self.inside += 1
            self.most = max(self.most, self.inside)
        self.go.wait()
        try:
            return super().hash(password, salt=salt)
        finally:
            with self.lock:
                self.inside -= 1


def test_few_are_hashed_at_once_and_few_wait() -> None:
    """Two at work, eight behind them; the next is told to come again, and later there is room."""
    hasher = Waiting()
    passwords = Passwords(hasher)
    hasher.go.clear()
    with ThreadPoolExecutor(30) as pool:
        asked = [pool.submit(passwords.hash, PASSWORD) for _ in range(30)]
        while sum(one.done() for one in asked) < 20:
            threading.Event().wait(0.01)
        hasher.go.set()
    refused = [one for one in asked if isinstance(one.exception(), Busy)]
    assert (len(refused), hasher.most) == (20, 2)
    assert CHEAP.verify(passwords.hash(PASSWORD), PASSWORD)
