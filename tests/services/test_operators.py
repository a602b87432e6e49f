"""Test of the operators' list of bots. tests/cli covers their actions."""

from arena.protocol.states import BotState
from arena.services.operators import BotOperators
from tests.accounts.world import World
from tests.db.builders import add_bot


def test_all_bots_are_listed_however_many_there_are(world: World) -> None:
    """Bots are sorted by name, and can be filtered by state or author."""
    names = [f"bot{number:03}" for number in range(101)]
    for name in reversed(names):
        add_bot(world.store, name, author="Ann" if name.endswith("7") else "ben")
    bots = BotOperators(world.store, lambda: world.now)
    assert [bot.name for bot in bots.every()] == names
    assert [bot.name for bot in bots.every(author="ann")] == names[7::10]
    bots.retire("ann", "bot097")
    assert [bot.name for bot in bots.every(state=BotState.RETIRED, author="ANN")] == ["bot097"]
