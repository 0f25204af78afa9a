"""The raw array namespace: what formulas may call on `xp`, and raw forwards, over NumPy.

Names are those of the Python array API standard; the odd ones come after the aliases. Formulas see
the same names on Tensors through `ops/_traced.py`.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from .. import dtypes as D
from .extreme import placed_along as placed_along
from .extreme import taken_along as taken_along
from .extreme import ties as ties
from .indexing import diagonal_scatter as diagonal_scatter
from .indexing import index as index
from .indexing import index_backward as index_backward
from .indexing import index_put as index_put
from .indexing import select_scatter as select_scatter
from .indexing import slice_scatter as slice_scatter
from .joins import cat as cat
from .joins import stack as stack
from .later import Function, attribute
from .masks import keep as keep
from .masks import where as where
from .matmul import product
from .number import typed as number_typed
from .quotients import pow as pow
from .quotients import rsqrt as rsqrt
from .reduce import mean as mean
from .rounding import sgn as sgn
from .scan import accumulated_along as accumulated_along
from .scan import cumsum as cumsum
from .scan import exclusive_products as exclusive_products
from .scan import others_product as others_product
from .scan import recurrence as recurrence
from .scan import reverse_cumsum as reverse_cumsum
from .scan import shifted as shifted
from .shapes import clone as clone
from .shapes import expand as expand
from .shapes import permute as permute
from .shapes import select as select
from .shapes import select_backward as select_backward
from .shapes import slice_
from .shapes import slice_backward as slice_backward
from .shapes import squeeze as squeeze
from .shapes import t as t
from .shapes import transpose as transpose
from .shapes import unsqueeze as unsqueeze
from .strided import as_strided_backward as as_strided_backward
from .strided import as_strided_values as as_strided_values
from .types import FLOAT32, FLOAT64, in_single, to_raw
from .windows import diagonal as diagonal
from .windows import diagonal_backward as diagonal_backward
from .windows import unfold as unfold
from .windows import unfold_backward as unfold_backward
from .windows import view_as_complex as view_as_complex
from .windows import view_as_real as view_as_real

# ---- what is loaded when it is first asked for ------------------------------------------------
# See Note [Raw modules load late] in `later`.
_LATE: Final[dict[str, tuple[str, str]]] = {
    "constant_pad": ("arrangement", "constant_pad"),
    "diag_embed": ("arrangement", "diag_embed"),
    "flip": ("arrangement", "flip"),
    "repeat": ("arrangement", "repeat"),
    "repeat_backward": ("arrangement", "repeat_backward"),
    "roll": ("arrangement", "roll"),
    "rot90": ("arrangement", "rot90"),
    "tril": ("arrangement", "tril"),
    "triu": ("arrangement", "triu"),
    "turning": ("complexes", "turning"),
    "glu_backward": ("gating", "glu_backward"),
    "glu_gradients": ("gating", "glu_gradients"),
    "sigmoid": ("logistic", "sigmoid"),
    "softplus": ("logistic", "softplus"),
    "ldexp": ("relations", "ldexp"),
    "xlog1py": ("logistic", "xlog1py"),
    "xlogy": ("logistic", "xlogy"),
    "vector_norm": ("norm", "vector_norm"),
    "gather": ("placing", "gather"),
    "index_fill": ("placing", "index_fill"),
    "index_select": ("placing", "index_select"),
    "index_select_backward": ("placing", "index_select_backward"),
    "masked_place": ("placing", "masked_place"),
    "masked_scatter": ("placing", "masked_scatter"),
    "masked_scatter_source": ("placing", "masked_scatter_source"),
    "masked_select": ("placing", "masked_select"),
    "put": ("placing", "put"),
    "scatter": ("placing", "scatter"),
    "scatter_add": ("placing", "scatter_add"),
    "scatter_reduce": ("placing", "scatter_reduce"),
    "take": ("placing", "take"),
    "constant_pad_nd": ("arrangement", "constant_pad"),
    "channel_sums": ("convolve", "channel_sums"),
    "conv_output": ("convolve", "conv_output"),
    "conv_input": ("convolve", "spread"),
    "conv_weight": ("convolve", "weigh"),
    "erf": ("erf", "erf"),
    "gelu_backward": ("erf", "gelu_backward"),
    "padded_to_full": ("fft", "padded_to_full"),
    "_fft_c2c": ("fft", "c2c"),
    "_fft_r2c": ("fft", "r2c"),
    "cholesky_solve": ("linalg", "cholesky_solve"),
    "cofactors": ("linalg", "cofactors"),
    "inv": ("linalg", "inv"),
    "matrix_exp": ("linalg", "matrix_exp"),
    "same_phase": ("linalg", "same_phase"),
    "solve": ("linalg", "solve"),
    "cross3": ("pairs", "cross3"),
    "pick_from_planes": ("pool", "pick_from_planes"),
    "place_in_planes": ("pool", "place_in_planes"),
    "_standard_gamma_grad": ("rejection", "standard_gamma_grad"),
    "_sparse_product": ("sparse", "_sparse_product"),
    "digamma": ("special", "digamma"),
    "digamma_sum": ("special", "digamma_sum"),
    "erfcx": ("special", "erfcx"),
    "i0": ("special", "i0"),
    "i0e": ("special", "i0e"),
    "i1": ("special", "i1"),
    "i1e": ("special", "i1e"),
    "lgamma": ("special", "lgamma"),
    "polygamma": ("special", "polygamma"),
    "zeta": ("special", "zeta"),
    "eig": ("spectra", "eig"),
    "eigh": ("spectra", "eigh"),
    "pinv": ("spectra", "pinv"),
    "thin_svd": ("spectra", "thin_svd"),
    "permutation_matrix": ("triangular", "permutation_matrix"),
    "solve_triangular": ("triangular", "solve_triangular"),
}


def __getattr__(name: str) -> Any:
    place = _LATE.get(name)
    if place is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = attribute(*place)
    if type(found) is not Function:
        globals()[name] = found
    return found


# ---- aliases ----------------------------------------------------------------------------------
matmul = product
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
def reshape(x: Any, shape: tuple[int, ...]) -> Any:
    """`x` in another shape: a view where possible."""
    return x.reshape(shape)


def constant(x: Any) -> Any:
    """`x`: an array that formulas make themselves, as a value of their namespace."""
    return x


def contiguous(x: Any) -> Any:
    """`x` in C order."""
    return np.ascontiguousarray(x) if x.ndim else x


def permute_dims(x: Any, axes: tuple[int, ...]) -> Any:
    """`x` with its dimensions in the order `axes`."""
    return x.transpose(axes)


def matrix_transpose(x: Any) -> Any:
    """`x` with its last two dimensions exchanged."""
    return x.swapaxes(-1, -2)


def expand_dims(x: Any, axis: int) -> Any:
    """`x` with a dimension of size one at `axis`."""
    return np.expand_dims(x, axis)


# NumPy's types have no overload for a `keepdims` that is any bool.
_add_reduce: Any = np.add.reduce


def sum(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The sum over `axis` (all by default), in the type of `x`."""
    return _add_reduce(x, axis=axis, keepdims=keepdims, dtype=None)


