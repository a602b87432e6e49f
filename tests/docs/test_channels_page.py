"""docs/channels.md names the attacks and the benchmark's channels."""

import re
from itertools import takewhile

from benchmarks.channels import CHANNELS
from tests.docs.documents import DOCS, rows
from tests.sandbox.hostile.catalog import ATTACKS
from tests.sandbox.hostile.sharing_attacks import ATTACKS as SHARING

TABLE = rows(DOCS / "channels.md")
HEADS = ["channel", "closed by", "attack"]


def test_every_attack_on_what_containers_share_is_named_and_no_other_that_there_is_not() -> None:
    """By its number, in the last column of the closed channels."""
    below = TABLE[TABLE.index(HEADS) + 1 :]
    lines = takewhile(lambda row: len(row) == len(HEADS), below)
    named = {int(number) for row in lines for number in re.findall(r"\d+", row[-1])}
    assert {attack.number for attack in SHARING} <= named
    assert named <= {attack.number for attack in ATTACKS}


def test_every_channel_that_is_measured_has_its_figures() -> None:
    """By the name that the benchmark prints."""
    assert {channel.title for channel in CHANNELS} <= {row[0] for row in TABLE}
