"""The norms of the table as functions on arrays."""

from __future__ import annotations

from typing import Any

from rushlight._array import numpy_namespace
from rushlight._table import ROWS
from rushlight._table.rows.formulas import parameters_of


def gradients(name: str, **given: Any) -> Any:
    """The gradients of a row, by the names of what its formula reads."""
    joint = ROWS[name][0].op.joint
    known = {"weight": None, "eps": 1e-5, **given}
    return joint(*[known[p] for p in parameters_of(joint)])


def layer_norm(
    x: Any, normalized: int, weight: Any = None, bias: Any = None, eps: float = 1e-5
) -> Any:
    shape = x.shape[x.ndim - normalized :]
    return ROWS["native_layer_norm"][0].op.raw(x, shape, weight, bias, eps)


def layer_norm_backward(
    g: Any, x: Any, normalized: int, mean: Any, rstd: Any, weight: Any = None,
    need: tuple[bool, bool, bool] = (True, True, True),
) -> Any:  # fmt: skip
    return gradients(
        "native_layer_norm", g0=g, input=x, normalized_shape=x.shape[x.ndim - normalized :],
        mean=mean, rstd=rstd, weight=weight, need=list(need),
    )  # fmt: skip


def rms_norm(x: Any, shape: tuple[int, ...], weight: Any, eps: float) -> Any:
    return ROWS["_rms_norm"][0].op.raw(x, shape, weight, eps)


def rms_norm_backward(
    g: Any, x: Any, shape: tuple[int, ...], inverse: Any, weight: Any, need: tuple[bool, bool]
) -> Any:
    return gradients(
        "_rms_norm", g0=g, input=x, normalized_shape=shape, inverse=inverse, weight=weight,
        need=list(need),
    )  # fmt: skip


def group_norm(x: Any, groups: int, weight: Any, bias: Any, eps: float) -> Any:
    return ROWS["native_group_norm"][0].op.raw(x, weight, bias, groups, eps)


def group_norm_backward(
    g: Any, x: Any, groups: int, mean: Any, rstd: Any, weight: Any, need: tuple[bool, ...]
) -> Any:
    return gradients("native_group_norm", xp=numpy_namespace, g0=g, input=x, group=groups,
                     mean=mean, rstd=rstd, weight=weight, need=list(need))  # fmt: skip
