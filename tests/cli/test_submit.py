"""Tests of ``arena submit``: sending a bot, following it to the end, and error messages."""

import json
import os
import pty
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler
from urllib.parse import urlsplit

import msgspec
import pytest

from arena.db.quotas import AccountQuota
from arena.db.submissions import KnownSubmission
from arena.protocol.submissions import Cause, CauseKind, Request, Stage
from arena.submissions.receiver import MAX_PER_ADDRESS
from tests.cli.author import Author, drained, refused
from tests.cli.command import COMMAND, environment
from tests.client.live import Live, answering
from tests.db.builders import ENTRY, add_bot
from tests.patience import WAIT_SECONDS, wait_until
from tests.ports import serving
from tests.web.submitted import finish_game, queue

CAUSE = Cause(
    stage=Stage.QUALIFYING,
    kind=CauseKind.MEMORY,
    text="the bot was gone:\x1b[2J it used too much memory",
    hint="Load less.",
    exit_code=137,
    out_of_memory=True,
    request=Request(game=2, players=3, seat=1, round=1, turn=4, hand=("tempura", "egg_nigiri")),
    stderr="loading\n\x1b]0;title\x07\N{RIGHT-TO-LEFT OVERRIDE}words [bold]x[/bold]\n",
)


def submitted(site: Live, bot: str) -> KnownSubmission:
    """Wait for a bot's submission, and return it."""
    wait_until(lambda: bool(site.store.submissions.newest(bot=bot)), f"a submission of {bot}")
    return site.store.submissions.newest(bot=bot)[0]


def now() -> datetime:
    """Return the time in the form that the coordinator uses."""
    return datetime.now(UTC)


def qualifies(site: Live, bot: str) -> str:
    """Bring a bot's submission to its qualification, and return the submission's id."""
    id_ = submitted(site, bot).id
    site.store.submissions.mark_inspected(id_, f"sha256:{id_:0>64}", now())
    site.store.submissions.mark_qualifying(id_, now())
    return id_


def test_a_bot_is_followed_until_it_plays(author: Author) -> None:
    """The command reports stages, games and reasons to wait as they come, then the bot's address."""
    author.log_in("ann")
    site = author.live
    with author.typing("submit", author.source("winner.py"), "--note", "a first try") as typing:
        id_ = submitted(site, "winner").id
        assert typing.readline() == f"arena: winner: 20 bytes sent, {site.url}/submissions/{id_}\n"
        assert "received" in typing.readline()
        site.store.submissions.wait(id_, "no room\x1b[2J for images")
        assert r"waiting: no room\x1b[2J for images" in typing.readline()
        qualifies(site, "winner")
        told = [typing.readline() for _ in range(3)]
        assert [any(word in line for line in told) for word in ("inspected", "qualifying")] == [True, True]
        for number in range(2):
            queue(site.store, id_, number)
            finish_game(site.store)
            assert f"game {number + 1} of 3: 3 players, seat 1, placed " in typing.readline()
        site.store.submissions.activate(id_, now())
        said = typing.wait()
    assert said.code == 0
    assert said.err.count(" of 3: ") == 0
    assert f"winner@1 is active: {site.url}/bots/winner" in said.out
    assert "the bot's first rated game comes next" in said.err
    assert f"{site.url}/" in said.err
    assert submitted(site, "winner").note == "a first try"


