"""The front page."""

import re
from datetime import datetime, timedelta

import pytest

from arena.db.store import Store
from arena.protocol.match import RuntimeName
from arena.rules import Rules
from tests.accounts.world import World
from tests.builders import START, add_bots, play_matches
from tests.db.builders import claimed, finished, new_match, present
from tests.watched import show
from tests.web.html import Page, read
from tests.web.people import browser


def queue(store: Store, versions: list[int], matches: int) -> None:
    """Queue matches."""
    for number in range(matches):
        store.queue.add(new_match(f"queued-{number}", versions))


def test_the_arena_introduces_itself(world: World) -> None:
    """Buttons lead to the editor and to games against the bots. The operator's figures aren't shown."""
    stranger = browser(world)
    front = read(stranger, "/")
    assert "Where bots play Sushi&nbsp;Go!" in front
    assert '<a class="button" href="/start">Write a bot</a>' in front
    assert '<a class="button second" href="/play">Play against the bots</a>' in front
    assert not re.search(r"worker|waiting|quarantine|slot", front)
    assert stranger.get("/start").status_code == 200


def test_an_empty_arena_shows_no_empty_parts(world: World) -> None:
    """The page has no game, table, section or figure. Bots that haven't played are only counted."""
    empty = read(browser(world), "/")
    add_bots(world.store, [("ann-s", "ann"), ("ben-s", "ben")])
    new = read(browser(world), "/")
    for text in (empty, new):
        page = Page(text)
        assert [tag for tag, _ in page.tags if tag in {"h1", "h2", "h3", "table", "figure"}] == ["h1"]
        assert "Watch a game" not in text
        assert "games" not in text[text.index('class="totals"') : text.index("</main>")]
    assert ("<b>2</b> bots" in empty, "<b>2</b> bots" in new) == (False, True)


def test_only_sections_with_content_have_a_heading(world: World) -> None:
    """Without an upset, only games with many points are shown."""
    versions = add_bots(world.store, [("ann-s", "ann"), ("ben-s", "ben"), ("cyd-s", "cyd")])
    play_matches(world.store, [versions[:2]], Rules(players=2), name="two")
    text = read(browser(world), "/")
    assert ("Most points" in text, "Against the odds" in text) == (True, False)
    assert len(Page(text).tables[0][1:]) == 2
    assert "cyd-s" not in text
    assert '<a class="button second" href="/start">Write a bot</a>' in text


def test_running_matches_are_shown(world: World) -> None:
    """Each match has a link and its seats in order. The button leads to the first with a visible round."""
    versions = add_bots(world.store, [("ann-s", "ann"), ("<b>x", "ben"), ("cyd-s", "cyd")])
    queue(world.store, versions, 3)
    claims = [world.store.leases.claim("here", "worker", START, RuntimeName.DOCKER) for _ in range(2)]
    assert "Watch a game" not in browser(world).get("/").text
    assert claims[1] is not None
    etag = browser(world).get("/").headers["etag"]
    show(world.store, claims[1], 1)
    page = browser(world).get("/", headers={"If-None-Match": etag}).text
    assert {"/live/queued-0", "/live/queued-1"} <= set(Page(page).links)
    text = " ".join(page.split())
    assert text.count("<b>3 players</b>, 2 deals") == 2
    assert text.count('<a class="button" href="/live/queued-1">Watch a game</a>') == 1
    text = text[text.index("Now playing") :]
    assert text.index(">ann-s<") < text.index("&lt;b&gt;x") < text.index(">cyd-s<")
    assert START.strftime(">%H:%M:%S</time>").replace(">", "", 1) in text


def test_further_matches_are_counted(world: World) -> None:
    """Eight matches are shown, with the number of the others."""
    versions = add_bots(world.store, [(f"bot-{number}", "house") for number in range(2)])
    queue(world.store, versions, 11)
    for _ in range(11):
        world.store.leases.claim("here", "worker", START, RuntimeName.DOCKER)
    text = read(browser(world), "/")
    assert text.count("<b>2 players</b>, 2 deals") == 8
    assert "and 3 more" in text


