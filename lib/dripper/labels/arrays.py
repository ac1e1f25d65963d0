"""Names of the kinds of arrays that features, networks and labels are made of."""

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]
HashArray: TypeAlias = npt.NDArray[np.uint64]