def test_a_submission_is_cancelled(author: Author) -> None:
    """If the bot has several submissions, the id is needed. The previous version keeps playing."""
    author.log_in("ann")
    site = author.live
    assert author.types("submit", author.source("fickle.py"), "--no-follow").code == 0
    site.store.submissions.activate(qualifies(site, "fickle"), now())
    for text in ("one", "two"):
        (author.home / "fickle.py").write_text(f"print('{text}')\n")
        assert author.types("submit", "fickle.py", "--no-follow").code == 0
    two, one, _ = site.store.submissions.newest(bot="fickle")
    line = refused(author.types("cancel", "fickle"), 2)
    assert f"fickle has 2 submissions in progress; specify one of these ids: {two.id}, {one.id}" in line
    said = author.types("cancel", two.id, "--json")
    assert (said.code, json.loads(said.out)["cause"]["kind"]) == (0, "withdrawn")
    assert said.err.splitlines()[-1] == "arena: fickle@1 remains active"
    assert author.types("cancel", "FICKLE").code == 0
    ended = [site.store.submissions.find(each.id) for each in (one, two)]
    assert [each.cause.text for each in ended if each and each.cause] == ["its author cancelled it"] * 2
    for word in ("fickle", two.id, "nothing"):
        assert f"no submission in progress matches {word}:" in refused(author.types("cancel", word), 2)


def test_a_rejection_says_what_to_do(author: Author) -> None:
    """The bot's output can't disturb the terminal. The previous version keeps playing."""
    author.log_in("ann")
    site = author.live
    with author.typing("submit", author.source("loser.py")) as typing:
        site.store.submissions.activate(qualifies(site, "loser"), now())
        assert typing.wait().code == 0
    (author.home / "loser.py").write_text("print('better')\n")
    with author.typing("submit", "./loser.py") as typing:
        wait_until(lambda: len(site.store.submissions.newest(bot="loser")) == 2, "the next submission")
        site.store.submissions.reject(qualifies(site, "loser"), CAUSE, now())
        said = typing.wait()
    assert said.code == 1
    assert "\x1b" not in said.out + said.err
    assert "Load less." in said.out
    assert "arena check ./loser.py" in said.err
    assert "loser@1 remains active" in said.err


def test_json_has_the_whole_submission(author: Author) -> None:
    """Stdout has only the submission with its games. Messages and exit code are as usual."""
    author.log_in("ann")
    with author.typing("submit", author.source("jason.py"), "--json") as typing:
        author.live.store.submissions.reject(qualifies(author.live, "jason"), CAUSE, now())
        said = typing.wait()
    told = json.loads(said.out)
    assert (said.code, told["stage"], told["cause"]["stderr"]) == (1, "rejected", CAUSE.stderr)
    assert told["games"] == []
    assert "\x1b" not in said.out
    assert "arena check jason.py" in said.err


def test_without_following_it_prints_the_id(author: Author) -> None:
    """The id is on stdout. A message names the command that shows the progress."""
    author.log_in("ann")
    said = author.types("submit", author.source("alone.py"), "--no-follow", "--name", "chosen")
    assert (said.code, said.out) == (0, f"{submitted(author.live, 'chosen').id}\n")
    assert "progress: `arena status chosen`" in said.err
    as_json = author.types("submit", "alone.py", "--no-follow", "--name", "second", "--json")
    assert json.loads(as_json.out)["stage"] == "received"


def test_ctrl_c_while_following_does_not_stop_the_submission(author: Author) -> None:
    """The exit code is 130, and a message names the command that shows the progress."""
    author.log_in("ann")
    with author.typing("submit", author.source("patient.py")) as typing:
        typing.readline()
        typing.readline()
        typing.interrupt()
        said = typing.wait()
    assert said.code == 130
    assert "the submission continues: see `arena status patient`" in said.err
    assert "Traceback" not in said.err
    assert submitted(author.live, "patient").stage is Stage.RECEIVED


def test_a_terminal_sees_a_bar(author: Author) -> None:
    """The bar shows bytes on stderr only, without colours if NO_COLOR is set."""
    author.log_in("ann")
    for line, more in (("x = 1\n", {}), ("x = 2\n", {"NO_COLOR": "1"})):
        (author.home / "barred.py").write_text(line * 100_000)
        ours, theirs = pty.openpty()
        with subprocess.Popen(  # noqa: S603 - the command under test
            [*COMMAND, "submit", "barred.py", "--no-follow"],
            cwd=author.home,
            env=environment() | author.settings | {"TERM": "xterm", "COLUMNS": "100"} | more,
            stdout=subprocess.PIPE,
            stderr=theirs,
        ) as process:
            os.close(theirs)
            seen = drained(ours)
            assert process.stdout is not None
            assert (
                process.stdout.read().decode().strip()
                == author.live.store.submissions.newest(bot="barred")[0].id
            )
        assert "600.0/600.0 kB" in seen
        assert ("\x1b[3" in seen) == (not more)


