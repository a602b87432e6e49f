"""Somebody's bot that has played every kind of game."""

from typing import Final

from arena.store import KnownAccount, NewChallenge, NewVersion
from tests.accounts.world import World
from tests.builders import host_report
from tests.store.builders import START, add_bot, claimed, finished, new_set
from tests.store.test_submissions import CAUSE, PLENTY, claim, game, new, qualify
from tests.watched import show

SUBMISSION: Final = "5ca1ab1e"
CHALLENGE: Final = "c4a11e46"
RUNNING: Final = "live-0"
"""A rated match in which the user's bot sits, and of which a round is over."""
GAMES: Final = {
    "/submissions": "q-0-0",
    "/challenges": f"{CHALLENGE}-0-0",
    "": "rated-0-0",
}
"""By how an address of a page or of data begins: a game in which the user's bot sits."""


def play(world: World, owner: KnownAccount) -> None:
    """Let a bot of somebody's play a rated game and a challenge, and a new version of it one to qualify.

    That one is rejected, so that nothing more will come of it. One more rated match is being played.
    """
    store = world.store
    store.writes.record_host(host_report(), ())
    opponent = add_bot(store, "opponent", author="house")
    version = NewVersion(
        bot="mine", author=owner.name, house=False, source="sha256:2", created=START, account=owner.id
    )
    table = (store.writes.add_version(version), opponent)
    assert store.writes.record(finished(claimed(store, table, id_="rated"), [(1, 2)]))
    challenge = NewChallenge(
        id=CHALLENGE, account=owner.id, version=table[0], set=new_set(CHALLENGE, table, matches=1)
    )
    store.challenges.add(challenge, most_a_day=1)
    assert store.writes.record(finished(claim(store), [(1, 2)]))
    store.desk.add(new(SUBMISSION, "mine", owner.name, owner.id), PLENTY)
    qualify(store, SUBMISSION)
    store.desk.add_game(game("q", SUBMISSION, (None, opponent)), played=0)
    assert store.writes.record(finished(claim(store), [(1, 2)]))
    store.desk.reject(SUBMISSION, CAUSE, world.now)
    show(store, claimed(store, table, id_=RUNNING.partition("-")[0]), 1)
