"""Tests of functions that exist twice, in Python or numpy and in C."""

from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest


def needs_c(module: ModuleType) -> pytest.MarkDecorator:
    """Skip a test if the C code of `module` is not compiled."""
    reason = "the package was installed without a C compiler (or with DRIPPER_COMPILE=0)"
    return pytest.mark.skipif(not module.IN_C, reason=reason)


def in_each_language(module: ModuleType) -> Any:
    """Return a fixture that runs every test of a file with the C code of `module`, and without."""

    @pytest.fixture(
        autouse=True, scope="module", params=[False, pytest.param(True, marks=needs_c(module))], ids=["plain", "c"]
    )
    def _language(request: pytest.FixtureRequest) -> Iterator[None]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(module, "IN_C", request.param)
            yield

    return _language
