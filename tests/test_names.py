"""What bots and authors may be called."""

import pytest

from arena.names import WrongName, check_name


@pytest.mark.parametrize("name", ["ab", "Greedy-2", "my_bot", "4d", "a" * 40, "A0"])
def test_a_name_that_can_be_used(name: str) -> None:
    """Letters, digits, - and _, two to forty of them."""
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
    """The text is short, of plain ASCII, and says what is allowed and what was named."""
    with pytest.raises(WrongName, match="name of a bot: use 2 to 40 letters") as caught:
        check_name(name, "bot")
    assert str(caught.value).isascii()
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 600
