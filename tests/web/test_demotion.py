"""What an operator may do ends with the role, and not later."""

from arena.db.quotas import Quota
from arena.protocol.states import Role, Scope
from tests.accounts.world import World
from tests.db.test_submissions import new
from tests.web.people import logged_in, program, token

SUBMISSION = "/api/v1/submissions/5ca1ab1e"


def test_a_demoted_operator_sees_no_more_than_others_at_once(world: World) -> None:
    """Neither with a token that was made before nor in a browser that is open; the rest of both goes on."""
    ann = world.add("ann")
    operators = [world.add(name, Role.OPERATOR) for name in ("ben", "eve")]
    quota = Quota(submissions_a_day=9, bots=9, on_their_way=9)
    world.store.submissions.add(new("5ca1ab1e", "mine", "ann", ann.id), quota)
    visitors = [
        program(world, token(world, operators[0], {Scope.READ, Scope.OPERATE})),
        logged_in(world, "ben"),
    ]
    assert [visitor.get(SUBMISSION).status_code for visitor in visitors] == [200, 200]
    world.accounts.operators.set_role("eve", "ben", Role.USER)
    assert [visitor.get(SUBMISSION).status_code for visitor in visitors] == [404, 404]
    assert [visitor.get("/api/v1/submissions").status_code for visitor in visitors] == [200, 200]
    assert visitors[0].get("/api/v1/account").json()["scopes"] == ["read"]
