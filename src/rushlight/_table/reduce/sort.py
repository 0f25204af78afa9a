"""Sorting and searching: order, ranks, quantiles, distinct values, histograms, membership."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from ..._array import types as T
from ..._base import dtypes as D, errors
from ..._base.lazy import later
from ..._core.mode import current
from ..._core.slow import holds
from ..._core.storage import TensorBase, new_tensor
from ..calls import dtype_checks as _checks
from ..calls.argument_parser import is_integer
from ..rows.composite import composite
from ..rows.row import general, selection
from ..rows.tensor_namespace import table

if TYPE_CHECKING:
    from types import ModuleType

    from ..._array.annotations import Array
    from ..._base.annotations import AnyCallable, Shape, TensorLike
    from ..._tensor.tensor import Tensor

raw = later("_array.reduce.sort")
raw_search = later("_array.reduce.searchsorted")


def _in_order(
    xp: ModuleType, g0: TensorLike, indices: TensorLike, self_shape: Shape, dim: int
) -> TensorLike:
    """The gradient back at the places that the elements came from."""
    return xp.placed_along(g0, indices, dim, True, self_shape)


sort = selection(
    "sort(Tensor self, int dim=-1, bool descending=False) -> (Tensor values, Tensor indices)",
    raw.sort,
    self=_in_order,
    differentiable_out=(True, False),
    samples=lambda mk: [(mk(3, 4),), (mk(3, 4), 0, True)],
    doc="The elements in order along `dim`, and where they came from; NaN is the largest.",
    kernel="sorting_kernel_method_name",
    without_data="fewer",
)
sort_stable = selection(
    "sort.stable(Tensor self, *, bool? stable, int dim=-1, bool descending=False) -> "
    "(Tensor values, Tensor indices)",
    raw.sort_stable,
    self=_in_order,
    differentiable_out=(True, False),
    samples=lambda mk: [(mk(3, 4), True, 1, False)],
    doc="The elements in order along `dim`, equal ones as they came.",
    without_data="fewer",
)
argsort = general(
    "argsort(Tensor self, int dim=-1, bool descending=False) -> Tensor",
    raw.argsort,
    samples=lambda mk: [(mk(3, 4),), (mk(3, 4), 0, True)],
    doc="Where the elements of each rank are along `dim`.",
    kernel="sorting_kernel_method_name",
    without_data="fewer",
)
argsort_stable = general(
    "argsort.stable(Tensor self, *, bool stable, int dim=-1, bool descending=False) -> Tensor",
    lambda x, stable, dim, descending: raw.argsort(x, dim, descending),
    samples=lambda mk: [(mk(3, 4), True, 1, False)],
    doc="Where the elements of each rank are along `dim`, equal ones as they came.",
    without_data="fewer",
)
topk = selection(
    "topk(Tensor self, int k, int dim=-1, bool largest=True, bool sorted=True) -> "
    "(Tensor values, Tensor indices)",
    raw.topk,
    self=_in_order,
    differentiable_out=(True, False),
    samples=lambda mk: [(mk(3, 4), 2), (mk(3, 4), 2, 0, False)],
    doc="The k largest elements along `dim` in order, and where they are.\n\n"
    "Which of equal elements is chosen isn't settled.",
)


@composite(method=True)
def msort(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The elements in order along the first dimension."""
    if out is not None:
        table("sort")(input, 0, out=(out, new_tensor(T.empty((0,), T.to_raw(D.int64)))))
        return out
    return table("sort")(input, 0)[0]


# ---- quantiles --------------------------------------------------------------------------------
_INTERPOLATIONS = ("linear", "lower", "higher", "midpoint", "nearest")


def _count_ranks(ordered: Tensor, q: Tensor, ignore_nan: bool) -> Tensor:
    """The ranks of quantiles with a history, as `ranks` counts them."""
    missing = table("isnan")(ordered)
    if ignore_nan:
        ranks = q * (missing.logical_not().sum(-1, True) - 1)
        return ranks.masked_fill_(ranks < 0, 0)
    last = ordered._raw.shape[-1] - 1
    ranks, missing = table("broadcast_tensors")(q * last, missing.any(-1, True))
    return ranks.masked_fill(missing, last)


