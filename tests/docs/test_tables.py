"""Tests that tables in several documents agree with the code."""

import re
from itertools import takewhile

import msgspec

from arena.images.image import DEFAULT_LIMITS
from arena.images.reader import INTAKE_UID
from arena.platform.environment import OTHER_VARIABLES
from arena.platform.settings import Settings
from benchmarks.channels import CHANNELS
from tests.db.builders import present
from tests.docs.documents import DOCS, ROOT, rows
from tests.faults.catalog import SCENARIOS
from tests.images.hostile import ATTACKS as ARCHIVES
from tests.sandbox.hostile.catalog import ATTACKS
from tests.sandbox.hostile.sharing_attacks import ATTACKS as SHARING
from tests.web.app import description

CHANNELS_TABLE = rows(DOCS / "channels.md")
INTAKE = DOCS / "intake.md"
SETTINGS = {row[0].strip("`"): row[1].strip("`") for row in rows(DOCS / "settings.md")}
UNITS = {"": 1, "bytes": 1, "KiB": 1 << 10, "MiB": 1 << 20, "s": 1}


def test_every_status_of_the_api_is_explained() -> None:
    """Every error status of any route has a row in the table of docs/api.md."""
    explained = {row[0] for row in rows(DOCS / "api.md")}
    routes = description()["paths"].values()
    known = {
        status for methods in routes for operation in methods.values() for status in operation["responses"]
    }
    assert {status for status in known if status >= "400"} <= explained


def test_every_setting_is_listed_and_nothing_else() -> None:
    """The table in docs/settings.md and the settings class have the same variables."""
    listed = {variable for variable in SETTINGS if variable.startswith("ARENA_")}
    assert listed == {f"ARENA_{field.upper()}" for field in Settings.model_fields} | OTHER_VARIABLES


def test_variables_of_make_are_used_by_the_scripts() -> None:
    """The scripts use SANDBOX and ONCE."""
    script = (ROOT / "scripts" / "demo").read_text()
    assert "${SANDBOX:-}" in script
    assert "${ONCE:+" in script
    assert {"SANDBOX=process", "ONCE=1", "CI"} <= SETTINGS.keys()


def test_every_promise_names_the_scenarios_that_back_it() -> None:
    """Every guarantee in docs/reliability.md names scenarios of the fault suite."""
    names = {scenario.name for scenario in SCENARIOS}
    first_table = takewhile(lambda row: row[0] != "who", rows(DOCS / "reliability.md"))
    promises = [row for row in first_table if row[0] != "guarantee"]
    assert len(promises) >= 8
    for _, backing in promises:
        named = set(re.findall(r"`([a-z0-9-]+)`", backing))
        assert named
        assert named <= names


def test_every_attack_on_shared_parts_is_listed_and_all_listed_attacks_exist() -> None:
    """The attacks' numbers are in the last column of the table of closed channels in docs/channels.md."""
    heads = ["channel", "closed by", "attack"]
    below = CHANNELS_TABLE[CHANNELS_TABLE.index(heads) + 1 :]
    lines = takewhile(lambda row: len(row) == len(heads), below)
    named = {int(number) for row in lines for number in re.findall(r"\d+", row[-1])}
    assert {attack.number for attack in SHARING} <= named
    assert named <= {attack.number for attack in ATTACKS}


def test_every_channel_that_is_measured_has_its_figures() -> None:
    """docs/channels.md has the benchmark's names and speeds, and both shares of wrong bits."""
    # channel, bit/s, cores shared, cores apart, reason
    found = {row[0]: row[1:4] for row in CHANNELS_TABLE if len(row) == 5}
    for channel in CHANNELS:
        speed, *wrong = found[channel.title]
        assert speed in {f"{channel.rate:,.0f}", "none"}
        assert all(re.fullmatch(r"[\d.]+ to [\d.]+% \(load [\d to]+\)", share) for share in wrong), channel


def test_every_limit_of_the_intake_is_on_the_page() -> None:
    """The table in docs/intake.md has exactly the limits in the code, with their values."""
    limits = msgspec.structs.asdict(DEFAULT_LIMITS)
    found = {}
    for row in rows(INTAKE):
        if len(row) == 3 and row[2].strip("`") in limits:
            number, _, unit = row[1].partition(" ")
            found[row[2].strip("`")] = int(number) * UNITS[unit]
    assert found == limits


def test_the_readers_user_is_on_the_page() -> None:
    """docs/intake.md gives the user that reads archives, so that operators can look it up."""
    assert f"user {INTAKE_UID}" in INTAKE.read_text()


def test_the_number_of_hostile_archives_is_not_overstated() -> None:
    """There are more hostile archives than docs/intake.md says."""
    stated = present(re.search(r"more than (\d+) hostile archives", INTAKE.read_text()))
    assert len(ARCHIVES) >= int(stated[1])
