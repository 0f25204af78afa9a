"""Histograms with the edges of their bins. No gradients pass here."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ..._array import types as T
from ..._base import dtypes as D, errors
from ..._base.lazy import later
from ..._core.apply import apply_n
from ..._core.storage import TensorBase, new_tensor
from ..calls import dtype_checks as _checks
from ..rows.composite import composite
from ..rows.return_type_classes import make_result_class
from ..rows.row import general
from ..rows.tensor_namespace import table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..._array.annotations import Array
    from ..._tensor.tensor import Tensor
    from ..rows.row import Row

raw = later("_array.reduce.histogram")


def _declare_recorded(name: str) -> Row:
    """The row that records where the last `count` of its operands come from: from the others."""
    refuse = _checks.no_derivative(name)
    return general(
        f"_of_{name}(Tensor[] operands, int count) -> Tensor[]",
        lambda operands, count: [x.copy() for x in operands[-count:]],
        joint=lambda gs: refuse(gs),
        node="NotImplemented",
        public=False,
        out=False,
        samples=lambda mk: [([mk(3), mk(2)], 1)],
        doc="The results of a histogram, which has no derivative.",
    )


_of_histogram = _declare_recorded("histogram")
_of_edges = _declare_recorded("_histogramdd_bin_edges")
_of_numbers = _declare_recorded("_histogramdd_from_bin_cts")
_of_tensors = _declare_recorded("_histogramdd_from_bin_tensors")


def _record(row: Row, results: list[Array], *operands: object) -> list[Tensor]:
    """Results as tensors, which require grad where an operand does."""
    made: list[Any] = [new_tensor(r) for r in results]
    tensors = [x for x in operands if isinstance(x, TensorBase)]
    if not any(x._requires_grad for x in tensors):
        return made
    return apply_n(row.op, [[*tensors, *made], len(made)])


_RESULT = make_result_class("histogram", ("hist", "bin_edges"))
_RESULTS = make_result_class("histogramdd", ("hist", "bin_edges"))
make_result_class("histogram_out", ("hist", "bin_edges"))


def _check_range(limits: Sequence[float] | None, width: int) -> None:
    """Refuses limits that aren't two for each column.

    Raises:
        RuntimeError: in PyTorch's words.
    """
    if limits is not None and len(limits) != 2 * width:
        raise RuntimeError(
            f"torch.histogramdd: for a {width}-dimensional histogram range should have "
            f"{2 * width} elements, but got {len(limits)}"
        )


def _edges(rows: Array, bins: Tensor | int, limits: Any) -> list[Array]:
    """The edges of each column's bins, given as tensors, or as numbers of bins and ranges."""
    width = rows.shape[1]
    numbered = not isinstance(bins, TensorBase)
    if width == 1 and isinstance(bins, int) and bins <= 0:
        raise RuntimeError(f"torch.histogram(): bins must be > 0, but got {bins} for dimension 0")
    if numbered:
        _check_range(limits, width)
    if numbered and limits is None:
        raw.check_range_type(rows)
    given = [bins] * width if isinstance(bins, (int, TensorBase)) else list(bins)
    if len(given) != width:
        if numbered and not isinstance(bins, int):
            raise RuntimeError(
                "histogramdd: The size of bins must be equal to the innermost dimension of the "
                "input."
            )
        raise RuntimeError(
            f"torch.histogramdd: expected {width} sequences of bin edges for a {width}-dimensional "
            f"histogram but got {len(given)}"
        )
    found = []
    for d, wanted in enumerate(given):
        if isinstance(wanted, TensorBase):
            found.append(wanted._raw.copy())
            continue
        if limits is None:
            low, high = raw.data_range(rows[:, d])
        else:
            low, high = limits[2 * d], limits[2 * d + 1]
        found.append(raw.edges_of(rows, wanted, low, high, d))
    return found