def _quantile(
    input: Tensor, q: Any, dim: int | None, keepdim: bool, interpolation: str, ignore_nan: bool
) -> Tensor:
    if interpolation not in _INTERPOLATIONS:
        raise RuntimeError(
            "quantile() interpolation must be one of linear, lower, higher, midpoint or "
            "nearest, but got "
            f"{interpolation}"
        )
    dtype = T.dtype_of(input)
    number = not isinstance(q, TensorBase)
    if number:
        if not 0 <= q <= 1:
            raise RuntimeError(f"quantile() q must be in the range [0, 1] but got {q:g}")
        usual = dtype is D.float32 or dtype is D.float64  # all others are refused below
        q = new_tensor(raw.quantile_of(float(q), input._raw.dtype if usual else T.FLOAT64))
    if not input._raw.size:
        raise RuntimeError("quantile() input tensor must be non-empty")
    if q._raw.ndim > 1:
        raise RuntimeError("quantile() q must be a scalar or 1D tensor")
    if dtype not in (D.float32, D.float64):
        raise RuntimeError("quantile() input tensor must be either float or double dtype")
    if T.dtype_of(q) is not dtype:
        raise RuntimeError("quantile() q tensor must be same dtype as the input tensor")
    if not number and q._raw.size and not holds(lambda x: ((x >= 0) & (x <= 1)).all(), q):
        raise RuntimeError("quantile() q values must be in the range [0, 1]")
    shape = tuple(input._raw.shape)
    ndim = len(shape)
    wanted = -1 if dim is None else dim
    if not -max(ndim, 1) <= wanted < max(ndim, 1):
        raise IndexError(errors.dimension(wanted, ndim))
    wanted %= max(ndim, 1)
    # The dimension last, its elements in order; then two neighbours of each rank are mixed.
    if dim is None:
        rows, kept = input.flatten(), (1,) * ndim
    elif wanted == ndim - 1:
        rows, kept = input, shape[:-1] + (1,)
    else:
        rows = input.unsqueeze(-1).transpose(wanted, -1)
        kept = shape[:wanted] + (1,) * bool(ndim) + shape[wanted + 1 :]
    if not keepdim:
        kept = () if dim is None else kept[:wanted] + kept[wanted + 1 :]
    ordered = table("sort")(rows)[0]
    ordered = ordered.view((*kept, ordered._raw.shape[-1]))
    low, high, weight = raw.ranks(ordered._raw, q._raw, interpolation, ignore_nan)
    result = ordered.gather(-1, new_tensor(low))
    if interpolation in ("linear", "midpoint"):
        above = ordered.gather(-1, new_tensor(high))
        if type(weight) is float and (current().slow or result.requires_grad):
            weight = raw.weights_like(weight, low, result._raw.dtype)
        share = 0.5 if weight is None else weight
        if not isinstance(share, float):
            share = new_tensor(share)
        if weight is not None and not number:
            share = _count_ranks(ordered, q, ignore_nan) - new_tensor(low)
        result.lerp_(above, share)
    # The values of `q`, now last, in front; one number is gone.
    if q._raw.ndim:
        result.unsqueeze_(0).transpose_(0, -1)
    return result.squeeze_(-1)


@composite(method=True, numpy_words=True)
def quantile(
    input: Tensor,
    q: Tensor | float,
    dim: int | None = None,
    keepdim: bool = False,
    *,
    interpolation: str = "linear",
    out: Tensor | None = None,
) -> Tensor:
    """The quantiles `q` of the elements along `dim` (all by default); NaN where there is a NaN.

    Raises:
        RuntimeError: for no elements, integers, `q` outside [0, 1], an unknown interpolation.
    """
    result = _quantile(input, q, dim, keepdim, interpolation, False)
    return result if out is None else _write_out(result, out, "quantile")


@composite(method=True, numpy_words=True)
def nanquantile(
    input: Tensor,
    q: Tensor | float,
    dim: int | None = None,
    keepdim: bool = False,
    *,
    interpolation: str = "linear",
    out: Tensor | None = None,
) -> Tensor:
    """The quantiles `q` of the elements that aren't NaN, along `dim` (all by default).

    Raises:
        RuntimeError: for no elements, integers, `q` outside [0, 1], an unknown interpolation.
    """
    result = _quantile(input, q, dim, keepdim, interpolation, True)
    return result if out is None else _write_out(result, out, "nanquantile")


def _write_out(result: Any, out: Tensor, name: str) -> Any:
    from ..rows.out_argument import give_copied

    return give_copied(name, result, out)


# ---- positions --------------------------------------------------------------------------------
_search = general(
    "_search(Tensor sorted_sequence, Tensor input, bool out_int32, bool right, Tensor? "
    "sorter) -> Tensor",
    raw_search.searchsorted,
    namespace="private",
    refuses_values="any",
    samples=lambda mk: [(mk(5, low=0.1, high=1).cumsum(0), mk(3, 4), False, True, None)],
    doc="Where each value would go into its sorted row.",
    kernel="searchsorted_out_cpu",
)


