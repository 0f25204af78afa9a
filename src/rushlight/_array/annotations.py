"""The types of arrays and of their elements: for annotations only."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]
#: What an array's elements are, as NumPy says it; a tensor's is a `dtype`.
RawType: TypeAlias = np.dtype[Any]