def _check(x: Any, bins: list[Any], weight: Tensor | None) -> None:
    """Refuses what doesn't fit together.

    Raises:
        RuntimeError: in PyTorch's words.
    """
    name = "torch.histogramdd"
    own = D.c_name(T.from_raw(x.dtype))
    if x.ndim < 2:
        raise RuntimeError(f"{name}: input tensor should have at least 2 dimensions")
    width = x.shape[-1]
    if not bins or not isinstance(bins[0], TensorBase):
        return
    if len(bins) != width:
        raise RuntimeError(
            f"{name}: expected {width} sequences of bin edges for a {width}-dimensional histogram "
            f"but got {len(bins)}"
        )
    for d, edges in enumerate(bins):
        other = D.c_name(T.dtype_of(edges))
        if other != own:
            raise RuntimeError(
                f"{name}: input tensor and bins tensors should have the same dtype, but got input "
                f"with dtype {own} and bins for dimension {d} with dtype {other}"
            )
        if edges._raw.ndim != 1:
            raise RuntimeError(
                f"{name}: bins tensor should have one dimension, but got {edges._raw.ndim} "
                f"dimensions in the bins tensor for dimension {d}"
            )
        if edges._raw.size == 0:
            raise RuntimeError(
                f"{name}: bins tensor should have at least 1 element, but got 0 elements in the "
                f"bins tensor for dimension {d}"
            )
    _check_weight(x, weight)
    for d, edges in enumerate(bins):
        if edges._raw.size == 1:
            raise RuntimeError(f"torch.histogram(): bins must be > 0, but got 0 for dimension {d}")


def _check_weight(x: Array, weight: Tensor | None) -> None:
    name = "torch.histogramdd"
    own = D.c_name(T.from_raw(x.dtype))
    if weight is not None:
        other = D.c_name(T.dtype_of(weight))
        if other != own:
            raise RuntimeError(
                f"{name}: if weight tensor is provided, input tensor and weight tensor should have "
                f"the same dtype, but got input({own}), and weight({other})"
            )
        if tuple(weight._raw.shape) != x.shape[:-1]:
            raise RuntimeError(
                f"{name}: if weight tensor is provided it should have the same shape as the input "
                f"tensor excluding its innermost dimension, but got input with shape "
                f"{list(x.shape)} and weight with shape {list(weight._raw.shape)}"
            )


@composite(method=True)
def histogram(
    input: Tensor,
    bins: Tensor | int = 100,
    *,
    range: tuple[float, ...] | None = None,
    weight: Tensor | None = None,
    density: bool = False,
    out: Tensor | None = None,
) -> Any:
    """How many elements fall into each bin (or their weight), and the edges of the bins.

    Raises:
        RuntimeError: for no bins, a range that is empty or not finite, weights of another shape.
        NotImplementedError: for integers.
    """
    rows = input._raw.reshape(-1, 1)
    given = weight
    if weight is not None:
        weight = weight.reshape(-1)
    _check(rows, [bins], weight)
    edges = _edges(rows, bins, range)
    _check_weight(rows, weight)
    raw.check_type(rows)
    hist = raw.counts(rows, edges, None if weight is None else weight._raw, density)
    if out is None:
        return _RESULT(_record(_of_histogram, [hist, edges[0]], input, bins, given))
    from ..rows.out_argument import place
    from ..rows.out_dtypes import refusal

    results = hist, edges[0]
    for i, (target, result) in enumerate(zip(out, results)):
        problem = refusal("histogram", "", T.from_raw(result.dtype), T.dtype_of(target), i)
        if problem is not None:
            raise problem
    for target, result in zip(out, results):
        place(target, result)
    return make_result_class("histogram_out", ())(out)


@composite()
def histogramdd(
    input: Tensor,
    bins: Any,
    range: Sequence[float] | None = None,
    weight: Tensor | None = None,
    density: bool = False,
) -> Any:
    """How many rows fall into each cell of a grid (or their weight), and the edges per dimension.

    Raises:
        RuntimeError: for a tensor of less than two dimensions, no bins, wrong ranges or weights.
        NotImplementedError: for integers.
    """
    array = input._raw
    if not array.ndim and isinstance(bins, int):
        raise IndexError(errors.no_dimension(-1, 0))
    _check(array, list(bins) if isinstance(bins, (tuple, list)) else [bins], weight)
    width = array.shape[-1]
    if not width and (isinstance(bins, int) or not bins):
        _check_range(range, 0)
        return _RESULTS((table("zeros")((), dtype=T.dtype_of(input)), ()))
    rows = array.reshape(-1, width) if width else array.reshape(math.prod(array.shape[:-1]), 0)
    edges = _edges(rows, bins, range)
    _check_weight(array, weight)
    raw.check_type(rows)
    hist = raw.counts(rows, edges, None if weight is None else weight._raw, density)
    if isinstance(bins, (tuple, list)) and isinstance(bins[0], TensorBase):
        (made,) = _record(_of_tensors, [hist], input, *bins, weight)
        return _RESULTS((made, tuple(bins)))
    (made,) = _record(_of_numbers, [hist], input, weight)
    return _RESULTS((made, tuple(_record(_of_edges, edges, input, weight))))
