"""Tests of sites' addresses, which have one canonical form, and of stored logins, which are private."""

import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from arena.client.sites import (
    Login,
    Sites,
    WrongLogin,
    check_address,
    chosen,
    crosses_network_unencrypted,
)
from tests.locks import refuse_locks

HERE = Login(site="https://here.example", token="kaiten_here", account="ann")  # noqa: S106 - a test token
THERE = Login(site="https://there.example", token="kaiten_there", account="ben")  # noqa: S106 - a test token


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return the path of a file in a folder that doesn't exist."""
    return tmp_path / "config" / "kaiten" / "sites.json"


def test_logins_are_private_to_their_user(file: Path) -> None:
    """Only the user can read the file and its folder, and no other file is left there."""
    Sites(file).remember(HERE)
    assert Sites(file).all() == (HERE,)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert list(file.parent.iterdir()) == [file]


def test_a_file_that_others_could_read_becomes_private(file: Path) -> None:
    """The next login makes a file private that others could read."""
    Sites(file).remember(HERE)
    file.chmod(0o644)
    Sites(file).remember(THERE)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_the_last_login_is_the_default(file: Path) -> None:
    """Each site has one login. After a logout, the previous login is the default."""
    sites = Sites(file)
    for login in (HERE, THERE, HERE):
        sites.remember(login)
    assert sites.all() == (THERE, HERE)
    assert chosen(sites, {}) == HERE
    sites.forget(HERE.site)
    assert chosen(sites, {}) == THERE
    sites.forget(THERE.site)
    with pytest.raises(WrongLogin, match="arena login with a site's URL"):
        chosen(sites, {})


def test_logins_at_the_same_time_are_all_kept(file: Path) -> None:
    """Each thread opens the file separately, as a process would."""
    logins = [Login(site=f"https://{number}.example", token="kaiten_x") for number in range(20)]  # noqa: S106 - a test token
    with ThreadPoolExecutor(len(logins)) as pool:
        list(pool.map(lambda login: Sites(file).remember(login), logins))
    assert sorted(each.site for each in Sites(file).all()) == sorted(each.site for each in logins)
    with ThreadPoolExecutor(len(logins)) as pool:
        list(pool.map(lambda login: Sites(file).forget(login.site), logins))
    assert Sites(file).all() == ()


def test_the_environment_chooses_a_site(file: Path) -> None:
    """The environment may give the site's address in any form."""
    sites = Sites(file)
    sites.remember(HERE)
    sites.remember(THERE)
    assert chosen(sites, {"ARENA_SITE": "HTTPS://here.example:443/"}) == HERE
    with pytest.raises(WrongLogin, match=r"arena login https://nowhere\.example"):
        chosen(sites, {"ARENA_SITE": "https://nowhere.example"})


def test_a_token_from_the_environment_needs_its_site(file: Path) -> None:
    """A token from the environment is never stored, and never sent to another site."""
    sites = Sites(file)
    sites.remember(HERE)
    environment = {"ARENA_SITE": "https://ci.example", "ARENA_TOKEN": " kaiten_ci\n"}
    assert chosen(sites, environment) == Login(site="https://ci.example", token="kaiten_ci")  # noqa: S106 - a test token
    with pytest.raises(WrongLogin, match="ARENA_SITE is not"):
        chosen(sites, {"ARENA_TOKEN": "kaiten_ci"})
    assert sites.all() == (HERE,)


@pytest.mark.parametrize(
    "token", [" ", "two words", "kaiten_\x1b[2J", "kaiten_é", "k" * 201, "a\r\nX-Evil: 1"]
)
def test_a_malformed_token_is_not_sent(file: Path, token: str) -> None:
    """The error for a malformed token doesn't repeat the token."""
    with pytest.raises(WrongLogin, match="copy the whole token"):
        chosen(Sites(file), {"ARENA_SITE": "https://ci.example", "ARENA_TOKEN": token})


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe", b"[]", b'{"sites": [{"site": 7}]}'])
def test_a_broken_file_is_named(file: Path, content: bytes) -> None:
    """The error names the file and says what to do. The file isn't overwritten."""
    file.parent.mkdir(parents=True)
    file.write_bytes(content)
    with pytest.raises(WrongLogin, match="remove it, and log in again") as refused:
        Sites(file).remember(HERE)
    assert str(file) in str(refused.value)
    assert file.read_bytes() == content


def test_a_folder_that_can_not_be_created_is_named(file: Path) -> None:
    """The error names the file of logins."""
    file.parent.parent.mkdir()
    file.parent.write_text("in the way")
    with pytest.raises(WrongLogin, match=r"sites\.json can't be"):
        Sites(file).remember(HERE)


def test_a_folder_without_locks_is_named(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a folder without locks, commands could overwrite each other's logins, so nothing is written."""
    refuse_locks(monkeypatch)
    with pytest.raises(WrongLogin, match=r"can't be locked \(No locks available\)"):
        Sites(file).remember(HERE)
    assert not file.exists()


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        ("https://arena.example", "https://arena.example"),
        (" HTTPS://Arena.Example:443/ ", "https://arena.example"),
        ("http://localhost:8000/", "http://localhost:8000"),
        ("http://[::1]:80", "http://[::1]"),
        ("https://arena.example:80", "https://arena.example:80"),
    ],
)
def test_a_site_has_one_address(typed: str, kept: str) -> None:
    """Case, the default port and a trailing slash make no difference."""
    assert check_address(typed) == kept
    assert check_address(kept) == kept


@pytest.mark.parametrize(
    "typed",
    [
        "",
        "arena.example",
        "localhost:8000",
        "ftp://arena.example",
        "https://",
        "https://arena.example/account",
        "https://arena.example?x=1",
        "https://arena.example#x",
        "https://ann:secret@arena.example",
        "https://arena.example:99999",
        "https://arena.example:x",
        "https://[::1",
        "https://are na.example",
        "https://arena..example",
        f"https://{'a' * 64}.example",
        "https://arena\x1b[2J.example",
    ],
)
def test_anything_else_is_refused(typed: str) -> None:
    """The error gives an example, and contains no control characters."""
    with pytest.raises(WrongLogin, match=r"such as https://arena\.example") as refused:
        check_address(typed)
    assert str(refused.value).isprintable()


@pytest.mark.parametrize(
    ("address", "readable"),
    [
        ("http://arena.example", True),
        ("http://192.0.2.7:8000", True),
        ("http://localhost.example", True),
        ("https://arena.example", False),
        ("http://localhost:8000", False),
        ("http://here.localhost", False),
        ("http://127.3.2.1", False),
        ("http://[::1]:8000", False),
    ],
)
def test_only_this_host_needs_no_https(address: str, readable: bool) -> None:  # noqa: FBT001 - a column of the table
    """Plain HTTP to any other host could be read on the network."""
    assert crosses_network_unencrypted(address) == readable
