"""The documents on the site: complete, linked to each other, and safe."""

import shutil
from collections.abc import Callable, Collection
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from structlog.testing import capture_logs

from arena.platform.files import shared_folder
from tests.accounts.world import World
from tests.docs.documents import DOCS, ROOT
from tests.web.html import Page, check
from tests.web.people import browser
from web.docs.markdown import Document, render
from web.docs.pages import (
    CHAPTERS,
    FILES,
    PLACEHOLDER,
    Chapter,
    Downloads,
    document_pages,
    open_documentation,
    read_documentation,
    resolve,
    with_downloads,
)
from web.http.authentication import Callers

SHELF = open_documentation(Downloads())
ADDRESSES = [page.address for chapter in SHELF.chapters for page in chapter.pages]
FOR_THE_HOUSE = {"architecture.md", "benchmarks.md", "dependencies.md"}
"""Documents for developers of the arena, which are only in the repository."""

MAX_INTEGER = 100_000


@pytest.fixture(scope="module")
def ids(client: TestClient) -> Callable[[str], Collection[str]]:
    """Return a function that returns the anchors of an existing page."""

    @cache
    def find(path: str) -> Collection[str]:
        answer = client.get(path)
        assert answer.status_code == 200, path
        return frozenset(Page(answer.text).ids)

    return find


def rendered(text: str) -> Document:
    """Render a document whose links all work."""
    return render(text, lambda link: link)


def body(text: str) -> str:
    """Return the HTML of the text below a title."""
    return "".join(section.html for section in rendered(f"# Title\n\n{text}").sections)


def test_every_document_is_on_the_site() -> None:
    """Only the documents for developers are missing."""
    shown = {path for _, paths in CHAPTERS for path in paths}
    assert {f"docs/{file.name}" for file in DOCS.glob("*.md") if file.name not in FOR_THE_HOUSE} <= shown
    assert {file.relative_to(ROOT).as_posix() for file in ROOT.glob("bots/*/README.md")} <= shown


def test_the_index_leads_to_every_document(client: TestClient) -> None:
    """The index links to documents by title, with their first sentences."""
    text = client.get("/docs").text
    assert set(ADDRESSES) <= set(Page(text).links)
    assert "How to submit a bot, how it gets onto the leaderboard" in text


@pytest.mark.parametrize("address", ["/docs", *ADDRESSES])
def test_every_page_is_sound(client: TestClient, ids: Callable[[str], Collection[str]], address: str) -> None:
    """Each page is small and sound, and complies with the policy. Its links and their anchors exist."""
    answer = client.get(address)
    page = Page(answer.text)
    assert answer.status_code == client.head(address).status_code == 200
    assert len(answer.content) < MAX_INTEGER
    check(page)
    named = {label for _, attributes in page.tags if (label := attributes.get("aria-labelledby"))}
    assert named <= set(page.ids)
    for link in page.links:
        if not urlsplit(link).netloc:
            path, _, anchor = link.partition("#")
            there = ids(path or address)
            assert not anchor or anchor in there, link


@pytest.mark.parametrize("here", ["https://kaiten.test", "http://192.0.2.7:8000"])
def test_commands_name_the_sites_own_address(world: World, here: str) -> None:
    """Every page uses the address in the visitor's browser. Files have a placeholder."""
    visitor = browser(world, url=here)
    assert f"arena login {here}\n" in visitor.get("/docs/cli").text
    assert f"curl {here}/api/v1/leaderboard?limit=10" in visitor.get("/docs/api").text
    assert not [address for address in ADDRESSES if PLACEHOLDER in visitor.get(address).text]


SOURCE = "https://code.test/kaiten.git"
PACKAGE = "https://code.test/kaiten.whl"
OFFERS = [
    Downloads(),
    Downloads(source=SOURCE),
    Downloads(package=PACKAGE),
    Downloads(source=SOURCE, package=PACKAGE),
]


