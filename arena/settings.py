"""What an operator may set, from the environment."""

import os
from enum import StrEnum
from ipaddress import ip_network
from pathlib import Path
from typing import Annotated, Final

from pydantic import Field, ValidationError, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from arena.controls import CONTROL_NAMES
from arena.match import RuntimeName
from arena.monitoring.address import Address

_MOST_DAYS: Final = 36500
"""A century: much longer ago there are no dates to compare with."""


class WrongSettings(ValueError):
    """A setting can't be used. The text names the variable and what is wrong with it."""


class RegistrationMode(StrEnum):
    """Who may register."""

    OPEN = "open"
    INVITATION = "invitation"
    CLOSED = "closed"


class LogFormat(StrEnum):
    """For whom the log is written."""

    AUTO = "auto"
    """For people on a terminal, for programs elsewhere."""
    CONSOLE = "console"
    JSON = "json"


class LogLevel(StrEnum):
    """How much weight a line of the log has, the least first."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class Settings(BaseSettings):
    """Read from variables that begin with ``ARENA_``, such as ``ARENA_DATA_DIR``."""

    model_config = SettingsConfigDict(env_prefix="ARENA_", env_ignore_empty=True, extra="ignore")

    data_dir: Path = Field(default=Path("data"), description="Everything that has to be kept lies here.")
    database_url: str | None = Field(
        default=None, description="SQLAlchemy URL of the database; SQLite in the data directory without it."
    )
    run_dir: Path | None = Field(
        default=None, description="Where sockets are made; keep it short. Chosen by the user's id without it."
    )
    sandbox: RuntimeName = Field(
        default=RuntimeName.DOCKER, description="How bots are run; process isolates nothing."
    )
    container_runtime: str | None = Field(
        default=None,
        description="What the engine runs bots with, such as runc or runsc; its default without.",
    )
    executor: Annotated[Address | None, NoDecode] = Field(
        default=None,
        description="Who plays matches: this host (local), or a cluster (dask://HOST:PORT of its scheduler).",
    )
    cluster_ca: Path | None = Field(
        default=None, description="Certificate of the cluster's authority: who is let in."
    )
    cluster_cert: Path | None = Field(default=None, description="This member's certificate in the cluster.")
    cluster_key: Path | None = Field(default=None, description="Its private key.")
    accept_missing: Annotated[frozenset[str], NoDecode] = Field(
        default=frozenset(),
        description="Controls whose absence is accepted, with commas between, by the names of arena doctor.",
    )
    images_url: str | None = Field(
        default=None, description="Where bots' images are kept, for fsspec; the data directory without it."
    )
    image_quota_gib: int = Field(default=20, ge=1, description="What these images may take, in GiB.")
    disk_floor_gib: float | None = Field(
        default=None,
        ge=0,
        allow_inf_nan=False,
        description="GiB of the disk that stay free; without it the smaller of 5 and a tenth of it.",
    )
    keep_logs_days: int = Field(
        default=30,
        ge=0,
        le=_MOST_DAYS,
        description="Days that stderr and notes of bots are kept; 0 for ever.",
    )
    keep_replays_days: int = Field(
        default=0, ge=0, le=_MOST_DAYS, description="Days that replays of rated games are kept; 0 for ever."
    )
    submissions_a_day: int = Field(default=20, ge=0, description="Files that an author may send in 24 hours.")
    bots_per_author: int = Field(default=5, ge=0, description="Bots that an author may have.")
    challenges_a_day: int = Field(
        default=20, ge=0, description="Unrated challenges that an author may ask for in 24 hours."
    )
    registration: RegistrationMode = Field(
        default=RegistrationMode.OPEN, description="Who may register: open, invitation or closed."
    )
    trusted_proxies: Annotated[frozenset[str], NoDecode] = Field(
        default=frozenset(),
        description="Reverse proxies whose X-Forwarded headers are believed, with commas between.",
    )
    host: str = Field(default="127.0.0.1", description="Where the site listens.")
    port: int = Field(default=8000, ge=1, le=65535, description="Where the site listens.")

    log_format: LogFormat = Field(
        default=LogFormat.AUTO,
        description="Of the log: console, json, or auto, which asks whether it is a terminal.",
    )
    log_level: LogLevel | None = Field(
        default=None,
        description="The least that is logged: debug, info, warning or error; info, or warning in a demo.",
    )
    ops_address: Annotated[Address | None, NoDecode] = Field(
        default=None,
        description="HOST:PORT where a coordinator, a worker or a scheduler tells how it is; none without.",
    )
    web_ops_address: Annotated[Address | None, NoDecode] = Field(
        default=None, description="HOST:PORT where the site tells its metrics; none without."
    )

    @field_validator("ops_address", "web_ops_address", mode="before")
    @classmethod
    def _address(cls, value: str | Address | None) -> Address | None:
        return Address.parse(value) if isinstance(value, str) else value

    @field_validator("executor", mode="before")
    @classmethod
    def _scheduler(cls, value: str | Address | None) -> Address | None:
        if not isinstance(value, str) or value.strip() in {"", "local"}:
            return None if isinstance(value, str) else value
        scheme, found, rest = value.strip().partition("://")
        if (scheme, found) != ("dask", "://"):
            raise ValueError("it should be local, or dask://HOST:PORT")
        return Address.parse(rest)

    @field_validator("keep_logs_days", "keep_replays_days", mode="before")
    @classmethod
    def _for_ever(cls, value: str | int) -> str | int:
        return 0 if isinstance(value, str) and not value.strip() else value

    @field_validator("accept_missing", "trusted_proxies", mode="before")
    @classmethod
    def _words(cls, value: str | frozenset[str]) -> frozenset[str]:
        if isinstance(value, str):
            return frozenset(word.strip() for word in value.split(",") if word.strip())
        return value

    @field_validator("accept_missing", mode="after")
    @classmethod
    def _known(cls, value: frozenset[str]) -> frozenset[str]:
        if unknown := sorted(value - set(CONTROL_NAMES)):
            known = ", ".join(CONTROL_NAMES)
            raise ValueError(f"there is no control called {', '.join(unknown)}; the controls are {known}")
        return value

    @field_validator("trusted_proxies", mode="after")
    @classmethod
    def _addresses(cls, value: frozenset[str]) -> frozenset[str]:
        for address in value:
            ip_network(address, strict=False)  # its ValueError names what is no address
        return value

    @property
    def url(self) -> str:
        """SQLAlchemy URL of the database."""
        return self.database_url or f"sqlite:///{self.data_dir.absolute() / 'arena.sqlite3'}"

    @property
    def least_free(self) -> int | None:
        """Bytes of the disk that stay free; None for the usual."""
        return None if self.disk_floor_gib is None else int(self.disk_floor_gib * 1024**3)

    @property
    def sockets(self) -> Path:
        """Folder of the sockets' folders."""
        if self.run_dir is not None:
            return self.run_dir.absolute()
        if os.geteuid() == 0:
            return Path("/run/kaiten")
        return Path(os.environ.get("XDG_RUNTIME_DIR", "/tmp")) / f"kaiten-{os.geteuid()}"  # noqa: S108 - made for this user alone, see bootstrap


def read_settings() -> Settings:
    """Read the settings from the environment.

    Raises:
        WrongSettings: One of them can't be used.
    """
    try:
        return Settings()
    except ValidationError as error:
        raise WrongSettings(
            "; ".join(
                f"ARENA_{'_'.join(map(str, wrong['loc'])).upper()}={wrong['input']}: {wrong['msg']}"
                for wrong in error.errors()
            )
        ) from error
