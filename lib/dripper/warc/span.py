"""Spans of stored bytes, for one big file that is read by several tasks."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Span:
    """Stored bytes of a file, from `start` up to `end` (None: the file's end): the records that
    begin there, up to the first seam at or after `end`, from the first at or after `start`.

    Raises ValueError where end < start or start < 0.
    """

    start: int = 0
    end: int | None = None

    def __post_init__(self) -> None:
        if self.start < 0 or (self.end is not None and self.end < self.start):
            raise ValueError(f"a span cannot go from {self.start} to {self.end}")


def cut(size_bytes: int, n_spans: int) -> list[Span]:
    """Return spans of about equal size that a file of `size_bytes` is made of; the last has no end.

    >>> cut(10, 3)
    [Span(start=0, end=3), Span(start=3, end=6), Span(start=6, end=None)]
    """
    count = max(1, min(n_spans, size_bytes))
    starts = [size_bytes * i // count for i in range(count)]
    return [Span(start, end) for start, end in zip(starts, [*starts[1:], None], strict=True)]
