"""One sentence for each value that is wrong."""

import pytest

from dripper.errors import SettingsError
from dripper.settings import Section, keys, validate


class Inner(Section):
    depth: int = 1


class Outer(Section):
    """A section with another inside."""

    name: str = "a"
    inner: Inner = Inner()


def test_what_is_not_given_is_as_by_default() -> None:
    assert validate(Outer, {"inner": {"depth": 3}}) == Outer(inner=Inner(depth=3))


def test_keys_are_dotted_and_in_order() -> None:
    assert list(keys(Outer, "x.")) == ["x.name", "x.inner.depth"]


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"nam": "b"}, "unknown setting x.nam; did you mean x.name?"),
        ({"inner": {"dept": 1}}, "unknown setting x.inner.dept; did you mean x.inner.depth?"),
        ({"inner": 3}, "setting x.inner is a section: set one of x.inner.depth"),
        (3, "setting x is a section: set one of x.name, x.inner.depth"),
        ({"inner": {"depth": "deep"}}, "setting x.inner.depth='deep': input should be a valid integer"),
        ({"qqq": 1}, "unknown setting x.qqq; known are x.name, x.inner.depth"),
    ],
)
def test_a_wrong_value_gives_one_sentence(values: object, words: str) -> None:
    with pytest.raises(SettingsError) as caught:
        validate(Outer, values, "x.")
    assert words in str(caught.value)