@contextmanager
def deaf() -> Iterator[tuple[str, threading.Event]]:
    """Yield the address of a server that stops reading, and an event that is set when it has begun."""
    begun, end = threading.Event(), threading.Event()

    def listen() -> None:
        connection, _ = listener.accept()
        with connection:
            connection.recv(100)
            begun.set()
            end.wait(WAIT_SECONDS)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=listen)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}", begun
        finally:
            end.set()
            thread.join()


def test_ctrl_c_while_sending_leaves_nothing(author: Author) -> None:
    """The exit code is 130, and a one-line message says that nothing is stored."""
    author.log_in("ann")
    with (author.home / "large.tar.gz").open("wb") as file:
        file.write(b"\x1f\x8b")
        file.truncate(50 * 2**20)
    with deaf() as (url, begun):
        author.redirect(url)
        with author.typing("submit", file.name) as typing:
            assert begun.wait(WAIT_SECONDS)
            typing.interrupt()
            said = typing.wait()
    assert (said.code, said.out, said.err) == (130, "", "arena: stopped; nothing was stored\n")


def test_an_upload_without_a_response_may_have_been_stored(author: Author) -> None:
    """The message says how to check that. Submitting again would cost a submission."""

    class Handler(BaseHTTPRequestHandler):
        def do_PUT(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))

    author.log_in("ann")
    with serving(Handler) as port:
        author.redirect(f"http://127.0.0.1:{port}")
        line = refused(author.types("submit", author.source("lost.py")), 1)
    assert "has not confirmed that it received the bot: check with `arena status lost` in a few min" in line


def test_an_upload_to_a_moved_site_names_its_new_address(author: Author) -> None:
    """The response decides what to do, even if the bot was sent completely."""
    author.log_in("ann")
    with answering((308, {"Location": "https://new.example/api/v1/bots/x"}, b"")) as moved:
        author.redirect(moved.url)
        line = refused(author.types("submit", author.source("moved.py")), 1)
    assert "run `arena login https://new.example`" in line


def test_the_site_s_refusal_is_printed(author: Author) -> None:
    """A site may refuse the name of another author's bot, or a note that is too long."""
    add_bot(author.live.store, "taken", author="ben")
    author.log_in("ann")
    line = refused(author.types("submit", author.source("taken.py")), 1)
    assert "belongs to a bot by ben" in line
    assert "or a new name" in line
    long = author.types("submit", author.source("long.py"), "--note", "x" * 201)
    assert "201 characters" in refused(long, 1)
    latin = author.types("submit", author.source("latin.py"), "--note", os.fsdecode(b"caf\xe9"))
    assert r"caf\xe9 is not UTF-8" in refused(latin, 2)


def test_wrong_usage_is_refused(author: Author) -> None:
    """The exit code of wrong usage is 2, and the message is one line."""
    author.log_in("ann")
    line = refused(author.types("submit", "\x1b[2J"), 2)
    assert "nor a valid image name" in line
    assert line.isprintable()


def test_data_that_changed_on_the_way_is_detected(author: Author) -> None:
    """If the site's hash differs, the submission is not followed."""
    author.log_in("ann")
    known = replace(submitted_before(author), sha256="0" * 64)
    with answering((201, {"Content-Type": "application/json"}, msgspec.json.encode(known))) as other:
        author.redirect(other.url)
        line = refused(author.types("submit", author.source("altered.py")), 1)
        assert len(other.asked) == 1
    assert "received data that differs from what was sent" in line
    assert "submit again" in line


