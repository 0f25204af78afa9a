"""What derivatives of functions refuse among arguments and results."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._array import types as T
from .._core.storage import TensorBase

if TYPE_CHECKING:
    from .._base.annotations import Arguments
    from .._tensor.tensor import Tensor


def only_tensors(outs: list[object], api: str, maybe_none: bool = False) -> None:
    if not maybe_none and (not outs or (outs[0] is None and len(outs) == 1)):
        raise RuntimeError(
            f"{api}: Expected f to be a function that has non-empty output (got output = {outs})"
        )
    for o in outs:
        if not isinstance(o, TensorBase):
            raise RuntimeError(
                f"{api}: expected f(*primals) to return only tensors, got unsupported type "
                f"{type(o)}"
            )


def refuse_complex(values: Arguments, api: str, what: str) -> None:
    """Refuses complex numbers, of which there are no Jacobians.

    Raises:
        RuntimeError: where there is one among the tensors.
    """
    for k, t in enumerate(values):
        if isinstance(t, TensorBase) and t.is_complex():  # type: ignore[attr-defined]
            raise RuntimeError(
                f"{api}: Expected all {what} to be real but received complex tensor at flattened "
                f"input idx: {k}"
            )


def refuse_discrete_outputs(values: Arguments) -> None:
    """Refuses results of `vjp` that have no gradients.

    Raises:
        RuntimeError: where there is one among the tensors.
    """
    for t in values:
        if T.is_discrete(t._raw.dtype):
            raise RuntimeError(
                "vjp(f, ...): All outputs of f must be floating-point or complex Tensors, got "
                f"Tensor with dtype {T.from_raw(t._raw.dtype)}"
            )


def refuse_discrete(values: list[Tensor], what: str) -> None:
    """Refuses primals and tangents that aren't floating-point or complex.

    Raises:
        ValueError: where there is one among the tensors.
    """
    for t in values:
        if T.is_discrete(t._raw.dtype):
            raise ValueError(
                f"Expected {what} to be floating point or complex, but got: "
                f"{T.from_raw(t._raw.dtype)}"
            )
