"""The kernels that a package with native code brings along: what eager programs ask for.

    foreseen.ask(functions, updates)     # each is loaded: see `_native.llvm.prebuilt_objects`

`functions` are those of the table on arrays, `updates` the optimizers' rules with their options. A
kernel for what isn't here is compiled by llvmlite when it comes, or left to NumPy without.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product
from typing import TYPE_CHECKING, Any, Final

from ..._formula import words
from ..._formula.ir import ROW_REDUCTIONS
from ..._native.cpython import kernel_call
from ..._native.emitted import (
    attention as attention_code,
    bias_gradients as bias_code,
    channel_softmax as channel_code,
    column_sums as columns_code,
    convolution as convolution_code,
    depthwise as depthwise_code,
    fft as fft_code,
    gemm as gemm_code,
    grid_sample as sampling_code,
    max_pool as max_pool_code,
    mt19937,
    places as places_code,
    rejection as rejection_code,
    scan as scan_code,
    small_convolution as planes_code,
    transpose as transpose_code,
    winograd as winograd_code,
)
from ..._native.emitted.embedding_gradient import emit_added_rows
from ..._native.fusion.row_loops import REGISTERS
from ..._native.llvm import loader
from ..._native.llvm.emit import F32, F64
from ..._native.threads import thread_pool
from ..types import FLOAT32, FLOAT64
from . import (
    activations,
    alignments,
    channels,
    cross_entropy,
    depthwise,
    elementwise,
    gated_linear,
    launch,
    lstm_gru,
    rows as row_kernels,
    unit_rows,
)
from .launch import Kernel

if TYPE_CHECKING:
    from ..optimizers.rule import Update
    from ..reduce.generated_norms import Norm, Variant

#: Instructions that go by rows and columns.
_BY_ROW: Final = {*ROW_REDUCTIONS, "column_sum", "pick"}
_PLACES: Final = (activations, channels, channels.ByColumn, channels.ByRow,
                  cross_entropy, elementwise, unit_rows)  # fmt: skip
#: Kernels that are given the addresses of rows: for rows of any length.
_BY_ADDRESS: Final = (alignments, gated_linear, lstm_gru)


def ask(functions: Iterable[Any], updates: Iterable[Update]) -> None:
    """Asks for each kernel once, in the same order each time."""
    emit_written()
    launch.PROBE.compile(FLOAT32, None, False)
    for dtype in (FLOAT32, FLOAT64):
        for place in _BY_ADDRESS:
            for kernel in _of_place(place):
                kernel.compile(dtype, None, False)
    for kernel in (*_own(), *of_table(functions), *(update.kernel for update in updates)):
        every_form(kernel)


def emit_written() -> None:
    """What is written by hand."""
    thread_pool.runner()
    kernel_call.entry()
    mt19937.load()
    places_code.load()
    for name in rejection_code.KINDS:
        rejection_code.load(name)
    for kind in (F32, F64):
        for module in (
            attention_code,
            bias_code,
            channel_code,
            columns_code,
            convolution_code,
            max_pool_code,
            planes_code,
        ):
            module.load(kind)
        for taps in (2, 3):
            winograd_code.load(kind, taps)
        transpose_code.load(kind)
        for lanes in fft_code.choices(kind):
            fft_code.load(kind, lanes)
        gemm_code.load_chunks(kind)
        loader.load_made(emit_added_rows, kind)
        for is_product in (False, True):
            scan_code.load(kind, is_product)
        for axes, nearest, padding, align in product(
            (2, 3), (False, True), range(3), (False, True)
        ):
            sampling_code.load(kind, axes, nearest, padding, align)
        for size, step in product(sorted(depthwise.FORESEEN), ((1, 1), (2, 2))):
            depthwise_code.load(kind, size, step)


def every_form(kernel: Kernel) -> None:
    """Loads the forms of a kernel that arrays ask for."""
    group = kernel.group("f32")
    by_row = any(text[0] in "rc" for text in kernel.operands)
    by_row = by_row or any(one.op in _BY_ROW for one in group.body)
    for dtype in (FLOAT32, FLOAT64):
        if by_row:
            for vectors in (None, *range(1, REGISTERS + 1)):
                kernel.compile(dtype, vectors, False)
        else:
            kernel.compile(dtype, None, True)


def _of_place(place: object) -> list[Kernel]:
    """The kernels that a module or a class names, or keeps in a table."""
    found: list[Kernel] = []
    for value in list(vars(place).values()):
        for one in value.values() if isinstance(value, dict) else (value,):
            if isinstance(one, Kernel):
                found.append(one)
            elif isinstance(one, row_kernels.RowEnds):
                found += [one.sums, one.ends]
    return found


def _own() -> Iterator[Kernel]:
    for place in _PLACES:
        yield from _of_place(place)


def of_table(functions: Iterable[Any]) -> Iterator[Kernel]:
    """The kernels of functions on arrays, made as these make them."""
    for function in dict.fromkeys(functions):
        if hasattr(function, "norm"):
            yield from map(row_kernels.kernel_of_norm, _variants(function.norm))
        if hasattr(function, "rows"):
            yield row_kernels.kernel_of(function.rows)
        if hasattr(function, "loss"):
            form = function.loss
            optional = [p for p in form.tensors if p not in form.required]
            for there in product((False, True), repeat=len(optional)):
                flags = iter(there)
                given = tuple(p for p in form.tensors if p in form.required or next(flags))
                if form.key:
                    ways = [form.times(given, True), form.times(given, False)]
                else:
                    ways = [form.sum_values(given), form.by_element(given)]
                for way in ways:
                    yield from _of_function(way)
        function = words.large_of(function)
        if hasattr(function, "arrays"):
            yield from _of_function(function)


def _of_function(function: Any) -> Iterator[Kernel]:
    for known in (False, True) if function.usual else (False,):
        yield elementwise.kernel_of(function, known)


def _variants(norm: Norm) -> Iterator[Variant]:
    """Each choice of results, and of operands that may be absent."""
    free = [(False, True) if p in norm.formula.by_column else (True,) for p in norm.kinds]
    needs: list[tuple[bool, ...]] = [()]
    if "need" in norm.names:
        needs = list(product((False, True), repeat=len(norm.results)))
    for given in product(*free):
        for need in needs:
            if not need or any(need):
                yield norm.variant(given, need)
