"""Tests that docs/viewer.md agrees with the viewer's code."""

import re

from arena.play.referee.__main__ import REPORT_SECONDS
from arena.play.replay.disclosed import DISCLOSED_FORMAT
from arena.scheduler.live import PUBLISH_SECONDS
from tests.docs.documents import DOCS, ROOT
from web.viewer.film import FilmStage, VisibleHands
from web.viewer.pictures import SIZE
from web.viewer.scene import FORMAT
from web.viewer.screen import MANY_POINTS

PAGE = DOCS / "viewer.md"
KEYS = ROOT / "web" / "templates" / "_viewer_keys.html"
SCRIPT = ROOT / "web" / "static" / "viewer.js"
POLLING = ROOT / "web" / "static" / "polling.js"


def test_every_step_and_every_view_is_explained() -> None:
    """The page explains all address parameters for steps and views, except the default step."""
    text = PAGE.read_text()
    assert all(f"`step={stage}`" in text for stage in FilmStage if stage is not FilmStage.PICK)
    assert {"`view=all`", "`view=seat:2`", "`view=infer:2`"} <= set(re.findall(r"`view=[\w:]+`", text))
    assert {sight.value for sight in VisibleHands} == {"all", "seat", "infer"}


def test_the_keys_are_those_of_the_script() -> None:
    """The list of keys that ? shows has exactly those for which the script has actions."""
    listed = re.findall(r"<kbd>(.+?)</kbd>", KEYS.read_text())
    actions = re.search(r"const ACTIONS = \{\n(.*?)\n\};", SCRIPT.read_text(), re.DOTALL)
    assert actions is not None
    heard = {name.strip('"') for name in re.findall(r'^  ("."|\w+):', actions[1], re.MULTILINE)}
    names = {"←": "ArrowLeft", "→": "ArrowRight", "Space": " "}
    assert {names.get(key, key.lower() if len(key) == 1 else key) for key in listed} == heard | {"?"}
    assert "Press `?`" in PAGE.read_text()


def test_numbers_and_formats_are_those_of_the_code() -> None:
    """The page has the points of an event, the picture's size and the update intervals."""
    text = PAGE.read_text()
    assert f"a seat gained at least {MANY_POINTS} points" in " ".join(text.split())
    assert f"{SIZE[0]} by {SIZE[1]}" in text
    assert f"`{FORMAT}`" in text
    assert f"`{DISCLOSED_FORMAT}`" in text
    assert 1 / PUBLISH_SECONDS == 1 / REPORT_SECONDS == 2
    assert "at most twice per second per match" in " ".join(text.split())
    millis = re.search(r"EVERY_MILLIS = (\d+);", POLLING.read_text())
    assert millis is not None
    assert f"every {int(millis[1]) // 1000} seconds" in " ".join(text.split())