EVIL = "\x1b]0;title\x07\x9b31m\N{RIGHT-TO-LEFT OVERRIDE}\nline"
SHOWN = r"\x1b]0;title\x07\x9b31m\u202e\nline"


@pytest.mark.parametrize("following", [True, False])
def test_a_hostile_site_moves_no_cursor(author: Author, following: bool) -> None:  # noqa: FBT001 - parametrized
    """All text from the site is escaped, so that it can't imitate the command's own lines."""
    author.log_in("ann")
    known = submitted_before(author)
    cause = {"stage": "qualifying", "kind": "crash"} | dict.fromkeys(("text", "hint", "stderr"), EVIL)
    told = msgspec.to_builtins(known) | {"id": EVIL, "bot": EVIL}
    end = told | {"stage": "rejected", "ended": told["received"], "cause": cause, "games": []}
    bot = {"name": EVIL, "author": EVIL, "house": False, "state": "active", "reason": EVIL, "since": None}
    bot |= {"version": 1, "newest": 1, "open_to_people": False}
    json_, stream = {"Content-Type": "application/json"}, {"Content-Type": "text/event-stream"}
    with answering(
        (201, json_, msgspec.json.encode(told)),
        (200, stream, b"event: stage\ndata: " + msgspec.json.encode(end) + b"\n\n"),
        (200, json_, msgspec.json.encode(end)),
        (200, json_, msgspec.json.encode(bot)),
    ) as other:
        author.redirect(other.url)
        said = author.types("submit", "unaltered.py", *([] if following else ["--no-follow"]))
    assert said.code == (1 if following else 0), said.err
    lines = (said.out + said.err).splitlines()
    assert all(line.isprintable() for line in lines)
    assert not any(line.startswith("line") for line in lines)
    assert SHOWN in said.out
    assert f"{SHOWN}@1 remains active" in said.err if following else f"`arena status {SHOWN}`" in said.err


def submitted_before(author: Author) -> KnownSubmission:
    """Submit a bot and reject it, so that the same file can be submitted again. Return the submission."""
    assert author.types("submit", author.source("unaltered.py"), "--no-follow").code == 0
    known = submitted(author.live, "unaltered")
    author.live.store.submissions.reject(known.id, CAUSE, now())
    return known


def test_a_site_that_is_busy_is_asked_again(author: Author) -> None:
    """The command retries when the site asks it to: here, the address has reached its limit of files."""
    author.log_in("ann")
    site = urlsplit(author.live.url)
    # Each account may send one file at a time. The site waits only 30 s for more of a file.
    tokens = [author.live.token(f"eve{number}") for number in range(MAX_PER_ADDRESS)]
    with ExitStack() as senders:
        for number, token in enumerate(tokens):
            sender = senders.enter_context(socket.create_connection((site.hostname, site.port)))
            path = f"/api/v1/bots/slow{number}/submissions?kind=python"
            sender.sendall(
                f"PUT {path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {token}\r\n"
                "Content-Length: 100\r\n\r\nx".encode()
            )
        uploads = author.live.uploads
        wait_until(lambda: len(list(uploads.glob("*.part"))) == MAX_PER_ADDRESS, "files in progress")
        with author.typing("submit", author.source("eager.py"), "--no-follow") as typing:
            assert "already being received" in typing.readline()
            senders.close()
            said = typing.wait()
    assert said.code == 0, said.err
    assert submitted(author.live, "eager").stage is Stage.RECEIVED


def test_a_used_up_quota_is_reported(author: Author) -> None:
    """The command immediately prints a message with advice, instead of waiting for a day."""
    author.log_in("pat")
    account = author.live.world.account("pat")
    author.live.store.accounts.set_quota(account.id, AccountQuota(submissions_a_day=1), ENTRY)
    assert author.types("submit", author.source("thrifty.py"), "--no-follow").code == 0
    (author.home / "thrifty.py").write_text("print('another')\n")
    line = refused(author.types("submit", "thrifty.py", "--no-follow"), 1)
    assert "in the last 24 hours" in line
    assert "Try again in 24 hours." in line
