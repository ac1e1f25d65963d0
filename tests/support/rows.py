"""Rows of logits where there is no torch."""

from typing import Any


class Rows:
    """What torch gives: a tensor that knows `float` and `numpy`."""

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
