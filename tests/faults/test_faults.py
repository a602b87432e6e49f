"""A short run of the fault suite (``make faults`` is the full one), and its table of results."""

import random

import pytest

from tests.faults.catalog import SCENARIOS, Scenario
from tests.faults.installation import Again
from tests.faults.processes import orphans_come_here
from tests.faults.tally import Tally, print_table


def short(needs: str) -> list[Scenario]:
    """Return the scenarios of the short run with this requirement."""
    return [scenario for scenario in SCENARIOS if scenario.quick and scenario.needs == needs]


def hold(scenario: Scenario) -> None:
    """Play a scenario with a random seed. Check that nothing is lost, duplicated, left or blamed on a bot."""
    seed = random.SystemRandom().randrange(2**32)
    tally = Tally(scenario.name)
    with orphans_come_here():
        scenario.play(tally, random.Random(f"{seed} {scenario.name}"), scenario.quick)  # noqa: S311 - to be repeated
    again = f"python -m tests.faults {scenario.name} --times {scenario.quick} --seed {seed}"
    assert tally.holds, f"{tally.figures()}\nto repeat it: {again}"


@pytest.mark.parametrize("scenario", short(""), ids=lambda scenario: scenario.name)
def test_nothing_is_lost_and_nothing_counted_twice(scenario: Scenario) -> None:
    """After each fault every match is played and rated once, and no honest bot is blamed."""
    hold(scenario)


# Takes over 20 s, since an arena that plays in containers is killed and started again.
@pytest.mark.docker
@pytest.mark.parametrize("scenario", short("docker"), ids=lambda scenario: scenario.name)
@pytest.mark.usefixtures("docker_client", "base_image")
def test_the_same_in_containers(scenario: Scenario) -> None:
    """With containers, too, every match is played and rated once, and no container is left."""
    hold(scenario)


# Takes over 20 s, since PostgreSQL is restarted while an arena is playing.
@pytest.mark.postgresql
@pytest.mark.parametrize("scenario", short("postgresql"), ids=lambda scenario: scenario.name)
@pytest.mark.usefixtures("postgresql_cluster")
def test_the_same_on_a_server(scenario: Scenario) -> None:
    """With PostgreSQL, too, every match is played and rated once, even if the server is restarted."""
    hold(scenario)


def test_a_scenario_has_a_row_and_holds_within_its_limit(capsys: pytest.CaptureFixture[str]) -> None:
    """Each scenario has a row. The limit on the time to the next claim excludes waits for a processor."""
    times = [Again(1.2, 0.5), Again(5.0, 1.5)]
    print_table(
        [
            Tally("fine", times=2, games=9, again=times, max_seconds=4.0),
            Tally("late", times=2, again=times, max_seconds=3.0),
        ],
        "",
    )
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    fine, late = (row for row in rows if row and row[0] in {"fine", "late"})
    assert fine == ["fine", "2", "0", "9", *["0"] * 6, "3.1/5.0", "2.1/3.5", "4", "yes"]
    assert late[-2:] == ["3", "NO"]
