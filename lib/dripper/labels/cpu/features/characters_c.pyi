from typing import Any

import numpy.typing as npt

Array = npt.NDArray[Any]

def read(
    texts: list[str],
    class_of: Array,
    lower_of: Array,
    counts: Array,
    first: Array,
    last: Array,
    words: Array,
    hashes: Array,
    lengths: Array,
    owners: Array,
) -> int: ...
