"""Subscriptions on the notification page of the account, and in the API."""

import re
from dataclasses import fields

import pytest
from fastapi.testclient import TestClient

from arena.db.subscriptions import Subscription, SubscriptionKind
from arena.protocol.states import Scope
from tests.accounts.world import PASSWORD, World
from tests.web.people import HTTPS, logged_in, owner, program, token

HOOK = {"kind": "webhook", "address": "https://there.example/hook", "topics": ["benched", "overtaken"]}
MAIL = HOOK | {"kind": "mail", "address": "ann@mail.example"}
PAGE = "/account/notifications"
API = "/api/v1/account/subscriptions"


def test_a_webhook_is_added_changed_tested_and_removed(world: World) -> None:
    """The webhook's secret is shown once. Additions, changes and removals are in the audit log."""
    ann = world.add("ann")
    visitor = logged_in(world, "ann")
    added = visitor.post(PAGE, data=HOOK)
    assert (added.status_code, added.headers["cache-control"]) == (200, "no-store")
    (secret,) = re.findall(r"whsec_[\w+/=]+", added.text)
    text = visitor.get(PAGE).text
    assert "https://there.example/hook" in text
    assert secret not in text
    (form,) = re.findall(rf'action="({PAGE}/\d+/topics)#', text)
    assert re.findall(r'value="(\w+)" checked', text.partition("New webhook")[0]) == ["benched", "overtaken"]
    answer = visitor.post(form, data={"topics": "submission"})
    assert answer.headers["location"] == f"{PAGE}#main"
    assert world.store.subscriptions.of(ann.id)[0].topics == ("submission",)
    nothing = visitor.post(form, data={})
    assert (nothing.status_code, "Choose at least one event." in nothing.text) == (422, True)
    test = visitor.post(form.replace("topics", "test"))
    assert test.headers["location"] == f"{PAGE}#main"
    removed = visitor.post(form.replace("topics", "remove"))
    assert removed.headers["location"] == f"{PAGE}#main"
    assert "has been removed" in visitor.get(PAGE).text
    assert visitor.post(form.replace("topics", "remove")).status_code == 404
    assert world.store.subscriptions.of(ann.id) == ()
    log = [(entry.what, entry.detail) for entry in world.store.accounts.audit(9, "ann")]
    assert log[-3:] == [
        ("subscribe", "webhook"),
        ("change-subscription", "subscription 1"),
        ("unsubscribe", "subscription 1"),
    ]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"address": "http://there.example/"}, "use port 443"),
        ({"address": "https://127.0.0.1/"}, "is not a public address"),
        ({"topics": []}, "hoose at least one event"),
        ({"kind": "mail", "address": "ann"}, "not an email address"),
    ],
)
def test_an_invalid_subscription_is_refused(world: World, change: dict[str, object], why: str) -> None:
    """Page and API give the reason. The page keeps the input in the same form, below the reason."""
    ann = world.add("ann")
    answer = logged_in(world, "ann").post(PAGE, data=HOOK | change)
    assert (answer.status_code, why in answer.text) == (422, True)
    typed = HOOK | change
    assert re.findall(r'type="(\w+)" value="([^"]+)" required', answer.text) == [
        ("email" if typed["kind"] == "mail" else "url", typed["address"])
    ]
    assert re.search(rf'<h2 id="{typed["kind"]}">[^<]+</h2>\s*<p class="refused" role="alert">', answer.text)
    form = answer.text.partition(f'value="{typed["kind"]}"')[2].partition("</form>")[0]
    assert re.findall(r'value="(\w+)" checked', form) == typed["topics"]
    answer = owner(world, ann).post(API, json=HOOK | change)
    assert answer.status_code == 422
    assert change == {"topics": []} or why in answer.json()["detail"]
    assert world.store.subscriptions.of(ann.id) == ()


def test_without_a_mail_server_no_address_is_added(world: World) -> None:
    """The page also has no form for email addresses."""
    world.sends_mail = False
    ann = world.add("ann")
    assert "New email address" not in logged_in(world, "ann").get(PAGE).text
    answer = logged_in(world, "ann").post(PAGE, data=MAIL)
    assert (answer.status_code, "this arena doesn&#39;t send email" in answer.text.lower()) == (422, True)
    assert world.store.subscriptions.of(ann.id) == ()


def test_programs_add_list_and_remove(world: World) -> None:
    """Only the first response has the secret, and none says whose the subscription is. The limit is five."""
    ann = world.add("ann")
    caller = owner(world, ann)
    made = caller.post(API, json=HOOK)
    assert made.status_code == 201
    assert made.json()["secret"].startswith("whsec_")
    assert caller.post(API, json=MAIL).json()["secret"] is None
    hook, mail = caller.get(API).json()["subscriptions"]
    assert hook == {name: value for name, value in made.json().items() if name != "secret"}
    assert hook.keys() == mail.keys() == {field.name for field in fields(Subscription)}
    assert (mail["address"], mail["confirmed"]) == ("ann@mail.example", None)
    for _ in range(3):
        assert caller.post(API, json=HOOK).status_code == 201
    full = caller.post(API, json=HOOK)
    assert (full.status_code, "the limit is 5" in full.json()["detail"]) == (422, True)
    assert caller.delete(f"{API}/{hook['id']}").status_code == 204
    assert caller.delete(f"{API}/{hook['id']}").status_code == 404


