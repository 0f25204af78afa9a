"""Jacobians for `gradcheck`: by central differences, by backward, by forward mode.

They are arrays of shape (elements of the input, elements of the output).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .._array import types as T
from .._base.size import Size
from .._core.engine import WORLDS
from .._core.storage import TensorBase, new_tensor
from .._table import PUBLIC
from . import forward_ad
from .backward import grad, is_sparse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._array.annotations import Array
    from .._table.random.generator import Generator
    from .._tensor.tensor import Tensor


class GradcheckError(RuntimeError):
    """A gradient that `gradcheck` found wrong."""


def live_inputs(inputs: tuple[Tensor, ...]) -> list[int]:
    """The positions of the inputs that require grad."""
    return [k for k, x in enumerate(inputs) if isinstance(x, TensorBase) and x.requires_grad]


def sequence(value: Any) -> tuple[Tensor, ...]:
    """Several values as a tuple; one value as a tuple of one."""
    if isinstance(value, tuple):
        return value
    return tuple(value) if isinstance(value, list) else (value,)


def values_at(
    func: Callable[..., Tensor | Sequence[Tensor]], inputs: tuple[Tensor, ...]
) -> list[Array]:
    """The outputs of `func` as arrays; those that are no tensors: None.

    It is called as its user calls it, recording: it may register hooks on what it computes.
    """
    outputs = sequence(func(*inputs))
    return [_elements(o) if isinstance(o, TensorBase) else None for o in outputs]


def _elements(t: Tensor) -> Array:
    """The elements of a tensor; one by one where its class has them."""
    if is_sparse(t):
        t = t.to_dense()
    if not (t._layered and type(t)._dispatches):
        return T.copy(t._raw)
    found = T.empty(t._raw.shape, t._raw.dtype)
    flat = t.detach().reshape(-1)
    for i in range(found.size):
        found.flat[i] = flat[i].item()
    return found


def plain(v: TensorBase) -> Any:
    """A tensor without its history; anything else as it is."""
    return v.detach() if isinstance(v, TensorBase) else v  # type: ignore[attr-defined]


def differences(
    func: Callable[..., Tensor | Sequence[Tensor]],
    inputs: tuple[Tensor, ...],
    k: int,
    where: object,
    step: Any,
    eps: float,
) -> list[Any]:
    """The central differences of all outputs when input `k` moves by `step` at `where`.

    The input's own memory is moved, and put back: inputs that share it move along.
    """
    x: Any = inputs[k]
    if x._layered and type(x)._dispatches:  # its elements are somewhere else
        elements = x.detach()
        before, moved = elements[where].clone(), new_tensor(T.as_array(step))
    else:
        elements = x._raw
        before, moved = T.copy(elements[where]), step
    try:
        elements[where] = before + moved
        up = values_at(func, inputs)
        elements[where] = before - moved
        down = values_at(func, inputs)
    finally:
        elements[where] = before
    for a, b in zip(up, down):
        if a is not None and b is not None and (a.shape != b.shape or a.dtype != b.dtype):
            raise AssertionError(_explain_change(a, b, where, eps))
    return [None if a is None else _slope(a, b, eps) for a, b in zip(up, down)]


def _explain_change(up: Any, down: Any, where: Any, eps: float) -> str:
    """The message for outputs whose shape or dtype depends on the inputs' values."""
    at = "" if where is ... else f"on index {tuple(int(i) for i in where)} "
    if up.shape != down.shape:
        what, a, b = "shape", str(Size(down.shape)), str(Size(up.shape))
    else:
        what, a, b = "dtype", str(T.from_raw(down.dtype)), str(T.from_raw(up.dtype))
    return (
        f"Expected `func` to return outputs with the same {what} when inputs are perturbed {at}by "
        f"{eps}, but got: {what}s {a} and {b}."
    )


def _slope(a: Array, b: Array, eps: float) -> Array:
    if T.is_discrete(a.dtype):
        return T.zeros_like(a)
    return (a - b) / (2 * eps)


def numerical_jacobians(
    func: Callable[..., Tensor | Sequence[Tensor]], inputs: tuple[Tensor, ...], k: int, eps: float
) -> list[Any]:
    """The Jacobians of all outputs by input `k`, by central differences."""
    x = inputs[k]
    is_complex = x._raw.dtype.kind == "c"
    rows: list[list[Any]] = []
    for position in range(x._raw.size):
        where = T.unravel(position, x._raw.shape)
        found = differences(func, inputs, k, where, eps, eps)
        if is_complex:
            turned = differences(func, inputs, k, where, eps * 1j, eps)
            found = [None if a is None else a + 1j * b for a, b in zip(found, turned)]
        rows.append(found)
    if not rows:
        return [
            None if o is None else T.empty((0, o.size), x._raw.dtype)
            for o in values_at(func, inputs)
        ]
    return [
        None if column[0] is None else _stack([c.reshape(-1) for c in column], x, column[0])
        for column in zip(*rows)
    ]


