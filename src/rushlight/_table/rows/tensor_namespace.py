"""The traced namespace: the vocabulary of `numpy_ns`, on Tensors, for gradients that are recorded.

Most names are operations of the table under another name; they are connected once the table is
built.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from ..._array import numpy_namespace as _raw, types as T
from ..._array.axes import other_axes
from ..._base import dtypes as D
from ..._base.device import on_meta
from ..._base.lazy import Pending, lazy
from ..._core.slow import holds
from ..._core.storage import TensorBase, new_tensor
from ..._formula.words import WORLDS as WORDS_OF, scale_unit as scale_unit

if TYPE_CHECKING:
    from ..._array.annotations import RawType
    from ..._base.annotations import AnyCallable, Shape
    from ..._tensor.tensor import Tensor


class _Connected(dict[str, Any]):
    """The table's functions by name, taken from the table when they are first asked for: what takes
    their usual calls in C where there is that, see Note [Entries]."""

    def __init__(self) -> None:
        super().__init__()
        self.public: Pending[tuple[str, str]] = Pending()
        self.methods: Pending[str] = Pending()
        self.entries: Mapping[AnyCallable, AnyCallable] = {}
        self.places: dict[str, tuple[str, str]] = {}

    def __missing__(self, name: str) -> AnyCallable:
        if not self.places:
            places: dict[str, tuple[str, str]] = {}
            for key in self.public:
                if key[0] in ("", "special", "linalg", "private"):
                    places.setdefault(key[1], key)
            self.places = places
        place = self.places.get(name)
        made = self.methods[name] if place is None else self.public[place]
        found = self[name] = self.entries.get(made, made)
        return found


_functions: Final = _Connected()

# vocabulary name -> name in the table, where the arguments are the same
ALIASES: Final[dict[str, str]] = {
    "abs": "abs", "add": "add", "subtract": "sub", "multiply": "mul", "divide": "div",
    "negative": "neg", "exp": "exp", "expm1": "expm1", "log": "log", "log1p": "log1p",
    "log2": "log2", "log10": "log10", "sqrt": "sqrt", "square": "square", "sin": "sin",
    "cos": "cos", "tan": "tan", "sinh": "sinh", "cosh": "cosh", "tanh": "tanh", "arcsin": "asin",
    "arccos": "acos", "arctan": "atan", "arcsinh": "asinh", "arccosh": "acosh", "arctanh": "atanh",
    "maximum": "maximum", "minimum": "minimum", "sign": "sgn", "where": "where", "matmul": "matmul",
    "equal": "eq", "not_equal": "ne", "less": "lt", "less_equal": "le", "greater": "gt",
    "greater_equal": "ge", "isnan": "isnan", "logical_and": "logical_and", "conj": "conj",
    "logical_or": "logical_or", "logical_not": "logical_not", "real": "real", "imag": "imag",
    "broadcast_to": "broadcast_to", "reshape": "reshape", "permute_dims": "permute",
    "zeros_like": "zeros_like", "clone": "clone",
}  # fmt: skip


def connect(
    public: Pending[tuple[str, str]],
    methods: Pending[str],
    entries: Mapping[AnyCallable, AnyCallable],
) -> None:
    """Gives this namespace the functions of the finished table, and what takes their calls."""
    _functions.public, _functions.methods, _functions.entries = public, methods, entries


def _find(name: str) -> AnyCallable:
    """A vocabulary name without an entry of its own is the table's function of that name."""
    short = ALIASES.get(name, name)
    found = _functions[short] if name not in ALIASES else _alias(short)
    return globals().setdefault(name, found)


__getattr__ = lazy(__name__, find=_find)


def _alias(short: str) -> Any:
    found = _functions.public.get(("", short))
    made = _functions.methods[short] if found is None else found
    return _functions.entries.get(made, made)


class _Words(dict[str, Any]):
    """The vocabulary of formulas on Tensors: the table's functions."""

    def __missing__(self, name: str) -> AnyCallable:
        found = self[name] = _functions[_WORDS.get(name, name)]
        return found


def _choose_by_bounds(by_tensor: str, by_number: str) -> AnyCallable:
    def bind(x: Tensor, y: int) -> Tensor:
        if isinstance(y, TensorBase):
            return _functions[by_tensor](x, y)
        return _functions[by_number](x, y)

    return bind


def _reduce_rows(reduction: str) -> AnyCallable:
    return lambda x, dim: _functions[reduction](x, dim, True)


def _column_sum(x: Tensor, dim: Shape) -> Any:
    others = other_axes(x.dim(), dim)
    return _functions["sum"](x, others) if others else x


def _pick(x: Tensor, index: Tensor, dim: int) -> Tensor:
    return x.gather(dim, index.unsqueeze(dim))


def _place(x: Tensor, index: Tensor, like: Tensor, dim: int) -> Tensor:
    return _functions["zeros_like"](like).scatter(dim, index.unsqueeze(dim), x)


def _row_top(x: Tensor, dim: int | Shape) -> Any:
    return _functions["amax"](_functions["detach"](x), dim, True)


def _shifted_exp(x: Tensor, dim: int | Shape) -> Any:
    return _functions["exp"](x - _row_top(x, dim))


