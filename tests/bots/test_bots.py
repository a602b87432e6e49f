"""Tests that the sample bots play legally in all games and are as strong as their READMEs say."""

import random
from importlib.util import module_from_spec, spec_from_file_location
from itertools import cycle, islice
from pathlib import Path

import pytest

from arena.rules import Rules, view
from arena.sdk import Move, View, play
from arena.sdk.bot import Bot, new_chooser
from tests.rules.helpers import VARIANTS, move, position
from tests.soak import many

FOLDER = Path(__file__).resolve().parents[2] / "bots"
NAMES = ["expected", "greedy", "mcts", "random", "rollout", "spoiler"]


def load(name: str, **settings: int) -> Bot:
    """Load a sample bot and replace some of its constants."""
    spec = spec_from_file_location(f"sample_{name}", FOLDER / name / "bot.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    for constant, value in settings.items():
        assert hasattr(module, constant)
        setattr(module, constant, value)
    bot: Bot = getattr(module, "Bot", None) or module.choose
    return bot


FASTER = {"rollout": {"PLAYOUTS": 40}, "mcts": {"ITERATIONS": 60}}
BOTS = {name: load(name, **FASTER.get(name, {})) for name in NAMES}


def wins(name: str, other: str, games: int) -> float:
    """Return a bot's share of wins with two players, with every deal in both seats. A draw is half a win."""
    random.seed(20)
    points = 0.0
    for game in range(games):
        seat = game % 2
        bots = [BOTS[other], BOTS[other]]
        bots[seat] = BOTS[name]
        result = play(bots, seed=game // 2).result
        assert result is not None
        mine, theirs = result.places[seat], result.places[1 - seat]
        points += 1.0 if mine < theirs else 0.5 if mine == theirs else 0.0
    return points / games


@pytest.mark.parametrize("rules", VARIANTS[:: many(3, 1)], ids=str)
def test_all_bots_play_legally_in_every_game(rules: Rules) -> None:
    """The bots play against each other with any number of players and any variants.

    In the short run, each bot plays at least once.
    """
    random.seed(1)
    for first in range(0, len(NAMES), many(min(rules.players, 3), 1)):
        names = islice(cycle(NAMES), first, first + rules.players)
        state = play([BOTS[name] for name in names], rules, seed=first)
        assert state.over


@pytest.mark.parametrize(
    ("name", "other", "games", "least"),
    [
        ("greedy", "random", many(60, 200), 0.75),
        ("spoiler", "greedy", many(60, 200), 0.7),
        ("expected", "greedy", many(60, 200), 0.8),
        pytest.param("rollout", "greedy", 40, 0.8, marks=pytest.mark.soak),  # beats even "expected"
        ("rollout", "expected", many(16, 60), 0.55),
        ("mcts", "expected", many(12, 40), 0.6),
    ],
)
def test_the_stronger_one_wins(name: str, other: str, games: int, least: float) -> None:
    """With fixed seeds and dice, the share of wins is constant, and well above the required one."""
    assert wins(name, other, games) >= least


@pytest.mark.parametrize("name", [name for name in NAMES if name != "random"])
def test_bots_are_reproducible_with_the_same_dice(name: str) -> None:
    """A bot's moves depend only on the view and Python's random(), so a simulated game can be repeated."""

    def totals() -> object:
        random.seed(5)
        return play([BOTS[name], BOTS["random"]], seed=9)

    assert totals() == totals()


def test_random_draws_by_card_and_not_by_kind() -> None:
    """Every card is equally likely, so three cards of a kind are chosen three times as often as one."""
    seen: list[tuple[View, Move]] = []
    choose = BOTS["random"]
    assert not isinstance(choose, type)

    def spy(view: View) -> Move:
        move = choose(view)
        assert isinstance(move, Move)
        seen.append((view, move))
        return move

    random.seed(7)
    for seed in range(many(100, 400)):
        play([spy, spy], seed=seed)
    # Each kind is chosen as often as its shares of the hands predict, within four standard deviations.
    for kind in set(seen[0][0].hand):
        shares = [view.hand.count(kind) / len(view.hand) for view, _ in seen]
        taken = sum(move.cards == (kind,) for _, move in seen)
        deviation = sum(share * (1 - share) for share in shares) ** 0.5
        assert abs(taken - sum(shares)) < 4 * deviation


def test_greedy_gives_up_the_colour_of_the_chopsticks_that_it_uses() -> None:
    """With two cards, the bot has fewer colours than the opponent, so its soy sauce scores nothing."""
    state = position(Rules(players=2, soy_sauce=True), ["tp sa egg", "tp sa egg"], ["ch soy", "tp sa du pu"])
    assert new_chooser(BOTS["greedy"]).choose(view(state, 0)) == move("egg")


@pytest.mark.parametrize("name", NAMES)
def test_a_bot_is_a_folder_to_learn_from(name: str) -> None:
    """Each bot has a README, uses the base image, and imports only the library and standard modules."""
    assert (FOLDER / name / "README.md").read_text().startswith(f"# {name}\n")
    assert (FOLDER / name / "Dockerfile").read_text().splitlines() == [
        "FROM kaiten/bot-base-python",
        "COPY bot.py /bot/bot.py",
        'ENTRYPOINT ["python3", "/bot/bot.py"]',
    ]
    lines = (FOLDER / name / "bot.py").read_text().splitlines()
    imports = {line.split()[1] for line in lines if line.startswith(("from ", "import "))}
    assert imports <= {"arena.sdk", "arena.sdk.search", "collections.abc", "math", "random", "typing"}
