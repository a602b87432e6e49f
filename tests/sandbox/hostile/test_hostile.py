"""Every attack gets its verdict and harms nobody; without its control the same program succeeds."""

from collections.abc import Iterator

import docker
import pytest

from tests.images.hostile import ATTACKS as ARCHIVES
from tests.sandbox.hostile import bot
from tests.sandbox.hostile.attack import Attack, Control, title
from tests.sandbox.hostile.catalog import ATTACKS, CROWDED, TABLES
from tests.sandbox.hostile.stage import HostileStage
from tests.sandbox.hostile.uploads import UPLOADS

pytestmark = [
    pytest.mark.docker,
    pytest.mark.usefixtures("root"),
    pytest.mark.timeout(1800),  # each attack waits until no other process plays one
]


@pytest.fixture(scope="module")
def stage(docker_client: docker.DockerClient, base_image: str) -> Iterator[HostileStage]:
    """Yield a stage with the real engine."""
    stage = HostileStage(docker_client, base_image)
    yield stage
    stage.close()


@pytest.mark.parametrize("table", TABLES, ids=str)
def test_attacks_get_their_verdicts_and_harm_nobody(stage: HostileStage, table: tuple[int, ...]) -> None:
    """Attackers get the right verdicts, all other seats play as without attacks, and nothing remains."""
    attacks = [attack for attack in ATTACKS if attack.number in table]
    _, wrong = stage.attack(*attacks, beside=table in CROWDED)
    assert wrong == ()


@pytest.mark.soak
@pytest.mark.parametrize("attack", ATTACKS, ids=title)
def test_without_its_control_an_attack_succeeds(stage: HostileStage, attack: Attack) -> None:
    """Without its control the same program succeeds, so the control is what stops it."""
    _, wrong = stage.attack_without_control(attack)
    assert wrong == ()


def test_the_catalog_is_complete() -> None:
    """Each number from 1 to 64, except 38 and 39, is an attack or an upload, whose archives exist.

    Each attack has a name of its own and is played at exactly one table.
    """
    played, taken = {attack.number for attack in ATTACKS}, {upload.number for upload in UPLOADS}
    assert sorted((*played, *taken)) == [*range(1, 38), *range(40, 65)]
    assert len({attack.name for attack in ATTACKS}) == len(ATTACKS)
    assert sorted(number for table in TABLES for number in table) == sorted(played)
    assert {name for upload in UPLOADS for name in upload.archives} <= {archive.name for archive in ARCHIVES}


def test_a_bot_that_attacks_nothing_is_found_out(stage: HostileStage) -> None:
    """The only complaint about an honest bot in the attacker's seat is that it reported no attack."""
    nothing = Attack(
        number=0,
        name="nothing",
        program=bot.honest,
        achieved=lambda _: "",
        control=Control(name="nothing"),
    )
    (outcome,), wrong = stage.attack(nothing, beside=False)
    assert outcome.verdict == "N"
    assert len(wrong) == 1
    assert wrong[0].startswith("nothing: it reported nothing")
