"""Tests of the names of bots and authors."""

import pytest

from arena.platform.names import WrongName, check_name, is_reserved, skeleton


@pytest.mark.parametrize("name", ["ab", "Greedy-2", "my_bot", "4d", "a" * 40, "A0"])
def test_a_name_that_can_be_used(name: str) -> None:
    """A name has two to forty letters, digits, - and _."""
    check_name(name, "bot")


@pytest.mark.parametrize(
    "name",
    [
        "",
        "a",
        "a" * 41,
        "-rf",
        "_a",
        "a b",
        "a\n",
        "<b>bot",
        "../up",
        "na\N{RIGHT-TO-LEFT OVERRIDE}me",
        "gr\N{CYRILLIC SMALL LETTER IE}edy",
        "\N{ARABIC-INDIC DIGIT ONE}2",
        "a" * 10_000,
    ],
)
def test_any_other_name_is_refused(name: str) -> None:
    """The error is short and in ASCII. It has the refused name, and says what is allowed."""
    with pytest.raises(WrongName, match="is not a valid bot name: use 2 to 40 letters") as caught:
        check_name(name, "bot")
    assert str(caught.value).isascii()
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 600


@pytest.mark.parametrize(
    "name", ["admin", "API", "House", "null", "adm1n", "h0use", "r-o_o-t", "Y0u", "former-3f", "F0RMER-x"]
)
def test_a_name_that_speaks_for_the_arena_is_reserved(name: str) -> None:
    """Case, digits in place of letters, and separators make no difference."""
    assert is_reserved(name)


@pytest.mark.parametrize("name", ["ann", "my-house", "apiary", "nullify", "greedy", "formerly"])
def test_a_name_that_contains_a_reserved_one_is_free(name: str) -> None:
    """Only whole names are reserved."""
    assert not is_reserved(name)


@pytest.mark.parametrize(("one", "other"), [("Lily", "IiIy"), ("bob_1", "B0B-l"), ("ann", "ANN")])
def test_names_that_look_alike_are_equal(one: str, other: str) -> None:
    """Names are equal if only case, or letters and digits of the same shape, differ."""
    assert skeleton(one) == skeleton(other)
    assert skeleton(one) != skeleton(one + "x")