@composite()
def searchsorted(
    sorted_sequence: Tensor,
    input: Any = None,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: Tensor | None = None,
    out: Tensor | None = None,
    self: Tensor | None = None,
) -> Tensor:
    """Where each value of `input` would go into the row of `sorted_sequence` that it belongs to.

    Raises:
        RuntimeError: for shapes that don't match, or contradicting `side` and `right`.
    """
    input = self if input is None else input
    if side is not None and side not in ("left", "right"):
        raise RuntimeError(
            f"torch.searchsorted(): side can only be 'left' or 'right' but got {side}"
        )
    if side == "left" and right:
        raise RuntimeError(
            "torch.searchsorted(): side and right can't be set to opposites, got side of left "
            "while right "
            "was True"
        )
    row = sorted_sequence._raw
    number = not isinstance(input, TensorBase)
    if number:
        given, input = input, new_tensor(T.number_array(input))
    values = input._raw
    if row.ndim == 0 or (values.ndim == 0 and row.ndim != 1):
        raise RuntimeError(
            "torch.searchsorted(): input value can be a scalar only when boundaries tensor "
            "dimension is "
            f"1, but we got boundaries tensor dim({row.ndim}) and input value's dim({values.ndim}) "
            f"numel({values.size})"
        )
    if row.ndim != 1 and (row.ndim != values.ndim or row.shape[:-1] != values.shape[:-1]):
        raise RuntimeError(
            "torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 "
            "dimensions of "
            "boundaries tensor and input value tensor must match, but we got boundaries tensor "
            f"{errors.shape_text(row.shape)} and input value tensor "
            f"{errors.shape_text(values.shape)}"
        )
    common = T.from_raw(row.dtype)
    if number:
        common = D.combine_levels(*_levels(row, None), D.number_dtype(given))
        input = new_tensor(T.convert_array(T.number_array(T.number_for(given, common)), common))
    elif values.dtype is not row.dtype:
        common = D.combine_levels(*_levels(row, values), None)
        if T.from_raw(values.dtype) is not common:
            input = input.to(common)
    if T.from_raw(row.dtype) is not common:
        sorted_sequence = sorted_sequence.to(common)
    if sorter is not None:
        _check_sorter(row, sorter._raw)
    result = _search(sorted_sequence, input, out_int32, right or side == "right", sorter)
    return result if out is None else _write_out(result, out, "searchsorted")


def _check_sorter(row: Array, sorter: Array) -> None:
    """Refuses an order of boundaries that is none.

    Raises:
        RuntimeError: in PyTorch's words.
    """
    name = "torch.searchsorted():"
    if sorter.shape != row.shape:
        raise RuntimeError(
            f"{name} boundary and sorter must have the same size, but got boundary tensor "
            f"{list(row.shape)}and got sorter tensor {list(sorter.shape)}"
        )
    if T.from_raw(sorter.dtype) is not D.int64:
        raise RuntimeError(
            f"{name} sorter must be a tensor of long dtype but got dtype "
            f"{D.scalar_name(T.from_raw(sorter.dtype))}"
        )
    if sorter.size and not (sorter.min() >= 0 and sorter.max() < row.shape[-1]):
        raise RuntimeError(f"{name} sorter index out of range")


def _levels(row: Array, values: Array | None) -> tuple[D.dtype | None, D.dtype | None]:
    """The types of operands with dimensions, and of those without."""
    have = T.from_raw(row.dtype)
    if values is None:
        return have, None
    other = T.from_raw(values.dtype)
    return (D.promote_types(have, other), None) if values.ndim else (have, other)


