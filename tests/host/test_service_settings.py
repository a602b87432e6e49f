"""Tests of the settings that the Compose files give to each service."""

import ast
from functools import cache
from pathlib import Path
from typing import Any

import grimp
import pytest
import yaml
from pydantic import SecretStr

from arena.platform.settings import Settings

ROOT = Path(__file__).parents[2]
PROGRAMS = {
    "arena": "arena.app.arena",
    "scheduler": "arena.app.cluster",
    "web": "web.__main__",
    "worker": "arena.app.worker",
}
"""The services that read settings, with each one's main module."""
MADE = {
    "DATA_DIR",
    "DATABASE_URL",
    "RUN_DIR",
    "SANDBOX",
    "EXECUTOR",
    "CLUSTER_CA",
    "CLUSTER_CERT",
    "CLUSTER_KEY",
    "IMAGES_URL",
    "PERSON_GAMES",
    "HOST",
    "PORT",
    "OPS_ADDRESS",
    "WEB_OPS_ADDRESS",
}
"""Settings that the file itself sets, or that are useless in containers."""
WITH_PASSWORDS = {"DATABASE_URL": {"arena", "web"}, "SMTP_USER": {"arena"}}
"""Settings that come with a password or may contain one, and the services that need them."""


def settings_of(file: str) -> dict[str, dict[str, str]]:
    """Return the settings of each service in a Compose file, without the prefix ``ARENA_``."""
    services: dict[str, Any] = yaml.safe_load((ROOT / file).read_text())["services"]
    return {
        name: {key.removeprefix("ARENA_"): value for key, value in service.get("environment", {}).items()}
        for name, service in services.items()
    }


def secret_settings() -> dict[str, str]:
    """Return the secret settings' fields by name."""
    return {
        name.upper(): name
        for name, field in Settings.model_fields.items()
        if SecretStr in (field.annotation, *getattr(field.annotation, "__args__", ()))
    }


@cache
def imports() -> grimp.ImportGraph:
    """Return the graph of imports, including those within functions."""
    return grimp.build_graph("arena", "web", cache_dir=None)


def readers(field: str) -> set[str]:
    """Return the modules that read a setting."""
    files = [path for folder in ("arena", "web") for path in (ROOT / folder).rglob("*.py")]
    return {
        ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for path in files
        if field in (source := path.read_text())
        and any(
            isinstance(node, ast.Attribute) and node.attr == field for node in ast.walk(ast.parse(source))
        )
    }


def given(file: str, setting: str) -> set[str]:
    """Return the services that get a setting."""
    return {service for service, settings in settings_of(file).items() if setting in settings}


def test_every_setting_can_be_set_or_is_made_by_the_file() -> None:
    """A setting's variable in Compose has the same name. Every service gets it, unless it may be secret."""
    services = settings_of("docker-compose.yml")
    for setting in {field.upper() for field in Settings.model_fields} - MADE:
        found = {name: its[setting] for name, its in services.items() if setting in its}
        assert set(found.values()) == {f"${{KAITEN_{setting}:-}}"}
        assert found.keys() == PROGRAMS.keys() or setting in {*secret_settings(), *WITH_PASSWORDS}


@pytest.mark.parametrize("file", ["docker-compose.yml", "deploy/worker.yml"])
@pytest.mark.parametrize("setting", secret_settings())
def test_a_secret_is_given_only_to_the_programs_that_read_it(file: str, setting: str) -> None:
    """A secret is given exactly to the programs that import a module that reads it."""
    its = readers(secret_settings()[setting])
    assert its
    reading = {
        service
        for service in settings_of(file).keys() & PROGRAMS.keys()
        if its & imports().find_upstream_modules(PROGRAMS[service])
    }
    assert given(file, setting) == reading


@pytest.mark.parametrize("file", ["docker-compose.yml", "deploy/worker.yml"])
@pytest.mark.parametrize("setting", WITH_PASSWORDS)
def test_settings_with_passwords_are_given_only_to_services_that_need_them(file: str, setting: str) -> None:
    """Settings with passwords go only to services that need them: a worker refuses a database, for example.

    The site need only know that there is a mail server.
    """
    assert given(file, setting) == WITH_PASSWORDS[setting] & settings_of(file).keys()


def test_the_site_offers_no_games_that_a_cluster_does_not_play() -> None:
    """The site, arena and workers have the same executor, by which the site knows that there is a cluster."""
    its = {
        name: each["EXECUTOR"]
        for name, each in settings_of("docker-compose.yml").items()
        if each.get("EXECUTOR")
    }
    assert its == dict.fromkeys(("arena", "web", "worker"), "dask://scheduler:8786")
