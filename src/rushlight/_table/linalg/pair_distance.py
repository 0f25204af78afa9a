"""Distances between all pairs of rows of one matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..._array import types as T
from ..._base import dtypes as D, errors
from ..._base.lazy import later
from ..._core.apply import apply_n
from ..calls import dtype_checks as _checks
from ..rows.composite import composite
from ..rows.gradient_kernels import call_row
from ..rows.row import general

if TYPE_CHECKING:
    from ..._tensor.tensor import Tensor

raw = later("_array.linalg.pair_distances")

_unavailable = _checks.unavailable("_pdist_backward")
_backward = general(
    "_pdist_backward(Tensor grad, Tensor self, float p, Tensor pdist) -> Tensor",
    raw.pdist_backward,
    grad=_unavailable,
    self=_unavailable,
    namespace="private",
    out=False,
    dtypes="float",
    samples=lambda mk: [(mk(3), mk(3, 2), 2.0, mk(3, low=1, high=2))],
    doc="The gradient of `pdist`; it can't be differentiated again.",
)
_pdist = general(
    "_pdist_forward(Tensor self, float p=2) -> Tensor",
    raw.pdist,
    self=lambda xp, g, self, p, out: call_row(xp, _backward, g, self, p, out),
    node="PdistBackward0",
    namespace="private",
    out=False,
    dtypes="float",
    samples=lambda mk: [(mk(4, 3), p) for p in (1.0, 2.0, 3.0)],
    doc="The p-norms of the differences of all pairs of rows.",
)  # fmt: skip


@composite("", "nn.functional")
def pdist(input: Tensor, p: float = 2) -> Tensor:
    """The p-norms of the differences of all pairs of rows, in the order of the upper triangle.

    Shapes: (N, M) -> (N (N - 1) / 2).
    Raises: RuntimeError for other shapes, for integers and for a negative p.
    """
    x = input._raw
    if x.ndim != 2:
        raise RuntimeError(f"pdist only supports 2D tensors, got: {x.ndim}D")
    if x.dtype.kind not in "fV":
        raise RuntimeError("pdist only supports floating-point dtypes")
    if not p >= 0:
        raise RuntimeError("pdist only supports non-negative p values")
    if x.dtype.itemsize == 2 and x.size and len(x) > 1:
        kind = D.scalar_name(T.from_raw(x.dtype))
        raise NotImplementedError(errors.not_implemented("pdist", kind))
    return apply_n(_pdist.op, [input.contiguous(), float(p)])