@composite()
def bucketize(
    input: Tensor,
    boundaries: Tensor,
    *,
    out_int32: bool = False,
    right: bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """The bucket between the `boundaries` that each value falls into.

    Raises:
        RuntimeError: for boundaries that aren't a row.
    """
    if boundaries._raw.ndim != 1:
        raise RuntimeError(
            f"boundaries tensor must be 1 dimension, but got dim({boundaries._raw.ndim})"
        )
    return searchsorted(boundaries, input, out_int32=out_int32, right=right, out=out)


# ---- distinct values --------------------------------------------------------------------------
def _no_derivative(name: str) -> AnyCallable:
    def formula(g0: Array) -> NoReturn:
        raise NotImplementedError(f"the derivative for '{name}' is not implemented.")

    return formula


def _distinct(x: Array, sorted: bool, inverse: bool, counts: bool) -> tuple[Array, Array, Array]:
    return raw_search.distinct(x, inverse, counts)


_unique2 = general(
    "_unique2(Tensor self, bool sorted=True, bool return_inverse=False, bool "
    "return_counts=False) -> "
    "(Tensor, Tensor, Tensor)",
    _distinct,
    shaped_by_values=True,
    self=_no_derivative("_unique2"),
    differentiable_out=(True, False, False),
    namespace="private",
    samples=lambda mk: [(mk(7, high=3, integer=True), True, True, True), (mk(3, 4),)],
    doc="The distinct values, the place of each element among them, and how often each occurs.",
    kernel="unique",
)
_unique_dim = general(
    "unique_dim(Tensor self, int dim) -> (Tensor, Tensor, Tensor)",
    raw_search.distinct_slices,
    shaped_by_values=True,
    self=_no_derivative("unique_dim"),
    differentiable_out=(True, False, False),
    namespace="private",
    samples=lambda mk: [(mk(5, 2, high=2, integer=True), 0), (mk(3, 4), 1)],
    doc="The distinct slices across `dim`, the place of each, and how often each occurs.",
)
_runs = general(
    "_unique_consecutive(Tensor self, int? dim) -> (Tensor, Tensor, Tensor)",
    raw_search.runs,
    shaped_by_values=True,
    self=_no_derivative("unique_consecutive"),
    differentiable_out=(True, False, False),
    namespace="private",
    samples=lambda mk: [(mk(7, high=2, integer=True), None), (mk(3, 4), 0)],
    doc="Each run of equal neighbours once, the run of each element, and the lengths.",
)


def _choose(
    found: tuple[Tensor, ...], return_inverse: bool, return_counts: bool
) -> Tensor | tuple[Tensor, ...]:
    values, inverse, counts = found
    if return_inverse:
        return (values, inverse, counts) if return_counts else (values, inverse)
    return (values, counts) if return_counts else values


@composite(method=True)
def unique(
    input: Tensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Tensor | tuple[Tensor, ...]:
    """The distinct values in order (slices across `dim`), if asked with places and counts."""
    asked = bool(return_inverse), bool(return_counts)
    flags = {"sorted": sorted, "return_inverse": return_inverse, "return_counts": return_counts}
    if dim is None:
        _check_flags("_unique2", flags)
        found = _unique2(input, sorted, return_inverse, return_counts)
    else:
        if not is_integer(dim):
            kind = errors.type_name(dim)
            raise TypeError(f"unique_dim(): argument 'dim' (position 2) must be int, not {kind}")
        _check_flags("unique_dim", flags)
        found = _unique_dim(input, dim)
    return _choose(found, *asked)


def _check_flags(name: str, flags: dict[str, bool]) -> None:
    """Refuses switches that aren't True or False, in the words of the part that gets them.

    Raises:
        TypeError: for the first of them.
    """
    for key, value in flags.items():
        if type(value) is not bool:
            kind = errors.type_name(value)
            raise TypeError(f"{name}(): argument '{key}' must be bool, not {kind}")


@composite(method=True)
def unique_consecutive(
    input: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Tensor | tuple[Tensor, ...]:
    """Each run of equal neighbours once, and if asked the run of each element and the lengths."""
    asked = bool(return_inverse), bool(return_counts)
    flags = {"return_inverse": return_inverse, "return_counts": return_counts}
    _check_flags("unique_consecutive", flags)
    if not (dim is None or is_integer(dim)):
        kind = errors.type_name(dim)
        raise TypeError(f"unique_consecutive(): argument 'dim' must be int, not {kind}")
    return _choose(_runs(input, dim), *asked)


# ---- counts -----------------------------------------------------------------------------------
histc = general(
    "histc(Tensor self, int bins=100, Scalar min=0, Scalar max=0) -> Tensor",
    raw_search.histc,
    refuses_values="any",
    samples=lambda mk: [(mk(3, 4), 5), (mk(3, 4), 4, -1, 1)],
    doc="How many elements fall into each of `bins` equal bins from `min` to `max`.",
)
bincount = general(
    "bincount(Tensor self, Tensor? weights=None, int minlength=0) -> Tensor",
    raw_search.bincount,
    weights=_checks.no_derivative("bincount"),
    node="NotImplemented",
    shaped_by_values=True,
    refuses_values="any",
    samples=lambda mk: [(mk(6, integer=True),), (mk(6, integer=True), mk(6), 8)],
    doc="How often each number occurs, or the sum of its weights.",
)


@composite()
def isin(
    elements: Tensor | float | None = None,
    test_elements: Tensor | float | None = None,
    *,
    assume_unique: bool = False,
    invert: bool = False,
    test_element: Any = None,
    element: Any = None,
    out: Tensor | None = None,
) -> Any:
    """Whether each element occurs among the test elements."""
    elements = element if elements is None else elements
    test_elements = test_element if test_elements is None else test_elements
    first = elements._raw if isinstance(elements, TensorBase) else T.number_array(elements)
    second = (
        test_elements._raw
        if isinstance(test_elements, TensorBase)
        else T.number_array(test_elements)
    )
    result = new_tensor(raw_search.isin(first, second, invert))
    return result if out is None else _write_out(result, out, "isin")
