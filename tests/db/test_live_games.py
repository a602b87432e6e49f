"""Tests of games that spectators may watch: only those of the current attempt."""

from typing import Final

from sqlalchemy import select

from arena.db.database import Database
from arena.db.live_games import WatchedGame, WatchedMatch
from arena.db.matches import Claim
from arena.db.schema import LiveGameRow
from arena.db.store import Store
from arena.protocol.states import MatchKind, MatchState
from tests.db.builders import START, add_account, add_bot, bot_of, claim_one, claimed, finished, present
from tests.db.test_challenge_rows import challenge
from tests.db.test_submissions import PLENTY, game, new, qualify
from tests.kinds import on_both

ONE: Final = WatchedGame(game=0, rounds=1, text="first")
TWO: Final = WatchedGame(game=0, rounds=2, text="second")
NEXT: Final = WatchedGame(game=1, rounds=1, text="next")


def show(store: Store, claim: Claim, *games: WatchedGame) -> bool:
    """Show some games of a claim."""
    return store.live.show(claim.spec.match, claim.spec.attempt, games)


def found(store: Store, match: str, game: int | None = None) -> WatchedMatch:
    """Return a match, which must exist, as spectators see it."""
    return present(store.live.find(match, game))


def rows(database: Database) -> list[tuple[str, int]]:
    """Return the match and the number of rounds of each stored game."""
    with database.read() as connection:
        kept = connection.execute(select(LiveGameRow.match_id, LiveGameRow.rounds))
        return [(row.match_id, row.rounds) for row in kept]


@on_both
def test_the_newest_game_is_shown_and_the_others_can_be(store: Store, database: Database) -> None:
    """Each game is shown up to the last reported round. Late reports don't undo newer ones."""
    mine = claimed(store, [add_bot(store, name) for name in ("a", "b")])
    assert found(store, "s-0") == WatchedMatch(
        match="s-0",
        kind=MatchKind.RATED,
        state=MatchState.RUNNING,
        attempt=1,
        games=2,
        part_of=None,
        account=None,
        shown=(),
        game=None,
        published=False,
        played=(),
    )
    assert show(store, mine, ONE)
    assert show(store, mine, TWO, NEXT)
    assert show(store, mine, ONE)
    assert found(store, "s-0").shown == ((0, 2), (1, 1))
    assert found(store, "s-0").game == NEXT
    assert found(store, "s-0", 0).game == TWO
    assert found(store, "s-0", 2).game is None
    assert store.live.find("s-1") is None

    assert store.results.record(finished(mine, [(1, 2)] * 2))
    assert not show(store, mine, NEXT)
    over = found(store, "s-0")
    assert (over.state, over.shown, over.game, over.played) == (MatchState.DONE, (), None, ("s-0-0", "s-0-1"))
    assert rows(database) == []


def test_games_of_failed_attempts_are_removed(store: Store, database: Database) -> None:
    """After a void, a loss or a release, a match shows no game of that attempt, even if reports come late."""
    mine = claimed(store, [add_bot(store, name) for name in ("a", "b")])
    for undo in (
        lambda attempt: store.leases.record_void("s-0", attempt, "engine gone", START),
        lambda attempt: store.leases.record_loss("s-0", attempt, "worker gone", START),
        lambda _: store.leases.release("here"),
    ):
        assert show(store, mine, TWO)
        undo(mine.spec.attempt)
        assert found(store, "s-0").game is None
        assert rows(database) == []
        assert not show(store, mine, TWO)
        again = claim_one(store)
        assert again.spec.attempt == mine.spec.attempt + 1
        assert not show(store, mine, TWO)
        assert found(store, "s-0").shown == ()
        mine = again


@on_both
def test_unrated_matches_have_an_owner(store: Store) -> None:
    """Challenges and submissions are returned with their id and account."""
    ben = add_account(store, "ben")
    mine, other = bot_of(store, "mine", ben), add_bot(store, "other")
    store.challenges.add(challenge("c", ben, (mine, other)), max_a_day=9)
    challenged = found(store, claim_one(store).spec.match)
    assert (challenged.kind, challenged.part_of, challenged.account) == (MatchKind.CHALLENGE, "c", ben.id)

    store.submissions.add(new(bot="third", account=ben.id, author="ben"), PLENTY)
    qualify(store)
    store.submissions.add_game(game("q", "u1", (None, other)), played=0)
    taken = claim_one(store)
    sent = found(store, "q-0")
    assert (sent.kind, sent.part_of, sent.account) == (MatchKind.QUALIFICATION, "u1", ben.id)
    assert store.results.record(finished(taken, [(1, 2)]))
    assert found(store, "q-0").played == ("q-0-0",)
