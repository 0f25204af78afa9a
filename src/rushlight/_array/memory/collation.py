"""What loaders of data need to know of NumPy: what is an array, and how a worker's draws start."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..._base import dtypes as D
from ..types import from_raw, owner, to_raw

if TYPE_CHECKING:
    from ..annotations import Array

ARRAY: Final = np.ndarray
#: What NumPy's functions give for single numbers.
SCALARS: Final = (np.bool_, np.number, np.object_)


def is_array(value: object) -> bool:
    """Whether `value` is a NumPy array or scalar."""
    return isinstance(value, (np.ndarray, np.generic))


def is_whole(value: Array) -> bool:
    """Whether `value` is an array rather than a single number."""
    return isinstance(value, np.ndarray)


def is_text(array: Any) -> bool:
    """Whether an array holds text, bytes or objects, which no tensor can."""
    return array.dtype.kind in "SUO"


def seed_worker(base_seed: int, worker: int) -> None:
    """Starts NumPy's global stream anew for a worker, as PyTorch does: no two draw the same."""
    np.random.seed(worker_state(base_seed, worker))


def worker_state(base_seed: int, worker: int) -> list[int]:
    """The four words that NumPy's stream of a worker starts from."""
    words = [worker, base_seed & 0xFFFFFFFF, base_seed >> 32, 0]
    return [int(word) for word in np.random.SeedSequence(words).generate_state(4)]


def for_pickle(array: object) -> tuple[str, tuple[int, ...], tuple[int, ...], Any] | None:
    """An array's type, shape, strides in bytes, and its memory for a pickle to keep apart.

    A view of much more memory is copied; None for arrays whose memory isn't one plain run.
    """
    if type(array) is not np.ndarray:
        return None
    whole = owner(array)
    if array.size * array.itemsize < whole.nbytes or whole.dtype != array.dtype:
        whole = array = np.ascontiguousarray(array)
    if not (whole.flags.c_contiguous or whole.flags.f_contiguous):
        return None
    # In the order of memory, whatever the array's own order is.
    octets = whole.ravel(order="K").view(np.uint8)
    if not np.may_share_memory(octets, whole):
        return None
    return from_raw(array.dtype).name, array.shape, array.strides, pickle.PickleBuffer(octets)


def array_over(name: str, shape: tuple[int, ...], strides: tuple[int, ...], buffer: Any) -> Array:
    """The array that `kept_apart` told of, over its memory (or a copy of it)."""
    return np.ndarray(shape, to_raw(D.BY_NAME[name]), buffer, 0, strides)


def take_rows(arrays: list[Array], keys: list[int]) -> list[Any] | None:
    """Fresh arrays of those rows of each; None for arrays with gaps, and keys out of range."""
    if not all(array.ndim and array.flags.c_contiguous for array in arrays):
        return None
    places = np.array(keys, np.intp)
    try:
        return [array.take(places, 0) for array in arrays]
    except IndexError:
        return None
