"""What hosts can hold is kept, and strangers' matches wait where they may not be played."""

from dataclasses import replace
from datetime import timedelta

from sqlalchemy import create_engine, text

from arena.match import RuntimeName
from arena.store import Store
from tests.builders import host_report
from tests.store.builders import START, add_bot, claimed, new_set


def test_the_newest_report_of_each_host_is_kept(store: Store) -> None:
    """A new report takes the place of the host's last one; the host that was checked last comes first."""
    old = host_report("swap", host="a")
    new = replace(host_report(host="a"), checked=START + timedelta(days=300))
    other = replace(host_report("cpu", host="b"), checked=START + timedelta(days=600))
    store.writes.record_host(old, {"swap"})
    assert [(found.report, found.accepted) for found in store.reads.hosts()] == [(old, frozenset({"swap"}))]
    store.writes.record_host(other, ())
    store.writes.record_host(new, ())
    assert [found.report for found in store.reads.hosts()] == [other, new]
    assert [found.unaccepted for found in store.reads.hosts()] == [("cpu",), ()]


def test_a_report_of_before_slots_were_noted_is_read(store: Store, url: str) -> None:
    """Nobody knows then how many bots run there."""
    store.writes.record_host(host_report(), ())
    engine = create_engine(url)
    with engine.begin() as connection:
        report = bytes(connection.execute(text("SELECT report FROM host_report")).scalar_one())
        older = report.replace(b',"slots":5', b"")
        assert older != report
        connection.execute(text("UPDATE host_report SET report = :older"), {"older": older})
    engine.dispose()
    (found,) = store.reads.hosts()
    assert found.report == replace(host_report(), slots=None)


def test_a_machine_with_a_long_name_is_kept(store: Store) -> None:
    """Its report is replaced like any other's."""
    for _ in range(2):
        store.writes.record_host(host_report(host="long-" * 40), ())
    (found,) = store.reads.hosts()
    assert found.report.host == "long-" * 40


def test_matches_with_strangers_wait(store: Store) -> None:
    """Only matches of house bots alone are claimed; the others, older ones too, wait until strangers may."""
    house = [add_bot(store, name, author="house") for name in "ab"]
    stranger = add_bot(store, "c")
    store.writes.add_set(new_set("mixed", [house[0], stranger]))
    store.writes.add_set(new_set("own", house))

    def claim(*, house_only: bool) -> str | None:
        found = store.leases.claim("here", "worker", START, RuntimeName.DOCKER, house_only=house_only)
        return None if found is None else found.spec.match

    assert store.reads.waiting(RuntimeName.DOCKER, house_only=True) == 2
    assert store.reads.waiting(RuntimeName.DOCKER) == 4
    assert [claim(house_only=True) for _ in range(3)] == ["own-0", "own-1", None]
    assert [claim(house_only=False) for _ in range(3)] == ["mixed-0", "mixed-1", None]


def test_candidates_of_the_house_alone(store: Store) -> None:
    """Strangers are no candidates then, and what waits with them does not count as queued."""
    house = [add_bot(store, name, author="house") for name in "ab"]
    stranger = add_bot(store, "c")
    store.writes.add_set(new_set("mixed", [house[0], stranger], deals=3))
    store.writes.add_set(new_set("own", house, deals=1))
    both = {candidate.version: candidate.queued[2] for candidate in store.reads.candidates()}
    alone = {candidate.version: candidate.queued[2] for candidate in store.reads.candidates(house_only=True)}
    assert both == {house[0]: 8, house[1]: 2, stranger: 6}
    assert alone == {house[0]: 2, house[1]: 2}


def test_matches_that_were_put_aside_are_counted(store: Store) -> None:
    """Only those."""
    first = claimed(store, [add_bot(store, name) for name in "ab"])
    for attempt in (1, 2, 3):
        assert store.reads.quarantined() == 0
        store.leases.void(first.spec.match, attempt, "engine gone", START)
        store.leases.claim("here", "worker", START, RuntimeName.DOCKER)
    assert store.reads.quarantined() == 1