def test_games_of_the_hour_and_the_day_are_counted(world: World) -> None:
    """The site's clock determines the hour and the day."""
    versions = add_bots(world.store, [("ann-s", "ann"), ("ben-s", "ben")])
    play_matches(world.store, [versions], Rules(players=2), name="two")
    world.now = START + timedelta(minutes=30)
    assert "<b>2</b> games in the last hour <" not in read(browser(world), "/")
    assert "<b>2</b> games in the last hour</span>" in read(browser(world), "/")
    world.now = START + timedelta(hours=20)
    text = read(browser(world), "/")
    assert "in the last hour" not in text
    assert "<b>2</b> games in the last 24 hours</span>" in text


def test_games_worth_watching_are_linked(world: World) -> None:
    """The unlikeliest win is linked with its odds, and the highest-scoring game with its points."""
    versions = add_bots(world.store, [("strong-1", "ann"), ("weak-1", "ben")])
    claim = claimed(world.store, versions, deals=21)
    assert world.store.results.record(finished(claim, [(1, 2)] * 20 + [(2, 1)]))
    page = browser(world).get("/").text
    upset = next(
        each for each in world.store.activity.current(world.now).remarkable if each.other is not None
    )
    text = " ".join(page.split())
    assert upset.game.game == "s-0-20"
    assert f'<b>1 in {1 / upset.value:.0f}</b> <a href="/games/s-0-20">Game 21</a>' in text
    games = browser(world).get("/games?order=upset").text
    assert re.findall(r'<th scope="row" class="number"><a href="/games/([^"]+)"', games) == ["s-0-20"]
    assert '<a href="/games?order=upset" aria-current="page">upsets</a>' in games
    assert f'data-label="Odds">1 in {1 / upset.value:.0f}<' in games
    board = text[text.index("In the lead") :]
    assert board.index("weak-1</bdi>") > board.index("strong-1</bdi>")
    worth = text[text.index("Against the odds") :]
    assert worth.index("weak-1</bdi>") < worth.index("ahead of") < worth.index("strong-1</bdi>")
    assert "<b>39 points</b>" in worth


def caption_of(world: World, now: datetime) -> str:
    """Return the caption of the game that is playing at a time."""
    world.now = now
    caption = present(re.search("<figcaption>(.*?)</figcaption>", browser(world).get("/").text, re.DOTALL))
    return " ".join(re.sub("<[^>]+>", "", caption[1]).split())


def test_the_most_surprising_or_closest_game_of_the_day_plays(world: World) -> None:
    """An upset of the last 24 hours comes first, then the closest game of that time, then an older upset."""
    strong, weak = add_bots(world.store, [("strong-1", "ann"), ("weak-1", "ben")])
    claim = claimed(world.store, [strong, weak], deals=21)
    assert world.store.results.record(finished(claim, [(1, 2)] * 20 + [(2, 1)]))
    upset = "An upset: weak-1@1 finishes ahead of strong-1@1, a 1 in "
    ended = world.store.games.newest(limit=1)[0].ended
    assert caption_of(world, ended + timedelta(hours=23)).startswith(upset)
    assert caption_of(world, ended + timedelta(hours=25)).startswith(upset)
    claim = claimed(world.store, [strong, weak], id_="later", deals=3)
    assert world.store.results.record(finished(claim, [(1, 2)] * 3, minute=30 * 60))
    assert caption_of(world, ended + timedelta(hours=23)).startswith(upset)
    closest = "The closest game of the last 24 hours: strong-1@1 beats weak-1@1 by 1 point. Game 24, 2"
    assert caption_of(world, ended + timedelta(hours=31)).startswith(closest)
    assert caption_of(world, ended + timedelta(hours=55)).startswith(upset)


