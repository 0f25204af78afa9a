"""What loaders of data need to know of NumPy: what is an array, and how a worker's draws start."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

ARRAY: Final = np.ndarray
#: What NumPy's functions give for single numbers.
SCALARS: Final = (np.bool_, np.number, np.object_)


def is_array(value: Any) -> bool:
    """Whether `value` is a NumPy array or scalar."""
    return isinstance(value, (np.ndarray, np.generic))


def is_whole(value: Any) -> bool:
    """Whether `value` is an array rather than a single number."""
    return isinstance(value, np.ndarray)


def is_text(array: Any) -> bool:
    """Whether an array holds text, bytes or objects, which no tensor can."""
    return array.dtype.kind in "SUO"


def seed_worker(base_seed: int, worker: int) -> None:
    """Starts NumPy's global stream anew for a worker, as PyTorch does: no two draw the same."""
    words = [worker, base_seed & 0xFFFFFFFF, base_seed >> 32, 0]
    np.random.seed(np.random.SeedSequence(words).generate_state(4))
