"""Reductions: sums, means, products, truth, counts, logsumexp, and variances."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Any

from ..._array import types as T
from ..._base import dtypes as D, errors
from ..._base.lazy import later
from ..._core.apply import apply_n
from ..._core.mode import current
from ..._core.slow import read_by_python
from ..._core.storage import TensorBase
from ..._formula.words import absolute, exp, log, row_sum, row_top, where
from ..calls.argument_parser import is_number_tensor
from ..rows import small_arrays
from ..rows.composite import composite
from ..rows.node_classes import element_count
from ..rows.out_argument import apply_out
from ..rows.out_rules import OutRules, always, as_asked, as_out
from ..rows.row import general, linear
from ..rows.row_formula import row_formula
from ..rows.tensor_namespace import table

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

    from ..._base.annotations import AnyCallable, Shape, TensorLike
    from ..._tensor.tensor import Tensor

raw = later("_array.reduce.reduce")
raw_scan = later("_array.reduce.scan")
raw_variance = later("_array.reduce.variance")


def _expand(xp: ModuleType, g: TensorLike, self_shape: Shape) -> TensorLike:
    return xp.broadcast_to(g, self_shape)


def _expand_mean(xp: ModuleType, g: TensorLike, self_shape: Shape) -> TensorLike:
    return xp.broadcast_to(g / raw.count_of(self_shape, None), self_shape)


small_arrays.OF_SUMS.update({_expand: ("-ft", "s"), _expand_mean: ("-ft", "d")})

sum = linear(
    "sum(Tensor self, *, ScalarType? dtype=None) -> Tensor",
    raw.sum_all,
    self=_expand,
    lowering="sum",
    out_rules=OutRules(typed=as_out),
    doc="The sum of all elements; of integers as int64.",
    without_data="fewer",
)
sum_dim = linear(
    "sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) "
    "-> Tensor",
    raw.sum,
    self=lambda xp, g, self_shape, dim, keepdim: xp.expand_reduced(g, self_shape, dim, keepdim),
    lowering="sum",
    samples=lambda mk: [(mk(3, 4), (1,)), (mk(3, 4), (0, 1), True), (mk(2, 3, 4), (-1,))],
    out_rules=OutRules(typed=as_out),
    doc="The sum over the dimensions `dim`.",
    without_data="fewer",
)
mean = linear(
    "mean(Tensor self, *, ScalarType? dtype=None) -> Tensor",
    raw.mean_all,
    self=_expand_mean,
    node_shows=element_count,
    lowering="mean",
    out_rules=OutRules(typed=as_asked),
    doc="The mean of all elements.",
    kernel="sum_cpu",
    without_data="fewer",
)
mean_dim = linear(
    "mean.dim(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
    raw.mean,
    self=lambda xp, g, self_shape, dim, keepdim: xp.expand_reduced(
        g / raw.count_of(self_shape, dim), self_shape, dim, keepdim
    ),
    lowering="mean",
    samples=lambda mk: [(mk(3, 4), (1,)), (mk(3, 4), (0, 1), True), (mk(2, 3, 4), (-1,))],
    node_shows=element_count,
    out_rules=OutRules(typed=as_asked),
    doc="The mean over the dimensions `dim`.",
    without_data="fewer",
)


def _others_gradient(
    xp: ModuleType, g: TensorLike, self: TensorLike, dim: int | None
) -> TensorLike:
    """Of the products of all others: each is a product of those before times one of those after.

    See Note [A linear recurrence gives the gradients of scans].
    """
    shape = self.shape
    if dim is None:
        g, self, dim = xp.reshape(g, (-1,)), xp.reshape(self, (-1,)), 0
    before = xp.exclusive_products(self, dim, False)
    after = xp.exclusive_products(self, dim, True)
    later = xp.recurrence(xp.shifted(g * after, dim, 1), xp.shifted(self, dim, 1), dim, True)
    earlier = xp.recurrence(xp.shifted(g * before, dim, -1), xp.shifted(self, dim, -1), dim, False)
    return xp.reshape(before * later + after * earlier, shape)


others_product = general(
    "others_product(Tensor self, int? dim) -> Tensor",
    raw_scan.others_product,
    self=_others_gradient,
    namespace="private",
    samples=lambda mk: [(mk(3, 4), 1), (mk(3, 2), None)],
    doc="For each element the product of the others along `dim`.",
)
prod = general(
    "prod(Tensor self, *, ScalarType? dtype=None) -> Tensor",
    raw.prod_all,
    self=lambda xp, g, self, out: g * xp.others_product(self, None) if self.shape else g,
    out_rules=OutRules(typed=as_out),
    doc="The product of all elements; of integers as int64.",
    kernel="prod_out_cpu",
    without_data="fewer",
)
prod_dim = general(
    "prod.dim_int(Tensor self, int dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
    raw.prod,
    self=lambda xp, g, self, out, dim, keepdim: (
        xp.expand_reduced(g, self.shape, dim, keepdim) * xp.others_product(self, dim)
    ),
    samples=lambda mk: [(mk(3, 4), 1), (mk(3, 4), 0, True), (mk(2, 3, 4), -1)],
    out_rules=OutRules(typed=as_out),
    doc="The product over the dimension `dim`.",
    without_data="fewer",
)


def _nansum_type(asked: D.dtype | None, out: D.dtype, own: D.dtype) -> D.dtype | None:
    """The type of `out`.

    Raises:
        RuntimeError: for another type that is asked for.
        NotImplementedError: for a type without nan, of operands that have one.
    """
    if own.category < D.FLOAT:
        return as_out(asked, out, own)
    if asked is not None and asked is not out:
        raise RuntimeError(
            "nansum: provided dtype must match dtype of result. Got "
            f"{D.scalar_name(out)} and {D.scalar_name(asked)}."
        )
    if out.category != D.FLOAT and own.category == D.FLOAT:
        raise NotImplementedError(errors.not_implemented("nansum_cpu", D.scalar_name(out)))
    return out


nansum = general(
    "nansum(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> "
    "Tensor",
    raw.nansum,
    self=lambda xp, g, self, dim, keepdim: xp.where(
        xp.isnan(self), 0, xp.expand_reduced(g, self.shape, dim, keepdim)
    ),
    samples=lambda mk: [(mk(3, 4),), (mk(3, 4), (1,)), (mk(3, 4), (0, 1), True)],
    out_rules=OutRules(typed=_nansum_type),
    doc="The sum with NaN counted as zero.",
)
_ANSWER = OutRules(types_first=always, result=D.bool_)
all = general(
    "all(Tensor self) -> Tensor",
    raw.all,
    out_rules=_ANSWER,
    doc="Whether all elements are true.",
    narrow="all",
    without_data="fewer",
)
all_dim = general(
    "all.dim(Tensor self, int dim, bool keepdim=False) -> Tensor",
    raw.all,
    samples=lambda mk: [(mk(3, 4), 1), (mk(3, 4), 0, True)],
    out_rules=_ANSWER,
    doc="Whether all elements along `dim` are true.",
    without_data="fewer",
)
all_dims = general(
    "all.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor",
    raw.all,
    samples=lambda mk: [(mk(3, 4), (0, 1))],
    out_rules=_ANSWER,
    doc="Whether all elements over the dimensions `dim` are true.",
    without_data="fewer",
)
any = general(
    "any(Tensor self) -> Tensor",
    raw.any,
    out_rules=_ANSWER,
    doc="Whether any element is true.",
    narrow="all",
    without_data="fewer",
)
any_dim = general(
    "any.dim(Tensor self, int dim, bool keepdim=False) -> Tensor",
    raw.any,
    samples=lambda mk: [(mk(3, 4), 1), (mk(3, 4), 0, True)],
    out_rules=_ANSWER,
    doc="Whether any element along `dim` is true.",
    without_data="fewer",
)
any_dims = general(
    "any.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor",
    raw.any,
    samples=lambda mk: [(mk(3, 4), (0, 1))],
    out_rules=_ANSWER,
    doc="Whether any element over the dimensions `dim` is true.",
    without_data="fewer",
)
count_nonzero = general(
    "count_nonzero.dim_IntList(Tensor self, int[1]? dim=None) -> Tensor",
    raw.count_nonzero,
    samples=lambda mk: [(mk(3, 4),), (mk(3, 4), (1,)), (mk(3, 4), (0, 1))],
    doc="How many elements aren't zero, over the dimensions `dim`.",
    narrow="complex32",
    kernel="nonzero_count_cpu",
    without_data="fewer",
)


def _log_of_sum(x: TensorLike, dim: Shape) -> Any:
    top = row_top(x, dim)
    shift = where(absolute(top) < inf, top, 0.0)
    return log(row_sum(exp(x - shift), dim)) + shift


logsumexp = general(
    "logsumexp(Tensor self, int[1] dim, bool keepdim=False) -> Tensor",
    row_formula(
        lambda self, dim: _log_of_sum(self, dim), prepare=raw.check_for_logsumexp, empty=-inf
    ),
    # `keepdim` says how g and out come.
    self=row_formula(lambda g, self, out, dim, keepdim: g * exp(self - out), by_row=("g", "out")),
    samples=lambda mk: [(mk(3, 4), (1,)), (mk(3, 4), (0, 1), True)],
    doc="The log of the sum of exp over the dimensions `dim`.",
    kernel="exp_vml_cpu",
    without_data="fewer",
)


@composite(method=True, numpy_words=True)
def nanmean(input: Tensor, dim: int | Sequence[int] | None = None, keepdim: bool = False, *,
            dtype: D.dtype | None = None,
            out: Tensor | None = None) -> Tensor:  # fmt: skip
    """The mean of the elements that aren't NaN.

    Raises:
        RuntimeError: for integers.
    """
    if input._raw.dtype.kind in "biu":
        raise RuntimeError(
            "nanmean(): expected input to have floating point or complex dtype but got "
            + raw.name_of(input._raw.dtype)
        )
    if dtype is not None and dtype.category < D.FLOAT:
        raise RuntimeError(
            "nanmean(): could not infer output dtype. Optional dtype must be either a floating "
            f"point or complex dtype. Got: {D.scalar_name(dtype)}"
        )
    count = table("sum")(table("logical_not")(table("isnan")(input.detach())), dim, keepdim)
    # The usual call has neither, and is planned for positions alone.
    asked = {k: v for k, v in (("dtype", dtype), ("out", out)) if v is not None}
    total = table("nansum")(input, dim, keepdim, **asked)
    return total / count if out is None else total.div_(count)


# ---- variances --------------------------------------------------------------------------------
def _var_gradient(
    xp: ModuleType,
    g: TensorLike,
    self: TensorLike,
    dim: Shape | None,
    correction: int | None,
    keepdim: bool,
) -> TensorLike:
    """2 g (x - mean) / (n - correction)."""
    shape = self.shape
    freedom = raw.count_of(shape, dim) - (1 if correction is None else correction)
    if dim is not None and not keepdim:  # else it broadcasts as it is
        g = xp.expand_reduced(g, shape, dim, keepdim)
    scale = 2 / freedom if freedom else float("inf")
    return g * scale * (self - xp.mean(self, dim, True))


def _std_gradient(
    xp: ModuleType,
    g: TensorLike,
    self: TensorLike,
    out: TensorLike,
    dim: Shape | None,
    correction: int | None,
    keepdim: bool,
) -> TensorLike:
    """That of the variance by the chain rule; 0 where the deviation is 0."""
    g = xp.where(xp.equal(out, 0), 0, g / (out * 2))
    return _var_gradient(xp, g, self, dim, correction, keepdim)


def _mean_gradient(
    xp: ModuleType, g: TensorLike, shape: Shape, dim: Shape | None, keepdim: bool
) -> TensorLike:
    return xp.expand_reduced(g / raw.count_of(shape, dim), shape, dim, keepdim)


def _var_mean_gradient(
    xp: ModuleType,
    gs: Sequence[TensorLike | None],
    self: TensorLike,
    dim: Shape | None,
    correction: int | None,
    keepdim: bool,
) -> Any:
    """Those of the variance and of the mean, as far as they are asked for."""
    g0, g1 = gs
    first = None if g0 is None else _var_gradient(xp, g0, self, dim, correction, keepdim)
    second = None if g1 is None else _mean_gradient(xp, g1, self.shape, dim, keepdim)
    return second if first is None else first if second is None else first + second


def _std_mean_gradient(
    xp: ModuleType,
    gs: Sequence[TensorLike | None],
    self: TensorLike,
    out: TensorLike,
    dim: Shape | None,
    correction: int | None,
    keepdim: bool,
) -> Any:
    """Those of the deviation and of the mean, as far as they are asked for."""
    g0, g1 = gs
    first = None if g0 is None else _std_gradient(xp, g0, self, out, dim, correction, keepdim)
    second = None if g1 is None else _mean_gradient(xp, g1, self.shape, dim, keepdim)
    return second if first is None else first if second is None else first + second


_VARIANCE_ARGUMENTS = (
    "(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False)"
)


def _variance_samples(mk: Any) -> list[Any]:
    return [(mk(3, 4), None, None, False), (mk(3, 4), (1,), 1, False), (mk(3, 4), (0, 1), 0, True)]


_var = general(
    f"_var{_VARIANCE_ARGUMENTS} -> Tensor",
    raw_variance.var,
    self=_var_gradient,
    holomorphic=False,
    namespace="private",
    node="VarBackward0",
    narrow="complex32",
    kernel="std_cpu",
    lowering="var",
    samples=_variance_samples,
    doc="The variance over the dimensions `dim`.",
)
_std = general(
    f"_std{_VARIANCE_ARGUMENTS} -> Tensor",
    raw_variance.std,
    self=_std_gradient,
    holomorphic=False,
    namespace="private",
    node="StdBackward0",
    narrow="complex32",
    kernel="std_cpu",
    lowering="std",
    samples=_variance_samples,
    doc="The standard deviation over the dimensions `dim`.",
)
_var_mean = general(
    f"_var_mean{_VARIANCE_ARGUMENTS} -> (Tensor, Tensor)",
    raw_variance.var_and_mean,
    self=_var_mean_gradient,
    holomorphic=False,
    namespace="private",
    node="VarMeanBackward0",
    narrow="complex32",
    kernel="std_cpu",
    lowering="var_mean",
    samples=_variance_samples,
    doc="The variance and the mean over the dimensions `dim`.",
)
_std_mean = general(
    f"_std_mean{_VARIANCE_ARGUMENTS} -> (Tensor, Tensor)",
    raw_variance.std_and_mean,
    self=_std_mean_gradient,
    holomorphic=False,
    namespace="private",
    node="StdMeanBackward0",
    narrow="complex32",
    kernel="std_cpu",
    saved_as={"result": "result0"},
    lowering="std_mean",
    samples=_variance_samples,
    doc="The standard deviation and the mean over the dimensions `dim`.",
)
_LOW = (D.float16, D.bfloat16)
_GIVEN = object()  # the default of `correction`: that of the overload


def _in_type_of(x: Tensor, dim: Shape | None, out: Any) -> Tensor:
    """The tensor in the type of `out`, which PyTorch computes a variance in.

    Raises:
        NotImplementedError: for a complex `out` of several elements.
        RuntimeError: for half precision, where there is one element and `out` has more of it.
    """
    if not isinstance(out, TensorBase):
        return x
    if current().grad and (x._requires_grad or out._requires_grad):  # refused behind
        return x
    have, want = T.dtype_of(x), T.dtype_of(out)
    fits = have.is_floating_point and (want.is_floating_point or want.is_complex)
    if have is want or not fits or not x._raw.size:
        return x
    low = have in _LOW, want in _LOW
    if raw.count_of(x._raw.shape, dim) == x._raw.size and not low[1]:
        if low[0]:
            raise RuntimeError(f"std_var_all: Unsupported dtype {D.scalar_name(have)}")
        return x
    if want.is_complex:
        raise NotImplementedError(errors.not_implemented("std_cpu", D.scalar_name(want)))
    return x.to(want)


def _variance_function(name: str, row: Any, doc: str) -> AnyCallable:
    """The public function over the three overloads that PyTorch has for each of these."""

    def function(
        input: Tensor,
        dim: int | Shape | None = None,
        unbiased: bool | None = None,
        keepdim: bool = False,
        *,
        correction: object = _GIVEN,
        axis: int | None = None,
        keepdims: Any = None,
        out: Tensor | None = None,
    ) -> Any:
        if axis is not None:
            dim = axis
        if keepdims is not None:
            keepdim = keepdims
        if dim is True or dim is False:
            dim, unbiased = None, dim
        if correction is _GIVEN:
            if unbiased is not None:
                correction = 1 if unbiased else 0
            else:
                correction = None if dim is None else 1
        if isinstance(dim, int):
            dim = (dim,)
        elif isinstance(dim, list):
            dim = tuple(dim)
        if isinstance(correction, TensorBase):
            if not is_number_tensor(correction):
                raise TypeError(
                    f"{name}() received an invalid combination of arguments - got (Tensor, "
                    "correction=Tensor)"
                )
            correction = read_by_python(correction, "a correction").item()
        if isinstance(correction, complex):
            raise RuntimeError(errors.no_conversion("double"))
        if out is None:
            return apply_n(row.op, [input, dim, correction, keepdim])
        return apply_out(row, [_in_type_of(input, dim, out), dim, correction, keepdim], out)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return composite(method=name in ("std", "var"))(function)


std = _variance_function(
    "std", _std, "The standard deviation over `dim`, with Bessel's correction by default."
)
var = _variance_function(
    "var", _var, "The variance over `dim`, with Bessel's correction by default."
)
std_mean = _variance_function(
    "std_mean", _std_mean, "The standard deviation and the mean over `dim`."
)
var_mean = _variance_function("var_mean", _var_mean, "The variance and the mean over `dim`.")
