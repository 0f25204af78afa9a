"""The raw array namespace: what formulas may call on `xp`, and raw forwards, over NumPy.

Names are those of the Python array API standard; the odd ones come after the aliases. Formulas see
the same names on Tensors through `_table/rows/tensor_namespace.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from .._base import dtypes as D
from .._base.lazy import Function, attribute, later, lazy
from .elementwise.masks import keep as keep, where as where
from .number import type_number
from .shape.as_strided import (
    diagonal as diagonal,
    diagonal_backward as diagonal_backward,
    unfold as unfold,
    unfold_backward as unfold_backward,
    view_as_complex as view_as_complex,
    view_as_real as view_as_real,
)
from .shape.strided import (
    as_strided_backward as as_strided_backward,
    as_strided_values as as_strided_values,
)
from .shape.views import (
    clone as clone,
    expand as expand,
    permute as permute,
    select as select,
    select_backward as select_backward,
    slice_,
    slice_backward as slice_backward,
    squeeze as squeeze,
    t as t,
    transpose as transpose,
    unsqueeze as unsqueeze,
)
from .types import FLOAT32, FLOAT64, in_single, to_raw

if TYPE_CHECKING:
    from collections.abc import Callable

    from .._base.annotations import AnyCallable, Scalar, Shape, TensorLike
    from .annotations import Array, RawType

# ---- what is loaded when it is first asked for ------------------------------------------------
# See Note [Raw modules load late].
_LATE: Final[dict[str, str]] = {
    "matmul": "_array.linalg.matmul:product",
    "mean": "_array.reduce.reduce:mean",
    "cat": "_array.shape.concatenate:cat",
    "stack": "_array.shape.concatenate:stack",
    "diagonal_scatter": "_array.shape.indexing:diagonal_scatter",
    "index": "_array.shape.indexing:index",
    "index_backward": "_array.shape.indexing:index_backward",
    "index_put": "_array.shape.indexing:index_put",
    "select_scatter": "_array.shape.indexing:select_scatter",
    "slice_scatter": "_array.shape.indexing:slice_scatter",
    "pow": "_array.elementwise.division:pow",
    "rsqrt": "_array.elementwise.division:rsqrt",
    "sgn": "_array.elementwise.rounding:sgn",
    "placed_along": "_array.reduce.extreme:place_along",
    "taken_along": "_array.reduce.extreme:take_along",
    "ties": "_array.reduce.extreme:ties",
    "accumulated_along": "_array.reduce.scan:accumulate_along",
    "cumsum": "_array.reduce.scan:cumsum",
    "exclusive_products": "_array.reduce.scan:exclusive_products",
    "others_product": "_array.reduce.scan:others_product",
    "recurrence": "_array.reduce.scan:recurrence",
    "reverse_cumsum": "_array.reduce.scan:reverse_cumsum",
    "shifted": "_array.reduce.scan:shift_along",
    "constant_pad": "_array.shape.rearrange:constant_pad",
    "diag_embed": "_array.shape.rearrange:diag_embed",
    "flip": "_array.shape.rearrange:flip",
    "repeat": "_array.shape.rearrange:repeat",
    "repeat_backward": "_array.shape.rearrange:repeat_backward",
    "roll": "_array.shape.rearrange:roll",
    "rot90": "_array.shape.rearrange:rot90",
    "tril": "_array.shape.rearrange:tril",
    "triu": "_array.shape.rearrange:triu",
    "angle_gradient": "_array.elementwise.complexes:angle_gradient",
    "glu_backward": "_array.elementwise.gated_linear:glu_backward",
    "sigmoid": "_array.elementwise.activations:sigmoid",
    "ldexp": "_array.elementwise.comparison:ldexp",
    "xlog1py": "_array.elementwise.activations:xlog1py",
    "xlogy": "_array.elementwise.activations:xlogy",
    "scale_unit": "_array.reduce.norm:scale_unit",
    "vector_norm": "_array.reduce.norm:vector_norm",
    "gather": "_array.shape.scatter:gather",
    "index_fill": "_array.shape.scatter:index_fill",
    "index_select": "_array.shape.scatter:index_select",
    "index_select_backward": "_array.shape.scatter:index_select_backward",
    "masked_place": "_array.shape.scatter:place_masked",
    "masked_scatter": "_array.shape.scatter:masked_scatter",
    "masked_scatter_source": "_array.shape.scatter:masked_scatter_source",
    "masked_select": "_array.shape.scatter:masked_select",
    "put": "_array.shape.scatter:put",
    "scatter": "_array.shape.scatter:scatter",
    "scatter_add": "_array.shape.scatter:scatter_add",
    "scatter_reduce": "_array.shape.scatter:scatter_reduce",
    "take": "_array.shape.scatter:take",
    "constant_pad_nd": "_array.shape.rearrange:constant_pad",
    "channel_sums": "_array.nn.convolution:channel_sums",
    "conv_output": "_array.nn.convolution:conv_output",
    "conv_input": "_array.nn.convolution:conv_input",
    "conv_weight": "_array.nn.convolution:conv_weight",
    "erf": "_array.elementwise.erf:erf",
    "_fft_c2c": "_array.linalg.fft:c2c",
    "_fft_r2c": "_array.linalg.fft:r2c",
    "_fft_c2r": "_array.linalg.fft:c2r",
    "cholesky_solve": "_array.linalg.linalg:cholesky_solve",
    "cofactors": "_array.linalg.linalg:cofactors",
    "inv": "_array.linalg.linalg:inv",
    "inverse_adjoint": "_array.linalg.linalg:inverse_adjoint",
    "matrix_exp": "_array.linalg.linalg:matrix_exp",
    "same_phase": "_array.linalg.linalg:same_phase",
    "solve": "_array.linalg.linalg:solve",
    "cross3": "_array.linalg.vector_products:cross3",
    "pick_from_planes": "_array.nn.pooling:pick_from_planes",
    "place_in_planes": "_array.nn.pooling:place_in_planes",
    "_standard_gamma_grad": "_array.random.rejection:standard_gamma_grad",
    "_sparse_product": "_array.shape.sparse:_sparse_product",
    "digamma": "_array.elementwise.special:digamma",
    "digamma_sum": "_array.elementwise.special:digamma_sum",
    "erfcx": "_array.elementwise.special:erfcx",
    "i0": "_array.elementwise.special:i0",
    "i0e": "_array.elementwise.special:i0e",
    "i1": "_array.elementwise.special:i1",
    "i1e": "_array.elementwise.special:i1e",
    "lgamma": "_array.elementwise.special:lgamma",
    "polygamma": "_array.elementwise.special:polygamma",
    "zeta": "_array.elementwise.special:zeta",
    "eig": "_array.linalg.eigen_svd:eig",
    "eigh": "_array.linalg.eigen_svd:eigh",
    "pinv": "_array.linalg.eigen_svd:pinv",
    "thin_svd": "_array.linalg.eigen_svd:thin_svd",
    "permutation_matrix": "_array.linalg.triangular:permutation_matrix",
    "solve_triangular": "_array.linalg.triangular:solve_triangular",
}


def _find(name: str) -> AnyCallable:
    found = attribute(_LATE[name])
    if type(found) is not Function:
        globals()[name] = found
    return found


__getattr__ = lazy(__name__, find=_find)


# ---- aliases ----------------------------------------------------------------------------------
slice = slice_
abs = np.absolute
add = np.add
subtract = np.subtract
multiply = np.multiply
divide = np.true_divide
negative = np.negative
exp = np.exp
expm1 = np.expm1
log = np.log
log1p = np.log1p
log2 = np.log2
log10 = np.log10
sqrt = np.sqrt
square = np.square
sin = np.sin
cos = np.cos
tan = np.tan
sinh = np.sinh
cosh = np.cosh
tanh = np.tanh
arcsin = np.arcsin
arccos = np.arccos
arctan = np.arctan
arcsinh = np.arcsinh
arccosh = np.arccosh
arctanh = np.arctanh
maximum = np.maximum
minimum = np.minimum
sign = np.sign
reciprocal = np.reciprocal
floor = np.floor
trunc = np.trunc
exp2 = np.exp2
isfinite = np.isfinite
equal = np.equal
not_equal = np.not_equal
less = np.less
less_equal = np.less_equal
greater = np.greater
greater_equal = np.greater_equal
isnan = np.isnan
logical_and = np.logical_and
logical_or = np.logical_or
logical_not = np.logical_not


# ---- shapes -----------------------------------------------------------------------------------
def reshape(x: Array, shape: tuple[int, ...]) -> Any:
    """`x` in another shape: a view where possible."""
    return x.reshape(shape)


def constant(x: Array) -> Array:
    """`x`: an array that formulas make themselves, as a value of their namespace."""
    return x


def contiguous(x: Array) -> Array:
    """`x` in C order."""
    return np.ascontiguousarray(x) if x.ndim else x


def permute_dims(x: TensorLike, axes: tuple[int, ...]) -> Array:
    """`x` with its dimensions in the order `axes`."""
    return x.transpose(axes)


def matrix_transpose(x: Array) -> Array:
    """`x` with its last two dimensions exchanged."""
    return x.swapaxes(-1, -2)


def expand_dims(x: Array, axis: int) -> Array:
    """`x` with a dimension of size one at `axis`."""
    return np.expand_dims(x, axis)


# NumPy's types have no overload for a `keepdims` that is any bool.
_add_reduce: Any = np.add.reduce
_LARGE: Final = 4096

reductions = later("_array.reduce.reduce")


def sum(x: Array, axis: int | Shape | None = None, keepdims: bool = False) -> Any:
    """The sum over `axis` (all by default), in the type of `x`."""
    if type(x) is np.ndarray and x.size >= _LARGE and type(axis) in (int, tuple):
        known = x.dtype is FLOAT32 or x.dtype is FLOAT64
        total = reductions.large_sum(x, axis, keepdims) if known else None
        if total is not None:
            return total
    return _add_reduce(x, axis=axis, keepdims=keepdims, dtype=None)


def zeros(shape: tuple[int, ...], dtype: RawType | D.dtype) -> Array:
    """Zeros of a shape and a dtype (a NumPy dtype, or one of ours)."""
    return np.zeros(shape, to_raw(dtype) if isinstance(dtype, D.dtype) else dtype)


def zeros_like(x: Array) -> Array:
    """Zeros shaped like `x`."""
    return np.zeros_like(x)


def eye_like(x: Array) -> Array:
    """Ones on the diagonal of one matrix of the size of those in `x`, zeros elsewhere."""
    return np.eye(x.shape[-2], x.shape[-1], dtype=x.dtype)


def astype(x: Array, dtype: D.dtype) -> Any:
    """`x` converted to `dtype`; a real one takes the real part."""
    raw = to_raw(dtype)
    return (x.real if x.dtype.kind == "c" and raw.kind != "c" else x).astype(raw)


def conj(x: Array) -> Array:
    """The complex conjugate; `x` itself where it is real."""
    return np.conjugate(x) if x.dtype.kind == "c" else x


def real(x: Array) -> Array:
    """The real part."""
    return x.real


def imag(x: Array) -> Array:
    """The imaginary part."""
    return x.imag


# ---- what the engine needs --------------------------------------------------------------------
def sum_to(r: Array, shape: tuple[int, ...]) -> Array:
    """`r` summed over the dimensions along which `shape` was broadcast to give its shape."""
    have = r.shape
    # The gradient of a bias, the commonest case.
    if (
        len(have) == 2
        and len(shape) == 1
        and have[1] == shape[0]
        and (r.dtype is FLOAT32 or r.dtype is FLOAT64)
    ):
        return _column_sums(r)
    lead = len(have) - len(shape)
    axes = tuple(range(lead)) + tuple(
        [i + lead for i, n in enumerate(shape) if n == 1 and have[i + lead] != 1]
    )
    if axes:
        if lead == len(axes) == 1 and r.ndim == 2 and (r.dtype is FLOAT32 or r.dtype is FLOAT64):
            return _column_sums(r)
        total = None
        if r.size >= _LARGE and (r.dtype is FLOAT32 or r.dtype is FLOAT64):
            total = reductions.large_sum(r, axes)
        r = np.add.reduce(r, axis=axes) if total is None else total
    return r if r.shape == shape else np.reshape(r, shape)


_ones: dict[tuple[int, Any], Any] = {}


def _column_sums(r: Array) -> Array:
    """The sums of the columns, the gradient of every bias: BLAS takes half of NumPy's time."""
    key = (r.shape[0], r.dtype)
    ones = _ones.get(key)
    if ones is None:
        if len(_ones) > 64 or r.shape[0] > 1 << 16:
            return np.add.reduce(r, axis=0)
        ones = _ones[key] = np.ones(r.shape[0], r.dtype)
    return np.dot(ones, r)


