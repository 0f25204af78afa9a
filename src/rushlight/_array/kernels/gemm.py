"""Matrix products by emitted code, where that is faster than NumPy's BLAS.

Note [Which product is faster]
OpenBLAS as NumPy's wheels carry it runs kernels for 256-bit vectors on processors newer than
itself. Where the processor has 512-bit ones, the emitted product is up to twice as fast, from sizes
on at which a foreign call doesn't matter. Where OpenBLAS has kernels for 512 bits, too, the two are
equally fast on one core, and the emitted one by a tenth faster on two, from sizes on that two cores
share (2**20 multiplications). What counts more is what comes after the product: OpenBLAS's threads
wait for 20 ms on a core of their own, of which the kernels' threads then get half: an LSTM of 128
over 32 places takes a third longer. So products that OpenBLAS would share among threads, but that
are too short for the emitted one, it makes on one. Products of 2**32 and more are its own there: it
blocks for caches. Elsewhere BLAS stays.

A transposed right matrix, as the weights of a layer are, OpenBLAS copies whole where it has no
kernel for such small products: from 1,200 elements of the result on, and from 2**18 multiplications
on the emitted one takes two thirds to a half of its time, on one core.
"""

from __future__ import annotations

import ctypes
import struct
import sys
from functools import cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..._base.lazy import Function
from ..._native.llvm import target
from .. import kernels
from ..memory.parallel import get_num_threads
from ..types import FLOAT32, FLOAT64
from . import openblas
from .launch import address, guard_launch

if TYPE_CHECKING:
    from ..annotations import Array, RawType

# The names that OpenBLAS gives to its kernels for 256-bit vectors.
_NARROW = {b"Haswell", b"Zen"}
# Multiplications from which a second thread helps, and of a chunk at least.
THREADED = 1 << 20
_CHUNK = 1 << 18
# Multiplications from which OpenBLAS takes several threads.
_SHARED = 1 << 19
# Bytes of the left matrix that each chunk of columns may read: what a third-level cache holds.
_LEFT = 1 << 24
_TURNED = 192  # rows of a chunk that turns its part of the right matrix
#: How a frame is packed, whose words are `FRAME` in `_native.emitted.gemm`.
WORDS: Final = "11q2d13q"


@cache
def faster() -> range:
    """The multiplications in a product that is faster than NumPy's here: none on many machines.

    See Note [Which product is faster].
    """
    if not target.available() or target.machine().width < 64:
        return range(0)
    library = openblas.find()
    if library is None:
        return range(0)
    name = library.scipy_openblas_get_corename64_
    name.restype = ctypes.c_char_p
    return range(THREADED, sys.maxsize if name() in _NARROW else 1 << 32)


def _multiply_on_one_thread(a: Array, b: Array, out: Array | None, bias: Array | None) -> Array:
    """NumPy's product, after which no thread of OpenBLAS waits for more work."""
    found = openblas.multiply_few_rows(a, b, out)
    if found is not None:
        return found if bias is None else np.add(found, bias, found)
    with openblas.one_thread:
        found = np.matmul(a, b) if out is None else np.matmul(a, b, out=out)
    return found if bias is None else np.add(found, bias, found)


@cache
def code_of(dtype: RawType) -> tuple[int, Any, Any]:
    """The chunks' address, the function that runs them on threads, and how a frame is packed."""
    from ..._native.llvm import loader
    from ..._native.llvm.emit import F32, F64
    from ..._native.threads import thread_pool as pool

    kind = F32 if dtype is FLOAT32 else F64
    made = loader.load_made(Function("_native.emitted.gemm:emit"), kind)
    return made["gemm_chunks"], pool.run, struct.Struct(WORDS).pack


def count_products(a: Array, b: Array) -> int:
    """The multiplications in a product of stacks, of which one meets the other's matrices all."""
    rows = a.shape[-2] if a.ndim > 1 else 1
    return int(max(a.size * b.shape[-1], b.size * rows))


def matrix_product(a: Array, b: Array, out: Array | None = None) -> Array:
    """`numpy.matmul` of arrays; large ones by emitted code where that is faster."""
    if 2 * count_products(a, b) >= kernels.PRODUCT:
        found = product(a, b, out)
        if found is not None:
            return found
    return np.matmul(a, b) if out is None else np.matmul(a, b, out=out)


def _is_turned(a: Array, b: Array) -> bool:
    """Whether BLAS would copy all of `b` for a product that isn't large."""
    if a.ndim != 2 or b.ndim != 2 or b.strides[0] != b.itemsize:
        return False
    work = a.size * b.shape[1]
    return (
        2 * work >= kernels.PRODUCT
        and len(a) > openblas.FEW_ROWS
        and len(a) * b.shape[1] > openblas.PIECE
    )


