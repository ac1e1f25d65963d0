"""Spans that make up a file."""

import pytest

from dripper.warc.read.record import Span, cut


def test_spans_make_up_the_file() -> None:
    assert cut(0, 4) == [Span(0, None)]
    assert cut(100, 1) == [Span(0, None)]
    assert cut(2, 8) == [Span(0, 1), Span(1, None)]


@pytest.mark.parametrize(("start", "end"), [(-1, None), (5, 4)])
def test_a_span_that_goes_backwards_is_refused(start: int, end: int | None) -> None:
    with pytest.raises(ValueError, match="a span cannot go from"):
        Span(start, end)
