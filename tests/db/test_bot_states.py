"""Tests of bots' active versions, and of bots that are off the ladder."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

from arena.db.audit import NewAuditEntry
from arena.db.bots import KnownBot
from arena.db.errors import BotDisqualified, NoSuchBot, NoSuchVersion, VersionGone, WrongState
from arena.db.store import Store
from arena.ladder.standings import Standing
from arena.protocol.states import BotState
from tests.db.builders import START, add_bot, claimed, finished, present, record
from tests.kinds import on_both

NOW = START + timedelta(hours=1)
ENTRY = NewAuditEntry(at=NOW, who="terminal:root", what="test", subject="bot:mine")


def play(store: Store, versions: Sequence[int], minute: int, *, failing: bool = False) -> None:
    """Record a match of one game. The first version wins the game, or is taken over by the stand-in."""
    faults = (3, *(0,) * (len(versions) - 1)) if failing else None
    places = tuple(range(1, len(versions) + 1))
    record(store, versions, [places], id_=f"m{minute}", minute=minute, faults=faults)


def known(store: Store, name: str = "mine") -> KnownBot:
    """Return an existing bot."""
    return present(store.bots.find(name))


def line(store: Store, name: str = "mine") -> Standing | None:
    """Return a bot's line on the leaderboard without its rank, or None."""
    found = (line for line in store.ratings.standings() if line.bot == name)
    return next((replace(line, rank=0) for line in found), None)


def playing(store: Store) -> set[int]:
    """Return the versions that matchmaking may draw."""
    return {candidate.version for candidate in store.ratings.candidates()}


@pytest.fixture
def other(store: Store) -> int:
    """Add a house bot and return its version's id."""
    return add_bot(store, "other", source="sha256:other", author="house")


def test_a_rollback_lets_an_older_version_play_with_the_rating_that_it_had(store: Store, other: int) -> None:
    """Leaderboard, matchmaking and retained images follow the version. No rating changes."""
    first = add_bot(store, "mine", source="sha256:a")
    play(store, (first, other), 1)
    before = line(store)
    second = add_bot(store, "mine", source="sha256:b")
    play(store, (other, second), 2)
    newer = line(store)

    assert store.bot_states.play_version("mine", 1, NOW)
    assert line(store) == before
    assert playing(store) == {first, other}
    assert store.bots.sources_in_use() == {"sha256:a", "sha256:other"}
    assert (known(store).version, known(store).newest, known(store).since) == (1, 2, NOW)
    assert [version.playing for version in store.bots.versions("mine")] == [False, True]

    assert not store.bot_states.play_version("mine", 1, NOW + timedelta(hours=1))
    assert known(store).since == NOW
    assert store.bot_states.play_version("mine", 2, NOW)
    assert line(store) == newer
    assert playing(store) == {second, other}
    assert store.ladder.rebuild().differing == 0


def test_a_new_version_after_a_rollback_starts_from_the_newest(store: Store, other: int) -> None:
    """A new version starts from the newest one, so authors can't choose the luckiest of equal versions."""
    first = add_bot(store, "mine", source="sha256:a")
    play(store, (first, other), 1)
    second = add_bot(store, "mine", source="sha256:b")
    play(store, (other, second), 2)
    before = present(line(store))
    store.bot_states.play_version("mine", 1, NOW)
    add_bot(store, "mine", source="sha256:c")
    after = present(line(store))
    assert (after.version, after.entry.games) == (3, 0)
    assert after.entry.rating.mean == before.entry.rating.mean
    assert store.ladder.rebuild().differing == 0


