"""Complete matches between bots in JavaScript and bots in Python, in containers."""

from dataclasses import replace
from pathlib import Path

import pytest

from arena.images.build.context import build_bot_image
from arena.play.botfiles import FILE, load_bot
from arena.protocol.faults import Fault
from arena.protocol.match import Clock, MatchRecord, decode, encode
from arena.rules import Rules
from arena.sandbox.builder import ImageBuilder
from arena.scheduler.check import check_record
from arena.sdk.bot import new_chooser
from tests.builders import match_spec
from tests.play.launcher.conftest import Hall, check_choices, faults
from tests.sandbox.stage import DockerStage

pytestmark = pytest.mark.docker

BOTS = Path(__file__).parents[3] / "bots"

PATIENT = Clock(start_millis=60_000, move_millis=60_000)
"""Enough time to run out of memory, however slow this machine is."""

LAST_MOVE = """
import { run } from "kaiten";
run((view) => ({ ...view.legalMoves().at(-1), note: `turn ${view.turn}` }), { gamesAtOnce: 4 });
"""

EATS_MEMORY = """
import { run } from "kaiten";
const hoard = [];
run(() => { for (;;) { hoard.push(new Array(1_000_000).fill(0.5)); } }, { gamesAtOnce: 1 });
"""

EATS_MEMORY_OUTSIDE_THE_HEAP = """
import { run } from "kaiten";
const hoard = [];
run(() => { for (;;) { hoard.push(Buffer.alloc(8 * 1024 * 1024, 1)); } }, { gamesAtOnce: 1 });
"""

HUGE_MESSAGE = """
import { Client, credentials } from "@grpc/grpc-js";
const client = new Client(process.env.ARENA_REFEREE, credentials.createInsecure());
const plain = (bytes) => bytes;
const call = client.makeBidiStreamRequest("/arena.wire.v1.Referee/Play", plain, plain);
call.on("error", (error) => console.error(error.details));
call.write(Buffer.from([0x0a, 0x02, 0x08, 0x01]));  // Hello of protocol 1
call.write(Buffer.alloc(200_000));
"""


def source(hall: Hall, image: str, program: str) -> str:
    """Return the ID of an image whose bot is this ES module."""
    assert isinstance(hall.stage, DockerStage)
    return hall.stage.started_by(["node", "--input-type=module", "--eval", program], image)


def match(hall: Hall, *seats: str, rules: Rules | None = None, games: int = 1) -> MatchRecord:
    """Play a match between these images, and check its record against the rules."""
    spec = match_spec(seats, games=games, clock=PATIENT)
    spec = replace(spec, rules=rules or spec.rules)
    record = decode(hall.launcher.play(encode(spec), tuple(range(len(seats)))), MatchRecord)
    check_record(spec, record)
    return record


@pytest.mark.parametrize(
    "rules",
    [
        pytest.param(Rules(players=2), id="two", marks=pytest.mark.soak),
        pytest.param(Rules(players=2, dummy=True, soy_sauce=True), id="dummy"),
        pytest.param(
            Rules(players=5, pass_both_ways=True, soy_sauce=True), id="five", marks=pytest.mark.soak
        ),
    ],
)
def test_greedy_chooses_alike_in_both_languages(
    docker_hall: Hall, image_builder: ImageBuilder, javascript_image: str, rules: Rules
) -> None:
    """In every decision, the JavaScript bot chooses what the Python bot would choose, without faults."""
    assert javascript_image
    script, python = (build_bot_image(image_builder, BOTS / name) for name in ("greedy-js", "greedy"))
    record = match(docker_hall, script, *[python] * (rules.players - 1), rules=rules, games=4)
    assert record.seats[0].sdk == "kaiten-javascript/0.1.0"
    assert not any(faults(record, seat) for seat in range(rules.players))
    assert all(seat.trouble is None for seat in record.seats)
    greedy = new_chooser(load_bot(BOTS / "greedy" / FILE)).choose
    for game in record.games:
        check_choices(rules, game, dict.fromkeys(range(rules.players), greedy))


def test_every_kind_of_decision_in_several_games_at_once(docker_hall: Hall, javascript_image: str) -> None:
    """Two cards with chopsticks, a card for the dummy, both at once, and notes are played without faults."""
    bot = source(docker_hall, javascript_image, LAST_MOVE)
    record = match(docker_hall, bot, bot, rules=Rules(players=2, dummy=True), games=8)
    assert len(record.games) == 8
    assert not any(faults(record, seat) for seat in range(2))
    decisions = [decision for game in record.games for step in game.steps for decision in step if decision]
    kinds = {(len(decision.cards), decision.dummy is not None) for decision in decisions}
    assert kinds == {(1, False), (1, True), (2, False), (2, True)}
    assert all(decision.note and decision.note.startswith("turn ") for decision in decisions)


def test_the_bots_own_failures_are_crashes(docker_hall: Hall, javascript_image: str) -> None:
    """Bots that use too much memory or break the channel's limits crash; the other bot plays on."""
    words = {EATS_MEMORY: "JavaScript heap out of memory", EATS_MEMORY_OUTSIDE_THE_HEAP: "", HUGE_MESSAGE: ""}
    bots = [source(docker_hall, javascript_image, program) for program in (*words, LAST_MOVE)]
    record = match(docker_hall, *bots)
    assert [faults(record, seat) for seat in range(4)] == [*[[Fault.CRASH]] * 3, []]
    for seat, text in enumerate(words.values()):
        assert text in record.seats[seat].stderr
