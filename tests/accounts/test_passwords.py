"""Passwords: which are allowed, how they are stored, and how many are hashed at once."""

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Literal

import pytest
from argon2 import PasswordHasher, Type, extract_parameters

from arena.accounts.errors import Busy, PasswordRefused, WrongCredentials
from arena.accounts.passwords import MAX_LENGTH, Passwords, check_new_password, strong_hasher
from tests.accounts.world import CHEAP, PASSWORD, World
from tests.patience import wait_until


@pytest.mark.parametrize(
    "password", [PASSWORD, "x7#kq!zp", "ひみつのことばです", "a b c d e f", "Zq" + "7x" * 127]
)
def test_long_enough_is_good_enough(password: str) -> None:
    """Any 8 to 256 characters are allowed, spaces and all scripts included, without composition rules."""
    check_new_password(password, "ann")


@pytest.mark.parametrize(
    ("password", "why"),
    [
        ("x7#kq!z", "at least 8"),
        ("xy" * (MAX_LENGTH // 2) + "z", "at most 256"),
        ("password1", "most common passwords"),
        ("PassWord1", "most common passwords"),
        ("ann-lovelace1", "account's name"),
        ("Kaiten123", "word from this site"),
        ("abababab", "repeats"),
    ],
)
def test_passwords_that_are_easy_to_guess_are_refused(password: str, why: str) -> None:
    """The error gives the reason without repeating the password."""
    with pytest.raises(PasswordRefused, match=why) as caught:
        check_new_password(password, "Ann-Lovelace")
    assert password not in str(caught.value)


def test_three_thousand_common_passwords_are_known() -> None:
    """ASVS requires a check against the 3000 most common passwords of sufficient length."""
    from arena.accounts import passwords as password_rules  # noqa: PLC0415 - a private function

    assert sum(len(word) >= password_rules.MIN_LENGTH for word in password_rules._common_passwords()) >= 3000  # noqa: SLF001 - as above


def test_hashes_are_strong_argon2id() -> None:
    """Hashes are salted, and use at least RFC 9106's second recommended parameters."""
    passwords = Passwords(strong_hasher())
    stored = passwords.hash(PASSWORD)
    parameters = extract_parameters(stored)
    assert (parameters.type, parameters.memory_cost, parameters.time_cost) == (Type.ID, 64 * 1024, 3)
    assert (parameters.hash_len, parameters.salt_len) == (32, 16)
    assert stored != passwords.hash(PASSWORD)
    assert passwords.matches(PASSWORD, stored)
    assert not passwords.matches(PASSWORD + " ", stored)
    # The hash that is checked for unknown names has the same parameters, so these take as long as known ones.
    assert extract_parameters(passwords._decoy) == parameters  # noqa: SLF001 - as above


def test_a_login_replaces_outdated_parameters(world: World) -> None:
    """A successful login hashes the password again with the current parameters."""
    ann = world.add("ann")
    stronger = PasswordHasher(time_cost=2, memory_cost=16, parallelism=1)
    old = world.checked(ann)
    world.store.accounts.set_password(ann.id, stronger.hash(PASSWORD), world.now)
    before = world.checked(ann)
    assert world.accounts.sessions.check("ann", PASSWORD).account == ann
    after = world.checked(ann)
    assert extract_parameters(before.password).time_cost == 2
    assert extract_parameters(after.password) == extract_parameters(old.password)
    assert world.accounts.sessions.check("ann", PASSWORD).account == ann


class Counting(PasswordHasher):
    """A hasher that counts its checks."""

    def __init__(self) -> None:
        super().__init__(time_cost=1, memory_cost=8, parallelism=1)
        self.verified = 0

    def verify(self, hash: str | bytes, password: str | bytes) -> Literal[True]:  # noqa: A002 - the library's name
        """Count the check, then verify."""
        self.verified += 1
        return super().verify(hash, password)


@pytest.mark.parametrize("name", ["ann", "nobody-of-that-name", "\0", "no name at all", "former-1"])
def test_unknown_names_take_the_same_work(world: World, name: str) -> None:
    """Wrong passwords and unknown, malformed or deleted names all cost one check and get the same error."""
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


def test_a_user_who_is_logged_in_confirms_only_the_password(world: World) -> None:
    """The error doesn't mention the name, which the user wasn't asked for."""
    ann, sessions = world.add("ann"), world.accounts.sessions
    assert sessions.confirm(ann, PASSWORD).account == ann
    with pytest.raises(WrongCredentials, match=r"^the password is wrong: check it, and try again$"):
        sessions.confirm(ann, "not the password")


class Waiting(PasswordHasher):
    """A hasher that waits for the test before it hashes."""

    def __init__(self) -> None:
        super().__init__(time_cost=1, memory_cost=8, parallelism=1)
        self.go = threading.Event()
        self.go.set()
        self.inside = 0
        self.most = 0
        self.lock = threading.Lock()

    def hash(self, password: str | bytes, *, salt: bytes | None = None) -> str:
        """Count the concurrent calls, then wait."""
        with self.lock:
            self.inside += 1
            self.most = max(self.most, self.inside)
        self.go.wait()
        try:
            return super().hash(password, salt=salt)
        finally:
            with self.lock:
                self.inside -= 1


def test_hashing_is_limited_and_has_a_short_queue() -> None:
    """Two passwords are hashed at once and eight wait; more are refused as busy until there is room."""
    hasher = Waiting()
    passwords = Passwords(hasher)
    hasher.go.clear()
    with ThreadPoolExecutor(30) as pool:
        asked = [pool.submit(passwords.hash, PASSWORD) for _ in range(30)]
        wait_until(lambda: sum(one.done() for one in asked) >= 20, "refusals")
        hasher.go.set()
    refused = [one for one in asked if isinstance(one.exception(), Busy)]
    assert (len(refused), hasher.most) == (20, 2)
    assert CHEAP.verify(passwords.hash(PASSWORD), PASSWORD)
