"""The bridge to `scipy.optimize`: functions of tensors as functions of flat NumPy vectors.

from scipy.optimize import minimize
result = minimize(value_and_grad(f), x0, jac=True, hessp=hessian_product(f))
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from .._base import dtypes
from .._tensor.tensor import Tensor
from ..autograd.backward import grad
from ..autograd.grad_mode import enable_grad
from ..nn._ground import f as _f

if TYPE_CHECKING:
    from .._array.annotations import Array
    from .._base.dtypes import dtype

__all__ = ["flattened", "hessian_product", "unflattened", "value_and_grad"]

Like = Tensor | Sequence[Tensor] | None


def _vector(x: Array, dtype: dtype) -> Tensor:
    made: Tensor = _f.tensor(x, dtype=dtype)
    return made.requires_grad_()


def unflattened(x: Tensor, like: Like) -> Tensor | Sequence[Tensor]:
    """The parts of a vector in the shapes and dtypes of `like`; without it the vector."""
    if like is None:
        return x
    if isinstance(like, Tensor):
        return x.reshape(like.shape).to(like.dtype)
    parts, start = [], 0
    for tensor in like:
        stop = start + tensor.numel()
        parts.append(x[start:stop].reshape(tensor.shape).to(tensor.dtype))
        start = stop
    if start != x.numel():
        raise ValueError(f"a vector of {x.numel()} elements for tensors of {start}")
    return parts


def flattened(tensors: Tensor | Sequence[Tensor]) -> Array:
    """One NumPy vector of float64 from tensors: the `x0` of a minimizer."""
    several = [tensors] if isinstance(tensors, Tensor) else list(tensors)
    rows = [tensor.detach().reshape(-1).to(dtypes.float64) for tensor in several]
    return _f.cat(rows).numpy()


def _called(function: Callable[..., object], x: Tensor, like: Like) -> Tensor:
    given = unflattened(x, like)
    value = function(*given) if isinstance(given, list) else function(given)
    if not isinstance(value, Tensor) or value.numel() != 1:
        raise ValueError("the function to minimize must give a tensor of one element")
    return value


def value_and_grad(
    function: Callable[..., object], like: Like = None, dtype: dtype = dtypes.float64
) -> Callable[..., tuple[float, Array]]:
    """A function of a NumPy vector that gives `function`'s value and gradient, for `jac=True`.

    `function` takes a tensor of float64, or with `like` tensors of these shapes and dtypes. Further
    arguments (`args` of `minimize`) are passed on.

    Raises, when called:
        ValueError: where `function` gives anything but one number.
    """

    def both(x: Array, *args: object) -> tuple[float, Array]:
        with enable_grad():
            vector = _vector(x, dtype)
            value = _called(lambda *given: function(*given, *args), vector, like)
            if not value.requires_grad:
                return float(value.item()), _f.zeros_like(vector.detach()).numpy()
            (slope,) = grad(value, [vector])
        return float(value.item()), slope.detach().to(dtypes.float64).numpy()

    return both


def hessian_product(
    function: Callable[..., object], like: Like = None, dtype: dtype = dtypes.float64
) -> Callable[..., Array]:
    """A function of NumPy vectors x and p that gives the Hessian at x times p, for `hessp`."""

    def product(x: Array, p: Array, *args: object) -> Array:
        with enable_grad():
            vector = _vector(x, dtype)
            value = _called(lambda *given: function(*given, *args), vector, like)
            zero = _f.zeros_like(vector.detach())
            if not value.requires_grad:
                return zero.numpy()
            (slope,) = grad(value, [vector], create_graph=True)
            if not slope.requires_grad:
                return zero.numpy()
            along = _f.tensor(p, dtype=dtype)
            (found,) = grad((slope * along).sum(), [vector], allow_unused=True)
        return (zero if found is None else found.detach()).to(dtypes.float64).numpy()

    return product