@pytest.mark.parametrize("downloads", OFFERS)
def test_the_tutorial_names_only_downloads_that_are_offered(downloads: Downloads) -> None:
    """The rest of the text is always the same, and no placeholder is left."""
    text = with_downloads((DOCS / "first-bot.md").read_text(), downloads)
    assert (f"    git clone {SOURCE} kaiten\n" in text, "git clone" in text) == (bool(downloads.source),) * 2
    assert (f"pip install {PACKAGE}\n" in text, "pip install" in text) == (bool(downloads.package),) * 2
    assert "source.example" not in text
    assert "package.example" not in text
    assert text.count("\n## ") == 7
    page = read_documentation(shared_folder(), downloads).find("/docs/first-bot")
    assert page is not None
    assert "<!--" not in "".join(section.html for section in page.document.sections)


def test_headings_are_listed_with_their_anchors(client: TestClient) -> None:
    """Headings are in the page's table of contents, and each heading also links to itself."""
    page = Page(client.get("/docs/submitting").text)
    assert page.links.count("#qualification") == 2
    assert {"limits", "challenges", "check-your-bot-first"} <= set(page.ids)


@pytest.mark.parametrize("chapter", SHELF.chapters, ids=lambda chapter: chapter.title)
def test_the_pages_of_a_chapter_follow_each_other(client: TestClient, chapter: Chapter) -> None:
    """The first page has no previous page, and the last one no next page."""
    addresses = [page.address for page in chapter.pages]
    assert len(addresses) > 1
    for address, before, after in zip(addresses, [None, *addresses], [*addresses[1:], None], strict=False):
        tags = [attributes for _, attributes in Page(client.get(address).text).tags]
        ways = {attributes["rel"]: attributes["href"] for attributes in tags if "rel" in attributes}
        assert (ways.get("prev"), ways.get("next")) == (before, after)


@pytest.mark.parametrize("name", FILES)
def test_files_can_be_downloaded(client: TestClient, name: str) -> None:
    """Files are sent unchanged, with types that browsers don't execute."""
    answer = client.get(f"/docs/{name}")
    assert answer.text == (ROOT / FILES[name]).read_text()
    assert answer.headers["content-type"] in {"text/plain; charset=utf-8", "application/json"}
    assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    "name", ["nothing", "rules", "protocol.md", "..%2FREADME", "architecture", "%00", "x" * 99]
)
def test_what_is_not_on_the_site_is_not_found(client: TestClient, name: str) -> None:
    """The error page has the site's style."""
    answer = client.get(f"/docs/{name}")
    assert answer.status_code == 404
    assert "site.css" in answer.text


def test_missing_documents_are_left_out(world: World, tmp_path: Path) -> None:
    """No page links to missing documents, requests for them get a 404, and the log names each."""
    for folder in ("docs", "proto"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    (tmp_path / "docs" / "javascript.md").unlink()
    with capture_logs() as logs:
        documentation = read_documentation(tmp_path, Downloads())
    missing = {"javascript", "greedy", "rollout", "greedy.py"}
    assert all(any(name in line["error"] for line in logs) for name in ("javascript.md", "greedy/bot.py"))
    chapters = [chapter.title for chapter in documentation.chapters]
    assert "Sample bots" not in chapters
    assert len(chapters) == len(CHAPTERS) - 1
    app = FastAPI()
    app.state.callers = Callers(world.accounts, world.store.bots, lambda _: None)
    app.include_router(document_pages(documentation))
    client = TestClient(app)
    for address in (
        "/docs",
        "/rules",
        *(page.address for chapter in documentation.chapters for page in chapter.pages),
    ):
        answer = client.get(address)
        assert answer.status_code == 200
        assert not {f"/docs/{name}" for name in missing} & {
            link.partition("#")[0] for link in Page(answer.text).links
        }
    assert {client.get(f"/docs/{name}").status_code for name in missing} == {404}
    assert read_documentation(shared_folder(), Downloads()) == SHELF


@pytest.mark.parametrize(
    ("link", "leads_to"),
    [
        ("submitting.md", "/docs/submitting"),
        ("submitting.md#limits", "/docs/submitting#limits"),
        ("rules.md#deck", "/rules#deck"),
        ("../bots/greedy/README.md", "/docs/greedy"),
        ("../proto/arena/wire/v1/referee.proto", "/docs/referee.proto"),
        ("#limits", "#limits"),
        ("https://example.com/x#y", "https://example.com/x#y"),
        ("architecture.md", None),
        ("../CONTRIBUTING.md", None),
        ("../../../etc/passwd", None),
        ("/etc/passwd", None),
        ("mailto:someone", None),
    ],
)
def test_links_lead_to_the_sites_own_pages(link: str, leads_to: str | None) -> None:
    """Links to files that the site doesn't show have no target."""
    assert resolve(link, "docs/api.md") == leads_to


def test_a_link_without_a_target_is_text() -> None:
    """The text keeps its markup, and other links remain."""
    document = render("# T\n\n[a *b*](x.md) and [c](y.md)", lambda link: "/y" if link == "y.md" else None)
    assert document.sections[0].html == '<p>a <em>b</em> and <a href="/y">c</a></p>\n'


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("<script>alert(1)</script>", "<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>\n"),
        ("a <b>b</b> & c", "<p>a &lt;b&gt;b&lt;/b&gt; &amp; c</p>\n"),
        ("[a](javascript:alert(1))", "<p>[a](javascript:alert(1))</p>\n"),
        ('[a](b "c\\"d")', '<p><a href="b" title="c&quot;d">a</a></p>\n'),
        ("`<i>`", "<p><code>&lt;i&gt;</code></p>\n"),
    ],
)
def test_html_in_a_text_is_escaped(text: str, html: str) -> None:
    """Only Markdown's own syntax becomes markup."""
    assert body(text) == html


