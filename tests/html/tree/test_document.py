"""The parser's one failure, and that nothing else makes it fail."""

import resource

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dripper.html.tree.parser import parse_document


@given(st.text(max_size=200))
def test_every_string_is_a_document(html: str) -> None:
    assert parse_document(html).html is not None


def test_no_memory_is_said_so() -> None:
    page = "<p>one more paragraph</p>" * 1_000_000
    limits = resource.getrlimit(resource.RLIMIT_AS)
    with open("/proc/self/statm") as statm:  # noqa: PTH123
        used = int(statm.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + (64 << 20), limits[1]))
    try:
        with pytest.raises(MemoryError):
            parse_document(page)
    finally:
        resource.setrlimit(resource.RLIMIT_AS, limits)
