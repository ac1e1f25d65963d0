"""Names of authors and keywords."""

import pytest

from dripper.facts.metadata.names import read_byline, split_authors, split_tags


@pytest.mark.parametrize(
    ("texts", "names"),
    [
        (["Ann Lee"], ("Ann Lee",)),
        (["By  Ann\nLee"], ("Ann Lee",)),
        (["Written by Ann Lee"], ("Ann Lee",)),
        (["Von Ann Lee"], ("Ann Lee",)),
        (["Von Miller"], ("Von Miller",)),
        (["John von Neumann"], ("John von Neumann",)),
        (["Ann Lee, Bo Ray and Cy Fox"], ("Ann Lee", "Bo Ray", "Cy Fox")),
        (["Ann Lee;Bo Ray"], ("Ann Lee", "Bo Ray")),
        (["Lee, Ann"], ("Lee, Ann",)),
        (["Marks & Spencer"], ("Marks & Spencer",)),
        (["Ann Lee", "ANN LEE"], ("Ann Lee",)),
        (["https://www.facebook.com/ann", "@ann", "ann@e.org", "admin", "-", "", "7"], ()),
        (["x" * 101], ()),
        (["Byron Bay"], ("Byron Bay",)),
    ],
)
def test_authors(texts: list[str], names: tuple[str, ...]) -> None:
    assert split_authors(texts) == names


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("By Ann Lee | October 15, 2025", "Ann Lee"),
        ("Ann LeeMarch 2, 2026", "Ann Lee"),
        ("Ann Lee on Friday December 19", "Ann Lee"),
        ("ann 14.6k 20 gold badges", "ann"),
        ("Ann Lee says:", "Ann Lee"),
        ("Mary-Jane May", "Mary-Jane May"),
    ],
)
def test_what_stands_beside_a_name_in_sight(text: str, name: str) -> None:
    assert read_byline([text]) == (name,)


def test_the_first_in_sight_counts() -> None:
    assert read_byline(["3 May 2024", "Ann Lee", "Bo Ray"]) == ("Ann Lee",)
    assert read_byline([]) == ()


def test_tags() -> None:
    assert split_tags(["rain,  Bergen ,,", "Rain", "雨、海", "x" * 101]) == ("rain", "Bergen", "雨", "海")
    assert len(split_tags([",".join(map(str, range(100)))])) == 30


def test_the_name_of_a_site_is_one_whatever_it_joins() -> None:
    assert split_authors(["Love Food and Feed Good"]) == ("Love Food", "Feed Good")
    assert split_authors(["Love Food and Feed Good"], lambda text: text == "Love Food and Feed Good") == (
        "Love Food and Feed Good",
    )
