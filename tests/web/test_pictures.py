"""Pictures of games and frames for link previews on other sites, and the cost of many requests."""

import asyncio
import threading
from io import BytesIO

import pytest
from fastapi import Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.testclient import TestClient
from PIL import Image, ImageChops

from tests.accounts.world import World
from tests.builders import analysed
from tests.patience import WAIT_SECONDS
from tests.soak import many
from tests.web.html import Page
from tests.web.people import browser
from tests.web.stable import fill_games
from web.http.errors import Problem
from web.viewer.pages import MAX_CACHED, MAX_WAITING, Pictures

GAME = "/games/faulty-0-0"
THREADS = 40
"""Number of threads that render pages."""


def named(client: TestClient, path: str) -> dict[str, str | None]:
    """Return a page's Open Graph properties."""
    return {
        attributes["property"] or "": attributes["content"]
        for tag, attributes in Page(client.get(path).text).tags
        if tag == "meta" and "property" in attributes
    }


@pytest.mark.parametrize(
    ("path", "title", "description"),
    [
        ("/", "Where bots play Sushi Go!", "Write a bot"),
        ("/leaderboard?players=3", "Leaderboard, 3 players", "Bots that play Sushi Go!"),
        ("/bots/greedy", "greedy", "A Sushi Go! bot by house. Rank "),
    ],
)
def test_a_page_describes_itself(client: TestClient, path: str, title: str, description: str) -> None:
    """Previews on other sites have the page's title and description. Search results use the description."""
    told = named(client, path)
    assert told["og:title"] == title
    assert (told["og:description"] or "").startswith(description)
    [meta] = [each for _, each in Page(client.get(path).text).tags if each.get("name") == "description"]
    assert meta["content"] == told["og:description"]


@pytest.mark.parametrize(
    ("path", "title", "picture"),
    [
        (GAME, "Game 11", f"{GAME}/og.png"),
        (f"{GAME}/1/2", "Round 1, turn 2, choice · Game 11", f"{GAME}/1/2/og.png"),
        (
            f"{GAME}/2/8?step=score&view=seat:1",
            "Round 2, turn 8, points · Game 11",
            f"{GAME}/2/8/og.png?step=score&view=seat:1",
        ),
    ],
)
def test_a_page_names_its_picture(client: TestClient, path: str, title: str, picture: str) -> None:
    """The picture's and the page's addresses are absolute URLs. The picture is a PNG of the usual size."""
    told = named(client, path)
    assert told["og:url"] == f"http://testserver{path}"
    assert told["og:image"] == f"http://testserver{picture}"
    assert told["og:title"] == title
    assert (told["og:description"] or "").startswith(
        "Sushi Go! between bots: random, greedy, <b>bold</b>, gnp"
    )
    answer = client.get(picture)
    with Image.open(BytesIO(answer.content)) as drawn:
        assert (drawn.format, drawn.size) == ("PNG", (1200, 630))
        assert len(drawn.convert("RGB").getcolors(1 << 24) or []) > 50
    assert answer.headers["content-type"] == "image/png"
    assert answer.headers["cache-control"] == "public, max-age=86400"
    assert answer.headers["cross-origin-resource-policy"] == "cross-origin"
    assert client.head(picture).content == b""


def test_an_analysed_games_picture_shows_the_chances(world: World) -> None:
    """The graph is drawn where the score sheet was empty, and the ETag changes."""
    world.filled(fill_games)
    before = browser(world).get(f"{GAME}/og.png")
    analysed(world.store, "faulty-0-0")
    after = browser(world).get(f"{GAME}/og.png")
    assert before.headers["etag"] != after.headers["etag"]
    with Image.open(BytesIO(before.content)) as one, Image.open(BytesIO(after.content)) as other:
        left, top, right, bottom = ImageChops.difference(one.convert("RGB"), other.convert("RGB")).point(
            lambda value: 255 * (value > 40)  # ignores small differences between palettes
        ).getbbox() or (0, 0, 0, 0)
    assert 400 < left < right < 1200
    assert 0 < top < bottom < 200
    assert right - left > 400


def test_a_frames_picture_has_a_text(client: TestClient) -> None:
    """For readers who can't see the picture, the text says what happens in the frame."""
    said = named(client, f"{GAME}/1/1?step=reveal")["og:image:alt"] or ""
    assert said.startswith("Round 1, turn 1, reveal. random: ")


def test_every_frame_and_view_has_its_own_picture(client: TestClient) -> None:
    """Pictures differ by step, turn and view. The last frame's picture is the game's."""
    paths = [
        f"{GAME}/{turn}/og.png?step={step}&view={view}"
        for turn, step in (("1/4", "pick"), ("1/4", "reveal"), ("1/4", "pass"), ("2/4", "pick"))
        for view in ("all", "seat:0", "seat:1", "infer:1")[:: many(2, 1)]
    ]
    pictures = [client.get(path).content for path in paths]
    assert len(set(pictures)) == len(paths)
    end = client.get(f"{GAME}/3/8/og.png?step=end").content
    assert end == client.get(f"{GAME}/og.png").content


