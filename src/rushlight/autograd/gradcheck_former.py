"""Jacobians under the former names of PyTorch's checks of gradients."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from .._core.storage import new_tensor
from .jacobians import analytical_jacobians, live_inputs, numerical_jacobians, sequence

if TYPE_CHECKING:
    from .._base.annotations import AnyCallable
    from .._tensor.tensor import Tensor


def _warn_private(name: str) -> None:
    warnings.warn(
        f"`{name}` was part of PyTorch's private API and not meant to be exposed. We are "
        "deprecating it and it will be removed in a future version of PyTorch. If you have a "
        "specific use for this or feature request for this to be a stable API, please file us an "
        "issue at https://github.com/pytorch/pytorch/issues/new",
        FutureWarning,
        stacklevel=3,
    )


def get_numerical_jacobian(
    fn: AnyCallable,
    inputs: tuple[Tensor, ...],
    target: Tensor | None = None,
    eps: float = 1e-3,
    grad_out: float = 1.0,
) -> tuple[object, ...]:
    """Jacobians of the first output of `fn(inputs)` by central differences; deprecated.

    One for each input that requires grad, or for those in `target`.

    Raises:
        ValueError: for another `grad_out` than 1.
    """
    _warn_private("get_numerical_jacobian")
    if grad_out != 1.0:
        raise ValueError(
            "Expected grad_out to be 1.0. get_numerical_jacobian no longer supports values of "
            "grad_out != 1.0."
        )
    wanted = sequence(inputs if target is None else target)
    places = [k for k in live_inputs(inputs) if any(inputs[k] is t for t in wanted)]
    found = [numerical_jacobians(lambda *x: fn(x), inputs, k, eps)[0] for k in places]
    return tuple(new_tensor(jacobian) for jacobian in found)


def get_analytical_jacobian(
    inputs: tuple[Tensor, ...], output: Any, nondet_tol: float = 0.0, grad_out: float = 1.0
) -> tuple[tuple[object, ...], bool, bool, bool]:
    """Jacobians of `output` by backward; deprecated.

    And whether they are reproducible, and their sizes and types right.

    Raises:
        ValueError: for another `grad_out` than 1.
    """
    _warn_private("get_analytical_jacobian")
    if grad_out != 1.0:
        raise ValueError(
            "Expected grad_out to be 1.0. get_analytical_jacobian no longer supports values of "
            "grad_out != 1.0."
        )
    first = analytical_jacobians(output, inputs, False)
    second = analytical_jacobians(output, inputs, False)
    stable = all(not a.size or float(abs(a - b).max()) <= nondet_tol for a, b in zip(first, second))
    return tuple(new_tensor(a) for a in first), stable, True, True
