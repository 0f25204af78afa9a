"""Histograms with the edges of their bins. No gradients pass here."""

from __future__ import annotations

from typing import Any

from .._array.later import later
from .._core.storage import TensorBase, new_tensor
from ._composite import composite
from ._return_types import named_results

raw = later("histogram")

_RESULT = named_results("histogram", ("hist", "bin_edges"))
_RESULTS = named_results("histogramdd", ("hist", "bin_edges"))
named_results("histogram_out", ("hist", "bin_edges"))


def _edges(rows: Any, bins: Any, limits: Any) -> list[Any]:
    """The edges of each column's bins, given as tensors, or as numbers of bins and ranges."""
    width = rows.shape[1]
    numbered = not isinstance(bins, TensorBase)
    raw.check_type(rows, numbered and limits is None)
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
            found.append(wanted._raw)
            continue
        if limits is None:
            low, high = raw.data_range(rows[:, d])
        else:
            low, high = limits[2 * d], limits[2 * d + 1]
        found.append(raw.edges_of(rows, wanted, low, high, d))
    return found


def _check_weight(shape: tuple[int, ...], weight: Any) -> None:
    if weight is not None and tuple(weight._raw.shape) != shape[:-1]:
        raise RuntimeError(
            "torch.histogramdd: if weight tensor is provided it should have the same shape as the "
            "input tensor excluding its innermost dimension, but got input with shape "
            f"{list(shape)} and weight with shape {list(weight._raw.shape)}"
        )


@composite(method=True)
def histogram(
    input: Any,
    bins: Any,
    *,
    range: Any = None,
    weight: Any = None,
    density: bool = False,
    out: Any = None,
) -> Any:
    """How many elements fall into each bin (or their weight), and the edges of the bins.

    Raises:
        RuntimeError: for no bins, a range that is empty or not finite, weights of another shape.
        NotImplementedError: for integers.
    """
    rows = input._raw.reshape(-1, 1)
    if weight is not None and weight._raw.shape != input._raw.shape:
        _check_weight(rows.shape, weight)
    edges = _edges(rows, bins, range)
    hist = raw.counts(rows, edges, None if weight is None else weight._raw, density)
    results = new_tensor(hist), new_tensor(edges[0])
    if out is None:
        return _RESULT(results)
    from ._out import place

    for target, result in zip(out, results):
        place(target, result._raw)
    return named_results("histogram_out", ())(out)


@composite()
def histogramdd(
    input: Any, bins: Any, *, range: Any = None, weight: Any = None, density: bool = False
) -> Any:
    """How many rows fall into each cell of a grid (or their weight), and the edges per dimension.

    Raises:
        RuntimeError: for a tensor of less than two dimensions, no bins, wrong ranges or weights.
        NotImplementedError: for integers.
    """
    array = input._raw
    if array.ndim < 2:
        raise RuntimeError(
            "torch.histogramdd: input tensor should have at least 2 dimensions, but got "
            f"{array.ndim}"
        )
    _check_weight(array.shape, weight)
    rows = array.reshape(-1, array.shape[-1])
    edges = _edges(rows, bins, range)
    hist = raw.counts(rows, edges, None if weight is None else weight._raw, density)
    return _RESULTS((new_tensor(hist), tuple([new_tensor(e) for e in edges])))