@guard_launch
def product(
    a: Array, b: Array, out: Array | None = None, bias: Array | None = None
) -> Array | None:
    """The matrix product of stacks of matrices, or None for what is left to NumPy.

    Taken are 2 or more dimensions, the same before the last two unless one operand has just 2.
    `bias` is added to each row: as many elements of the same type, side by side.
    """
    dtype = a.dtype
    if not (dtype is b.dtype and (dtype is FLOAT32 or dtype is FLOAT64)):
        return None
    if a.ndim < 2 or b.ndim < 2:
        return None
    sizes = faster()
    if not sizes:
        kernels.products_off()
        return None
    work = count_products(a, b)
    if work not in sizes and not (work < sizes.start and _is_turned(a, b)):
        short = _SHARED <= work < sizes.start
        return _multiply_on_one_thread(a, b, out, bias) if short else None
    if b.ndim == 2 < a.ndim and out is None and a.flags.c_contiguous:
        flat = product(a.reshape(-1, a.shape[-1]), b, None, bias)
        return None if flat is None else flat.reshape(*a.shape[:-1], b.shape[1])
    (m, k), n = a.shape[-2:], b.shape[-1]
    if b.shape[-2] != k or n < 8 or m < 4:
        return None
    lead = a.shape[:-2]
    if lead != b.shape[:-2]:
        try:
            lead = np.broadcast_shapes(lead, b.shape[:-2])
        except ValueError:
            return None
    if bias is not None and (
        bias.dtype is not dtype or bias.shape != (n,) or not bias.flags.c_contiguous
    ):
        return None
    if out is None:
        out = np.empty((*lead, m, n), dtype)
    elif (
        out.dtype is not dtype
        or out.shape != (*lead, m, n)
        or np.may_share_memory(out, a)
        or np.may_share_memory(out, b)
    ):
        return None
    stacks = _stacks(lead, [a, b, out])
    if stacks is None or out.strides[-1] != dtype.itemsize:
        return None
    if out.size:
        _run(a, b, out, stacks, 0 if bias is None else address(bias))
    return out


def _run(a: Array, b: Array, out: Array, stacks: list[tuple[int, ...]], bias: int) -> None:
    """Writes the products of two stacks, with `bias` (an address, or 0) added to each row."""
    dtype, size = a.dtype, a.dtype.itemsize
    (m, k), n = a.shape[-2:], b.shape[-1]
    (far, inner), (next_a, next_b, next_c), (far_a, far_b, far_c) = stacks
    count = far * inner
    work = m * n * k * count
    down, right = a.strides[-2] // size, a.strides[-1] // size
    block_m, block_n = _blocks(
        m, n, work, count, right == 1 and m * k * size <= _LEFT, b.strides[-1] != size
    )
    blocks_m, blocks_n = -(-m // block_m), -(-n // block_n)
    chunks, run, pack = code_of(dtype)
    frame = pack(
        address(a), address(b), address(out), m, n, k, down, right, b.strides[-2] // size,
        b.strides[-1] // size, out.strides[-2] // size, 1.0, 0.0, bias, 0, inner, next_a, next_b,
        next_c, far_a, far_b, far_c, block_m, block_n, blocks_m, blocks_n,
    )  # fmt: skip
    threads = get_num_threads() if work >= THREADED else 1
    run(chunks, frame, count * blocks_m * blocks_n, threads)


def _stacks(lead: tuple[int, ...], stacks: list[Array]) -> list[tuple[int, ...]] | None:
    """How stacks of matrices lie that broadcast to `lead`, as stacks of stacks: how many there are
    of one in the other, elements from matrix to matrix, and from stack to stack of each; None
    where two strides don't say it.
    """
    size = stacks[0].itemsize
    none = (0,) * len(stacks)
    found: list[tuple[int, tuple[int, ...]]] = []  # from the last dimension on; even steps merged
    if any(step % size for x in stacks for step in x.strides):
        return None
    for axis, count in enumerate(reversed(lead), 3):
        if count == 1:
            continue
        step = tuple([
            x.strides[-axis] // size if x.ndim >= axis and x.shape[-axis] != 1 else 0
            for x in stacks
        ])  # fmt: skip
        if found and step == tuple([n * found[-1][0] for n in found[-1][1]]):
            found[-1] = found[-1][0] * count, found[-1][1]
        else:
            found.append((count, step))
    if len(found) > 2:
        return None
    (inner, near), (outer, far) = [*found, (1, none), (1, none)][:2]
    return [(outer, inner), near, far]


def _blocks(m: int, n: int, work: int, count: int, across: bool, turned: bool) -> tuple[int, int]:
    """Rows and columns of a chunk, by the sizes alone: results don't depend on threads.

    `across` asks for columns, of which none is read by two chunks. The right matrix is `turned` in
    each chunk of rows anew, so that there are fewer of these.
    """
    each = work // count
    if work < THREADED or each <= 2 * _CHUNK:
        return m, n
    parts = min(16, each // _CHUNK)
    if m >= n and not (across and n >= 6 * 64):
        wide = 64 if turned and n % 64 == 0 and n <= 6 * 64 else n
        parts = min(-(-parts * wide // n), max(1, m // (_TURNED if turned else 48)))
        return -(-m // parts // 6) * 6, wide
    parts = min(parts, max(1, n // 64))
    return m, -(-n // parts // 64) * 64
