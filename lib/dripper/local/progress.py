"""A bar on a terminal."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tqdm import tqdm  # type: ignore[import-untyped]

from dripper.local.inputs import Input
from dripper.local.pages import Seen


class Bar:
    """How far the files are read, in bytes, and in words how many pages that were. Use as a context
    manager."""

    def __init__(self, files: Sequence[Input], seen: Seen, is_shown: bool) -> None:
        self._seen = seen
        self._started = time.monotonic()
        size = sum(path.stat().st_size for file in files if (path := Path(file.path)).is_file()) if is_shown else 0
        self._bar = tqdm(
            total=size or None,
            disable=not is_shown,
            leave=False,
            bar_format="{percentage:3.0f}%|{bar:30}| {desc} [{elapsed}<{remaining}]",
        )

    def __enter__(self) -> "Bar":
        return self

    def __exit__(self, *_: Any) -> None:
        self._bar.close()

    def tell(self, pages: int, failed: int) -> None:
        """Show that so many pages are done, and so many of them without an extraction."""
        if self._bar.disable:
            return
        rate = pages / max(time.monotonic() - self._started, 0.001)
        self._bar.set_description_str(f"{pages:,} pages, {failed:,} without extraction, {rate:.0f} a second", False)
        self._bar.update(self._seen.bytes - self._bar.n)
