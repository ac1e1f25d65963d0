"""Packages of extras."""

import math

import pytest

from dripper.errors import MachineError
from dripper.extras import import_extra


def test_a_package_that_is_there_is_loaded() -> None:
    assert import_extra("math", "nobody needs", "").pi == math.pi


@pytest.mark.parametrize("module", ["no_such_package_at_all", "no_such_package_at_all.inside"])
def test_one_that_is_not_gives_a_sentence_with_what_to_do(module: str) -> None:
    with pytest.raises(MachineError, match=r"^the report needs no_such_package_at_all \(.*\): pip install it$"):
        import_extra(module, "the report needs", "pip install it")
