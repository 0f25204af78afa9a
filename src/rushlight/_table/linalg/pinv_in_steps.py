"""The pseudo-inverse as its factors and their product, each of the type that autocast gives it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..._base.lazy import later
from ..._core.storage import new_tensor
from ..rows.tensor_namespace import table

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..._tensor.tensor import Tensor

raw = later("_array.linalg.eigen_svd")


def pinv_in_steps(
    A: Tensor, atol: object, rtol: object, decompose: Callable[[Tensor], tuple[Tensor, ...]]
) -> Tensor:
    """The pseudo-inverse of each matrix, from factors that are recorded one by one.

    Args:
        A: (…, m, n), float or complex.
        atol, rtol: arrays or numbers, as the array function takes them.
        decompose: gives singular vectors, values and adjoint vectors; or eigenvalues and vectors.
    Returns: (…, n, m); under autocast of its type where A is float32.
    Raises:
        RuntimeError: for other types, and for limits that don't fit.
    """
    raw.check_pinv(A._raw, atol, rtol)
    factors = decompose(A)
    if len(factors) == 2:
        values, u = factors
        v = u
    else:
        u, values, vh = factors
        v = vh.mH
    sizes = abs(values._raw)
    limit = raw.tolerance(A._raw, sizes.max(-1, initial=0), atol, rtol)
    keep = new_tensor(sizes > limit[..., None])
    where = table("where")
    inverse = where(keep, 1 / where(keep, values, 1.0), 0.0)
    return v * inverse.unsqueeze(-2) @ u.mH