def test_games_count_for_the_version_that_they_were_drawn_with(store: Store, other: int) -> None:
    """A game counts for the version drawn for it, even if another one is active when it ends."""
    add_bot(store, "mine", source="sha256:a")
    second = add_bot(store, "mine", source="sha256:b")
    running = claimed(store, (second, other), deals=1)
    store.bot_states.play_version("mine", 1, NOW)
    assert "sha256:b" in store.bots.sources_in_use()
    assert store.results.record(finished(running, [(1, 2)]))
    seat = store.games.newest()[0].seats[0]
    assert (seat.bot, seat.version) == ("mine", 2)
    results = {version.number: version.results[0].games for version in store.bots.versions("mine")}
    assert results == {1: 0, 2: 1}


def test_only_available_versions_can_play(store: Store) -> None:
    """Unknown versions are refused, and so are versions without an image until they are resubmitted."""
    for source in ("sha256:a", "sha256:b", "sha256:c"):
        add_bot(store, "mine", source=source)
    assert store.bots.record_missing_images({"sha256:b", "sha256:c"}, NOW) == 1
    assert store.bots.record_missing_images({"sha256:b", "sha256:c"}, NOW) == 0
    with pytest.raises(NoSuchVersion, match="mine has no version 4: its versions are 1 to 3"):
        store.bot_states.play_version("mine", 4, NOW)
    with pytest.raises(VersionGone, match=r"the image of mine@1 was removed on 2026-03-01"):
        store.bot_states.play_version("mine", 1, NOW)
    with pytest.raises(NoSuchBot, match="there is no bot called yours"):
        store.bot_states.play_version("yours", 1, NOW)
    assert store.bots.version_id("mine", 1) is None
    add_bot(store, "mine", source="sha256:a")
    assert [version.available for version in store.bots.versions("mine")] == [True] * 4
    assert store.bot_states.play_version("mine", 1, NOW)


def test_a_bot_resubmitted_with_its_removed_image_can_play(store: Store) -> None:
    """Resubmitting the same file creates no new version, but restores its image."""
    version = add_bot(store, "mine", source="sha256:a")
    store.bot_states.retire("mine", NOW)
    store.bots.record_missing_images((), NOW)
    with pytest.raises(VersionGone):
        store.bot_states.reactivate("mine", NOW)
    assert add_bot(store, "mine", source="sha256:a") == version
    assert known(store).state is BotState.ACTIVE
    assert store.bots.version_id("mine", 1) == version


def test_a_version_whose_image_was_restored_can_play(store: Store) -> None:
    """An image is restored for all versions that use it, including those of other bots.

    Until then, bots whose active version uses it are not drawn: their matches could not be played.
    """
    first, _ = (add_bot(store, "mine", source=source) for source in ("sha256:a", "sha256:b"))
    twin = add_bot(store, "twin", source="sha256:a", author="ben")
    assert store.bots.record_missing_images({"sha256:b"}, NOW) == 2
    assert [store.bots.version_id(bot, 1) for bot in ("mine", "twin")] == [None, None]
    assert {each.bot for each in store.ratings.candidates()} == {"mine"}
    assert store.bots.record_missing_images({"sha256:a", "sha256:b"}, NOW) == 0
    assert {each.bot for each in store.ratings.candidates()} == {"mine", "twin"}
    assert [store.bots.version_id(bot, 1) for bot in ("mine", "twin")] == [first, twin]


@pytest.mark.parametrize(
    ("games", "benched_after"),
    [
        ("xxxxx", 5),
        ("x.x.x.x.x", 9),
        ("xxxx......x.xxxx", 16),
        ("xxxx.....", None),
        ("x..x.x..x..x..x.x..x.x.", None),
    ],
)
def test_a_bot_is_benched_when_it_was_taken_over_in_five_of_its_last_ten_matches(
    store: Store, other: int, games: str, benched_after: int | None
) -> None:
    """The fifth take-over benches the bot, and the reason is stored."""
    mine = add_bot(store, "mine")
    for number, game in enumerate(games, 1):
        assert known(store).state is BotState.ACTIVE
        play(store, (mine, other), number, failing=game == "x")
    if benched_after is None:
        assert known(store).state is BotState.ACTIVE
        return
    assert len(games) == benched_after
    bot = known(store)
    assert (bot.state, bot.since) == (BotState.BENCHED, START + timedelta(minutes=benched_after))
    looked_at = min(benched_after, 10)
    assert bot.reason == (
        f"the stand-in had to finish the last game in 5 of the bot's last {looked_at} rated matches; "
        "most recently: no answer in time"
    )


