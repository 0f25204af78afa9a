"""What is said of tolerances that are tensors."""

from __future__ import annotations

import warnings

from ..._array import types as T
from ..._base import dtypes as D, errors
from ..._core.storage import TensorBase


def check_ranks(
    x: TensorBase, atol: object, rtol: object, ranks: TensorBase, out: object
) -> TensorBase:
    """The ranks; warns where the tolerances give them another shape than the matrices.

    Raises:
        RuntimeError: in PyTorch's words.
    """
    for name, given in (("atol", atol), ("rtol", rtol)):
        if isinstance(given, TensorBase) and given._raw.dtype.kind == "c":
            raise RuntimeError(errors.complex_limit(name, D.scalar_name(T.dtype_of(given))))
    batch, shape = x._raw.shape[:-2], ranks._raw.shape
    if out is None and shape != batch and 0 not in batch:
        warnings.warn(errors.resized_out(batch, shape), UserWarning, stacklevel=4)
    return ranks
