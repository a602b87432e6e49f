"""Addresses given by authors: none of them reaches the arena's own network."""

import pytest

from arena.notices.addresses import (
    SubscriptionRefused,
    WebhookTarget,
    check_mail,
    is_public,
    parse_webhook,
    resolve,
)

INSIDE = (
    *("127.0.0.1", "127.1.2.3", "0.0.0.0", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254"),  # noqa: S104 - refused
    *("100.64.0.1", "192.0.0.1", "192.0.2.1", "198.18.0.1", "224.0.0.1", "239.1.1.1", "240.0.0.1"),
    *("255.255.255.255", "::", "::1", "::ffff:127.0.0.1", "::ffff:8.8.8.8", "::127.0.0.1", "fe80::1"),
    *("fe80::1%1", "fec0::1", "fd00:ec2::254", "ff02::1", "64:ff9b::7f00:1", "64:ff9b:1::a00:1"),
    *("2002:7f00:1::", "2001:0:7f00:1::1", "2001:db8::1", "100::1"),
)
OUTSIDE = ("8.8.8.8", "1.1.1.1", "2606:4700:4700::1111", "2a00:1450:4001:830::200e")


@pytest.mark.parametrize("address", INSIDE)
def test_non_public_addresses_are_refused(address: str) -> None:
    """They are private, local, shared, reserved, multicast, or IPv6 addresses that embed an IPv4 address."""
    assert not is_public(address)
    host = f"[{address}]" if ":" in address else address
    with pytest.raises(SubscriptionRefused, match="is not a public address"):
        resolve(parse_webhook(f"https://{host}/", frozenset()))


@pytest.mark.parametrize("address", OUTSIDE)
def test_public_addresses_are_allowed(address: str) -> None:
    """Public addresses resolve to themselves."""
    host = f"[{address}]" if ":" in address else address
    assert resolve(parse_webhook(f"https://{host}/a?b=c", frozenset())) == (address, 443)


@pytest.mark.parametrize("host", ["localhost", "2130706433", "0x7f.1", "127.1", "017700000001"])
def test_names_and_odd_numbers_are_what_they_resolve_to(host: str) -> None:
    """Names and unusual notations are accepted at first, and checked after they are resolved."""
    target = parse_webhook(f"https://{host}/", frozenset())
    with pytest.raises(SubscriptionRefused, match="is not a public address"):
        resolve(target)


@pytest.mark.parametrize("host", ["no-such-host.invalid", "x" * 70 + ".example"])
def test_an_unknown_host_is_reported(host: str) -> None:
    """Unknown and malformed host names get the same error."""
    with pytest.raises(SubscriptionRefused, match="can't be found"):
        resolve(parse_webhook(f"https://{host}/", frozenset()))


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("http://there.example/", "use port 443"),
        ("https://there.example:8443/", "use port 443"),
        ("http://there.example:443/", "use port 443"),
        ("ftp://there.example/", "have a host"),
        ("file:///etc/passwd", "have a host"),
        ("there.example", "have a host"),
        ("https://", "have a host"),
        ("https://a:b@there.example/", "must not contain a user name, password"),
        ("https://there.example/#a", "fragment"),
        ("https://there.example:x/", "can't be parsed"),
        ("https://[::1/", "can't be parsed"),
        ("https://there.example/a b", "without spaces"),
        ("https://there.example/\r\nX: y", "without spaces"),
        ("https://th\N{LATIN SMALL LETTER E WITH ACUTE}re.example/", "ASCII"),
        ("https://there.example/" + "x" * 500, "at most 500"),
    ],
)
def test_an_invalid_webhook_address_is_refused(url: str, why: str) -> None:
    """The error says what is allowed."""
    with pytest.raises(SubscriptionRefused, match=why):
        parse_webhook(url, frozenset())


def test_the_operator_may_name_hosts() -> None:
    """Only hosts and ports listed by the operator may be internal or lack TLS."""
    named = frozenset({"127.0.0.1:9000", "[::1]:9000"})
    for host in ("127.0.0.1", "[::1]"):
        target = parse_webhook(f"http://{host}:9000/x", named)
        assert target == WebhookTarget(host=host.strip("[]"), port=9000, path="/x", tls=False, named=True)
        assert resolve(target) == (host.strip("[]"), 9000)
        with pytest.raises(SubscriptionRefused):
            parse_webhook(f"http://{host}:9001/", named)


@pytest.mark.parametrize("address", ["ann@mail.example", "a.b+c@x-y.mail.example", "a=b?@mail.example"])
def test_mail_addresses(address: str) -> None:
    """Ordinary email addresses are accepted."""
    check_mail(address)


@pytest.mark.parametrize(
    "address",
    [
        *("", "ann", "ann@", "@mail.example", "ann@localhost", "ann@[127.0.0.1]", "a b@mail.example"),
        *("ann@mail.example\nBcc: ben@mail.example", "ann@mail.example, ben@mail.example"),
        *("a..b@mail.example", ".a@mail.example", "a.@mail.example", "x" * 65 + "@mail.example"),
        *("=?utf-8?q?v=0AX?=@mail.example", "=?utf-8?q?ben=40mail.example=2C_?=ann@mail.example"),
        *("Ann <ann@mail.example>", "x" * 300 + "@mail.example", "ann@m\N{SUSHI}il.example"),
    ],
)
def test_an_invalid_mail_address_is_refused(address: str) -> None:
    """Addresses that would add a header or a recipient are refused too."""
    with pytest.raises(SubscriptionRefused):
        check_mail(address)
