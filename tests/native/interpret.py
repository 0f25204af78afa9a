"""What a fusion group means, by NumPy: the reference that kernels are tested against."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rushlight._array.elementwise.erf import erf as _erf
from rushlight._formula.ir import Group, Instruction

if TYPE_CHECKING:
    from rushlight._array.annotations import Array
    from rushlight._base.annotations import TensorLike

RAW_DTYPES: Final[dict[str, Any]] = {
    "f32": np.dtype(np.float32), "f64": np.dtype(np.float64), "i32": np.dtype(np.int32),
    "i64": np.dtype(np.int64), "b1": np.dtype(np.bool_),
}  # fmt: skip


def _sigmoid(x: TensorLike) -> Array:
    return 1 / (1 + np.exp(-x))


_CALLS: Final[dict[str, Callable[..., Any]]] = {
    "neg": np.negative, "abs": np.absolute, "sqrt": np.sqrt, "rsqrt": lambda x: 1 / np.sqrt(x),
    "exp": np.exp, "expm1": np.expm1, "log": np.log, "log1p": np.log1p, "tanh": np.tanh,
    "erf": lambda x: _erf(np.ascontiguousarray(x)), "sigmoid": _sigmoid, "sin": np.sin,
    "cos": np.cos, "floor": np.floor, "ceil": np.ceil, "trunc": np.trunc, "rint": np.rint,
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "pow": np.power,
    "max": np.maximum, "min": np.minimum, "lt": np.less, "le": np.less_equal, "gt": np.greater,
    "ge": np.greater_equal, "eq": np.equal, "ne": np.not_equal, "and": np.logical_and,
    "copysign": np.copysign,
    "nextafter": np.nextafter, "or": np.logical_or,
    "xor": np.logical_xor, "not": np.logical_not, "where": np.where,
}  # fmt: skip


def _shape(kind: str, rows: int, columns: int) -> tuple[int, int]:
    return (rows if kind in "fr" else 1, columns if kind in "fc" else 1)


def _reduced(one: Instruction, x: Array, rows: int, columns: int) -> Any:
    if one.op in ("row_max", "row_top"):
        return np.maximum.reduce(x, axis=1, keepdims=True)
    if one.op == "row_min":
        return np.minimum.reduce(x, axis=1, keepdims=True)
    axes = {"row_sum": (1,), "column_sum": (0,), "total": (0, 1)}[one.op]
    exact = np.float64 if one.dtype in ("f32", "f64") else x.dtype
    if one.op != "total":  # which adds up a value's own elements
        x = np.broadcast_to(x, (rows, columns))
    return x.sum(axes, dtype=exact, keepdims=True)


def interpret(group: Group, operands: list[Array], rows: int, columns: int) -> list[Array]:
    """The outputs of a group over (rows, columns), as arrays of two dimensions; nothing is written.

    Operands are arrays that can be shaped as their kind, (rows, columns) or one for either.
    """
    values: list[Any] = [
        np.asarray(x, RAW_DTYPES[o.dtype]).reshape(_shape(o.kind, rows, columns))
        for x, o in zip(operands, group.operands, strict=True)
    ]
    with np.errstate(all="ignore"):
        for one in group.body:
            dtype = RAW_DTYPES[one.dtype]
            args = [values[a] for a in one.args]
            if one.op == "const":
                found = np.full((1, 1), one.payload, dtype)
            elif one.op == "cast":
                found = args[0].astype(dtype)
            elif one.op == "column":
                found = np.arange(columns, dtype=dtype).reshape(1, -1)
            elif one.op == "row":
                found = np.arange(rows, dtype=dtype).reshape(-1, 1)
            elif one.op == "one_hot":
                found = np.arange(columns) == args[0]
            elif one.op == "pick":
                found = np.take_along_axis(args[0], args[1], 1)
            elif one.op in _CALLS:
                found = _CALLS[one.op](*args)
            else:
                found = _reduced(one, args[0], rows, columns)
            values.append(np.asarray(found, dtype))
    return [
        np.array(np.broadcast_to(values[o.value], _shape(group.kind(o.value), rows, columns)))
        for o in group.outputs
    ]
