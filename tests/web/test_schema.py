"""The API complies with its description: the tests send requests that it allows and that it forbids."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Final

import pytest
import schemathesis
from fastapi import FastAPI
from schemathesis.checks import not_a_server_error
from schemathesis.pytest.lazy import get_all_tests
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
from tests.web.app import description, site_over
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
"""Existing values by parameter. Half of the requests that aren't wrong on purpose use them."""

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
    """A caller of a site."""

    site: FastAPI
    world: World
    account: KnownAccount | None
    cookies: dict[str, str]  # of a session; if empty, an account uses a token
    secret: str = ""  # of that token

    def headers(self) -> dict[str, str]:
        """Return the headers to send. If a request has revoked the token, it is replaced."""
        if self.account is None or self.cookies:
            return {"Origin": HERE}
        if self.world.accounts.tokens.find(self.secret) is None:
            for each in self.world.accounts.tokens.of(self.account):
                self.world.accounts.tokens.revoke(self.account, each.id)
            self.secret = token(self.world, self.account, set(Scope) - {Scope.OPERATE})
        return {"Authorization": f"Bearer {self.secret}"}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """Yield a world with games. A user's bot has played every kind of game."""
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
        # tests/web/test_authorisation.py requests every route as each of these.
        pytest.param("nobody", marks=pytest.mark.soak),
        pytest.param("oper", marks=pytest.mark.soak),
    ],
)
def asker(world: World, request: pytest.FixtureRequest) -> Asker:
    """Return a visitor, a user with a token for all the scopes of users, or an operator with a session."""
    accounts = {account.name: account for account in world.store.accounts.all()}
    is_operator = request.param == "oper"
    cookies = dict(logged_in(world, "oper", url=HERE).cookies) if is_operator else {}
    return Asker(site_over(world), world, accounts.get(request.param), cookies)


def responses_match(case: schemathesis.Case[Any], asker: Asker) -> None:
    """Send a request, and check that status, type, headers and fields are as described."""
    case.call_and_validate(
        app=asker.site, checks=CHECKS, headers=asker.headers(), cookies=asker.cookies, timeout=WAIT_SECONDS
    )


def test_responses_match_the_description(asker: Asker, subtests: pytest.Subtests) -> None:
    """Every route responds as described, and there is no server error.

    Schemathesis's own decorators would generate the requests even in processes that only collect tests.
    """
    described = schemathesis.openapi.from_dict(description(), config=CONFIG)
    tests = get_all_tests(schema=described, test_func=responses_match, settings=None, given_kwargs=None)
    for made in tests:
        operation, test = made.ok()  # type: ignore[union-attr]  # an error fails the test, having no such method
        with subtests.test(operation.label):
            test(asker=asker)
