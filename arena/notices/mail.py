"""Sends notices as plain-text email, with a link to unsubscribe."""

import smtplib
import ssl
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime
from typing import Final

from arena.db.subscriptions import DueNotice
from arena.notices.webhooks import NotDelivered, id_of
from arena.platform.settings import Address, Settings, SmtpSecurity
from arena.platform.text import visible
from arena.protocol.news import CONFIRM

_TIMEOUT_SECONDS: Final = 5.0
_POLICY: Final = SMTP.clone(max_line_length=900)
"""With lines this long, headers with a link are not folded: some mail programs don't unfold headers."""

_PERMANENT_ERROR: Final = 500
"""The lowest SMTP code that means a permanent error."""


class Mailer:
    """Sends notices through a mail server."""

    def __init__(self, server: Address, settings: Settings) -> None:
        self._server = server
        self._settings = settings
        self._sender = settings.mail_from or ""

    def send(self, notice: DueNotice) -> None:
        """Send a notice; return once the server has accepted it. Raises NotDelivered."""
        message = self.compose(notice)
        try:
            with self._connected() as server:
                if self._settings.smtp_security is SmtpSecurity.STARTTLS:
                    server.starttls(context=ssl.create_default_context())
                if self._settings.smtp_user is not None:
                    password = self._settings.smtp_password
                    server.login(self._settings.smtp_user, password.get_secret_value() if password else "")
                server.send_message(message, to_addrs=[notice.subscription.address])
        except smtplib.SMTPRecipientsRefused as error:
            code, text = next(iter(error.recipients.values()))
            why = f"the mail server refused the address: {code} {_text(text)}"
            raise NotDelivered(why, final=code >= _PERMANENT_ERROR) from error
        except smtplib.SMTPDataError as error:
            # The address may be right, so its subscription is not switched off immediately. But a permanent
            # error counts as the receiver's fault: otherwise, this email would block the address's other
            # notices forever.
            why = f"the mail server refused the email: {error.smtp_code} {_text(error.smtp_error)}"
            raise NotDelivered(why, ours=error.smtp_code < _PERMANENT_ERROR) from error
        except (OSError, smtplib.SMTPException, ValueError) as error:
            raise NotDelivered(f"the arena's mail server failed: {visible(str(error))}", ours=True) from error

    def compose(self, notice: DueNotice) -> EmailMessage:
        """Return the email for a notice."""
        news = notice.news
        site = self._settings.site_url
        link = f"{site}/mail/{notice.secret}"
        message = EmailMessage(policy=_POLICY)
        message["From"] = self._sender
        message["To"] = notice.subscription.address
        message["Subject"] = f"Kaiten: {visible(news.title)}"
        message["Date"] = format_datetime(news.at)
        message["Message-ID"] = f"<{id_of(notice)}@{self._sender.rpartition('@')[2]}>"
        message["Auto-Submitted"] = "auto-generated"
        message["List-Unsubscribe"] = f"<{link}>"
        message["List-Unsubscribe-Post"] = "List-Unsubscribe=One-Click"
        if notice.topic == CONFIRM:
            paragraphs = [f"{visible(news.text)}\nTo confirm the address, open this link:", link, _NOT_YOU]
        else:
            paragraphs = [visible(news.text), f"{site}{news.place}", f"-- \nUnsubscribe: {link}"]
        message.set_content("\n\n".join(paragraphs) + "\n", cte="quoted-printable")
        return message

    @contextmanager
    def _connected(self) -> Iterator[smtplib.SMTP]:
        server = self._connect()
        try:
            yield server
        finally:
            # The answer to QUIT doesn't matter: the email was accepted, or an error is already being raised.
            with suppress(OSError, smtplib.SMTPException):
                server.quit()
            server.close()

    def _connect(self) -> smtplib.SMTP:
        host, port = self._server
        if self._settings.smtp_security is SmtpSecurity.TLS:
            tls = ssl.create_default_context()
            return smtplib.SMTP_SSL(host, port, timeout=_TIMEOUT_SECONDS, context=tls)
        return smtplib.SMTP(host, port, timeout=_TIMEOUT_SECONDS)


def _text(response: bytes | str) -> str:
    return visible(response if isinstance(response, str) else response.decode(errors="replace"))


_NOT_YOU: Final = "If this wasn't you, ignore this email: you won't receive any more."


def mailer_of(settings: Settings) -> Mailer | None:
    """Return the mailer, or None if the operator hasn't set up mail."""
    return None if settings.smtp_address is None else Mailer(settings.smtp_address, settings)