def to_dtype(r: Array, dtype: RawType) -> Array:
    """`r` in the NumPy dtype `dtype`; a real one takes the real part."""
    if r.dtype == dtype:
        return r
    if r.dtype.kind == "c" and dtype.kind != "c":
        r = r.real
    return r.astype(dtype)


def expand_reduced(
    g: Array, shape: tuple[int, ...], dim: int | Shape | None, keepdim: bool
) -> Array:
    """`g`, the gradient of a reduction over `dim`, expanded to the shape that was reduced."""
    if dim is not None and not keepdim and len(shape):
        dims = (dim,) if isinstance(dim, int) else dim
        if len(dims):
            inner = list(shape)
            for d in dims:
                inner[d] = 1
            g = g.reshape(inner)
    return broadcast_to(g, shape)


def broadcast_to(x: Array, shape: tuple[int, ...]) -> Array:
    """`x` broadcast to a larger shape: a read-only view, or a copy where one element stays one.

    One element, and equal numbers of dimensions, take a fifth of what NumPy's function takes.
    """
    if x.ndim == 0:
        if not shape:
            return x
        strides: Any = (0,) * len(shape)
    elif x.ndim == len(shape):
        if not x.flags.c_contiguous:
            x = x.copy()  # it is the small side
        strides = []
        for have, want, step in zip(x.shape, shape, x.strides):
            if have == want:
                strides.append(step)
            elif have == 1:
                strides.append(0)
            else:
                return np.broadcast_to(x, shape)  # explains
    else:
        return np.broadcast_to(x, shape)
    if not x.size:
        return np.broadcast_to(x, shape)
    view = np.ndarray(shape, x.dtype, x, 0, strides)
    if view.size == 1:
        return view.copy()  # no element lies on another: PyTorch lets it be written
    view.flags.writeable = False
    return view


