"""How close is close: comparisons whose tolerance grows with the numbers compared."""

from __future__ import annotations

from typing import Any

import numpy as np

#: Rounding errors that a row may make, in units of the largest number involved.
ROUNDING = {
    "float64": 1e-11, "complex128": 1e-11, "float32": 2e-5, "complex64": 2e-5,
    "float16": 2e-2, "bfloat16": 1e-1,
}  # fmt: skip

#: Step and tolerance of central differences in double precision: the step's error is of the order
#: of its square, the rounding error of the order of 1e-16 divided by the step.
STEP = 1e-5
SLOPE = 2e-6


def assert_same(got: Any, wanted: Any, tolerance: float, what: str) -> None:
    """Fails unless two arrays have one shape and nearly the same elements, nan and inf included."""
    assert got.shape == wanted.shape, f"{what}: shape {got.shape}, not {wanted.shape}"
    if not got.size:
        return
    if got.dtype.kind in "biu" and wanted.dtype.kind in "biu":
        assert np.array_equal(got, wanted), f"{what}:\n{got}\nnot\n{wanted}"
        return
    a, b = widened(got), widened(wanted)
    finite = np.isfinite(b)
    same = np.array_equal(np.where(finite, 0, a), np.where(finite, 0, b), equal_nan=True)
    assert same and np.isfinite(a[finite]).all(), f"{what}:\n{got}\nnot\n{wanted}"
    scale = 1.0 + float(np.max(np.abs(b[finite]), initial=0.0))
    off = float(np.max(np.abs(a[finite] - b[finite]), initial=0.0))
    assert off <= tolerance * scale, (
        f"{what}: off by {off:.3g} (of {scale:.3g}):\n{got}\nnot\n{wanted}"
    )


def widened(array: Any) -> Any:
    """The elements in double precision."""
    return array.astype(np.complex128 if array.dtype.kind in "cW" else np.float64)


def close(a: float, b: float, scale: float, tolerance: float = SLOPE) -> bool:
    """Whether two slopes agree, given the size of what was added up to make them."""
    return bool(abs(a - b) <= tolerance * (1.0 + scale))