def test_programs_change_and_test(world: World) -> None:
    """Programs can do the same as the page.

    An email address must be confirmed before a test. Changing the events requires the scope read.
    """
    ann = world.add("ann")
    caller = owner(world, ann)
    hook, mail = (f"{API}/{caller.post(API, json=each).json()['id']}" for each in (HOOK, MAIL))
    changed = caller.patch(hook, json={"topics": ["submission"]})
    assert (changed.status_code, changed.json()) == (200, caller.get(API).json()["subscriptions"][0])
    assert changed.json()["topics"] == ["submission"]
    sender = program(world, token(world, ann, {Scope.SUBMIT}))
    assert sender.patch(hook, json={"topics": ["benched"]}).status_code == 403
    for body in ("{}", '{"topics": []}', '{"topics": ["weather"]}'):
        assert caller.patch(hook, content=body).status_code == 422
    assert world.store.subscriptions.of(ann.id)[0].topics == ("submission",)
    tested = caller.post(f"{hook}/test")
    assert (tested.status_code, tested.json()) == (202, changed.json())
    (due,) = world.store.subscriptions.due(world.now, 9, kinds=[SubscriptionKind.WEBHOOK])
    assert (due.topic, due.subscription.address) == ("test", HOOK["address"])
    early = caller.post(f"{mail}/test")
    assert (early.status_code, "not confirmed" in early.json()["detail"]) == (409, True)
    visitor = logged_in(world, "ann")
    page = visitor.post(mail.replace(API, PAGE) + "/test")
    assert (page.status_code, "not confirmed" in page.text) == (422, True)
    for missing in (caller.patch(f"{API}/99", json={"topics": ["benched"]}), caller.post(f"{API}/99/test")):
        assert missing.status_code == 404


def subscribe(caller: TestClient, address: str) -> int:
    """Add an email address, and remove it again. Return the first status."""
    answer = caller.post(API, json=MAIL | {"address": address})
    if answer.is_success:
        caller.delete(f"{API}/{answer.json()['id']}")
    return answer.status_code


def test_requests_to_confirm_are_limited(world: World) -> None:
    """Requests are limited per address across all accounts, and per account across all addresses."""
    callers = [owner(world, world.add(name)) for name in ("ann", "ben")]
    statuses = [subscribe(callers[n % 2], f"{'aA'[n % 2]}nn@mail.example") for n in range(8)]
    assert statuses == [201] * 5 + [429] * 3
    statuses = [callers[0].post(API, json=HOOK | {"address": f"x{n}"}).status_code for n in range(9)]
    assert statuses[-1] == 429


def test_a_mailbox_is_one_address(world: World) -> None:
    """Tags make no difference to the limit."""
    caller = owner(world, world.add("ann"))
    statuses = [subscribe(caller, f"ann+{number}@mail.example") for number in range(6)]
    assert statuses == [201] * 5 + [429]


def test_mails_and_tests_per_client_address_are_limited(world: World) -> None:
    """The limits are thirty requests to confirm per day, and sixty tests per hour."""
    callers = [owner(world, world.add(f"user-{number}")) for number in range(8)]
    statuses = [
        callers[number // 4].post(API, json=MAIL | {"address": f"{number}@mail.example"}).status_code
        for number in range(31)
    ]
    assert statuses == [201] * 30 + [429]
    elsewhere = TestClient(
        callers[7].app, base_url=HTTPS, headers=dict(callers[7].headers), client=("192.0.2.1", 1)
    )
    assert elsewhere.post(API, json=HOOK).status_code == 201
    world.later(days=1)
    ids = [callers[number].post(API, json=HOOK).json()["id"] for number in range(4)]
    statuses = [callers[n % 4].post(f"{API}/{ids[n % 4]}/test").status_code for n in range(61)]
    assert statuses == [202] * 60 + [429]


def test_tests_per_account_are_limited(world: World) -> None:
    """The limit is twenty per hour."""
    ann = world.add("ann")
    visitor = logged_in(world, "ann")
    visitor.post(PAGE, data=HOOK)
    id_ = world.store.subscriptions.of(ann.id)[0].id
    statuses = [visitor.post(f"{PAGE}/{id_}/test").status_code for _ in range(21)]
    assert statuses == [303] * 20 + [429]


def test_deleting_an_account_removes_its_subscriptions(world: World) -> None:
    """A pseudonym receives no notifications."""
    ann = world.add("ann")
    visitor = logged_in(world, "ann")
    visitor.post(PAGE, data=HOOK)
    assert visitor.post("/account/delete", data={"password": PASSWORD}).status_code == 200
    assert world.store.subscriptions.of(ann.id) == ()