# ---- raw forwards -----------------------------------------------------------------------------
def type_like(number: object, like: Array) -> Array:
    """A number in the type of an array."""
    return type_number(number, like.dtype) if isinstance(like, np.ndarray) else number


def add_scaled(a: Array, b: Array | Scalar, alpha: float) -> Array | None:
    """a + alpha b; of 16-bit floats with `alpha` rounded first, and the rest rounded once."""
    if alpha == 1:
        return np.add(a, b)
    if type(b) is np.ndarray and type(alpha) is float:
        dtype = b.dtype
        if dtype is FLOAT32 or dtype is FLOAT64:
            return np.add(a, np.multiply(b, alpha))
    elif not isinstance(b, np.ndarray):
        b = type_like(b, a)  # NumPy's product of two numbers would be of double precision
    if not isinstance(a, np.ndarray):
        a = type_like(a, b)
    return _add_product(a, b, type_like(alpha, b))


def subtract_scaled(a: Array, b: Array | float, alpha: float) -> Any:
    """a - alpha b, in the same way."""
    return np.subtract(a, b) if alpha == 1 else add_scaled(a, b, -alpha)


@in_single
def _add_product(a: Array, b: Array, factor: Array) -> Array:
    return np.add(a, np.multiply(b, factor))


# ---- overrides --------------------------------------------------------------------------------
def overridden(override: AnyCallable, formula: AnyCallable, *args: object) -> Any:
    """`override(*args)`: what computes on arrays, in a gradient that is told in operations."""
    return override(*args)
