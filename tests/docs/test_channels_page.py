"""Tests that docs/channels.md lists the attacks and the benchmark's channels."""

import re
from itertools import takewhile

from benchmarks.channels import CHANNELS
from tests.docs.documents import DOCS, rows
from tests.sandbox.hostile.catalog import ATTACKS
from tests.sandbox.hostile.sharing_attacks import ATTACKS as SHARING

TABLE = rows(DOCS / "channels.md")
HEADS = ["channel", "closed by", "attack"]
MEASURED = ["channel", "bit/s", "cores shared", "cores apart", "reason"]


def test_every_attack_on_shared_parts_is_listed_and_all_listed_attacks_exist() -> None:
    """The attacks' numbers are in the last column of the table of closed channels."""
    below = TABLE[TABLE.index(HEADS) + 1 :]
    lines = takewhile(lambda row: len(row) == len(HEADS), below)
    named = {int(number) for row in lines for number in re.findall(r"\d+", row[-1])}
    assert {attack.number for attack in SHARING} <= named
    assert named <= {attack.number for attack in ATTACKS}


def test_every_channel_that_is_measured_has_its_figures() -> None:
    """The page has the benchmark's names and speeds, and both shares of wrong bits."""
    found = {row[0]: row[1:4] for row in TABLE if len(row) == len(MEASURED)}
    for channel in CHANNELS:
        speed, *wrong = found[channel.title]
        assert speed in {f"{channel.rate:,.0f}", "none"}
        assert all(re.fullmatch(r"[\d.]+ to [\d.]+% \(load [\d to]+\)", share) for share in wrong), channel