def _stack(rows: list[Array], x: Tensor, o: Array) -> Any:
    """Rows of a Jacobian; complex where the input or the output is."""
    return T.stack_rows(rows, o.dtype if o.dtype.kind == "c" else x._raw.dtype)


def analytical_jacobians(
    output: Tensor, inputs: tuple[Tensor, ...], check_dtypes: bool
) -> list[Array]:
    """The Jacobians by the inputs that require grad, by one backward for each output element."""
    live = live_inputs(inputs)
    wanted = [inputs[k] for k in live]
    columns: list[list[Any]] = [[] for _ in live]
    for position in range(output._raw.size):
        seed = WORLDS.raw.zeros(output._raw.shape, output._raw.dtype)
        seed[T.unravel(position, seed.shape)] = 1
        found = pull(output, wanted, new_tensor(seed))
        for column, g, x in zip(columns, found, wanted):
            column.append(check_gradient(g, x, check_dtypes).reshape(-1))
    return [
        T.stack_rows(column, x._raw.dtype).T if column else T.empty((x._raw.size, 0), x._raw.dtype)
        for column, x in zip(columns, wanted)
    ]


def pull(output: Tensor, wanted: list[Tensor], seed: Any) -> tuple[Any, ...]:
    """The gradients of the wanted inputs for one gradient of the output; None where unreached."""
    if not output.requires_grad:
        return (None,) * len(wanted)
    return grad(output, wanted, seed, retain_graph=True, allow_unused=True)


def check_gradient(g: Tensor | None, x: Tensor, check_dtypes: bool) -> Array:
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
    return _elements(g)


def forward_jacobians(
    func: Callable[..., Tensor | Sequence[Tensor]], inputs: tuple[Tensor, ...], k: int
) -> list[Any]:
    """The Jacobians of all outputs by a real input `k`, in forward mode, element by element."""
    x = inputs[k]
    rows: list[list[Any]] = []
    for position in range(x._raw.size):
        unit = T.zeros_like(x._raw)
        unit[T.unravel(position, unit.shape)] = 1
        rows.append(push(func, inputs, k, unit))
    if not rows:
        return [
            None if o is None else T.empty((0, o.size), x._raw.dtype)
            for o in values_at(func, inputs)
        ]
    return [
        None if column[0] is None else _stack([c.reshape(-1) for c in column], x, column[0])
        for column in zip(*rows)
    ]


def push(
    func: Callable[..., Tensor | Sequence[Tensor]], inputs: tuple[Tensor, ...], k: int, unit: Any
) -> list[Any]:
    """The tangents of all outputs for a tangent of input `k`; None for what isn't a tensor."""
    with forward_ad.dual_level():
        live = live_inputs(inputs)
        duals = [
            forward_ad.make_dual(v.detach(), new_tensor(unit if m == k else T.zeros_like(v._raw)))
            if m == k or m in live
            else plain(v)
            for m, v in enumerate(inputs)
        ]
        found: list[Any] = []
        for o in sequence(func(*duals)):
            if not isinstance(o, TensorBase):
                found.append(None)
                continue
            tangent = forward_ad.unpack_dual(o).tangent
            found.append(T.zeros_like(o._raw) if tangent is None else tangent._raw)
        return found


def random_unit(array: Array, generator: Generator | None = None) -> Any:
    """A random direction of length one, shaped like an array: real, or a pair of real ones."""
    draw = PUBLIC[("", "rand")]
    made = []
    for _ in range(2 if array.dtype.kind == "c" else 1):
        unit = draw(tuple(array.shape), generator=generator)._raw.astype(array.real.dtype)
        length = float((unit**2).sum()) ** 0.5
        made.append(unit / unit.dtype.type(length) if length else unit)
    return tuple(made) if len(made) == 2 else made[0]


def complex_unit(array: Array, generator: Generator | None = None) -> Array:
    """A random direction of the array's own type, of length one in each of its parts."""
    unit = random_unit(array, generator)
    whole = unit[0] + 1j * unit[1] if isinstance(unit, tuple) else unit
    return whole.astype(array.dtype)


def close(a: Array, n: Array, rtol: float, atol: float) -> bool:
    """Whether `a` agrees with `n` within the tolerances, element by element."""
    if T.shape_of(a) != T.shape_of(n):
        return False
    return bool(((abs(a - n) <= atol + rtol * abs(n)) | (a == n)).all())
