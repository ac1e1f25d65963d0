"""Rows of logits without torch."""

from typing import Any


class Rows:
    """A fake tensor of torch, with `float` and `numpy`."""

    def __init__(self, rows: Any) -> None:
        self._rows = rows

    def float(self) -> "Rows":
        return self

    def numpy(self) -> Any:
        return self._rows

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, some: slice) -> "Rows":
        return Rows(self._rows[some])
