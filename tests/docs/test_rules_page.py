"""Tests that docs/rules.md and docs/arena-rules.md agree with the code."""

import ast
import re
from contextlib import closing
from pathlib import Path

from arena.db.store import open_store
from arena.protocol.faults import Fault
from arena.protocol.match import Clock, Limits
from arena.rules import DECK_COUNTS, Card, Rules
from arena.rules.scoring import COLOURS
from tests.docs.documents import DOCS, ROOT, headings, rows

RULES, ARENA = DOCS / "rules.md", DOCS / "arena-rules.md"


def test_the_deck_is_that_of_the_code() -> None:
    """Numbers, names, counts and colours agree."""
    table = [tuple(row[:4]) for row in rows(RULES) if row[0].isdigit()]
    assert table == [(str(card.value), card.label, str(DECK_COUNTS[card]), COLOURS[card]) for card in Card]


def test_hand_sizes_are_those_of_the_code() -> None:
    """The table has columns for two to five players, and for two with a dummy."""
    sizes = next(row for row in rows(RULES) if row[0].startswith("cards in a hand"))[1:]
    games = [*(Rules(players=players) for players in range(2, 6)), Rules(players=2, dummy=True)]
    assert sizes == [str(rules.hand_size) for rules in games]


def test_sections_that_errors_name_exist() -> None:
    """The error for an illegal move names an existing section of the rules, or a variant's."""
    tree = ast.parse((ROOT / "arena" / "rules" / "state.py").read_text())
    named = {
        call.args[0].value
        for call in ast.walk(tree)
        if isinstance(call, ast.Call)
        and getattr(call.func, "id", "") == "IllegalMove"
        and isinstance(call.args[0], ast.Constant)
    }
    assert named
    assert {str(section).partition(":")[0] for section in named} <= set(headings(RULES))


def test_sections_that_the_code_refers_to_exist() -> None:
    """Sections that modules' docstrings name as their source exist."""
    found = 0
    for file in [*ROOT.glob("arena/**/*.py"), *ROOT.glob("web/**/*.py")]:
        docstring = re.match(r'"""(.*?)"""', file.read_text(), re.DOTALL)
        doc = " ".join(docstring[1].split()) if docstring else ""
        for page in re.findall(r"docs/[\w-]+\.(?:md|json)", doc):
            assert (ROOT / page).exists(), f"{file} names {page}, which doesn't exist"
        source = re.search(r"Source: (.*?) of docs/(?:arena-)?rules\.md", doc)
        if source:
            found += 1
            assert set(re.findall(r'"([^"]+)"', source[1])) <= set(headings(RULES)), file
    assert found


def test_every_fault_has_a_row() -> None:
    """The table of faults has all kinds, in the order of the code."""
    listed = [row[0].strip("`") for row in rows(ARENA) if row[0].startswith("`")]
    assert listed == [fault.value for fault in Fault]


def test_the_clock_and_the_deals_are_those_of_a_new_ladder(tmp_path: Path) -> None:
    """The page has the times, share of a core and number of deals of a new arena's ladder."""
    with closing(open_store(f"sqlite:///{tmp_path / 'arena.db'}")) as store:
        ladder = store.ladder.settings()
    clock = ladder.clock
    assert (clock, ladder.limits) == (Clock(), Limits())
    times = [row[1] for row in rows(ARENA) if row[1:] and row[1].endswith(" s")]
    assert times == [f"{ms // 1000} s" for ms in (clock.start_millis, clock.move_millis, clock.bank_millis)]
    text = " ".join(ARENA.read_text().split())
    assert f"usually {ladder.deals}." in text
    assert f"{ladder.limits.cpus} of a core" in text


def test_the_sandbox_page_has_the_limits_of_the_code() -> None:
    """The page has the limits on memory, processor, processes and /tmp."""
    limits = Limits()
    table = {row[0]: row[1] for row in rows(DOCS / "sandbox.md")}
    assert table["memory"] == f"{limits.memory_mib} MiB, no swap"
    assert table["processor"] == f"{limits.cpus} of a core"
    assert table["processes and threads"] == str(limits.pids)
    assert f"{limits.tmp_mib} MiB" in table["file system"]


def test_pages_use_no_typographic_dashes() -> None:
    """No document uses typographic dashes."""
    for page in [*DOCS.glob("*.md"), *ROOT.glob("*.md")]:
        assert "\N{EM DASH}" not in Path(page).read_text(), page