def test_one_crash_does_not_bench_a_bot(store: Store, other: int) -> None:
    """It may end many games, but they are in one match."""
    mine = add_bot(store, "mine")
    for number in range(5):
        assert known(store).state is BotState.ACTIVE
        record(store, (mine, other), [(2, 1)] * 12, id_=f"s{number}", minute=number, faults=(3, 0))
    assert known(store).state is BotState.BENCHED


def test_only_the_last_game_of_a_match_counts_towards_benching(store: Store, other: int) -> None:
    """A bot that is sometimes too slow, but stays to the end, isn't benched."""
    mine = add_bot(store, "mine")
    for number in range(10):
        claim = claimed(store, (mine, other), id_=f"s{number}", deals=3)
        done = finished(claim, [(2, 1)] * 3, minute=number)
        failed = finished(claim, [(2, 1)] * 3, minute=number, faults=(3, 0))
        assert store.results.record(replace(done, games=(*failed.games[:2], done.games[2])))
    assert known(store).state is BotState.ACTIVE


def test_a_benched_bot_is_not_drawn_but_stays_on_the_leaderboard(store: Store, other: int) -> None:
    """The image is retained, matches already drawn are played and count, and the first reason is kept."""
    mine = add_bot(store, "mine", source="sha256:a")
    running = claimed(store, (mine, other), id_="running", deals=1)
    for minute in range(1, 6):
        play(store, (mine, other), minute, failing=True)
    benched = known(store)
    found = present(line(store))
    assert (found.benched, found.entry.games) == (True, 5)
    assert playing(store) == {other}
    assert "sha256:a" in store.bots.sources_in_use()
    assert store.results.record(finished(running, [(2, 1)], minute=6, faults=(3, 0)))
    found = present(line(store))
    assert found.entry.games == 6
    assert known(store) == benched
    assert store.ladder.rebuild().differing == 0


def test_only_games_since_its_return_can_bench_a_bot_again(store: Store, other: int) -> None:
    """After a bot's return, four more failures don't bench it, but the fifth does."""
    mine = add_bot(store, "mine")
    for minute in range(1, 6):
        play(store, (mine, other), minute, failing=True)
    back = START + timedelta(minutes=6)
    assert store.bot_states.reactivate("mine", back)
    assert not store.bot_states.reactivate("mine", back + timedelta(minutes=1))
    assert (known(store).state, known(store).reason, known(store).since) == (BotState.ACTIVE, None, back)
    for minute in range(7, 11):
        play(store, (mine, other), minute, failing=True)
    assert playing(store) == {mine, other}
    play(store, (mine, other), 11, failing=True)
    assert "5 of the bot's last 5" in (known(store).reason or "")


def test_retiring_a_benched_bot_forgives_its_failures(store: Store, other: int) -> None:
    """Games count towards benching again only from its retirement, as after a direct return."""
    mine = add_bot(store, "mine")
    for minute in range(1, 6):
        play(store, (mine, other), minute, failing=True)
    assert store.bot_states.retire("mine", START + timedelta(minutes=6))
    assert store.bot_states.reactivate("mine", START + timedelta(minutes=7))
    for minute in range(8, 12):
        play(store, (mine, other), minute, failing=True)
        assert known(store).state is BotState.ACTIVE
    play(store, (mine, other), 12, failing=True)
    assert "5 of the bot's last 5" in (known(store).reason or "")


