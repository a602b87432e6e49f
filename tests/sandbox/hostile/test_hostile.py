"""Every attack gets its verdict and harms nobody; without its control the same program succeeds."""

from collections.abc import Iterator

import docker
import pytest

from tests.images.hostile import ATTACKS as ARCHIVES
from tests.sandbox.hostile import bot
from tests.sandbox.hostile.attack import Attack, Control, title
from tests.sandbox.hostile.catalog import ATTACKS
from tests.sandbox.hostile.stage import HostileStage
from tests.sandbox.hostile.uploads import UPLOADS
from tests.soak import SOAK

WANT_MUCH = {1, 2, 3, 6, 7, 14, 16}
"""Numbers of attacks that want much of what all share: a second match is always played beside these."""

pytestmark = [
    pytest.mark.docker,
    pytest.mark.usefixtures("root"),
]


@pytest.fixture(scope="module")
def stage(docker_client: docker.DockerClient, base_image: str) -> Iterator[HostileStage]:
    """Give a place to play attacks."""
    stage = HostileStage(docker_client, base_image)
    yield stage
    stage.close()


@pytest.mark.parametrize("attack", ATTACKS, ids=title)
def test_an_attack_gets_its_verdict_and_harms_nobody(stage: HostileStage, attack: Attack) -> None:
    """Its seat ends as it must, all others play as if it were not there, and nothing of it is left."""
    _, wrong = stage.attack(attack, beside=SOAK or attack.number in WANT_MUCH)
    assert wrong == ()


@pytest.mark.soak
@pytest.mark.parametrize("attack", ATTACKS, ids=title)
def test_without_its_control_an_attack_succeeds(stage: HostileStage, attack: Attack) -> None:
    """The same program gets what it is after, so it is the control that holds it."""
    _, wrong = stage.attack_without_control(attack)
    assert wrong == ()


def test_the_reference_is_complete() -> None:
    """Each of the thirty numbers is played or, where it is an upload, taken; its archives are there."""
    played, taken = {attack.number for attack in ATTACKS}, {upload.number for upload in UPLOADS}
    assert not set(range(1, 31)) - played - taken
    assert len({attack.name for attack in ATTACKS}) == len(ATTACKS)
    assert {name for upload in UPLOADS for name in upload.archives} <= {archive.name for archive in ARCHIVES}


def test_a_bot_that_attacks_nothing_is_found_out(stage: HostileStage) -> None:
    """An honest bot in the attacker's seat plays the expected match, but tells of no attack."""
    nothing = Attack(
        number=0,
        name="nothing",
        program=bot.honest,
        verdicts="N",
        achieved=lambda _: "",
        control=Control(name="nothing"),
        honest=2,
    )
    outcome, wrong = stage.attack(nothing, beside=False)
    assert outcome.verdict == "N"
    assert len(wrong) == 1
    assert wrong[0].startswith("it told nothing")
