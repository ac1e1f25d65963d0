from collections.abc import Callable
from typing import Any

import numpy.typing as npt

Array = npt.NDArray[Any]

def read(
    texts: list[str], classes: Array, lower: Array, is_clipped: bool
) -> tuple[bytes, bytes, bytes, bytes, bytes, bytes] | None: ...
def count(
    hashes: Array,
    lengths: Array,
    words: Array,
    n_blocks: int,
    sieve: Array,
    cue_keys: Array,
    cue_bits: Array,
    found: Array,
) -> int: ...
def encode(start_tags: list[str], known: bytearray, look_up: Callable[[str], int]) -> list[int]: ...
