"""Tests of ``arena login`` and ``arena logout``, which ask for a token, try, store and revoke it."""

import os
import pty
import stat
import subprocess

import pytest

from arena.protocol.states import Scope
from tests.cli.author import Author, drained, refused
from tests.cli.command import COMMAND, environment
from tests.client.live import answering
from tests.patience import WAIT_SECONDS
from tests.ports import silent_port


def test_a_token_is_tried_and_stored(author: Author) -> None:
    """The token is read from stdin. Only its user can read the file, and no message repeats it."""
    token = author.live.token("ann")
    said = author.types("login", f"{author.live.url}/", text=f"  {token}\r\n")
    assert (said.code, said.out) == (0, "")
    assert f"logged in to {author.live.url} as ann, until " in said.err
    assert token not in said.err
    assert "HTTPS" not in said.err
    assert stat.S_IMODE(author.kept.stat().st_mode) == 0o600
    assert token in author.kept.read_text()
    assert author.types("status").code == 0
    again = author.types("login", text=f"{author.live.token('ben')}\n")
    assert f"logged in to {author.live.url} as ben" in again.err


def test_a_terminal_is_asked_and_shows_nothing(author: Author) -> None:
    """The prompt says where to create a token. The terminal doesn't echo the token."""
    token = author.live.token("ann")
    ours, theirs = pty.openpty()
    process = subprocess.Popen(  # noqa: S603 - the command under test
        [*COMMAND, "login", author.live.url],
        env=environment() | author.settings,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    seen = b""
    while b"Token: " not in seen:
        seen += os.read(ours, 1000)
    os.write(ours, f"{token}\n".encode())
    text = seen.decode() + drained(ours)
    assert process.wait(WAIT_SECONDS) == 0
    assert f"create a token at {author.live.url}/account, with the read and submit scopes" in text
    assert "logged in" in text
    assert token not in text


@pytest.mark.parametrize("text", ["kaiten_made-up\n", ""])
def test_a_wrong_token_is_not_stored(author: Author, text: str) -> None:
    """The site may refuse the token, or it may not look like a token at all."""
    said = author.types("login", author.live.url, text=text)
    assert said.code in {1, 2}
    assert said.out == ""
    assert len(said.err.splitlines()) == 1
    assert "\x1b" not in said.err
    assert not author.kept.exists()


def test_a_missing_scope_is_reported(author: Author) -> None:
    """A login with a token that lacks scopes succeeds, with a warning."""
    token = author.live.token("ann", {Scope.READ})
    said = author.types("login", author.live.url, text=f"{token}\n")
    assert said.code == 0
    assert "this token lacks scopes that some commands need: submit" in said.err


def test_an_impossible_address_is_wrong_usage(author: Author) -> None:
    """The message has an example of an address."""
    line = refused(author.types("login", "arena.example"), 2)
    assert "such as https://arena.example" in line


def test_a_broken_file_is_named(author: Author) -> None:
    """The exit code for a broken file of logins is 2."""
    author.log_in()
    author.kept.write_text("{")
    assert str(author.kept) in refused(author.types("status"), 2)


def test_a_site_that_is_not_an_arena_gets_no_token(author: Author) -> None:
    """The site is checked before a token is sent. Another host without HTTPS causes a warning."""
    with answering((200, {"Content-Type": "text/html"}, b"<h1>Hello</h1>")) as other:
        said = author.types("login", other.url, text="kaiten_x\n")
        assert (said.code, len(other.asked)) == (1, 1)
        assert "Authorization" not in other.asked[0][1]
    assert "check that this is an arena's address" in said.err
    said = author.types("login", "http://nowhere.invalid", text="kaiten_x\n")
    assert said.code == 1
    first, second = said.err.splitlines()
    assert "http://nowhere.invalid doesn't use HTTPS" in first
    assert "can't be reached" in second


def test_without_a_login_commands_say_how_to_get_one(author: Author) -> None:
    """Each command says in one line how to log in."""
    bot = author.source()
    for command in (["status"], ["logout"], ["submit", bot], ["leaderboard", "--site"], ["login"]):
        assert "https://" in refused(author.types(*command), 2), command


def test_the_environment_takes_precedence(author: Author) -> None:
    """A token in the environment isn't stored. No site is sent another site's token."""
    token, site = author.live.token("ann"), author.live.url
    said = author.types("status", "--json", ARENA_SITE=site, ARENA_TOKEN=token)
    assert (said.code, said.err) == (0, "")
    assert not author.kept.exists()
    assert author.types("status", ARENA_TOKEN=token).code == 2
    assert f"arena login {site}" in author.types("status", ARENA_SITE=site).err
    old = author.types("status", ARENA_SITE=site, ARENA_TOKEN="kaiten_old")  # noqa: S106 - a test's
    assert "does not accept this token" in refused(old, 1)
    assert author.types("logout", ARENA_SITE=site, ARENA_TOKEN=token).code == 2


def test_a_misspelled_variable_is_refused_with_the_nearest_name(author: Author) -> None:
    """If the variable were ignored, a bot would be sent to the site of the last login."""
    for command in "status", "login":
        said = author.types(command, ARENA_STIE=author.live.url)
        assert said.code == 2
        assert "ARENA_STIE: no such setting. Did you mean ARENA_SITE?" in said.err


def test_logging_out_revokes_and_deletes_the_token(author: Author) -> None:
    """After a logout, the token is no longer accepted anywhere."""
    token = author.log_in()
    said = author.types("logout")
    assert (said.code, said.out) == (0, "")
    assert f"logged out of {author.live.url}" in said.err
    assert token not in author.kept.read_text()
    assert author.types("status", ARENA_SITE=author.live.url, ARENA_TOKEN=token).code == 1


def test_logging_out_works_without_the_site(author: Author) -> None:
    """The token is deleted locally, and the message says that it may still work."""
    author.log_in()
    with silent_port() as port:
        gone = f"http://127.0.0.1:{port}"
        author.redirect(gone)
        said = author.types("logout")
    assert said.code == 0
    assert "can't be reached (Connection refused)" in said.err
    assert f"token not revoked: if it still works, revoke it at {gone}/account" in said.err
    assert author.types("status").code == 2
