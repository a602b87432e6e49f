"""The operator's settings, from the environment."""

import os
import re
from collections.abc import Iterable
from difflib import get_close_matches
from enum import StrEnum
from ipaddress import ip_network
from pathlib import Path
from typing import Annotated, Final, NamedTuple, Self

from pydantic import Field, SecretStr, ValidationError, field_validator, model_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from arena.platform.environment import OTHER_VARIABLES
from arena.protocol.analysis import MIN_PLAYOUTS
from arena.protocol.match import RuntimeName
from arena.protocol.sandbox_controls import CONTROL_NAMES

_MAX_PORT: int = 65535


class Address(NamedTuple):
    """A host and a port."""

    host: str  # a name or an address, IPv6 without brackets
    port: int  # 0 for any free port

    @classmethod
    def parse(cls, text: str) -> "Address | None":
        """Parse ``HOST:PORT``, such as ``127.0.0.1:9464`` or ``[::1]:9464``; empty text gives None.

        Raises ValueError if the text isn't ``HOST:PORT``.
        """
        if not text.strip():
            return None
        host, colon, port = text.strip().rpartition(":")
        host = host.removeprefix("[").removesuffix("]") if host.startswith("[") else host
        if not (colon and host and port.isascii() and port.isdigit() and int(port) <= _MAX_PORT):
            raise ValueError("must be HOST:PORT, such as 127.0.0.1:9464")
        return cls(host, int(port))

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


_PREFIX: Final = "ARENA_"
_MAX_DAYS: Final = 36500
"""Maximum number of days: a century. A far larger number would exceed the range of dates."""


class WrongSettings(ValueError):
    """A setting is invalid. The message names the variable and says what is wrong with it."""


class RegistrationMode(StrEnum):
    """Who may register."""

    OPEN = "open"
    INVITATION = "invitation"
    CLOSED = "closed"


class SmtpSecurity(StrEnum):
    """How TLS is used with the mail server."""

    STARTTLS = "starttls"
    TLS = "tls"
    NONE = "none"


class LogFormat(StrEnum):
    """The format of the log."""

    AUTO = "auto"
    """Text if stderr is a terminal, otherwise JSON."""
    CONSOLE = "console"
    JSON = "json"


