"""What the name of a vote says."""

import pytest

from dripper.errors import SettingsError
from dripper_labelers.vote import parse_voters


def test_members_are_voters_of_one_weight_unless_the_name_says_another() -> None:
    assert parse_voters("vote:cpu,all,trafilatura") == [("cpu", 1), ("all", 1), ("trafilatura", 1)]
    assert parse_voters("vote:cpu=0.9,all=2") == [("cpu", 0.9), ("all", 2)]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("vote:cpu", "a vote takes two members at least, for instance vote:cpu,trafilatura"),
        ("vote:cpu,", "'' is no single labeler"),
        ("vote:cpu,vote:all", "'vote:all' is no single labeler"),
        ("vote:cpu,all,cpu=2", "names cpu twice: a member's voice is its weight, as in cpu=2"),
        ("vote:cpu=much,all", "the weight of 'cpu=much' must be a number above 0"),
        ("vote:cpu=-1,all", "the weight of 'cpu=-1' must be a number above 0"),
        ("vote:cpu=nan,all", "the weight of 'cpu=nan' must be a number above 0"),
    ],
)
def test_a_wrong_name_is_one_sentence(name: str, words: str) -> None:
    with pytest.raises(SettingsError) as error:
        parse_voters(name)
    assert words in str(error.value)
    assert "\n" not in str(error.value)
