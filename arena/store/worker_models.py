"""The table of workers."""

from sqlalchemy.orm import Mapped

from arena.store.columns import Name, NameKey, Real, Small
from arena.store.models import LEAN, Base


class Worker(Base):
    """Who could play matches for a coordinator, as of its last sign of life."""

    __tablename__ = "worker"
    __table_args__ = LEAN

    coordinator: Mapped[NameKey]
    name: Mapped[NameKey]
    host: Mapped[Name]
    seats: Mapped[Small]
    busy: Mapped[Small]
    doubted: Mapped[bool]
    leased_until: Mapped[Real]
    lease_clock: Mapped[Name]
