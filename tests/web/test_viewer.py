"""The replay viewer's pages: every frame has an address, and other addresses are not found."""

import re

import pytest
from fastapi.testclient import TestClient

from arena.db.store import Store
from arena.play.replay.document import parse
from tests.db.builders import present
from tests.soak import many
from tests.web.html import Page, check
from web.http.rendering import fixed
from web.http.security import FRAMABLE, SECURITY_HEADERS
from web.http.static import STATIC
from web.viewer.film import Viewpoint, address, film
from web.viewer.scene import Mark, scene

GAME = "/games/faulty-0-0"
FRAMES = (
    f"{GAME}/1/1",
    f"{GAME}/2/3?step=reveal&view=seat:2",
    f"{GAME}/2/8?step=score&view=infer:0",
    f"{GAME}/3/8?step=end",
    "/games/dummy-0-1/1/4?view=infer:1",
)


def text_of(html: str) -> str:
    """Return a page's text without its tags."""
    return " ".join(re.sub(r"<[^>]+>", " ", html).split())


@pytest.mark.parametrize("path", FRAMES)
def test_every_frame_is_a_page(client: TestClient, path: str) -> None:
    """The page is well-formed and small, complies with its policy, and all its links work."""
    answer = client.get(path)
    page = Page(answer.text)
    assert answer.status_code == 200
    assert len(answer.content) < 45_000
    check(page, "viewer")
    assert "<script>alert" not in answer.text
    assert "\N{RIGHT-TO-LEFT OVERRIDE}" not in answer.text
    addresses = sorted({link.split("#", maxsplit=1)[0] for link in page.links if link.startswith("/")})
    for link in addresses[:: many(5, 1)]:
        assert client.get(link).status_code == 200, link


def test_a_page_with_all_its_files_is_small(client: TestClient) -> None:
    """The compressed total is less than 32 KiB, including the frames of the whole game, but no pictures."""
    page = client.get(f"{GAME}/2/3?view=infer:1")
    loaded = set(re.findall(rf'(?:src|href)="({STATIC}/[\w-]+\.(?:js|css))"', page.text))
    for script in [link for link in loaded if link.endswith("viewer.js")]:
        imports = re.findall(r'from "\./([\w-]+\.js)"', client.get(script).text)
        loaded |= {f"{STATIC}/{name}" for name in imports}
    assert len(loaded) >= 6
    frames = client.get(f"{GAME}/frames.json?view=infer:1")
    answers = [page, frames, *map(client.get, loaded)]
    assert sum(int(answer.headers["content-length"]) for answer in answers) < 32 * 1024


def test_every_frame_shows_its_scene(client: TestClient, store: Store) -> None:
    """In three views, the page shows hands, tables and points, and describes what happens."""
    game = present(store.games.find("faulty-0-0"))
    shown = film(game.replay)
    for view in ("all", "seat:1", "infer:3"):
        for frame in shown.frames[::7]:
            here = scene(shown, frame, Viewpoint.read(view))
            text = client.get(address(GAME, frame, Viewpoint.read(view))).text
            assert here.says in text_of(text).replace("&lt;", "<").replace("&gt;", ">")
            hands = re.findall(r'<ol class="hand".*?</ol>', text, re.DOTALL)
            for hand, seat in zip(hands, here.seats, strict=True):
                kinds = re.findall(r"cards\.svg#(\w+)", hand)
                assert kinds == [card.card.label if card.card else "back" for card in seat.hand]
                assert hand.count("chosen</span>") == [card.mark for card in seat.hand].count(Mark.PICKED)
            tables = re.findall(r'<ol class="placed".*?</ol>', text, re.DOTALL)
            for table, seat in zip(tables, here.seats, strict=True):
                kinds = re.findall(r"cards\.svg#(\w+)", table)
                assert kinds == [card.label for stack in seat.stacks for card in stack.cards]
            scores = re.findall(r'<b>(.\d*)</b><span class="hidden"> points?</span>\n', text)
            assert scores == [fixed(seat.score, 0) for seat in here.seats]


def test_a_seats_view_hides_the_other_hands(client: TestClient) -> None:
    """Page and data reveal only the number of cards in the other hands."""
    text = client.get(f"{GAME}/1/1?view=seat:1").text
    hands = re.findall(r'<ol class="hand".*?</ol>', text, re.DOTALL)
    assert [set(re.findall(r"cards\.svg#(\w+)", hand)) == {"back"} for hand in hands] == [
        True,
        False,
        True,
        True,
    ]
    frames = client.get(f"{GAME}/frames.json?view=seat:1").json()["frames"]
    assert all(set(seat[0]) <= {"?"} for frame in frames for seat in frame[4][2:] if seat)


def test_frames_lead_from_the_first_to_the_last(client: TestClient, store: Store) -> None:
    """The links "Step forward" and "Step back" go through all frames, in order and in reverse."""
    game = present(store.games.find("faulty-0-0"))
    addresses = [address(GAME, frame) for frame in film(game.replay).frames]
    ways = {
        at: {
            way: link.replace("&amp;", "&")
            for way, link in re.findall(r'data-way="([\w-]+)" href="([^"]+)"', client.get(at).text)
        }
        for at in addresses
    }

    def walk(start: str, way: str) -> list[str]:
        found = [start]
        while way_on := ways[found[-1]].get(way):
            found.append(way_on)
        return found

    assert walk(addresses[0], "next") == addresses
    assert walk(addresses[-1], "previous") == addresses[::-1]
    assert walk(addresses[0], "next-turn") == [at for at in addresses if "?" not in at]
    assert walk(addresses[-1], "previous-round") == [addresses[-1], *(f"{GAME}/{r}/1" for r in (3, 2, 1))]


