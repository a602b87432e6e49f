"""Types of columns."""

from datetime import UTC, datetime
from typing import Annotated

from sqlalchemy import (
    JSON,
    BigInteger,
    DateTime,
    Dialect,
    Double,
    Integer,
    LargeBinary,
    String,
    Text,
)
from sqlalchemy.orm import mapped_column
from sqlalchemy.types import TypeDecorator, TypeEngine


class UtcTime(TypeDecorator[datetime]):
    """A moment. Aware datetimes go in, UTC comes out, also from a database without time zones."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002
        """Turn into UTC.

        Raises:
            ValueError: A naive datetime, which could mean any moment.
        """
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(f"{value} has no time zone")
        return value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002
        """Turn into UTC; a naive value was stored as UTC."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class Words(TypeDecorator[str]):
    """Text from outside. What PostgreSQL can't hold (NUL, lone surrogates) is replaced."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:  # noqa: ARG002
        """Replace what can't be stored."""
        if value is None:
            return None
        return value.encode("utf-8", "replace").decode().replace("\0", "\N{REPLACEMENT CHARACTER}")


_NUMBER: TypeEngine[int] = BigInteger().with_variant(Integer(), "sqlite")  # SQLite's row id is an Integer
_NAME = String(64)

Number = Annotated[int, mapped_column(_NUMBER)]
NumberKey = Annotated[int, mapped_column(_NUMBER, primary_key=True, autoincrement=False)]
Serial = Annotated[int, mapped_column(_NUMBER, primary_key=True, autoincrement=True)]
Small = Annotated[int, mapped_column(Integer)]
SmallKey = Annotated[int, mapped_column(Integer, primary_key=True, autoincrement=False)]
Name = Annotated[str, mapped_column(_NAME)]
NameKey = Annotated[str, mapped_column(_NAME, primary_key=True)]
LongText = Annotated[str, mapped_column(Text)]
Reason = Annotated[str, mapped_column(Words)]
Moment = Annotated[datetime, mapped_column(UtcTime)]
Real = Annotated[float, mapped_column(Double)]
Blob = Annotated[bytes, mapped_column(LargeBinary)]
Numbers = Annotated[list[int], mapped_column(JSON)]
Texts = Annotated[list[str], mapped_column(JSON)]
