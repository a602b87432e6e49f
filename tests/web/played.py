"""A user's bot that has played every kind of game."""

from typing import Final

from arena.db.credentials import KnownAccount
from tests.accounts.world import World
from tests.builders import host_report, puzzled
from tests.db.builders import START, add_bot, bot_of, claim_one, claimed, finished, new_challenge
from tests.db.test_submissions import CAUSE, PLENTY, game, new, qualify
from tests.person_games import add_person_game, analyse_person_game
from tests.watched import show

SUBMISSION: Final = "5ca1ab1e"
CHALLENGE: Final = "c4a11e46"
RUNNING: Final = "live-0"
"""A running rated match of the user's bot, with one finished round."""
PERSON_GAME: Final = "5" * 32
GAMES: Final = {
    "/play": "person-1",
    "/submissions": "q-0-0",
    "/challenges": f"{CHALLENGE}-0-0",
    "": "rated-0-0",
}
"""Games of the user's bot, by the address prefix of their pages and data."""


def play(world: World, owner: KnownAccount) -> None:
    """Play a game of each kind with a user's bot: rated, challenge, qualification, and against a person.

    The qualifying version is rejected, so it plays no more games. One more rated match is running.
    """
    store = world.store
    store.activity.record_host(host_report(), ())
    opponent = add_bot(store, "opponent", author="house")
    table = (bot_of(store, "mine", owner, source="sha256:2"), opponent)
    assert store.results.record(finished(claimed(store, table, id_="rated"), [(1, 2)]))
    puzzled(store, "rated-0-0", START.date())
    challenge = new_challenge(CHALLENGE, owner.id, table, matches=1)
    store.challenges.add(challenge, max_a_day=1)
    assert store.results.record(finished(claim_one(store), [(1, 2)]))
    store.submissions.add(new(SUBMISSION, "mine", owner.name, owner.id), PLENTY)
    qualify(store, SUBMISSION)
    store.submissions.add_game(game("q", SUBMISSION, (None, opponent)), played=0)
    assert store.results.record(finished(claim_one(store), [(1, 2)]))
    store.submissions.reject(SUBMISSION, CAUSE, world.now)
    add_person_game(store, PERSON_GAME, ["opponent"], world.now, account=owner.id)
    analyse_person_game(store, PERSON_GAME)
    show(store, claimed(store, table, id_=RUNNING.partition("-")[0]), 1)
