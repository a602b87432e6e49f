"""Notifications by email, with a real mail server."""

import re
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult, Envelope, LoginPassword

from arena.accounts.credentials import AccountAction, by_account
from arena.db.credentials import KnownAccount
from arena.db.subscriptions import KnownSubscription, NewSubscription, SubscriptionKind
from arena.notices.deliverer import Deliverer
from arena.notices.mail import Mailer, mailer_of
from arena.platform.settings import Address, Settings, SmtpSecurity
from arena.protocol.news import Topic, please_confirm
from tests.accounts.world import World
from tests.db.builders import bot_of, present
from tests.notices.receivers import contexts
from tests.notices.test_webhooks import bench, deliverer, only
from tests.patience import WAIT_SECONDS
from tests.ports import free_port, silent_port
from tests.web.people import HTTPS, browser, logged_in

PASSWORD = b"a password"


@dataclass
class Post:
    """A mail server's handler, and the emails that it has received."""

    mails: list[EmailMessage] = field(default_factory=list)  # in order
    refuses: str = ""  # the response to every recipient, or empty to accept them
    refuses_mail: str = ""  # the response to every email, or empty to accept them
    farewell: str = "221 Bye"  # the response to QUIT
    users: list[object] = field(default_factory=list)  # the user who was logged in, for each mail
    encrypted: list[bool] = field(default_factory=list)  # whether STARTTLS was used, for each mail

    async def handle_RCPT(  # noqa: N802 - the library's name
        self, _server: object, _session: object, envelope: Envelope, address: str, _options: object
    ) -> str:
        """Accept or refuse a recipient."""
        if self.refuses:
            return self.refuses
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_QUIT(self, _server: object, _session: object, _envelope: Envelope) -> str:  # noqa: N802 - as above
        """Respond to QUIT."""
        return self.farewell

    async def handle_DATA(self, _server: object, session: object, envelope: Envelope) -> str:  # noqa: N802 - as above
        """Receive or refuse an email."""
        if self.refuses_mail:
            return self.refuses_mail
        assert isinstance(envelope.content, bytes)
        mail = message_from_bytes(envelope.content, policy=policy.default)
        assert isinstance(mail, EmailMessage)
        assert envelope.rcpt_tos == [mail["To"]]
        self.mails.append(mail)
        self.users.append(getattr(session, "auth_data", None))
        self.encrypted.append(getattr(session, "ssl", None) is not None)
        return "250 OK"


@contextmanager
def mail_server(
    security: SmtpSecurity = SmtpSecurity.NONE, tls: ssl.SSLContext | None = None
) -> Iterator[tuple[Post, int]]:
    """Run a mail server. With TLS, it requires a user and a password."""
    post, port = Post(), free_port()

    def log_in(_server: object, _session: object, _envelope: object, _how: str, data: object) -> AuthResult:
        right = isinstance(data, LoginPassword) and data.password == PASSWORD
        return AuthResult(success=right, auth_data=getattr(data, "login", None))

    options: dict[str, Any] = {"hostname": "127.0.0.1", "port": port, "ready_timeout": WAIT_SECONDS}
    if tls is not None:
        options |= {"authenticator": log_in, "auth_required": True}
    if security is SmtpSecurity.STARTTLS:
        options |= {"tls_context": tls, "require_starttls": True}
    if security is SmtpSecurity.TLS:
        options |= {"ssl_context": tls, "auth_require_tls": False}  # the library ignores implicit TLS
    controller = Controller(post, **options)
    controller.start()
    try:
        yield post, port
    finally:
        controller.stop()


def mailer(port: int, **others: object) -> Mailer:
    """Return a mailer that sends to a port, created from settings."""
    settings = Settings.model_validate(
        {
            "smtp_address": Address("127.0.0.1", port),
            "smtp_security": "none",
            "mail_from": "kaiten@arena.example",
            "site_url": HTTPS + "/",
        }
        | others
    )
    return present(mailer_of(settings))


@pytest.fixture
def ann(world: World) -> KnownAccount:
    """Add an account with the bot ``mine`` and an unconfirmed email address."""
    account = world.add("ann")
    bot_of(world.store, "mine", account)
    form = {"kind": "mail", "address": "ann@mail.example", "topics": list(Topic)}
    answer = logged_in(world, "ann").post("/account/notifications", data=form)
    assert answer.headers["location"] == "/account/notifications#main"
    return account


def confirmed(world: World, account: KnownAccount, made: Deliverer, post: Post) -> str:
    """Confirm the address with the link in the email, and return the link's path."""
    made.deliver_due()
    path = link(post.mails.pop())
    assert browser(world).post(path, data={"action": "confirm"}).status_code == 200
    assert only(world, account).confirmed is not None
    return path


