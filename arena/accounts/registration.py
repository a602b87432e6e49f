"""How somebody gets an account."""

from arena.accounts.errors import RegistrationRefused
from arena.accounts.names import check_account_name
from arena.accounts.password_rules import check_new_password
from arena.accounts.passwords import Passwords
from arena.accounts.sources import Sources, hash_of
from arena.settings import RegistrationMode
from arena.store import KnownAccount, NewAccount, People, Role


class Registration:
    """Lets people register.

    Args:
        people: Where accounts are kept.
        passwords: Makes the hashes.
        sources: Time and secrets.
        mode: Who may.
    """

    def __init__(
        self, people: People, passwords: Passwords, sources: Sources, mode: RegistrationMode
    ) -> None:
        self._people = people
        self._passwords = passwords
        self._sources = sources
        self.mode = mode

    def register(self, name: str, password: str, invitation: str) -> KnownAccount:
        """Make an account.

        Args:
            name: Of the account.
            password: Its password.
            invitation: What an operator handed out; empty without one.

        Raises:
            Busy: Too many passwords are being hashed.
            InvitationRefused: The invitation lets nobody in.
            NameTaken: Somebody has that name.
            PasswordRefused: The password can't be used.
            RegistrationRefused: Registration is closed, or needs an invitation.
            WrongName: The name can't be used.
        """
        if self.mode is RegistrationMode.CLOSED:
            raise RegistrationRefused("registration is closed here: whoever runs the arena makes accounts")
        if self.mode is RegistrationMode.INVITATION and not invitation:
            raise RegistrationRefused("registering takes an invitation here: ask whoever runs the arena")
        check_account_name(name)
        check_new_password(password, name)
        new = NewAccount(
            name=name,
            password=self._passwords.hash(password),
            role=Role.USER,
            created=self._sources.now(),
        )
        # Where registration is open an invitation is not looked at, and stays good.
        needed = self.mode is RegistrationMode.INVITATION
        return self._people.register(new, invitation=hash_of(invitation) if needed else None)
