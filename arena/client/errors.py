"""What can go wrong between an author and a site. The texts are for the author.

ClientError
├── WrongLogin     nobody is logged in, an address or a token that can't be one, a broken file
├── CannotSend     what was to be sent isn't there, or is nothing that can be sent
└── SiteTrouble    the site can't be reached, or what answers is no arena
    └── SiteProblem  the site says that something is wrong
"""


class ClientError(Exception):
    """Something is wrong. The text says what, and what to do."""


class WrongLogin(ClientError):
    """It is not known which site is meant, or as whom."""


class CannotSend(ClientError):
    """What the author named can't be sent."""


class SiteTrouble(ClientError):
    """A site can't be reached, or what answers there is no arena."""


class SiteProblem(SiteTrouble):
    """A site refused a request.

    Args:
        status: Of HTTP.
        detail: What is wrong.
        hint: What to do.
        passes: Whether the site says that it helps to come again soon.
    """

    def __init__(self, status: int, detail: str, hint: str, *, passes: bool = False) -> None:
        super().__init__(f"{detail} {hint}".strip())
        self.status = status
        self.detail = detail
        self.hint = hint
        self.passes = passes