def link(mail: EmailMessage) -> str:
    """Return the path of the link in an email, and check that it is the only one with a secret."""
    (found,) = set(re.findall(rf"{HTTPS}(/mail/\S+)", mail.get_content()))
    assert mail["List-Unsubscribe"] == f"<{HTTPS}{found}>"
    assert mail["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    return str(found)


def test_an_address_gets_one_mail_until_its_owner_confirms_it(world: World, ann: KnownAccount) -> None:
    """Opening the link doesn't confirm the address, since mail scanners open links too."""
    with mail_server() as (post, port), deliverer(world, mailer=mailer(port)) as made:
        bench(world, "too early")
        made.deliver_due()
        made.deliver_due()
        (mail,) = post.mails
        assert (mail["From"], mail["To"], mail["Subject"]) == (
            "kaiten@arena.example",
            "ann@mail.example",
            "Kaiten: Confirm your address",
        )
        assert mail.get_content_type() == "text/plain"
        assert "ignore this email" in mail.get_content()
        visitor, path = browser(world), link(mail)
        answer = visitor.get(path)
        assert "Confirm address" in answer.text
        assert answer.headers["cache-control"] == "no-store"
        assert only(world, ann).confirmed is None
        assert "is confirmed" in visitor.post(path, data={"action": "confirm"}).text
        bench(world, "it failed")
        made.deliver_due()
        assert post.mails[-1]["Subject"] == "Kaiten: mine: benched"
        lines = post.mails[-1].get_content().splitlines()
        assert lines[0] == "mine is benched: it failed."
        assert lines[2] == f"{HTTPS}/bots/mine#benched-20261103T120000Z"
        assert post.mails[-1]["Message-ID"] != mail["Message-ID"]


def test_an_unconfirmed_subscription_ends_after_a_week(world: World, ann: KnownAccount) -> None:
    """The link then reports that the subscription has ended."""
    with mail_server() as (post, port), deliverer(world, mailer=mailer(port)) as made:
        made.deliver_due()
        world.later(days=7, seconds=1)
        made.check_ranks()
        assert world.store.subscriptions.of(ann.id) == ()
        for answer in (
            browser(world).get(link(post.mails[0])),
            browser(world).post(link(post.mails[0]), data={"action": "confirm"}),
        ):
            assert (answer.status_code, "has ended" in answer.text) == (404, True)


def test_without_a_mail_server_old_notices_are_dropped(world: World, ann: KnownAccount) -> None:
    """Emails wait for three days, or longer if a mail server is set up."""
    with mail_server() as (post, port), deliverer(world, mailer=mailer(port)) as made:
        confirmed(world, ann, made, post)
        bench(world, "old")
        world.later(days=3, seconds=1)
        bench(world, "new")
        made.check_ranks()
        assert world.store.subscriptions.waiting()[SubscriptionKind.MAIL] == 2
        with deliverer(world) as without:
            without.check_ranks()
        made.deliver_due()
    (mail,) = post.mails
    assert "mine is benched: new." in mail.get_content()


@pytest.mark.parametrize("action", ["one click", "all", "topic"])
def test_the_link_unsubscribes(world: World, ann: KnownAccount, action: str) -> None:
    """The link works without a session, from the page or as one-click unsubscription (RFC 8058).

    Using it again does no harm.
    """
    forms = {
        "one click": {"List-Unsubscribe": "One-Click"},
        "all": {"action": "all"},
        "topic": {"action": "benched"},
    }
    with mail_server() as (post, port), deliverer(world, mailer=mailer(port)) as made:
        path = confirmed(world, ann, made, post)
        program = browser(world)
        for header in ("Origin", "Sec-Fetch-Site"):
            del program.headers[header]
        assert "Unsubscribe from all" in program.get(path).text
        for _ in range(2):
            assert program.post(path, data=forms[action]).status_code == 200
        bench(world, "it failed")
        made.deliver_due()
    assert post.mails == []
    left = [each.topics for each in world.store.subscriptions.of(ann.id)]
    assert left == ([(Topic.LADDER, Topic.OVERTAKEN, Topic.SUBMISSION)] if action == "topic" else [])
    assert program.get(path).status_code == (200 if action == "topic" else 404)
    assert program.post(path, data={}).status_code == 422


def test_notification_text_never_becomes_a_header(world: World, ann: KnownAccount) -> None:
    """Line breaks are escaped, so the text can't add a line that looks like a header."""
    with mail_server() as (post, port), deliverer(world, mailer=mailer(port)) as made:
        confirmed(world, ann, made, post)
        bench(world, "bad\r\nBcc: ben@mail.example\r\n\r\n.\r\nMAIL FROM:<x>\N{RIGHT-TO-LEFT OVERRIDE}")
        made.deliver_due()
    (mail,) = post.mails
    assert mail["Bcc"] is None
    assert mail.get_content().splitlines()[0] == (
        r"mine is benched: bad\r\nBcc: ben@mail.example\r\n\r\n.\r\nMAIL FROM:<x>\u202e."
    )


@pytest.mark.filterwarnings("ignore:Requiring AUTH while not requiring TLS")
@pytest.mark.parametrize("security", [SmtpSecurity.STARTTLS, SmtpSecurity.TLS])
def test_mail_goes_over_tls_with_a_password(
    world: World, ann: KnownAccount, security: SmtpSecurity, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server with an untrusted certificate gets neither password nor mail."""
    server, _ = contexts(tmp_path, "localhost")
    others: dict[str, Any] = {
        "smtp_security": security,
        "smtp_user": "kaiten",
        "smtp_password": PASSWORD.decode(),
    }
    with mail_server(security, server) as (post, port):
        others["smtp_address"] = Address("localhost", port)
        with deliverer(world, mailer=mailer(port, **others)) as made:
            made.deliver_due()
        assert "certificate verify failed" in str(only(world, ann).trouble)
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "localhost.pem"))
        world.later(seconds=31)
        with deliverer(world, mailer=mailer(port, **others)) as made:
            made.deliver_due()
    assert only(world, ann).trouble is None
    assert (len(post.mails), post.users) == (1, [b"kaiten"])
    assert post.encrypted == [security is SmtpSecurity.STARTTLS]


def test_a_refused_address_is_switched_off(world: World, ann: KnownAccount) -> None:
    """An address is switched off only after a permanent error. After a temporary one, the arena retries."""
    with mail_server() as (post, port), deliverer(world, mailer=mailer(port)) as made:
        confirmed(world, ann, made, post)
        bench(world, "it failed")
        post.refuses = "450 4.2.1 later"
        made.deliver_due()
        assert (only(world, ann).off, only(world, ann).failures) == (None, 1)
        post.refuses = "550 5.1.1 no such user"
        world.later(seconds=31)
        made.deliver_due()
    known = only(world, ann)
    assert known.off == world.now
    assert known.trouble == "the mail server refused the address: 550 5.1.1 no such user"


def test_an_address_whose_emails_are_always_refused_is_switched_off(world: World, ann: KnownAccount) -> None:
    """It is switched off after three days of permanent errors. The operator has to mend temporary ones."""
    with mail_server() as (post, port), deliverer(world, mailer=mailer(port)) as made:
        confirmed(world, ann, made, post)
        bench(world, "it failed")
        for response, attempts, switched_off in (
            ("451 4.3.0 try again later", 12, False),
            ("554 5.7.1 spam", 11, False),
            ("554 5.7.1 spam", 1, True),
        ):
            post.refuses_mail = response
            for _ in range(attempts):
                made.deliver_due()
                world.later(hours=7)
            known = only(world, ann)
            assert known.trouble == f"the mail server refused the email: {response}"
            assert (known.off is not None) is switched_off


def test_an_accepted_email_is_not_sent_again(world: World, ann: KnownAccount) -> None:
    """A server may shut down once it has accepted an email, instead of ending the connection properly."""
    with mail_server() as (post, port), deliverer(world, mailer=mailer(port)) as made:
        confirmed(world, ann, made, post)
        bench(world, "it failed")
        post.farewell = "421 4.3.2 shutting down"
        for _ in range(2):
            made.deliver_due()
            world.later(hours=7)
        assert (len(post.mails), only(world, ann).trouble) == (1, None)


def test_a_failing_mail_server_switches_no_address_off(world: World, ann: KnownAccount) -> None:
    """The mail server is the operator's responsibility. Mail is delivered once it works again."""

    def now() -> KnownSubscription:
        return only(world, ann)

    with silent_port() as port, deliverer(world, mailer=mailer(port)) as made:
        for _ in range(20):
            made.deliver_due()
            world.later(hours=7)
    assert (now().off, now().trouble) == (
        None,
        "the arena's mail server failed: [Errno 111] Connection refused",
    )
    with mail_server() as (post, port), deliverer(world, mailer=mailer(port)) as made:
        made.deliver_due()
    assert (len(post.mails), now().trouble) == (1, None)


def test_mail_waits_while_no_server_is_set_up(world: World, ann: KnownAccount) -> None:
    """Waiting mail doesn't count as failed."""
    with deliverer(world) as made:
        made.deliver_due()
    assert (only(world, ann).trouble, only(world, ann).failures) == (None, 0)


def test_notifications_that_cannot_be_composed_delay_no_others(world: World) -> None:
    """A round's worth of them are recorded as failed, and the ones behind them arrive."""
    ben = world.add("ben")
    addresses = [*(f"=?utf-8?q?{number}=0AX?=@mail.example" for number in range(8)), "ben@mail.example"]
    for address in addresses:
        new = NewSubscription(
            account=ben.id,
            kind=SubscriptionKind.MAIL,
            address=address,
            topics=tuple(Topic),
            secret=address,
            created=world.now,
        )
        entry = by_account(world.now, AccountAction.SUBSCRIBE, ben.name, "192.0.2.1")
        world.store.subscriptions.add(new, please_confirm(world.now), max_subscriptions=9, entry=entry)
    with mail_server() as (post, port), deliverer(world, mailer=mailer(port)) as made:
        made.deliver_due()
        made.deliver_due()
    assert [mail["To"] for mail in post.mails] == ["ben@mail.example"]
    *failed, delivered = world.store.subscriptions.of(ben.id)
    assert {(each.failures, each.trouble) for each in failed} == {
        (1, "the arena can't send this notification")
    }
    assert delivered.failures == 0
