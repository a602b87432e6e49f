"""Tests of sites' addresses: each site has one canonical form, and malformed addresses are refused."""

import pytest

from arena.client.sites import WrongLogin, check_address, crosses_network_unencrypted


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