def test_changing_versions_forgives_nothing(store: Store, other: int) -> None:
    """Neither switching versions nor retiring and returning resets the count of failures."""
    add_bot(store, "mine", source="sha256:1")
    mine = add_bot(store, "mine", source="sha256:2")
    for minute in range(1, 5):
        play(store, (mine, other), minute, failing=True)
        for number in (1, 2):
            assert store.bot_states.play_version(
                "mine", number, START + timedelta(minutes=minute, seconds=number)
            )
        assert store.bot_states.retire("mine", START + timedelta(minutes=minute, seconds=3))
        assert store.bot_states.reactivate("mine", START + timedelta(minutes=minute, seconds=4))
    play(store, (mine, other), 5, failing=True)
    assert known(store).state is BotState.BENCHED


def test_a_replaced_version_does_not_bench_its_bot(store: Store, other: int) -> None:
    """Failures of an older version don't count for the active one."""
    first = add_bot(store, "mine", source="sha256:a")
    for minute in range(1, 5):
        play(store, (first, other), minute, failing=True)
    running = claimed(store, (first, other), id_="running", deals=1)
    second = add_bot(store, "mine", source="sha256:b")
    assert store.results.record(finished(running, [(2, 1)], minute=5, faults=(3, 0)))
    assert known(store).state is BotState.ACTIVE
    for minute in range(6, 10):
        play(store, (second, other), minute, failing=True)
    assert known(store).state is BotState.ACTIVE


def test_house_bots_are_never_benched(store: Store, other: int) -> None:
    """House bots are never benched, since submissions need them for qualification."""
    mine = add_bot(store, "mine")
    for minute in range(1, 8):
        play(store, (other, mine), minute, failing=True)
    assert (known(store, "other").state, playing(store)) == (BotState.ACTIVE, {mine, other})


@pytest.mark.parametrize("leave", ["bench", "retire"])
def test_a_new_version_brings_a_bot_back(store: Store, other: int, leave: str) -> None:
    """A new version reactivates a benched or retired bot."""
    add_bot(store, "mine", source="sha256:a")
    if leave == "bench":
        store.bot_states.bench("mine", "it prints nonsense", NOW, ENTRY)
    else:
        store.bot_states.retire("mine", NOW)
    assert playing(store) == {other}
    second = add_bot(store, "mine", source="sha256:b")
    assert (known(store).state, known(store).reason) == (BotState.ACTIVE, None)
    assert playing(store) == {second, other}


def test_a_retired_bot_leaves_the_leaderboard_and_can_return(store: Store, other: int) -> None:
    """Matches already drawn are played and count. Until then, the bot's image is retained."""
    mine = add_bot(store, "mine", source="sha256:a")
    play(store, (mine, other), 1)
    running = claimed(store, (mine, other), id_="running", deals=1)
    assert store.bot_states.retire("mine", NOW)
    assert not store.bot_states.retire("mine", NOW + timedelta(hours=1))
    assert known(store).since == NOW
    assert line(store) is None
    assert playing(store) == {other}
    assert store.bots.sources_in_use() == {"sha256:a", "sha256:other"}
    assert store.results.record(finished(running, [(1, 2)], minute=2))
    assert store.bots.sources_in_use() == {"sha256:other"}
    assert store.bot_states.reactivate("mine", NOW)
    found = present(line(store))
    assert found.entry.games == 2
    assert playing(store) == {mine, other}


def test_operators_bench_with_a_reason_and_take_it_back(store: Store) -> None:
    """Each change is recorded in the audit log. Calls without effect aren't recorded."""
    add_bot(store, "mine", source="sha256:a")
    add_bot(store, "mine", source="sha256:b")
    store.bot_states.bench("mine", "it prints nonsense", NOW, ENTRY)
    assert (known(store).state, known(store).reason) == (BotState.BENCHED, "it prints nonsense")
    store.bot_states.bench("mine", "it prints too much", NOW, ENTRY)
    assert known(store).reason == "it prints too much"
    store.bot_states.unbench("mine", NOW, ENTRY)
    assert (known(store).state, known(store).reason) == (BotState.ACTIVE, None)
    assert store.bot_states.retire("mine", NOW, ENTRY)
    assert not store.bot_states.retire("mine", NOW, ENTRY)
    assert store.bot_states.play_version("mine", 1, NOW, ENTRY)
    assert not store.bot_states.play_version("mine", 1, NOW, ENTRY)
    assert len(store.accounts.audit(99)) == 5