def test_comments_are_left_out() -> None:
    """Comments around a generated table are only for the program that writes it."""
    assert "generated" not in body(
        "<!-- generated from a -->\n| a |\n| --- |\n| b |\n<!-- end of the generated -->\n"
    )
    assert "<td>b</td>" in body("<!-- generated from a -->\n| a |\n| --- |\n| b |\n")


def test_headings_get_the_usual_anchors() -> None:
    """Anchors match those of code hosting sites, even for markup, punctuation and repeated headings."""
    document = rendered("# T\n\n## One `a_b`, two!\n\n### Same\n\n## <Same>\n\n## Same\n")
    assert [(heading.level, heading.anchor, heading.text) for heading in document.headings] == [
        (2, "one-a_b-two", "One a_b, two!"),
        (3, "same", "Same"),
        (2, "same-1", "<Same>"),
        (2, "same-2", "Same"),
    ]
    assert [section.anchor for section in document.sections] == ["", "one-a_b-two", "same-1", "same-2"]
    assert 'aria-label="Link to &lt;Same&gt;"' in document.sections[2].html


@pytest.mark.parametrize(
    ("text", "about"),
    [
        ("One. Two.", "One."),
        ("Sushi Go! as it\nis `played`. Two.", "Sushi Go! as it is played."),
        ("What starts:\n\n    code", "What starts."),
        ("## Only a heading", "Only a heading"),
        ("", ""),
    ],
)
def test_a_document_is_about_its_first_sentence(text: str, about: str) -> None:
    """The description has no markup."""
    assert rendered(f"# Title `x`\n\n{text}").about == about


def test_a_document_without_a_title_is_refused() -> None:
    """The error quotes the document's beginning."""
    with pytest.raises(ValueError, match="must begin with its title, not with 'text'"):
        rendered("text")


def test_tables_scroll_and_have_names() -> None:
    """Empty column headers are plain cells, and classes replace inline styles."""
    html = body("## Of what\n\n| | n |\n| --- | --: |\n| a | 1 |\n")
    assert '<div class="scroll" role="group" aria-labelledby="of-what" tabindex="0">\n<table>' in html
    assert '<td></td>\n<th class="number" scope="col">n</th>' in html
    assert '<td class="number">1</td>' in html
    assert html.endswith("</table>\n</div>\n")
    assert '<table class="wordy">' in body(f"| a |\n| --- |\n| {'word ' * 9} |\n")


def test_code_scrolls() -> None:
    """Fenced and indented code can be scrolled by keyboard."""
    assert body("```json\n{}\n```") == (
        '<pre role="group" aria-label="Code" tabindex="0"><code class="language-json">{}\n</code></pre>\n'
    )
    assert body("    <a>") == (
        '<pre role="group" aria-label="Code" tabindex="0"><code>&lt;a&gt;\n</code></pre>\n'
    )
