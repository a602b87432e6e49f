"""What the commands of operators have in common: the store, who acts, and the audit log."""

import os
import pwd
from collections.abc import Iterator
from contextlib import closing, contextmanager

from arena.accounts import AccountError, open_accounts
from arena.accounts.operators import Operators
from arena.bootstrap import CannotStart, open_results
from arena.cli.console import fail
from arena.names import WrongName
from arena.operators import OperationRefused
from arena.settings import Settings, WrongSettings, read_settings
from arena.store import Store, StoreError


@contextmanager
def opened_arena() -> Iterator[tuple[Settings, Store]]:
    """Give an arena's settings and store; what is refused or fails becomes a sentence and an exit code."""
    try:
        settings = read_settings()
        with closing(open_results(settings)) as store:
            yield settings, store
    except (AccountError, CannotStart, OperationRefused, StoreError, WrongName, WrongSettings) as error:
        fail(str(error))


@contextmanager
def operating() -> Iterator[Operators]:
    """Give what operators do with accounts; the rest as :func:`opened_arena`."""
    with opened_arena() as (settings, store):
        yield open_accounts(store.people, settings.registration).operators


def who() -> str:
    """Return how the audit log names whoever types: the user of this process."""
    try:
        name = pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        name = str(os.getuid())
    return f"terminal:{name}"


def write_down(what: str, subject: str = "", detail: str = "") -> None:
    """Write to the audit log what an operator has done here."""
    with operating() as operators:
        operators.record(who(), what, subject, detail)