@pytest.mark.usefixtures("other")
def test_invalid_changes_of_state(store: Store) -> None:
    """The error gives the bot's state. Nothing is recorded in the audit log."""
    for name in ("mine", "retired"):
        add_bot(store, name)
    states = store.bot_states
    states.retire("retired", NOW)
    before = store.bots.listed()
    for act, why in (
        (lambda: states.unbench("mine", NOW, ENTRY), "mine is active, not benched"),
        (lambda: states.unbench("retired", NOW, ENTRY), "retired is retired, not benched"),
        (
            lambda: states.bench("retired", "", NOW, ENTRY),
            "retired is retired, so it gets no new rated matches",
        ),
        (lambda: states.bench("other", "", NOW, ENTRY), "other is a house bot"),
        (lambda: states.retire("other", NOW, ENTRY), "other is a house bot"),
        (lambda: states.play_version("other", 1, NOW, ENTRY), "other is a house bot"),
        (lambda: states.reinstate("mine", NOW, ENTRY), "mine is active, not disqualified"),
        (lambda: states.disqualify("other", "", NOW, ENTRY), "other is a house bot"),
    ):
        with pytest.raises(WrongState, match=why):
            act()
    assert store.bots.listed() == before
    assert store.accounts.audit(9) == ()


def test_an_unknown_bot_can_not_be_changed(store: Store) -> None:
    """Each change is refused, and the error names the bot."""
    for act in (
        lambda: store.bot_states.bench("mine", "", NOW, ENTRY),
        lambda: store.bot_states.unbench("mine", NOW, ENTRY),
        lambda: store.bot_states.retire("mine", NOW),
        lambda: store.bot_states.reactivate("mine", NOW),
        lambda: store.bot_states.disqualify("mine", "", NOW, ENTRY),
        lambda: store.bot_states.reinstate("mine", NOW, ENTRY),
    ):
        with pytest.raises(NoSuchBot, match="there is no bot called mine"):
            act()


def test_a_disqualified_bot_can_only_be_reinstated(store: Store) -> None:
    """Neither the owner nor a new version can change a disqualified bot's state. The error has the reason."""
    add_bot(store, "mine")
    store.bot_states.disqualify("mine", "it is greedy's twin", NOW, ENTRY)
    for act in (
        lambda: store.bot_states.bench("mine", "", NOW, ENTRY),
        lambda: store.bot_states.unbench("mine", NOW, ENTRY),
        lambda: store.bot_states.retire("mine", NOW),
        lambda: store.bot_states.reactivate("mine", NOW),
        lambda: store.bot_states.play_version("mine", 1, NOW),
        lambda: add_bot(store, "mine", source="sha256:b"),
    ):
        with pytest.raises(BotDisqualified, match=r"mine was disqualified: it is greedy's twin"):
            act()


@on_both
def test_bots_are_listed_by_state_and_author(store: Store) -> None:
    """The list is sorted by name and paged. The case of an author's name is ignored."""
    for name, author in (("b", "Ann"), ("a", "Ann"), ("c", "ben")):
        add_bot(store, name, author=author)
    store.bot_states.bench("a", "why", NOW, ENTRY)
    assert [bot.name for bot in store.bots.listed(limit=2)] == ["a", "b"]
    assert [bot.name for bot in store.bots.listed("b")] == ["c"]
    assert [bot.name for bot in store.bots.listed(author="ann")] == ["a", "b"]
    assert [bot.name for bot in store.bots.listed(state=BotState.BENCHED)] == ["a"]
    assert store.bots.listed(state=BotState.BENCHED, author="ben") == ()