@pytest.mark.parametrize("game", ["dummy-0-0", "three-0-0", "faulty-0-0"])
def test_every_kind_of_game_has_pictures(client: TestClient, game: str) -> None:
    """The games have several numbers of players, long names and a dummy."""
    for path in (f"/games/{game}/og.png", f"/games/{game}/1/3/og.png?step=reveal"):
        assert client.get(path).content.startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/games/nothing/og.png", 404),
        ("/games/nothing/1/1/og.png", 404),
        (f"{GAME}/1/9/og.png", 404),
        (f"{GAME}/1/1/og.png?step=score", 404),
        (f"{GAME}/1/1/og.png?view=seat:4", 404),
        (f"{GAME}/1/1/og.png?view=everything", 422),
        ("/embed/faulty-0-0/1/1/og.png", 404),
    ],
)
def test_an_unknown_frame_has_no_picture(client: TestClient, path: str, status: int) -> None:
    """The response is an error even if the client sends an ETag."""
    assert client.get(path, headers={"If-None-Match": "*"}).status_code == status


def test_a_picture_is_sent_once(client: TestClient) -> None:
    """A client that has the picture gets a 304, and may cache it. Other frames have other ETags."""
    first = client.get(f"{GAME}/1/1/og.png")
    tag = first.headers["etag"]
    again = client.get(f"{GAME}/1/1/og.png", headers={"If-None-Match": tag})
    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["cache-control"] == first.headers["cache-control"]
    assert client.get(f"{GAME}/1/2/og.png", headers={"If-None-Match": tag}).status_code == 200


class Brush:
    """Draws pictures when the test allows it, and counts them."""

    def __init__(self) -> None:
        self.let = threading.Event()
        self.drawn = 0
        self._drawing = threading.Lock()

    def __call__(self) -> bytes:
        """Draw a picture. Fail if another one is being drawn."""
        assert self._drawing.acquire(blocking=False)
        try:
            assert self.let.wait(WAIT_SECONDS)
            self.drawn += 1
            return b"picture"
        finally:
            self._drawing.release()


def asked() -> Request:
    """Return a request without an ETag."""
    return Request({"type": "http", "method": "GET", "headers": []})


def test_many_pictures_block_nothing_else() -> None:
    """One picture is drawn at a time. Waiting requests block no thread, and their number is limited."""
    pictures, brush = Pictures(), Brush()

    async def flood() -> list[Response | BaseException]:
        wanted = [
            asyncio.create_task(pictures.answer(asked(), (number,), brush)) for number in range(2 * THREADS)
        ]
        # All other threads are free at the same time.
        free = threading.Barrier(THREADS - 1)
        await asyncio.gather(*[run_in_threadpool(free.wait, WAIT_SECONDS) for _ in range(THREADS - 1)])
        brush.let.set()
        return await asyncio.gather(*wanted, return_exceptions=True)

    answers = asyncio.run(flood())
    made = [answer for answer in answers if isinstance(answer, Response)]
    refused = [answer for answer in answers if isinstance(answer, Problem)]
    assert (len(made), len(refused)) == (MAX_WAITING, 2 * THREADS - MAX_WAITING)
    assert {(each.status_code, (each.headers or {})["Retry-After"]) for each in refused} == {(503, "2")}
    assert brush.drawn == MAX_WAITING


def test_one_picture_is_drawn_once() -> None:
    """The picture is cached for later requests until others replace it."""
    pictures, brush = Pictures(), Brush()
    brush.let.set()

    async def ask(*whats: object) -> None:
        await asyncio.gather(*[pictures.answer(asked(), (what,), brush) for what in whats])

    async def visit() -> None:
        await ask(*["popular"] * MAX_WAITING)
        await ask("popular")
        assert brush.drawn == 1
        for number in range(MAX_CACHED):
            await ask(number)
        await ask("popular")
        assert brush.drawn == 1 + MAX_CACHED + 1

    asyncio.run(visit())


def test_a_picture_that_failed_is_tried_again() -> None:
    """The failure isn't cached, and no request waits forever."""
    pictures = Pictures()

    def spill() -> bytes:
        raise OSError("no more ink")

    async def visit() -> bytes:
        for _ in range(MAX_WAITING + 1):
            with pytest.raises(OSError, match="no more ink"):
                await pictures.answer(asked(), ("it",), spill)
        answer = await pictures.answer(asked(), ("it",), lambda: b"picture")
        return bytes(answer.body)

    assert asyncio.run(visit()) == b"picture"