def test_a_view_stays_from_frame_to_frame(client: TestClient) -> None:
    """Links to other frames keep the view, and links to other views keep the frame."""
    text = client.get(f"{GAME}/1/2?view=infer:1").text.replace("&amp;", "&")
    assert f'href="{GAME}/1/2?step=reveal&view=infer:1"' in text
    assert f'href="{GAME}/1/2?view=seat:3"' in text
    assert f'data-view="infer:1" href="{GAME}/1/2?view=infer:1" aria-current="true"' in text


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/games/nothing-there/1/1", 404),
        (f"{GAME}/0/1", 404),
        (f"{GAME}/4/1", 404),
        (f"{GAME}/1/0", 404),
        (f"{GAME}/1/9", 404),
        (f"{GAME}/1/11", 404),
        (f"{GAME}/1/01", 404),
        (f"{GAME}/1/-1", 404),
        (f"{GAME}/1/x", 404),
        (f"{GAME}/1/%00", 404),
        (f"{GAME}/1/1?step=score", 404),
        (f"{GAME}/1/8?step=pass", 404),
        (f"{GAME}/2/8?step=end", 404),
        (f"{GAME}/1/1?view=seat:4", 404),
        (f"{GAME}/1/1?step=jump", 422),
        (f"{GAME}/1/1?view=seat:9", 422),
        (f"{GAME}/1/1?view=everything", 422),
        (f"{GAME}/1/1?view=", 422),
        ("/embed/nothing-there/1/1", 404),
        ("/embed/faulty-0-0/1/9", 404),
        ("/embed/faulty-0-0", 404),
    ],
)
def test_an_unknown_frame_is_not_found(client: TestClient, path: str, status: int) -> None:
    """The error page has the site's style, and can't be embedded on other sites."""
    answer = client.get(path, follow_redirects=False)
    assert answer.status_code == status
    assert answer.headers["content-type"].startswith("text/html")
    assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]


@pytest.mark.parametrize("frame", ["4/1", "1/9", "2/8?step=end"])
def test_an_unknown_frame_of_a_game_leads_to_the_game(client: TestClient, frame: str) -> None:
    """The error page links to the game's page."""
    text = client.get(f"{GAME}/{frame}").text
    assert "This game has no such turn or step." in text
    assert f'<a href="{GAME}">Game 11</a>' in text


@pytest.mark.parametrize(
    ("query", "status"), [("?view=seat:4", 404), ("?view=seat:x", 422), ("", 200), ("?view=all", 200)]
)
def test_frames_are_requested_by_view(client: TestClient, query: str, status: int) -> None:
    """Errors are JSON too."""
    answer = client.get(f"{GAME}/frames.json{query}")
    assert answer.status_code == status
    assert "json" in answer.headers["content-type"]


@pytest.mark.parametrize("path", [f"{GAME}/1/1", f"{GAME}/frames.json", "/embed/faulty-0-0/1/1"])
def test_only_reading_is_possible(client: TestClient, path: str) -> None:
    """HEAD returns the headers of GET. Other methods are refused."""
    head = client.head(path)
    assert (head.status_code, head.content) == (200, b"")
    assert client.post(path, headers={"Sec-Fetch-Site": "same-origin"}).status_code == 405


def test_only_the_embedded_page_can_be_framed_by_other_sites(client: TestClient) -> None:
    """The rest of the embedded page's policy is the same as on other pages."""
    embedded, page = client.get("/embed/faulty-0-0/2/3?view=seat:1"), client.get(f"{GAME}/2/3")
    for name, value in FRAMABLE.items():
        assert embedded.headers[name] == value
    for name, value in SECURITY_HEADERS.items():
        assert page.headers[name] == value
    policy = embedded.headers["content-security-policy"].split("; ")
    assert policy[:-1] == page.headers["content-security-policy"].split("; ")[:-1]
    assert policy[-1] == "frame-ancestors *"


def test_the_embedded_page_shows_the_frame_and_little_else(client: TestClient) -> None:
    """The page has no site navigation and no account links, and opens the full page in a new window."""
    text = client.get("/embed/faulty-0-0/2/3?view=seat:1").text
    page = Page(text)
    assert "Log in" not in text
    (whole,) = (attributes for _, attributes in page.tags if attributes.get("target") == "_blank")
    assert whole["href"] == f"{GAME}/2/3?view=seat:1"
    frames = [link for link in page.links if re.match(r"/embed/faulty-0-0/\d/\d", link)]
    assert len(frames) > 10
    assert "/embed/faulty-0-0/2/3?step=reveal&view=seat:1" in frames


def test_the_page_says_how_to_share_and_check(client: TestClient, store: Store) -> None:
    """The page has the seed, the replay, the command to verify it, and code to embed this frame."""
    game = present(store.games.find("faulty-0-0"))
    text = client.get(f"{GAME}/2/3?step=reveal&view=seat:1").text
    assert parse(game.replay).seed in text
    assert "arena replay verify faulty-0-0.json" in text
    code = present(re.search(r'<textarea id="embed-code".*?>(.*?)</textarea>', text, re.DOTALL))
    assert "http://testserver/embed/faulty-0-0/2/3?step=reveal" in code[1]
    assert f'href="{GAME}/replay.json" download="faulty-0-0.json"' in text


def test_moments_lead_to_their_frames(client: TestClient) -> None:
    """Each moment links to an existing frame, and that of the current frame is marked."""
    text = client.get(f"{GAME}/1/8?step=score").text
    links = re.findall(r'data-event="\d+" href="([^"]+)"', text)
    assert len(links) > 8
    for link in sorted(set(links))[:: many(4, 1)]:
        assert client.get(link.replace("&amp;", "&")).status_code == 200, link
    assert 'aria-current="step"><span class="when">1.8</span> <span>end of round 1</span>' in text
