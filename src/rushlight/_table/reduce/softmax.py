"""Softmax and its relatives: probabilities along a dimension, and their logarithms."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from ..._array import types as T
from ..._array.lazy_modules import later
from ..._array.reduce import softmax as raw
from ..._base import dtypes as D, errors
from ..._core.apply import apply_n
from ..._core.storage import TensorBase
from ..rows.composite import composite
from ..rows.row import general

if TYPE_CHECKING:
    from ..._array.annotations import Array
    from ..._tensor.tensor import Tensor

losses = later("nn.element_losses")
small = later("nn.small_rows")


def _prepared(name: str, x: Array, dim: int, dtype: D.dtype | None) -> Array:
    """The operand in its final type.

    Raises: IndexError for a dimension that isn't there, NotImplementedError for integers.
    """
    if dtype is not None:
        x = T.converted(x, dtype)
    limit = x.ndim or 1
    if not -limit <= dim < limit:
        raise IndexError(errors.dimension(dim, x.ndim))
    if x.dtype.kind not in "fV" and x.size:
        losses.require_floats(x, f"{name}{_kernel(x, dim)}_kernel_impl")
    return x


def _kernel(x: Array, dim: int) -> str:
    return "_lastdim" if x.ndim == 0 or dim % x.ndim == x.ndim - 1 else ""


def _softmax(x: Array, dim: int, dtype: D.dtype | None = None) -> Any:
    if dtype is None and (dim == 1 or dim == -1) and small.fits(x):
        found = small.softmax(x)
        if found is not None:
            return found
    x = _prepared("softmax", x, dim, dtype)
    return raw.softmax(x, dim) if x.size else x.copy()


def _softmax_backward(g: Array, y: Array, dim: int) -> Any:
    if (dim == 1 or dim == -1) and small.fits(y) and g.dtype is y.dtype:
        return small.softmax_backward(g, y)
    return raw.softmax_backward(g, y, dim)


def _log_softmax(x: Array, dim: int, dtype: D.dtype | None = None) -> Any:
    if dtype is None and (dim == 1 or dim == -1) and small.fits(x):
        return small.log_softmax(x)
    x = _prepared("log_softmax", x, dim, dtype)
    return raw.log_softmax(x, dim) if x.size else x.copy()


def _log_softmax_backward(g: Array, y: Array, dim: int) -> Any:
    if (dim == 1 or dim == -1) and small.fits(y) and g.dtype is y.dtype:
        return small.log_softmax_backward(g, y)
    return raw.log_softmax_backward(g, y, dim)


def _softmax_gradient(g: Tensor, y: Tensor, dim: int) -> Any:
    """y (g - Σ g y): the Jacobian diag(y) - y yᵀ times g."""
    return y * (g - (g * y).sum(dim, keepdim=True))


def _log_softmax_gradient(g: Tensor, y: Tensor, dim: int) -> Any:
    """g - exp(y) Σ g."""
    return g - y.exp() * g.sum(dim, keepdim=True)


SOFTMAX = general(
    "softmax(Tensor self, int dim, ScalarType? dtype=None) -> Tensor",
    _softmax,
    self=lambda xp, g, out, dim: xp.fused(_softmax_backward, _softmax_gradient, g, out, dim),
    namespace=("", "special"),
    lowering="softmax",
    samples=lambda mk: [(mk(3, 4), 1), (mk(2, 3, 4), 0), (mk(5), -1)],
    real_only="_softmax",
    doc="exp(input) divided by its sum along `dim`.",
)
LOG_SOFTMAX = general(
    "log_softmax(Tensor self, int dim, ScalarType? dtype=None) -> Tensor",
    _log_softmax,
    self=lambda xp, g, out, dim: xp.fused(
        _log_softmax_backward, _log_softmax_gradient, g, out, dim
    ),
    namespace=("", "special"),
    lowering="log_softmax",
    samples=lambda mk: [(mk(3, 4), 1), (mk(2, 3, 4), 0), (mk(5), -1)],
    real_only="_log_softmax",
    doc="The logarithm of softmax(input) along `dim`.",
)


def _implicit_dim(name: str, ndim: int, stacklevel: int) -> int:
    """The dimension that calls without one meant."""
    warnings.warn(
        f"Implicit dimension choice for {name} has been deprecated. Change the call to include "
        "dim=X as "
        "an argument.",
        stacklevel=stacklevel,
    )
    return 0 if ndim in (0, 1, 3) else 1


def _called(
    row: Any, name: str, input: Tensor, dim: int | None, stacklevel: int, dtype: D.dtype | None
) -> Any:
    if dim is None:
        dim = _implicit_dim(name, input.dim(), stacklevel + 1)
    if (
        type(dim) is int
        and isinstance(input, TensorBase)
        and (dtype is None or isinstance(dtype, D.dtype))
    ):
        return apply_n(row.op, [input, dim, dtype])
    return getattr(input, name)(dim, dtype=dtype)


@composite("nn.functional")
def softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Any:
    """exp(input) divided by its sum along `dim`: numbers between 0 and 1 that add up to 1.

    Special: a row of -inf, a row with inf or nan -> nan.
    Raises: IndexError for a dimension that isn't there.
    """
    return _called(SOFTMAX, "softmax", input, dim, _stacklevel, dtype)


@composite("nn.functional")
def log_softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None
) -> Any:
    """The logarithm of softmax(input) along `dim`, without its rounding errors.

    Raises: IndexError for a dimension that isn't there.
    """
    return _called(LOG_SOFTMAX, "log_softmax", input, dim, _stacklevel, dtype)


@composite("nn.functional")
def softmin(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Any:
    """softmax(-input) along `dim`."""
    if dim is None:
        dim = _implicit_dim("softmin", input.dim(), _stacklevel)
    return _called(SOFTMAX, "softmax", -input, dim, _stacklevel, dtype)


@composite("nn.functional")
def gumbel_softmax(
    logits: Any, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1
) -> Any:
    """A Gumbel-softmax sample; `hard` gives one-hot vectors with soft gradients.

    Source: E. Jang, S. Gu, B. Poole, Categorical reparameterization with Gumbel-softmax (2017).
    """
    if eps != 1e-10:
        warnings.warn("`eps` parameter is deprecated and has no effect.", stacklevel=2)
    noise = logits.detach().clone().exponential_()
    soft = ((logits + -noise.log()) / tau).softmax(dim)
    if not hard:
        return soft
    index = soft.detach().max(dim, keepdim=True)[1]
    one = (soft.detach() * 0).scatter(dim, index, 1.0)
    return one - soft.detach() + soft


@composite(name="_softmax_backward_data")
def softmax_backward_data(grad_output: Any, output: Any, dim: int, input_dtype: Any) -> Any:
    """The gradient of a softmax from its result: programs with their own softmax call it."""
    found = _softmax_gradient(grad_output, output, dim)
    return found if found.dtype is input_dtype else found.to(input_dtype)


@composite(name="_log_softmax_backward_data")
def log_softmax_backward_data(grad_output: Any, output: Any, dim: int, input_dtype: Any) -> Any:
    """The gradient of a log-softmax from its result."""
    found = _log_softmax_gradient(grad_output, output, dim)
    return found if found.dtype is input_dtype else found.to(input_dtype)
