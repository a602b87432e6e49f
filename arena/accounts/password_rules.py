"""Which passwords may be chosen: length, and not what is guessed first. No rules of composition."""

from typing import Final

from zxcvbn.frequency_lists import FREQUENCY_LISTS

from arena.accounts.errors import PasswordRefused

SHORTEST: Final = 8
"""ASVS 5.0, 6.2.1. Its recommendation, 15 and more, stands on the pages."""

LONGEST: Final = 256

_COMMON: Final = frozenset(FREQUENCY_LISTS["passwords"])
_WORDS: Final = ("kaiten", "sushi", "arena", "chopsticks", "password", "passwort", "qwertyui")
"""What is guessed first here: a password that is little more than one of these is refused."""

_MORE: Final = 4


def check_new_password(password: str, name: str) -> None:
    """Make sure that a new password can't be guessed at once.

    Args:
        password: As it was typed; it is never changed.
        name: Of the account.

    Raises:
        PasswordRefused: It says why, and not what the password is.
    """
    if len(password) < SHORTEST:
        raise PasswordRefused(f"use at least {SHORTEST} characters for the password; 15 or more are better")
    if len(password) > LONGEST:
        raise PasswordRefused(f"use at most {LONGEST} characters for the password")
    folded = password.lower()
    if folded in _COMMON:
        raise PasswordRefused("this password is among those that are guessed first: choose another")
    for word in (name.lower(), *_WORDS):
        if word in folded and len(folded) - len(word) < _MORE:
            raise PasswordRefused(
                "this password is little more than the account's name or a word of this site, which are "
                "guessed first: choose another"
            )
    if len(set(folded)) <= _MORE // 2:
        raise PasswordRefused("this password repeats one or two characters: choose another")
