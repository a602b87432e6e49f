"""What people do with their own account: change its password, delete it."""

from arena.accounts.password_rules import check_new_password
from arena.accounts.passwords import Passwords
from arena.accounts.sessions import Sessions
from arena.accounts.sources import Sources
from arena.store import KnownAccount, NameTaken, OpenSession, People


class Own:
    """Changes accounts for those whose they are; each change takes the password once more.

    Args:
        people: Where accounts are kept.
        passwords: Makes the hashes.
        sessions: Checks the passwords.
        sources: Time and pseudonyms.
    """

    def __init__(self, people: People, passwords: Passwords, sessions: Sessions, sources: Sources) -> None:
        self._people = people
        self._passwords = passwords
        self._sessions = sessions
        self._sources = sources

    def change_password(self, session: OpenSession, old: str, new: str) -> None:
        """Replace the password and end all other sessions; tokens stay.

        Raises:
            Busy: Too many passwords are being checked.
            PasswordRefused: The new one can't be used.
            WrongCredentials: The old one is wrong.
        """
        account = self._sessions.check(session.account.name, old)
        check_new_password(new, account.name)
        self._people.set_password(account.id, self._passwords.hash(new), keep_session=session.id)

    def delete(self, account: KnownAccount, password: str) -> str:
        """Delete an account: a pseudonym, which is returned, stands wherever its name stood.

        Raises:
            Busy: Too many passwords are being checked.
            WrongCredentials: The password is wrong.
        """
        account = self._sessions.check(account.name, password)
        while True:
            pseudonym = self._sources.new_pseudonym()
            try:
                self._people.delete(account.id, pseudonym, self._sources.now())
            except NameTaken:
                continue
            return pseudonym