def test_an_upset_of_the_day_plays_even_if_the_day_before_had_better_ones(world: World) -> None:
    """The lists have only the best five of both days, but the game that plays needn't be one of them.

    The list of games has all upsets, the unlikeliest first.
    """
    versions = add_bots(world.store, [(f"bot-{number}", "ann") for number in range(12)])
    pairs = list(zip(versions[::2], versions[1::2], strict=True))
    for number, pair in enumerate(pairs):
        claim = claimed(world.store, list(pair), id_=f"pair{number}", deals=21 if number < 5 else 8)
        last = number == len(pairs) - 1
        results = [(1, 2)] * (7 if last else 20) + [(2, 1)]
        assert world.store.results.record(finished(claim, results, minute=30 * 60 if last else 0))
    now = world.store.games.newest(limit=1)[0].ended + timedelta(hours=1)
    assert caption_of(world, now).startswith("An upset: bot-11@1 finishes ahead of bot-10@1")
    games = browser(world).get("/games?order=upset").text
    odds = [int(number) for number in re.findall(r'data-label="Odds">1 in (\d+)<', games)]
    assert odds == sorted(odds, reverse=True)
    assert odds[0] > odds[-1]


def test_a_game_that_nobody_finished_is_not_the_closest(world: World) -> None:
    """The stand-in took over all seats in the same turn, so they share first place."""
    versions = add_bots(world.store, [("a", "ann"), ("b", "ann")])
    assert world.store.results.record(finished(claimed(world.store, versions, deals=1), [(1, 2)]))
    claim = claimed(world.store, versions, id_="failed", deals=1)
    assert world.store.results.record(finished(claim, [(1, 1)], faults=(3, 3), minute=5))
    newest = world.store.games.newest(limit=1)[0]
    assert newest.margin is None
    caption = caption_of(world, newest.ended + timedelta(hours=1))
    assert caption.startswith("The closest game of the last 24 hours: a@1 beats b@1 by")


@pytest.mark.parametrize(
    ("places", "words"),
    [
        ((1, 1, 3), "a@1 and b@1 tie. Game 1,"),
        ((1, 1, 1), "a@1, b@1 and c@1 tie. Game 1,"),
        ((1, 4, 3), "a@1 beats c@1 by 2 points. Game 1,"),
    ],
)
def test_the_closest_game_is_described(world: World, places: tuple[int, ...], words: str) -> None:
    """The seats are named best first."""
    claim = claimed(world.store, add_bots(world.store, [(bot, "ann") for bot in "abc"]), deals=1)
    assert world.store.results.record(finished(claim, [places]))
    now = world.store.games.newest(limit=1)[0].ended + timedelta(hours=1)
    assert caption_of(world, now).startswith(f"The closest game of the last 24 hours: {words}")


def test_a_remarkable_game_plays_itself(world: World) -> None:
    """The game plays in the small viewer. There is also a picture, and the button leads to the game."""
    versions = add_bots(world.store, [(f"bot-{number}", "house") for number in range(5)])
    play_matches(world.store, [versions], Rules(players=5), name="set")
    visitor = browser(world)
    text = read(visitor, "/")
    game = present(re.search(r'<a class="button" href="/games/([^/"]+)/1/1">Watch a game</a>', text))
    frame = f"/embed/{game[1]}/1/1?play=true"
    assert f'src="{frame}"' in text
    assert f'src="/games/{game[1]}/og.png"' in text
    answer = visitor.get(frame)
    assert answer.status_code == 200
    assert 'class="embedded small"' in answer.text
    assert "frame-ancestors *" in answer.headers["content-security-policy"]


def test_the_top_is_that_of_the_leaderboard(world: World) -> None:
    """The front page shows the first ten bots, with the same numbers."""
    versions = add_bots(world.store, [(f"bot-{number:02}", "house") for number in range(12)])
    for number in range(3):
        play_matches(world.store, [versions[number * 4 :][:4]], Rules(players=4), name=f"four-{number}")
    visitor = browser(world)
    top = Page(visitor.get("/").text).tables[0][1:]
    board = Page(visitor.get("/leaderboard").text).tables[0][1:]
    assert len(top) == 10
    assert top == [row[:6] for row in board[:10]]


def test_the_header_marks_the_current_page(world: World) -> None:
    """On the front page, the arena's name is marked. On a document, the link to all documents is."""
    visitor = browser(world)
    for path, marked in (
        ("/", ("/", "page")),
        ("/rules", ("/rules", "page")),
        ("/docs", ("/docs", "page")),
        ("/docs/submitting", ("/docs", "true")),
    ):
        tags = Page(visitor.get(path).text).tags
        marks = [(a["href"], a["aria-current"]) for tag, a in tags if tag == "a" and "aria-current" in a]
        assert marked in marks, path
