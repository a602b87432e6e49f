"""The tables of people.

    account ─┬─< session
             ├─< api_token
             ├─< invitation (who used it)
             └─< bot

``audit`` stands alone: it outlives whom it names. Of secrets only the SHA-256 is kept, as hexadecimal digits.
"""

from sqlalchemy import CheckConstraint, ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from arena.store.columns import LongText, Moment, Name, Number, Reason, Serial, Small, Texts
from arena.store.models import Base


class Account(Base):
    """A person. ``key`` is the name in small letters. Who was deleted has a pseudonym and no password.

    The three quotas are none where the arena's own settings count.
    """

    __tablename__ = "account"
    __table_args__ = (
        CheckConstraint("role IN ('user', 'operator')", name="role"),
        CheckConstraint("(password IS NULL) = (deleted IS NOT NULL)", name="deleted"),
    )

    id: Mapped[Serial]
    name: Mapped[Name]
    key: Mapped[Name] = mapped_column(unique=True)
    password: Mapped[LongText | None]
    role: Mapped[Name]
    created: Mapped[Moment]
    deleted: Mapped[Moment | None]
    submissions_a_day: Mapped[Small | None]
    bots: Mapped[Small | None]
    challenges_a_day: Mapped[Small | None]


class Session(Base):
    """A browser that is logged in. ``seen`` lags behind a little, so that reading costs no writes."""

    __tablename__ = "session"

    id: Mapped[Serial]
    account_id: Mapped[Number] = mapped_column(ForeignKey("account.id"), index=True)
    hash: Mapped[Name] = mapped_column(unique=True)
    browser: Mapped[Reason]
    created: Mapped[Moment]
    seen: Mapped[Moment]


class ApiToken(Base):
    """A program's way in. ``prefix`` is the part of the secret that may be shown again."""

    __tablename__ = "api_token"

    id: Mapped[Serial]
    account_id: Mapped[Number] = mapped_column(ForeignKey("account.id"), index=True)
    name: Mapped[Reason]
    prefix: Mapped[Name]
    hash: Mapped[Name] = mapped_column(unique=True)
    scopes: Mapped[Texts]
    created: Mapped[Moment]
    expires: Mapped[Moment]
    last_used: Mapped[Moment | None]
    revoked: Mapped[Moment | None]


class Invitation(Base):
    """Lets one person register, once."""

    __tablename__ = "invitation"

    id: Mapped[Serial]
    hash: Mapped[Name] = mapped_column(unique=True)
    created: Mapped[Moment]
    expires: Mapped[Moment]
    used_by: Mapped[Number | None] = mapped_column(ForeignKey("account.id"))


class AuditEntry(Base):
    """What an operator did. ``who`` is an account's name, or ``terminal:`` and a user of the machine."""

    __tablename__ = "audit"

    number: Mapped[Serial]
    at: Mapped[Moment]
    who: Mapped[Reason]
    what: Mapped[Name]
    subject: Mapped[Reason]
    detail: Mapped[Reason]
