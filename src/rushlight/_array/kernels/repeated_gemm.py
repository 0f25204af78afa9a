"""Products of few rows with one matrix again and again, as the steps of a recurrent layer need."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Final

from ..._native.llvm import target
from ..memory.parallel import get_num_threads
from ..types import in_order_copy
from .calls import Along, Calls, repeat_call
from .gemm import THREADED, code_of, faster
from .launch import address, guard_launch, plain, ready

if TYPE_CHECKING:
    from ..annotations import Array

# Rows up to which OpenBLAS leaves much of its speed on the table, on any machine.
_ROWS: Final = 64
_COLUMNS: Final = 32
# Multiplications of each product of a list from which a second thread helps, which stays awake.
_LISTED: Final = 1 << 18
_WORDS: Final = struct.Struct("26q")


@guard_launch
def by_matrix(matrix: Array, rows: int) -> Product | None:
    """A function (a, out) that writes a @ matrix to `out`, for C-ordered arrays of up to `rows`
    rows; None where BLAS is as good or no kernel applies.

    The matrix is cut into panels of columns, each of which lies together: a copy that all the
    products after it are faster for.
    """
    depth, columns = matrix.shape
    if columns < _COLUMNS or not depth or not ready() or (rows > _ROWS and not faster()):
        return None
    dtype = matrix.dtype
    lanes = target.machine().width // dtype.itemsize
    width = next((w for w in (4 * lanes, 2 * lanes, lanes) if columns % w == 0), columns)
    panels = columns // width
    cut = matrix.reshape(depth, panels, width).swapaxes(0, 1)
    packed: Array = in_order_copy(cut)
    if not plain(packed):
        return None
    return Product(packed, columns)


class Product:
    """Products with one matrix, cut into panels."""

    def __init__(self, packed: Array, columns: int) -> None:
        self.panels, self.depth, self.width = packed.shape
        self.packed = packed
        self.columns = columns
        self.function, self.run, self.pack = code_of(packed.dtype)
        self.place = address(packed)

    def __call__(self, a: Array, out: Array) -> None:
        rows = a.shape[0]
        threads = get_num_threads() if rows * self.packed.size >= THREADED else 1
        self.run(self.function, self._frame(address(a), address(out), rows), self.panels, threads)

    def calls(self, a: Along, out: int, rows: int, added: bool = False) -> Calls:
        """Calls that write to one place, or add to what is there."""
        _, *frame = _WORDS.unpack(self._frame(0, out, rows, float(added)))
        shared = rows * self.packed.size >= _LISTED
        return repeat_call(self.function, [a, *frame], self.panels, shared)

    def _frame(self, a: int, out: int, rows: int, beta: float = 0.0) -> bytes:
        depth, width = self.depth, self.width
        return self.pack(
            a, self.place, out, rows, width, depth, depth, 1, width, 1, self.columns, 1.0,
            beta, 0, 0, self.panels, 0, depth * width, width, 0, 0, 0, rows, width, 1, 1,
        )  # fmt: skip
