"""The API does what it says of itself: what its description allows and what it forbids is sent to it."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Final

import pytest
import schemathesis
from fastapi import FastAPI
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    allow_header_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
)

from arena.db.credentials import KnownAccount
from arena.protocol.states import Role, Scope
from tests.accounts.world import World
from tests.builders import fill
from tests.patience import WAIT_SECONDS
from tests.soak import many
from tests.web.app import site_over
from tests.web.description import description
from tests.web.people import logged_in, token
from tests.web.played import CHALLENGE, GAMES, RUNNING, SUBMISSION, play

HERE: Final = "http://testserver"
KNOWN: Final = {
    "path.id": [SUBMISSION, CHALLENGE],
    "path.game": [*GAMES.values()],
    "path.bot": ["mine", "greedy"],
    "path.match": [RUNNING, "rated-0"],
    "path.number": [1, 2],
    "query.bot": ["mine"],
}
"""What is there, by parameter. Every other request that isn't wrong on purpose asks for it."""

CONFIG: Final = schemathesis.Config.from_dict(
    {
        "seed": 1,
        "generation": {
            "deterministic": True,
            "max-examples": many(5, 30),
            "with-security-parameters": False,
        },
        "dictionaries": {name.replace(".", "-"): {"values": values} for name, values in KNOWN.items()},
        "parameters": {name: {"dictionary": name.replace(".", "-"), "probability": 0.5} for name in KNOWN},
    }
)
CHECKS: Final = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    unsupported_method,
    allow_header_conformance,
]


@dataclass
class Asker:
    """Someone who asks.

    Attributes:
        site: Which.
        world: What is behind it.
        account: Whose; None for nobody.
        cookies: Of a session; without one an account comes with a token.
    """

    site: FastAPI
    world: World
    account: KnownAccount | None
    cookies: dict[str, str]
    secret: str = ""

    def headers(self) -> dict[str, str]:
        """Return what is sent along. A token that was revoked by what has been sent is replaced."""
        if self.account is None or self.cookies:
            return {"Origin": HERE}
        if self.world.accounts.tokens.find(self.secret) is None:
            for each in self.world.accounts.tokens.of(self.account):
                self.world.accounts.tokens.revoke(self.account, each.id)
            self.secret = token(self.world, self.account, set(Scope) - {Scope.OPERATE})
        return {"Authorization": f"Bearer {self.secret}"}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """Give an arena in which games were played, of every kind by a user's bot."""
    with closing(World.at(tmp_path_factory.mktemp("schema"))) as world:
        user = world.add("user")
        world.add("oper", Role.OPERATOR)
        fill(world.store)
        play(world, user)
        yield world


@pytest.fixture(
    scope="module",
    params=[
        "user",
        # tests/web/test_authorisation.py asks every route as each of them.
        pytest.param("nobody", marks=pytest.mark.soak),
        pytest.param("oper", marks=pytest.mark.soak),
    ],
)
def asker(world: World, request: pytest.FixtureRequest) -> Asker:
    """Give nobody; a user with a token for all that users may do; an operator with a session."""
    accounts = {account.name: account for account in world.store.people.accounts()}
    is_operator = request.param == "oper"
    cookies = dict(logged_in(world, "oper", url=HERE).cookies) if is_operator else {}
    return Asker(site_over(world), world, accounts.get(request.param), cookies)


described = schemathesis.openapi.from_dict(description(), config=CONFIG)


@described.parametrize()
def test_it_does_what_it_says(case: schemathesis.Case[Any], asker: Asker) -> None:
    """Every answer has the status, type, headers and fields that are described; none is the site's fault."""
    case.call_and_validate(
        app=asker.site, checks=CHECKS, headers=asker.headers(), cookies=asker.cookies, timeout=WAIT_SECONDS
    )
