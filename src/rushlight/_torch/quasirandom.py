"""Points that fill a cube more evenly than random ones: `torch.quasirandom.SobolEngine`."""

from __future__ import annotations

from typing import Any

from .._array.random import sobol as quasi
from .._base import dtypes as D, errors
from .._core.storage import new_tensor as tensor_of
from .._table import namespace
from ..random import Generator

__all__ = ["SobolEngine"]

_T: Any = namespace("").module("quasirandom")


class SobolEngine:
    """A Sobol sequence in [0, 1)^dimension, scrambled where that is asked for.

    Raises:
        ValueError: for a dimension outside of 1 to `MAXDIM`.
    """

    MAXBIT = quasi.BITS
    MAXDIM = 21201

    def __init__(self, dimension: int, scramble: bool = False, seed: int | None = None) -> None:
        if dimension > self.MAXDIM or dimension < 1:
            raise ValueError(
                f"Supported range of dimensionality for SobolEngine is [1, {self.MAXDIM}]"
            )
        self.seed = seed
        self.scramble = scramble
        self.dimension = dimension
        state = quasi.directions(dimension)
        if scramble:
            generator = Generator().manual_seed(seed) if seed is not None else None
            bits = _T.randint(2, (dimension, self.MAXBIT), generator=generator)
            weights = 2 ** _T.arange(self.MAXBIT)
            self.shift = (bits * weights).sum(-1)
            square = (dimension, self.MAXBIT, self.MAXBIT)
            triangles = _T.randint(2, square, generator=generator).tril()
            state = quasi.scramble(state, triangles._raw)
        else:
            self.shift = _T.zeros(dimension, dtype=D.int64)
        self.sobolstate = tensor_of(state)
        self.quasi = self.shift.clone()
        self.num_generated = 0

    def _next(self, n: int) -> Any:
        before = self.num_generated - 1
        found, last = quasi.points(self.quasi._raw, self.sobolstate._raw, before, n)
        self.quasi = tensor_of(last)
        return found

    def draw(self, n: int = 1, out: Any = None, dtype: Any = None) -> Any:
        """The next `n` points, of shape (n, dimension)."""
        kind = D.get_default_dtype() if dtype is None else dtype
        new = n - 1 if self.num_generated == 0 else n  # the first point is there already
        if new < 0:
            raise RuntimeError(errors.negative_dimension((new, self.dimension)))
        parts = []
        left = n
        if self.num_generated == 0 and n > 0:
            parts.append(self.shift.unsqueeze(0))
            self.num_generated, left = 1, n - 1
        if left > 0 or not parts:
            parts.append(tensor_of(self._next(left)))
            self.num_generated += left
        result = _T.cat(parts).to(kind) / 2**self.MAXBIT
        if out is None:
            return result
        out.resize_(result.shape).copy_(result)
        return out

    def draw_base2(self, m: int, out: Any = None, dtype: Any = None) -> Any:
        """The next 2**m points.

        Raises:
            ValueError: where the points so far and these are not a power of two.
        """
        n = 2**m
        total = self.num_generated + n
        if total & (total - 1):
            raise ValueError(
                "The balance properties of Sobol' points require n to be a power of 2. "
                f"{self.num_generated} points have been previously generated, then: "
                f"n={self.num_generated}+2**{m}={total}. If you still want to do this, please use "
                "'SobolEngine.draw()' instead."
            )
        return self.draw(n=n, out=out, dtype=dtype)

    def reset(self) -> SobolEngine:
        """Goes back to the start."""
        self.quasi = self.shift.clone()
        self.num_generated = 0
        return self

    def fast_forward(self, n: int) -> SobolEngine:
        """Leaves `n` points out."""
        left = n
        if self.num_generated == 0 and n > 0:
            self.num_generated, left = 1, n - 1
        self._next(left)
        self.num_generated += left
        return self

    def __repr__(self) -> str:
        parts = [f"dimension={self.dimension}"]
        if self.scramble:
            parts.append("scramble=True")
        if self.seed is not None:
            parts.append(f"seed={self.seed}")
        return f"SobolEngine({', '.join(parts)})"