class LogLevel(StrEnum):
    """Log levels, in ascending order."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class Settings(BaseSettings):
    """Settings from variables that begin with ``ARENA_``, such as ``ARENA_DATA_DIR``."""

    model_config = SettingsConfigDict(env_prefix=_PREFIX, env_ignore_empty=True, extra="ignore")

    data_dir: Path = Field(
        default=Path("data"),
        description=(
            "The folder for persistent data, such as the database and the installation's id. Created if "
            "missing. Only one arena may use it at a time."
        ),
    )
    database_url: str | None = Field(
        default=None,
        description=(
            "SQLAlchemy URL of the database, such as `postgresql+psycopg://user@host/name`. If unset, "
            "SQLite in `arena.sqlite3` in the data directory."
        ),
    )
    run_dir: Path | None = Field(
        default=None,
        description=(
            "Folder for the bots' sockets. No other user may write to it, and its path may be at most 74 "
            "bytes long. If unset, `/run/kaiten` for root, otherwise `kaiten-UID` in `$XDG_RUNTIME_DIR` or "
            "`/tmp`."
        ),
    )
    sandbox: RuntimeName = Field(
        default=RuntimeName.DOCKER,
        description=(
            "How to isolate bots: `docker`, or `process`, which provides no isolation. Don't use "
            "both with one data directory: a bot's image and its folder count as two versions."
        ),
    )
    container_runtime: str | None = Field(
        default=None,
        description=(
            "Container runtime for bots, by its name in the engine, such as `runc` or `runsc`. If unset, "
            "the engine's default, or `runc` if the default is a GPU vendor's wrapper, such as NVIDIA's. "
            "Don't choose such a wrapper: an image could then give its bot access to the host's devices."
        ),
    )
    executor: Annotated[Address | None, NoDecode] = Field(
        default=None,
        description=(
            "Where matches run: on this host (`local`, the default), or on the workers of the "
            "[cluster](cluster.md) whose scheduler is at `dask://HOST:PORT`. `arena worker` joins that "
            "cluster."
        ),
    )
    cluster_ca: Path | None = Field(
        default=None,
        description=(
            "File with the cluster's CA certificate. This and the next two settings are "
            "[needed](cluster.md#setup) unless the scheduler has a loopback address, such as `127.0.0.1`."
        ),
    )
    cluster_cert: Path | None = Field(default=None, description="File with this member's certificate.")
    cluster_key: Path | None = Field(default=None, description="File with this member's private key.")
    accept_missing: Annotated[frozenset[str], NoDecode] = Field(
        default=frozenset(),
        description=(
            "[Controls](canary.md#the-controls) that may fail on this host, separated by commas and named as "
            "in `arena doctor`. If any other control fails, "
            "[untrusted bots are refused](canary.md#untrusted-bots)."
        ),
    )
    images_url: str | None = Field(
        default=None,
        description=(
            "Store for the images of submitted bots, as an fsspec URL, such as `file:///srv/kaiten` or "
            "`s3://bucket/kaiten`. If unset, `images` in the data directory."
        ),
    )
    image_quota_gib: int = Field(
        default=20,
        ge=1,
        description=(
            "Maximum total size of submitted images, in GiB. Above it, images no longer in use [are "
            "pruned](intake.md#pruning)."
        ),
    )
    disk_floor_gib: float | None = Field(
        default=None,
        ge=0,
        allow_inf_nan=False,
        description=(
            "Minimum [free space](operating.md#full-disk) on the data directory's disk, in GiB. If unset, "
            "5 GiB, or a tenth of the disk if that is less."
        ),
    )
    keep_logs_days: int = Field(
        default=30,
        ge=0,
        le=_MAX_DAYS,
        description=(
            "Days after which bots' stderr and notes [are removed](operating.md#retention). 0: never; at "
            "most 36500."
        ),
    )
    keep_replays_days: int = Field(
        default=0,
        ge=0,
        le=_MAX_DAYS,
        description=(
            "Days after which replays of rated games are removed; results, ratings and statistics stay. "
            "0: never; at most 36500."
        ),
    )
    keep_visits_days: int = Field(
        default=30,
        ge=0,
        le=_MAX_DAYS,
        description=(
            "Days after which logins and users' other actions, with IP addresses, are removed from [the "
            "audit log](operating.md#the-audit-log). 0: never; at most 36500."
        ),
    )
    submissions_a_day: int = Field(
        default=20,
        ge=0,
        description=(
            "Maximum number of submissions per author within 24 hours; checks are counted separately."
        ),
    )
    bots_per_author: int = Field(
        default=5,
        ge=0,
        description=(
            "Maximum number of bots per author, including new bots whose submissions are in progress. "
            "Versions are not limited."
        ),
    )
    challenges_a_day: int = Field(
        default=20,
        ge=0,
        description=(
            "Maximum number of unrated [challenges](submitting.md#challenges) per author within 24 hours."
        ),
    )
    analysis_playouts: int = Field(
        default=600,
        ge=0,
        le=100_000,
        description=(
            "Maximum number of playouts per position and option in the [analyses](analysis.md) of rated "
            "games. The coordinator's host analyses one game at a time, with a minute between games, while "
            "it has free slots. 0: no analyses; otherwise at least 8."
        ),
    )
    person_games: int = Field(
        default=2,
        ge=0,
        le=16,
        description=(
            "Maximum number of people who [play against bots](play.md#for-operators) at the same time; "
            "others wait. 0 disables these games."
        ),
    )
    registration: RegistrationMode = Field(
        default=RegistrationMode.OPEN,
        description=(
            "Who may register on the site: anyone (`open`), holders of [an "
            "invitation](operating.md#accounts) (`invitation`), or no one (`closed`)."
        ),
    )
    trusted_proxies: Annotated[frozenset[str], NoDecode] = Field(
        default=frozenset(),
        description=(
            "Addresses or networks of [reverse proxies](operating.md#behind-a-reverse-proxy) whose "
            "`X-Forwarded-For` and `X-Forwarded-Proto` are trusted, separated by commas, such as `127.0.0.1`."
        ),
    )
    host: str = Field(default="127.0.0.1", description="Address the site listens on.")
    port: int = Field(default=8000, ge=1, le=65535, description="Port the site listens on.")

    site_url: str | None = Field(
        default=None,
        description="The site's public address, such as `https://arena.example`, for links in email.",
    )
    source_url: str | None = Field(
        default=None,
        description=(
            "Address of the arena's source for `git clone`, such as `https://code.example/kaiten.git`. The "
            "site shows it to authors."
        ),
    )
    package_url: str | None = Field(
        default=None,
        description=(
            "Address of the arena's Python package for `pip install`, such as "
            "`https://code.example/kaiten_arena-0.1.0-py3-none-any.whl`. The site shows it to authors."
        ),
    )
    webhook_hosts: Annotated[frozenset[str], NoDecode] = Field(
        default=frozenset(),
        description=(
            "Hosts, as `HOST:PORT` separated by commas, that [webhooks](notifications.md) may reach even in "
            "the arena's own network, on a port other than 443, or over `http:`."
        ),
    )
    smtp_address: Annotated[Address | None, NoDecode] = Field(
        default=None,
        description=(
            "`HOST:PORT` of the mail server. [Email](notifications.md#for-operators) needs more settings."
        ),
    )
    smtp_security: SmtpSecurity = Field(
        default=SmtpSecurity.STARTTLS,
        description=(
            "TLS with the mail server: after a command (`starttls`), from the start (`tls`), or not at all "
            "(`none`), which is meant for a server on this host."
        ),
    )
    smtp_user: str | None = Field(
        default=None, description="User name for the mail server, if it requires one."
    )
    smtp_password: SecretStr | None = Field(default=None, description="Password for the mail server.")
    mail_from: str | None = Field(
        default=None, description="Sender address of email, such as `kaiten@arena.example`."
    )

    log_format: LogFormat = Field(
        default=LogFormat.AUTO,
        description=(
            "Format of [the log](monitoring.md#the-log): text for people (`console`), JSON lines (`json`), "
            "or text if stderr is a terminal and otherwise JSON (`auto`). The default of `arena demo` is "
            "`console`."
        ),
    )
    log_level: LogLevel | None = Field(
        default=None,
        description=(
            "Minimum level to log: `debug`, `info`, `warning` or `error`. If unset, `info`, or `warning` in "
            "`arena demo`."
        ),
    )
    ops_address: Annotated[Address | None, NoDecode] = Field(
        default=None,
        description=(
            "`HOST:PORT` at which a coordinator, worker or scheduler [serves](monitoring.md) `/healthz`, "
            "`/readyz` and `/metrics`, such as `127.0.0.1:9464`."
        ),
    )
    web_ops_address: Annotated[Address | None, NoDecode] = Field(
        default=None,
        description=(
            "`HOST:PORT` at which the site serves [`/metrics`](monitoring.md#metrics), such as "
            "`127.0.0.1:9465`. Don't expose it to the public."
        ),
    )

    @field_validator("analysis_playouts", mode="after")
    @classmethod
    def _check_playouts(cls, value: int) -> int:
        if 0 < value < MIN_PLAYOUTS:
            raise ValueError(f"must be 0 or at least {MIN_PLAYOUTS}")
        return value

    @field_validator("ops_address", "smtp_address", "web_ops_address", mode="before")
    @classmethod
    def _parse_address(cls, value: str | Address | None) -> Address | None:
        return Address.parse(value) if isinstance(value, str) else value

    @field_validator("executor", mode="before")
    @classmethod
    def _parse_executor(cls, value: str | Address | None) -> Address | None:
        if not isinstance(value, str) or value.strip() in {"", "local"}:
            return None if isinstance(value, str) else value
        scheme, found, rest = value.strip().partition("://")
        if (scheme, found) != ("dask", "://"):
            raise ValueError("must be local, or dask://HOST:PORT")
        return Address.parse(rest)

    @field_validator("accept_missing", "trusted_proxies", "webhook_hosts", mode="before")
    @classmethod
    def _split_list(cls, value: str | frozenset[str]) -> frozenset[str]:
        if isinstance(value, str):
            return frozenset(word.strip() for word in value.split(",") if word.strip())
        return value

    @field_validator("accept_missing", mode="after")
    @classmethod
    def _check_controls(cls, value: frozenset[str]) -> frozenset[str]:
        if unknown := sorted(value - set(CONTROL_NAMES)):
            known = ", ".join(CONTROL_NAMES)
            raise ValueError(f"there is no control called {', '.join(unknown)}: the controls are {known}")
        return value

    @field_validator("trusted_proxies", mode="after")
    @classmethod
    def _normalise_networks(cls, value: frozenset[str]) -> frozenset[str]:
        # uvicorn ignores networks with host bits, such as 172.17.0.1/16. A ValueError names the invalid
        # address.
        return frozenset(str(ip_network(address, strict=False)) for address in value)

    @field_validator("webhook_hosts", mode="after")
    @classmethod
    def _normalise_hosts(cls, value: frozenset[str]) -> frozenset[str]:
        return frozenset(str(Address.parse(each.lower())) for each in value)  # as in a parsed URL

    @field_validator("site_url", mode="after")
    @classmethod
    def _check_site_url(cls, value: str | None) -> str | None:
        if value is None:
            return None
        if not re.fullmatch(r"https?://[A-Za-z0-9.:\[\]-]+/?", value):
            raise ValueError("must be the address of a site, such as https://arena.example")
        return value.rstrip("/")

    @field_validator("source_url", "package_url", mode="after")
    @classmethod
    def _check_download_url(cls, value: str | None) -> str | None:
        # Visitors copy this address into a shell.
        if value is not None and not re.fullmatch(
            r"https?://[A-Za-z0-9.:\[\]-]+/[A-Za-z0-9._~/%+@=:#-]*", value
        ):
            raise ValueError(
                "must be a URL without spaces or special characters, such as https://code.example/kaiten.git"
            )
        return value

    @field_validator("mail_from", mode="after")
    @classmethod
    def _check_sender(cls, value: str | None) -> str | None:
        if value is not None and not re.fullmatch(r"[!-?A-~]+@[A-Za-z0-9.-]+", value):
            raise ValueError("must be an email address, such as kaiten@arena.example")
        return value

    @model_validator(mode="after")
    def _check_mail(self) -> Self:
        if self.smtp_address is not None and (self.mail_from is None or self.site_url is None):
            raise ValueError("ARENA_SMTP_ADDRESS also needs ARENA_MAIL_FROM and ARENA_SITE_URL")
        if self.smtp_user is not None and self.smtp_security is SmtpSecurity.NONE:
            raise ValueError("ARENA_SMTP_USER needs ARENA_SMTP_SECURITY=starttls or tls")
        return self

    @property
    def sends_mail(self) -> bool:
        """True if the arena can send email."""
        return self.smtp_address is not None

    @property
    def url(self) -> str:
        """SQLAlchemy URL of the database."""
        return self.database_url or f"sqlite:///{self.data_dir.absolute() / 'arena.sqlite3'}"

    @property
    def least_free(self) -> int | None:
        """Minimum free bytes on the disk; None for the default."""
        return None if self.disk_floor_gib is None else int(self.disk_floor_gib * 1024**3)

    @property
    def sockets(self) -> Path:
        """Parent of the folders for sockets."""
        if self.run_dir is not None:
            return self.run_dir.absolute()
        if os.geteuid() == 0:
            return Path("/run/kaiten")
        return Path(os.environ.get("XDG_RUNTIME_DIR") or "/tmp") / f"kaiten-{os.geteuid()}"  # noqa: S108 - only this user can access it, see private_folder


def read_settings() -> Settings:
    """Read the settings from the environment.

    Raises WrongSettings for an invalid value or an unknown name.
    """
    check_names(os.environ)
    try:
        return Settings()
    except ValidationError as error:
        raise WrongSettings(
            "; ".join(
                f"{_PREFIX}{'_'.join(map(str, wrong['loc'])).upper()}={wrong['input']}: {wrong['msg']}"
                if wrong["loc"]
                else wrong["msg"]
                for wrong in error.errors()
            )
        ) from error


def check_names(names: Iterable[str]) -> None:
    """Raise WrongSettings for unknown names: a misspelled setting would silently keep its default."""
    known = {f"{_PREFIX}{field.upper()}" for field in Settings.model_fields}
    ours = {name for name in names if name.upper().startswith(_PREFIX)}
    wrong = sorted(name for name in ours if name.upper() not in known | OTHER_VARIABLES)
    if wrong:
        raise WrongSettings(
            " ".join(_unknown_name_text(name, sorted(known | OTHER_VARIABLES)) for name in wrong)
        )


_MIN_SIMILARITY: Final = 0.75
"""Minimum similarity of two names for a suggestion. It is high because all names begin with `ARENA_`."""


def _unknown_name_text(name: str, known: list[str]) -> str:
    nearest = get_close_matches(name.upper(), known, n=1, cutoff=_MIN_SIMILARITY)
    meant = f"Did you mean {nearest[0]}?" if nearest else "Unset it."
    return f"{name}: no such setting. {meant} docs/settings.md lists all settings."
