"""Logins: kept for their user alone, the last one first, the environment before all of them."""

import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from arena.client.sites import Login, Sites, WrongLogin, chosen

HERE = Login(site="https://here.example", token="kaiten_here", account="ann")  # noqa: S106 - a test's
THERE = Login(site="https://there.example", token="kaiten_there", account="ben")  # noqa: S106 - a test's


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Give the name of a file in a folder that isn't there."""
    return tmp_path / "config" / "kaiten" / "sites.json"


def test_logins_are_kept_for_their_user_alone(file: Path) -> None:
    """The file and its folder can be read by nobody else, and nothing lies beside it."""
    Sites(file).remember(HERE)
    assert Sites(file).all() == (HERE,)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert list(file.parent.iterdir()) == [file]


def test_a_file_that_others_could_read_becomes_private(file: Path) -> None:
    """The next login makes it anew."""
    Sites(file).remember(HERE)
    file.chmod(0o644)
    Sites(file).remember(THERE)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_the_last_login_is_the_default(file: Path) -> None:
    """One login a site; anyone who logs out falls back on the one before."""
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
    """However many commands change the file at once; each opens it by itself, as a process would."""
    logins = [Login(site=f"https://{number}.example", token="kaiten_x") for number in range(20)]  # noqa: S106
    with ThreadPoolExecutor(len(logins)) as pool:
        list(pool.map(lambda login: Sites(file).remember(login), logins))
    assert sorted(each.site for each in Sites(file).all()) == sorted(each.site for each in logins)
    with ThreadPoolExecutor(len(logins)) as pool:
        list(pool.map(lambda login: Sites(file).forget(login.site), logins))
    assert Sites(file).all() == ()


def test_the_environment_chooses_a_site(file: Path) -> None:
    """By its address, however it is written."""
    sites = Sites(file)
    sites.remember(HERE)
    sites.remember(THERE)
    assert chosen(sites, {"ARENA_SITE": "HTTPS://here.example:443/"}) == HERE
    with pytest.raises(WrongLogin, match=r"arena login https://nowhere\.example"):
        chosen(sites, {"ARENA_SITE": "https://nowhere.example"})


def test_a_token_of_the_environment_needs_its_site(file: Path) -> None:
    """It is kept nowhere, and never goes to a site that it is not for."""
    sites = Sites(file)
    sites.remember(HERE)
    environment = {"ARENA_SITE": "https://ci.example", "ARENA_TOKEN": " kaiten_ci\n"}
    assert chosen(sites, environment) == Login(site="https://ci.example", token="kaiten_ci")  # noqa: S106
    with pytest.raises(WrongLogin, match="ARENA_SITE is not"):
        chosen(sites, {"ARENA_TOKEN": "kaiten_ci"})
    assert sites.all() == (HERE,)


@pytest.mark.parametrize(
    "token", [" ", "two words", "kaiten_\x1b[2J", "kaiten_é", "k" * 201, "a\r\nX-Evil: 1"]
)
def test_what_can_not_be_a_token_is_not_sent(file: Path, token: str) -> None:
    """Nor repeated on the terminal."""
    with pytest.raises(WrongLogin, match="copy all of it"):
        chosen(Sites(file), {"ARENA_SITE": "https://ci.example", "ARENA_TOKEN": token})


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe", b"[]", b'{"sites": [{"site": 7}]}'])
def test_a_broken_file_is_named(file: Path, content: bytes) -> None:
    """With what to do; it is not overwritten."""
    file.parent.mkdir(parents=True)
    file.write_bytes(content)
    with pytest.raises(WrongLogin, match="remove it, and log in again") as refused:
        Sites(file).remember(HERE)
    assert str(file) in str(refused.value)
    assert file.read_bytes() == content


def test_a_folder_that_can_not_be_made_is_named(file: Path) -> None:
    """Nothing else is touched."""
    file.parent.parent.mkdir()
    file.parent.write_text("in the way")
    with pytest.raises(WrongLogin, match=r"sites\.json can't be"):
        Sites(file).remember(HERE)
