"""`torch._functorch.eager_transforms`: the derivatives."""

from __future__ import annotations

from typing import Any

from ...func import (
    functionalize,
    grad,
    grad_and_value,
    hessian,
    jacfwd,
    jacrev,
    jvp,
    linearize,
    vjp,
)
from ...func.derivatives import _pick

__all__ = [
    "functionalize",
    "grad",
    "grad_and_value",
    "hessian",
    "jacfwd",
    "jacrev",
    "jvp",
    "linearize",
    "vjp",
]


def _slice_argnums(args: tuple[Any, ...], argnums: Any, as_tuple: bool = True) -> Any:
    """The arguments at some positions; with `as_tuple`, also where there is one, as a tuple."""
    found = tuple(args[k] for k in _pick(argnums, len(args)))
    return found[0] if isinstance(argnums, int) and not as_tuple else found
