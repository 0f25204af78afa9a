"""Scans: running sums, products and extremes; differences; integrals and derivatives of samples."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from ..._array import types as T
from ..._array.axes import axis_of
from ..._base import dtypes as D, errors
from ..._base.lazy import later
from ..._core.apply import apply_view
from ..._core.slow import read_by_python
from ..._core.storage import TensorBase, count_writes
from ..calls.argument_parser import is_number_tensor
from ..elementwise.number import divide_by, multiply_by
from ..rows.composite import POSITIONAL, composite
from ..rows.out_rules import OutRules, always, as_out
from ..rows.row import ROWS, Row, general, linear, selection, when_settled
from ..rows.tensor_namespace import table

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

    from ..._base.annotations import Arguments, TensorLike
    from ..._tensor.tensor import Tensor

raw = later("_array.reduce.scan")

# ---- what the gradients are made of -----------------------------------------------------------
reverse_cumsum = linear(
    "reverse_cumsum(Tensor self, int dim) -> Tensor",
    raw.reverse_cumsum,
    self=lambda xp, g, dim: xp.cumsum(g, dim),
    namespace="private",
    lowering="reverse_cumsum",
    samples=lambda mk: [(mk(3, 4), 1), (mk(3, 4), 0)],
    doc="The sums of each element and those after it.",
)
shifted = linear(
    "shifted(Tensor self, int dim, int by) -> Tensor",
    raw.shift_along,
    self=lambda xp, g, dim, by: xp.shifted(g, dim, -by),
    namespace="private",
    samples=lambda mk: [(mk(3, 4), 1, 1), (mk(3, 4), 0, -1)],
    doc="The neighbours of the elements along `dim`; zero where there is none.",
    narrow="all",
)
recurrence = general(
    "recurrence(Tensor self, Tensor factor, int dim, bool back) -> Tensor",
    raw.recurrence,
    self=lambda xp, g, factor, dim, back: xp.recurrence(
        g, xp.shifted(factor, dim, -1 if back else 1), dim, not back
    ),
    factor=lambda xp, g, factor, out, dim, back: (
        xp.recurrence(g, xp.shifted(factor, dim, -1 if back else 1), dim, not back)
        * xp.shifted(out, dim, 1 if back else -1)
    ),
    namespace="private",
    samples=lambda mk: [(mk(3, 4), mk(3, 4), 1, True), (mk(3, 4), mk(3, 4), 0, False)],
    doc="The solution of S[i] = self[i] + factor[i] S[i-1] (`back`: S[i+1]).",
)


def _exclusive_gradient(
    xp: ModuleType, g: TensorLike, self: TensorLike, out: TensorLike, dim: int, back: bool
) -> TensorLike:
    """See Note [A linear recurrence gives the gradients of scans]."""
    by = -1 if back else 1
    return out * xp.recurrence(xp.shifted(g, dim, by), xp.shifted(self, dim, by), dim, not back)


exclusive_products = general(
    "exclusive_products(Tensor self, int dim, bool back) -> Tensor",
    raw.exclusive_products,
    self=_exclusive_gradient,
    namespace="private",
    samples=lambda mk: [(mk(3, 4), 1, False), (mk(3, 4), 0, True)],
    doc="The products of the elements before each one (`back`: after it).",
)

# ---- running sums, products, extremes ---------------------------------------------------------
cumsum = linear(
    "cumsum(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor",
    raw.cumsum,
    self=lambda xp, g, dim: xp.reverse_cumsum(g, dim),
    inplace=True,
    lowering="cumsum",
    samples=lambda mk: [(mk(3, 4), 1), (mk(3, 4), 0), (mk(5), -1)],
    out_rules=OutRules(typed=as_out),
    doc="The sums of each element and those before it along `dim`; of integers as int64.",
    kernel="cumsum_out_cpu",
    without_data="fewer",
)


def _cumprod_gradient(
    xp: ModuleType, g: TensorLike, self: TensorLike, out: TensorLike, dim: int
) -> TensorLike:
    """See Note [A linear recurrence gives the gradients of scans]."""
    before = xp.exclusive_products(self, dim, False)
    return before * xp.recurrence(g, xp.shifted(self, dim, 1), dim, True)


cumprod = general(
    "cumprod(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor",
    raw.cumprod,
    self=_cumprod_gradient,
    inplace=True,
    samples=lambda mk: [(mk(3, 4), 1), (mk(3, 4), 0), (mk(5), -1)],
    out_rules=OutRules(typed=as_out),
    doc="The products of each element and those before it along `dim`; of integers as int64.",
    kernel="cumprod_out_cpu",
    without_data="fewer",
)


def _keeps_type(name: str, raws: Arguments) -> None:
    """Refuses, in place, another type than that of what is written."""
    axis_of(raws[1], raws[0].ndim)
    wanted = raws[2]
    found = T.from_raw(raws[0].dtype)
    if wanted is not None and wanted is not found:
        raise RuntimeError(
            f"Bad in-place call: input tensor dtype {D.c_name(found)} and output tensor dtype "
            f"{D.c_name(wanted)} should match"
        )
    if found is D.bool_:
        if raws[0].ndim and raws[0].size:
            raise NotImplementedError(errors.not_implemented(f"{name}_out_cpu", "Bool"))
        raws[2] = found


def _note_type(row: Row) -> None:
    row.op.fits = partial(_keeps_type, row.schema.name)


when_settled(cumsum, _note_type)
when_settled(cumprod, _note_type)


def _logcumsumexp_gradient(
    xp: ModuleType, g: TensorLike, self: TensorLike, out: TensorLike, dim: int
) -> TensorLike:
    """Σ g[j] exp(x[i] - out[j]) over j ≥ i, by the steps exp(out[j] - out[j+1]) ≤ 1.

    See Note [A linear recurrence gives the gradients of scans].
    """
    if not self.ndim or 0 in self.shape:
        return g
    step = xp.exp(-xp.shifted(out - xp.shifted(out, dim, -1), dim, 1))
    return xp.exp(self - out) * xp.recurrence(g, step, dim, True)


logcumsumexp = general(
    "logcumsumexp(Tensor self, int dim) -> Tensor",
    raw.logcumsumexp,
    out_rules=OutRules(types_first=always),
    self=_logcumsumexp_gradient,
    samples=lambda mk: [(mk(3, 4), 1), (mk(3, 4), 0)],
    doc="The logs of the running sums of exp along `dim`.",
    kernel="logcumsumexp_out_cpu",
)
accumulated_along = linear(
    "accumulated_along(Tensor self, Tensor index, int dim) -> Tensor",
    raw.accumulate_along,
    self=lambda xp, g, index, dim: xp.gather(g, dim, index),
    namespace="private",
    refuses_values="any",
    samples=lambda mk: [
        (mk(3, 4), mk(3, 4, low=0, high=4, integer=True), 1),
        (mk(3, 4), mk(3, 4, low=0, high=3, integer=True), 0),
    ],
    doc="Zeros with the elements added at `index` along `dim`, several to one place.",
)
cummax = selection(
    "cummax(Tensor self, int dim) -> (Tensor values, Tensor indices)",
    raw.cummax,
    out_rules=OutRules(types_first=always),
    self=lambda xp, g0, self, indices, dim: xp.accumulated_along(g0, indices, dim),
    differentiable_out=(True, False),
    samples=lambda mk: [(mk(3, 4), 1), (mk(3, 4), 0)],
    real_only=True,
    doc="The largest of each element and those before it along `dim`, and where it is.",
)
cummin = selection(
    "cummin(Tensor self, int dim) -> (Tensor values, Tensor indices)",
    raw.cummin,
    out_rules=OutRules(types_first=always),
    self=lambda xp, g0, self, indices, dim: xp.accumulated_along(g0, indices, dim),
    differentiable_out=(True, False),
    samples=lambda mk: [(mk(3, 4), 1), (mk(3, 4), 0)],
    real_only=True,
    doc="The smallest of each element and those before it along `dim`, and where it is.",
)


# ---- differences and integrals ----------------------------------------------------------------
def _dimension(t: Tensor, dim: int) -> int:
    ndim: int = t._raw.ndim
    if not -max(ndim, 1) <= dim < max(ndim, 1):
        raise IndexError(errors.dimension(dim, ndim))
    return dim % max(ndim, 1)


def _part(t: Tensor, dim: int, start: int, stop: int) -> Tensor:
    """The places from `start` to `stop` (negative: from the end; 0: to the end) of a dimension."""
    return apply_view(ROWS["slice"][0].op, t, (dim, start, stop or None, 1))


def _difference(t: Tensor, dim: int) -> Tensor:
    high, low = _part(t, dim, 1, 0), _part(t, dim, 0, -1)
    if t._raw.dtype.kind == "b":
        return table("logical_xor")(high, low)
    return high - low


@composite(method=True, numpy_words=True)
def diff(input: Tensor, n: int = 1, dim: int = -1, prepend: Tensor | None = None,
         append: Any = None, *,
         out: Any = None) -> Tensor:  # fmt: skip
    """The differences of neighbours along `dim`, taken `n` times.

    Raises:
        RuntimeError: for an input without dimensions, or a negative `n`.
    """
    if input._raw.ndim == 0:
        raise RuntimeError("diff expects input to be at least one-dimensional")
    if n < 0:
        raise RuntimeError(f"order must be non-negative but got {n}")
    parts = [t for t in (prepend, input, append) if t is not None]
    dim = _dimension(input, dim) if n or len(parts) > 1 else 0
    for t in parts:
        if t._raw.ndim != input._raw.ndim:
            raise RuntimeError("diff expects prepend or append to be the same dimension as input")
    for t in parts:
        for d, size in enumerate(t._raw.shape):
            if d != dim and size != input._raw.shape[d]:
                raise RuntimeError(
                    "diff expects the shape of tensor to prepend or append to match that of input "
                    f"except along the differencing dimension; input.size({d}) = "
                    f"{input._raw.shape[d]}, but got tensor.size({d}) = {size}"
                )
    if n == 0:
        result = table("zeros_like")(input).copy_(input)
    else:
        result = table("cat")(parts, dim) if len(parts) > 1 else input
    for _ in range(min(n, result._raw.shape[dim])):
        result = _difference(result, dim)
    if out is None:
        return result
    from ..rows.out_argument import give, give_copied

    if not n:
        return give_copied("diff", result, out)
    named = "sub" if input._raw.dtype.kind != "b" else "logical_xor"
    return give("diff", result, out, named=named)


def _differ_plainly(*args: Any) -> Any:
    """`diff` with nothing but a tensor along its last dimension."""
    input = args[0] if len(args) == 1 else None
    if not isinstance(input, TensorBase) or not input._raw.ndim or not input._raw.shape[-1]:
        return diff(*args)
    return _difference(args[0], input._raw.ndim - 1)


POSITIONAL[diff] = _differ_plainly


def _samples_distance(name: str, y: Tensor, x: Tensor, dim: int) -> Tensor:
    """The distances of the sample points, shaped to go with `y` along `dim`."""
    shape = x._raw.shape
    if x._raw.ndim == 1:
        if shape[0] != y._raw.shape[dim]:
            raise RuntimeError(f"{name}: There must be one `x` value for each sample point")
        inner = [1] * y._raw.ndim
        inner[dim] = shape[0]
        x = table("reshape")(x, inner)
    elif x._raw.ndim < y._raw.ndim:
        x = table("reshape")(x, [1] * (y._raw.ndim - x._raw.ndim) + list(shape))
    return _part(x, dim, 1, 0) - _part(x, dim, 0, -1)


def _refuse_step(name: str, dx: object) -> None:
    if isinstance(dx, (bool, complex)):
        raise RuntimeError(f"{name}: Currently, we only support dx as a real number.")


def _refuse_bools(name: str, x: Tensor | None, y: Tensor) -> None:
    if y._raw.dtype.kind == "b" or (x is not None and x._raw.dtype.kind == "b"):
        which = "`y`" if x is None else "`x` or `y`"
        raise RuntimeError(f"{name}: received a bool input for {which}, but bool is not supported")


@composite(numpy_words=True)
def trapezoid(y: Tensor, x: Tensor | None = None, *, dx: float = 1, dim: int = -1) -> Tensor:
    """The integral of samples along `dim` by the trapezoidal rule."""
    if isinstance(x, (int, float)):
        x, dx = None, x
    if y._raw.ndim == 0:
        raise IndexError(
            f"Dimension specified as {0 if x is not None else dim} but tensor has no dimensions"
        )
    dim = _dimension(y, dim)
    if y._raw.shape[dim] == 0:
        shape = y._raw.shape[:dim] + y._raw.shape[dim + 1 :]
        return count_writes(table("new_zeros")(y, shape), 1)
    _refuse_bools("trapezoid", x, y)
    if x is None:
        _refuse_step("trapezoid", dx)
        inner = table("sum")(y, dim)
        ends = table("select")(y, dim, 0) + table("select")(y, dim, -1)
        return multiply_by(inner - multiply_by(ends, 0.5), float(dx))
    width = _samples_distance("trapezoid", y, x, dim)
    total = table("sum")((_part(y, dim, 0, -1) + _part(y, dim, 1, 0)) * width, dim)
    return divide_by(total, 2.0)


@composite(numpy_words=True)
def trapz(y: Any, x: Any = None, *, dx: Any = 1, dim: int = -1) -> Tensor:
    """The integral of samples along `dim`: `trapezoid` under its old name."""
    return trapezoid(y, x, dx=float(dx) if isinstance(dx, bool) else dx, dim=dim)


@composite(numpy_words=True)
def cumulative_trapezoid(y: Tensor, x: Any = None, *, dx: float = 1, dim: int = -1) -> Tensor:
    """The running integrals of samples along `dim` by the trapezoidal rule."""
    if isinstance(x, (int, float)):
        x, dx = None, x
    if x is None:
        _refuse_bools("cumulative_trapezoid", x, y)
        _refuse_step("cumulative_trapezoid", dx)
    along, dim = dim, axis_of(dim, y._raw.ndim)
    _refuse_bools("cumulative_trapezoid", x, y)
    if y._raw.ndim == 0:
        raise IndexError("slice() cannot be applied to a 0-dim tensor.")
    pairs = _part(y, dim, 0, -1) + _part(y, dim, 1, 0)
    if x is None:
        return table("cumsum")(multiply_by(pairs, dx / 2.0), along)
    width = _samples_distance("cumulative_trapezoid", y, x, dim)
    return divide_by(table("cumsum")(pairs * width, along), 2.0)


@composite(numpy_words=True)
def gradient(
    input: Tensor, *, spacing: Any = 1, dim: int | Sequence[int] | None = None, edge_order: int = 1
) -> tuple[Tensor, ...]:
    """The derivatives of samples along each of the dimensions, by central differences.

    Raises:
        RuntimeError: where a dimension has too few samples, or the spacings don't match.
    """
    ndim = input._raw.ndim
    if spacing is None:
        spacing = 1
    if input._raw.dtype == T.to_raw(D.uint8):
        raise RuntimeError("torch.gradient does not support uint8 input.")
    if is_number_tensor(spacing):
        spacing = read_by_python(spacing, "torch.gradient").item()
    given = range(ndim) if dim is None else (dim,) if isinstance(dim, int) else dim
    spacings = _spacings(spacing, list(given), dim is None, input)
    if edge_order not in (1, 2):
        raise RuntimeError("torch.gradient only supports edge_order=1 and edge_order=2.")
    dims: list[int] = []
    for d in given:
        dims.append(_dimension(input, d))
        if dims.count(dims[-1]) > 1:
            raise RuntimeError(f"dim {dims[-1]} appears multiple times in the list of dims")
    if dims and ndim == 0:
        raise IndexError(f"Dimension specified as {dims[0]} but tensor has no dimensions")
    for d in dims:
        if input._raw.shape[d] < edge_order + 1:
            raise RuntimeError(
                "torch.gradient expected each dimension size to be at least edge_order+1"
            )
    for h in spacings:
        if isinstance(h, TensorBase) and h._raw.ndim != 1:
            raise RuntimeError(
                "torch.gradient expected each element of spacing to have one dimension, but got an "
                f"element with {h._raw.ndim} dimensions!"
            )
    return tuple([_derivative(input, d, h, edge_order) for d, h in zip(dims, spacings)])


def _spacings(spacing: Any, dims: list[int], every: bool, input: Tensor) -> list[Any]:
    if isinstance(spacing, (int, float, complex)):
        return [spacing] * len(dims)
    found = [spacing] if isinstance(spacing, TensorBase) else list(spacing)
    if any(isinstance(h, TensorBase) for h in found):
        for k, h in enumerate(found):
            if not isinstance(h, TensorBase):
                raise TypeError(
                    f"expected Tensor as element {k} in argument 1, but got {errors.type_name(h)}"
                )
    if len(found) != len(dims):
        if not every:
            raise RuntimeError(
                "torch.gradient expected spacing to be unspecified, a scalar or it's spacing and "
                f"dim arguments to have the same length, but got a spacing argument of length "
                f"{len(found)} and a dim argument of length {len(dims)}."
            )
        raise RuntimeError(
            "torch.gradient expected spacing to be unspecified, a scalar, or a list of length "
            f"equal to 'self.dim() = {len(dims)}', since dim argument was not given, but got a "
            f"list of length {len(found)}"
        )
    return found


def _derivative(f: Tensor, dim: int, spacing: Tensor | int, edge_order: int) -> Tensor:
    if isinstance(spacing, TensorBase):
        return _uneven_derivative(f, dim, spacing, edge_order)
    centre = divide_by(divide_by(_part(f, dim, 2, 0) - _part(f, dim, 0, -2), spacing), 2.0)
    if edge_order == 1:
        n = f._raw.shape[dim]
        first = divide_by(_part(f, dim, 1, 2) - _part(f, dim, 0, 1), spacing)
        last = divide_by(_part(f, dim, n - 1, 0) - _part(f, dim, n - 2, -1), spacing)
    else:
        n = f._raw.shape[dim]
        a, b, c = (_part(f, dim, k, k + 1) for k in (0, 1, 2))
        first = (-1.5 * a + 2 * b - 0.5 * c) / spacing
        a, b, c = (_part(f, dim, n - k, n - k + 1) for k in (1, 2, 3))
        last = (1.5 * a - 2 * b + 0.5 * c) / spacing
    return table("cat")([first, centre, last], dim)


def _uneven_derivative(f: Tensor, dim: int, points: Tensor, edge_order: int) -> Tensor:
    """Second-order differences over the sample points `points`, which must be a row."""
    n = f._raw.shape[dim]
    inner = [1] * f._raw.ndim
    inner[dim] = n - 1
    steps = table("reshape")(_part(points, 0, 1, 0) - _part(points, 0, 0, -1), inner)
    left, right = _part(steps, dim, 0, -1), _part(steps, dim, 1, 0)
    low, mid, high = _part(f, dim, 0, -2), _part(f, dim, 1, -1), _part(f, dim, 2, 0)
    centre = (
        low * (-right / (left * (left + right)))
        + mid * ((right - left) / (left * right))
        + high * (left / (right * (left + right)))
    )
    if edge_order == 1:
        first = (_part(f, dim, 1, 2) - _part(f, dim, 0, 1)) / _part(steps, dim, 0, 1)
        last = (_part(f, dim, n - 1, 0) - _part(f, dim, n - 2, -1)) / _part(steps, dim, n - 2, 0)
        return table("cat")([first, centre, last], dim)
    a, b = _part(steps, dim, 0, 1), _part(steps, dim, 1, 2)
    first = (
        _part(f, dim, 0, 1) * (-(2 * a + b) / (a * (a + b)))
        + _part(f, dim, 1, 2) * ((a + b) / (a * b))
        - _part(f, dim, 2, 3) * (a / (b * (a + b)))
    )
    a, b = _part(steps, dim, n - 3, n - 2), _part(steps, dim, n - 2, n - 1)
    last = (
        _part(f, dim, n - 3, n - 2) * (b / (a * (a + b)))
        - _part(f, dim, n - 2, n - 1) * ((a + b) / (a * b))
        + _part(f, dim, n - 1, n) * ((a + 2 * b) / (b * (a + b)))
    )
    return table("cat")([first, centre, last], dim)