def zeros(shape: tuple[int, ...], dtype: Any) -> Any:
    """Zeros of a shape and a dtype (a NumPy dtype, or one of ours)."""
    return np.zeros(shape, to_raw(dtype) if isinstance(dtype, D.dtype) else dtype)


def zeros_like(x: Any) -> Any:
    """Zeros shaped like `x`."""
    return np.zeros_like(x)


def eye_like(x: Any) -> Any:
    """Ones on the diagonal of one matrix of the size of those in `x`, zeros elsewhere."""
    return np.eye(x.shape[-2], x.shape[-1], dtype=x.dtype)


def astype(x: Any, dtype: D.dtype) -> Any:
    """`x` converted to `dtype`; a real one takes the real part."""
    raw = to_raw(dtype)
    return (x.real if x.dtype.kind == "c" and raw.kind != "c" else x).astype(raw)


def conj(x: Any) -> Any:
    """The complex conjugate; `x` itself where it is real."""
    return np.conjugate(x) if x.dtype.kind == "c" else x


def real(x: Any) -> Any:
    """The real part."""
    return x.real


def imag(x: Any) -> Any:
    """The imaginary part."""
    return x.imag


# ---- what the engine needs --------------------------------------------------------------------
def sum_to(r: Any, shape: tuple[int, ...]) -> Any:
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
        r = np.add.reduce(r, axis=axes)
    return r if r.shape == shape else np.reshape(r, shape)


_ones: dict[tuple[int, Any], Any] = {}


def _column_sums(r: Any) -> Any:
    """The sums of the columns, the gradient of every bias: BLAS takes half of NumPy's time."""
    key = (r.shape[0], r.dtype)
    ones = _ones.get(key)
    if ones is None:
        if len(_ones) > 64 or r.shape[0] > 1 << 16:
            return np.add.reduce(r, axis=0)
        ones = _ones[key] = np.ones(r.shape[0], r.dtype)
    return np.dot(ones, r)


def to_dtype(r: Any, dtype: Any) -> Any:
    """`r` in the NumPy dtype `dtype`; a real one takes the real part."""
    if r.dtype == dtype:
        return r
    if r.dtype.kind == "c" and dtype.kind != "c":
        r = r.real
    return r.astype(dtype)


def expand_reduced(g: Any, shape: tuple[int, ...], dim: Any, keepdim: bool) -> Any:
    """`g`, the gradient of a reduction over `dim`, spread over the shape that was reduced."""
    if dim is not None and not keepdim and len(shape):
        dims = (dim,) if isinstance(dim, int) else dim
        if len(dims):
            inner = list(shape)
            for d in dims:
                inner[d] = 1
            g = g.reshape(inner)
    return broadcast_to(g, shape)


def broadcast_to(x: Any, shape: tuple[int, ...]) -> Any:
    """`x` spread over a larger shape: a read-only view.

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
    view.flags.writeable = False
    return view


# ---- raw forwards -----------------------------------------------------------------------------
def typed(number: Any, like: Any) -> Any:
    """A number in the type of an array."""
    return number_typed(number, like.dtype) if isinstance(like, np.ndarray) else number


def add_scaled(a: Any, b: Any, alpha: Any) -> Any:
    """a + alpha b; of 16-bit floats with `alpha` rounded first, and the rest rounded once."""
    if alpha == 1:
        return np.add(a, b)
    if type(b) is np.ndarray and type(alpha) is float:
        dtype = b.dtype
        if dtype is FLOAT32 or dtype is FLOAT64:
            return np.add(a, np.multiply(b, alpha))
    elif not isinstance(b, np.ndarray):
        b = typed(b, a)  # NumPy's product of two numbers would be of double precision
    return _add_product(a, b, typed(alpha, b))


def subtract_scaled(a: Any, b: Any, alpha: Any) -> Any:
    """a - alpha b, in the same way."""
    return np.subtract(a, b) if alpha == 1 else add_scaled(a, b, -alpha)


@in_single
def _add_product(a: Any, b: Any, factor: Any) -> Any:
    return np.add(a, np.multiply(b, factor))


# ---- fused gradients --------------------------------------------------------------------------
def fused(kernel: Any, formula: Any, *args: Any) -> Any:
    """`kernel(*args)`: the raw side of a gradient with a kernel beside its formula on Tensors."""
    return kernel(*args)