_WORDS: Final = {
    "absolute": "abs", "log_sigmoid": "logsigmoid", "power": "pow", "rint": "round",
}  # fmt: skip
WORDS_OF[TensorBase] = _Words(
    maximum=_choose_by_bounds("maximum", "clamp_min"),
    minimum=_choose_by_bounds("minimum", "clamp_max"),
    row_sum=_reduce_rows("sum"), row_max=_reduce_rows("amax"), row_min=_reduce_rows("amin"),
    row_top=_row_top, shifted_exp=_shifted_exp, column_sum=_column_sum, pick=_pick, place=_place,
)  # fmt: skip


def table(name: str) -> Any:
    """The public function of the table called `name`."""
    return _functions[name]


def some(test: AnyCallable, t: Tensor) -> bool:
    """Whether a test of elements, on arrays and Tensors alike, is true of some element of `t`.

    The program of a compiled step expects the answer that it was recorded with.
    """
    return bool(t._raw.size) and holds(lambda x: test(x).any(), t)


def matrix_transpose(x: Tensor) -> Tensor:
    """`x` with its last two dimensions exchanged."""
    return _functions["transpose"](x, -1, -2)


def expand_dims(x: Tensor, axis: int) -> Tensor:
    """`x` with a dimension of size one at `axis`."""
    return _functions["unsqueeze"](x, axis)


def sum(x: Tensor, axis: int | Shape | None = None, keepdims: bool = False) -> Any:
    """The sum over `axis` (all by default)."""
    if axis is None:
        return _functions["sum"](x)
    return _functions["sum"](x, axis, keepdims)


def zeros(shape: tuple[int, ...], dtype: D.dtype) -> Any:
    """Zeros of a shape and a dtype."""
    if on_meta(None):
        from .meta import empty_meta

        return empty_meta(tuple(shape), dtype if isinstance(dtype, D.dtype) else T.from_raw(dtype))
    return new_tensor(_raw.zeros(shape, dtype))


def eye_like(x: Tensor) -> Any:
    """Ones on the diagonal of one matrix of the size of those in `x`, zeros elsewhere."""
    return new_tensor(_raw.eye_like(x._raw))


def astype(x: Tensor, dtype: D.dtype) -> Any:
    """`x` converted to `dtype`; a real one takes the real part."""
    if x._raw.dtype.kind == "c" and not dtype.is_complex:
        x = _functions["real"](x)
    return _functions["to"](x, dtype)


def to_dtype(r: Tensor, dtype: RawType) -> Tensor:
    """`r` in the NumPy dtype `dtype`; a real one takes the real part."""
    if r._raw.dtype == dtype:
        return r
    if r._raw.dtype.kind == "c" and dtype.kind != "c":
        r = _functions["real"](r)
    return _functions["to"](r, T.from_raw(dtype))


def sum_to(r: Tensor, shape: tuple[int, ...]) -> Tensor:
    """`r` summed over the dimensions along which `shape` was broadcast to give its shape."""
    have = r._raw.shape
    lead = len(have) - len(shape)
    axes = tuple(range(lead)) + tuple(
        i + lead for i, n in enumerate(shape) if n == 1 and have[i + lead] != 1
    )
    if axes:
        r = _functions["sum"](r, axes, not lead)
    return r if r._raw.shape == tuple(shape) else _functions["reshape"](r, shape)


def expand_reduced(
    g: Tensor, shape: tuple[int, ...], dim: int | Shape | None, keepdim: bool
) -> Tensor:
    """`g`, the gradient of a reduction over `dim`, expanded to the shape that was reduced."""
    if dim is not None and not keepdim and len(shape):
        dims = (dim,) if isinstance(dim, int) else dim
        if len(dims):
            inner = list(shape)
            for d in sorted(d % len(shape) for d in dims):
                inner[d] = 1
            g = _functions["reshape"](g, inner)
    return _functions["expand"](g, shape)


def keep(g: Tensor, mask: Tensor) -> Tensor:
    """`g` where `mask` is True, zero elsewhere."""
    return _functions["where"](mask, g, 0)


def angle_gradient(x: Tensor) -> Tensor:
    """The gradient of `angle`: i x / |x|² for complex numbers, 0 at 0 and for reals."""
    if not T.dtype_of(x).is_complex:
        return _functions["zeros_like"](x)
    square = _functions["real"](x) ** 2 + _functions["imag"](x) ** 2
    zero = square == 0
    return _functions["where"](zero, 0, x * 1j / _functions["where"](zero, 1, square))


def digamma_sum(x: Tensor, p: int) -> Tensor:
    """The derivative of `mvlgamma`: Σ ψ(x - j/2) for j < p."""
    total = _functions["digamma"](x)
    for j in range(1, p):
        total = total + _functions["digamma"](x - 0.5 * j)
    return total


def constant(x: Any) -> Any:
    """A raw array as a Tensor without history."""
    return x if isinstance(x, TensorBase) else new_tensor(x)


def overridden(override: AnyCallable, formula: AnyCallable, *args: object) -> Any:
    """`formula(*args)`: what the raw side computes by `override`, in recorded operations."""
    return formula(*args)
