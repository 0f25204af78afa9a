"""Functions written by hand whose large arrays of floats a kernel takes.

    @by_kernel(lambda x, y: x - y, "ff")
    def subtract(x, y): ...

The formula says what the function does to arrays of float32 or float64 of one shape. All else, and
what no kernel takes, is the function's own.
"""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from .. import kernels
from ..types import FLOAT32, FLOAT64

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..._base.annotations import AnyCallable
    from ..annotations import Array, RawType

_NUMBERS: Final = (int, float)


class Large:
    """A formula of arrays and numbers, as `kernels.elementwise.kernel_of` reads it."""

    def __init__(
        self,
        name: str,
        formula: AnyCallable,
        kinds: str,
        types: tuple[RawType, ...],
        doubtful: bool,
    ) -> None:
        count = kinds.count("f")
        assert kinds == "f" * count + "s" * (len(kinds) - count), "arrays come before numbers"

        def of_symbols(*symbols: object) -> object:
            return formula(*symbols)

        self.__name__ = of_symbols.__name__ = name
        self.formula = of_symbols
        self.arrays = tuple([f"x{k}" for k in range(count)])
        self.numbers = tuple([f"n{k}" for k in range(len(kinds) - count)])
        self.usual: dict[str, float] = {}
        self.limit = "large"
        self.types, self.doubtful = types, doubtful
        self.of_any_size = False  # see `in_float64`

    def call(self, args: tuple[Any, ...]) -> Array | None:
        """What a kernel makes of the arguments; None where there is none for them."""
        while args[-1] is None:
            args = args[:-1]
        count = len(self.arrays)
        first, arrays, numbers = args[0], args[:count], args[count:]
        if first.dtype not in self.types or len(numbers) != len(self.numbers):
            return None
        for x in arrays[1:]:
            if type(x) is not np.ndarray or x.shape != first.shape:
                return None
        for n in numbers:
            if type(n) not in _NUMBERS or not -_MOST <= n <= _MOST:
                return None
        found = kernels.elementwise.by_formula(self, False, arrays, numbers)
        if self.doubtful and found is not None and np.isnan(np.maximum.reduce(found, None)):
            return None
        return found


_MOST: Final = float(np.finfo(np.float32).max)  # beyond it, and for nan, functions decide


def by_kernel(
    formula: AnyCallable,
    kinds: str = "f",
    types: tuple[RawType, ...] = (FLOAT32, FLOAT64),
    doubtful: bool = False,
    few: int = -1,
) -> Callable[[AnyCallable], AnyCallable]:
    """A function of arrays ("f") and numbers behind them ("s"), with large arrays of `types` taken
    by a kernel of its formula. `doubtful`: where that gives a nan, the function is asked. `few`:
    so many elements have ways of their own, and more than these take NumPy dozens of calls."""

    def put(raw: AnyCallable) -> AnyCallable:
        shift = 0 if few < 0 else 6
        large = Large(raw.__name__, formula, kinds, types, doubtful)

        @wraps(raw)
        def run(x: object, *rest: object) -> object:
            if type(x) is np.ndarray and x.size > few and x.size << shift >= kernels.LEAST:
                found = large.call((x, *rest))
                if found is not None:
                    return found
            return raw(x, *rest)

        run.large = large  # type: ignore[attr-defined]
        return run

    return put
