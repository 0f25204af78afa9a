"""Jacobians for `gradcheck`: by central differences, by backward, by forward mode.

They are arrays of shape (elements of the input, elements of the output).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._array import types as T
from .._core.storage import TensorBase, new_tensor
from . import forward_ad
from .backward import grad
from .grad_mode import no_grad


class GradcheckError(RuntimeError):
    """A gradient that `gradcheck` found wrong."""


def live_inputs(inputs: tuple[Any, ...]) -> list[int]:
    """The positions of the inputs that require grad."""
    return [k for k, x in enumerate(inputs) if isinstance(x, TensorBase) and x._requires_grad]


def moved(
    one: Callable[..., Any], inputs: tuple[Any, ...], k: int, position: int, step: complex
) -> Any:
    """The output of `one` where one element of input `k` is moved."""
    x = inputs[k]
    array = T.copy_like(x._raw, x._raw)
    array[T.unravel(position, array.shape)] += step
    shifted = new_tensor(array)
    with no_grad():
        result = one(*[shifted if m == k else plain(v) for m, v in enumerate(inputs)])
    return result._raw


def plain(v: Any) -> Any:
    """A tensor without its history; anything else as it is."""
    return v.detach() if isinstance(v, TensorBase) else v  # type: ignore[attr-defined]


def numerical_jacobian(one: Callable[..., Any], inputs: tuple[Any, ...], k: int, eps: float) -> Any:
    """The Jacobian by input `k`, by central differences."""
    x = inputs[k]
    is_complex = x._raw.dtype.kind == "c"
    rows: list[Any] = []
    for position in range(x._raw.size):
        row = difference(one, inputs, k, position, eps)
        if is_complex:
            row = row + 1j * difference(one, inputs, k, position, eps * 1j)
        rows.append(row.reshape(-1))
    return T.stacked(rows, x._raw.dtype)


def difference(
    one: Callable[..., Any], inputs: tuple[Any, ...], k: int, position: int, step: Any
) -> Any:
    """The central difference of the output along one element of an input."""
    up = moved(one, inputs, k, position, step)
    down = moved(one, inputs, k, position, -step)
    return (up - down) / (2 * abs(step))


def analytical_jacobians(output: Any, inputs: tuple[Any, ...], check_dtypes: bool) -> list[Any]:
    """The Jacobians by the inputs that require grad, by one backward for each output element."""
    live = live_inputs(inputs)
    wanted = [inputs[k] for k in live]
    columns: list[list[Any]] = [[] for _ in live]
    for position in range(output._raw.size):
        seed = T.zeros_like(output._raw)
        seed[T.unravel(position, seed.shape)] = 1
        found = pulled(output, wanted, new_tensor(seed))
        for column, g, x in zip(columns, found, wanted):
            column.append(checked_gradient(g, x, check_dtypes).reshape(-1))
    return [
        T.stacked(column, x._raw.dtype).T if column else T.empty((x._raw.size, 0), x._raw.dtype)
        for column, x in zip(columns, wanted)
    ]


def pulled(output: Any, wanted: list[Any], seed: Any) -> tuple[Any, ...]:
    """The gradients of the wanted inputs for one gradient of the output; None where unreached."""
    if not output._requires_grad:
        return (None,) * len(wanted)
    return grad(output, wanted, seed, retain_graph=True, allow_unused=True)


def checked_gradient(g: Any, x: Any, check_dtypes: bool) -> Any:
    """A gradient as an array, zeros for None.

    Raises:
        GradcheckError: where its shape (or, if asked for, its dtype) differs from the input's.
    """
    if g is None:
        return T.zeros_like(x._raw)
    if g._raw.shape != x._raw.shape:
        raise GradcheckError("Analytical gradient has incorrect size")
    if check_dtypes and g._raw.dtype != x._raw.dtype:
        raise GradcheckError("Gradient has dtype mismatch")
    return g._raw


def forward_jacobian(one: Callable[..., Any], inputs: tuple[Any, ...], k: int, output: Any) -> Any:
    """The Jacobian by input `k`, in forward mode, one input element at a time."""
    x = inputs[k]
    rows: list[Any] = []
    for position in range(x._raw.size):
        row = pushed(one, inputs, {k: unit(x, position, 1)}, output)
        if x._raw.dtype.kind == "c":
            row = row + 1j * pushed(one, inputs, {k: unit(x, position, 1j)}, output)
        rows.append(row.reshape(-1))
    return T.stacked(rows, x._raw.dtype)


def unit(x: Any, position: int, value: Any) -> Any:
    """Zeros shaped like a tensor, with one element set."""
    unit = T.zeros_like(x._raw)
    unit[T.unravel(position, unit.shape)] = value
    return unit


def pushed(
    one: Callable[..., Any], inputs: tuple[Any, ...], tangents: dict[int, Any], output: Any
) -> Any:
    """The tangent of the output for tangents of some inputs."""
    with forward_ad.dual_level():
        duals = [
            forward_ad.make_dual(v.detach(), new_tensor(tangents[m])) if m in tangents else plain(v)
            for m, v in enumerate(inputs)
        ]
        tangent = forward_ad.unpack_dual(one(*duals)).tangent
        return T.zeros_like(output._raw) if tangent is None else tangent._raw
