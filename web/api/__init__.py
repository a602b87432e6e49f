"""Data for programs: a module for each kind of thing, each with a function that returns its routes.

How such a module is made, say of bots:

- ``router = DataRouter("bots")``, and ``@router.get("/bots/{bot}")`` on a plain function. The router adds
  ``/api/v1``, HEAD, and ETags.
- The function returns a frozen dataclass, and says so: FastAPI writes it as JSON and describes it, and no
  other place knows its fields. The docstrings of both become the description: the function's first line is
  the summary, the dataclass' ``Attributes`` are the fields' texts. Parameters have theirs in
  ``Query(description=…)``.
- Who may ask: ``Reader = Annotated[Caller, guard(Scope.READ)]`` as the type of an argument, with the guard
  ``Guard(callers)``. What is somebody else's is not found: ``raise Problem(404, …)``, where
  :func:`web.api.guard.may_see` says no. What the arena refuses is in ``refusals.py``.
- What can go wrong is a :class:`web.problems.Problem`. The usual ones are described by themselves
  (``description.py``); a route names its own: ``responses=problems({409: "The name is somebody else's."})``.
- A list is a dataclass of a tuple and ``next``. Its route has ``responses=LISTED`` and an argument
  ``next_page: Next``, reads one more than ``limit``, and returns ``next=next_page(before=…)`` if that was
  there.
- It is mounted in ``web/app.py`` and has a line in docs/api.md. tests/web/test_authorisation.py says who gets
  what, and tests/web/test_schema.py holds what it answers to what it says of itself.
"""

from web.api.account import account_api
from web.api.bots import bots_api
from web.api.cards import card_sheet, cards_api
from web.api.challenges import challenge_api
from web.api.description import description_api
from web.api.games import games_api, replay_api
from web.api.health import health_api
from web.api.histories import histories_api
from web.api.live import live_api
from web.api.logs import logs_api
from web.api.public import public_api
from web.api.status import status_api
from web.api.submissions import submission_api

__all__ = [
    "account_api",
    "bots_api",
    "card_sheet",
    "cards_api",
    "challenge_api",
    "description_api",
    "games_api",
    "health_api",
    "histories_api",
    "live_api",
    "logs_api",
    "public_api",
    "replay_api",
    "status_api",
    "submission_api",
]
