"""Groups as machine code: every kernel against what NumPy says the group means."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from rushlight._formula.ir import (
    Group,
    Symbol,
    cast,
    column,
    column_sum,
    exp,
    into,
    log,
    maximum,
    minimum,
    one_hot,
    pick,
    row,
    row_max,
    row_min,
    row_sum,
    row_top,
    sqrt,
    tanh,
    total,
    trace,
    where,
)
from rushlight._native.llvm import target
from tests.native.interpret import RAW_DTYPES, interpret

pytest.importorskip("llvmlite")
pytestmark = pytest.mark.skipif(not target.available(), reason="native code is turned off")

Operands = dict[str, tuple[str, str]]


def softmax(x: Symbol) -> Any:
    e = exp(x - row_top(x))
    return e / row_sum(e)


def log_softmax(x: Symbol) -> Any:
    d = x - row_top(x)
    return d - log(row_sum(exp(d)))


def normalised(x: Symbol, w: Symbol, b: Symbol, part: Symbol) -> Any:
    mean = row_sum(x) * part
    d = x - mean
    inverse = 1 / sqrt(row_sum(d * d) * part + 1e-5)
    return d * inverse * w + b, mean, inverse


def sums(x: Symbol, y: Symbol, r: Symbol) -> Any:
    return column_sum(x * y), column_sum(x - r), total(x * x), total(r), x + y


def extremes(x: Symbol) -> Any:
    return row_max(x), row_min(x), maximum(x, row_max(x) - 1.0), minimum(x, 0.25)


def swapped(x: Symbol, y: Symbol) -> Any:
    return into(x, y + row_sum(x)), into(y, x * 2.0)


def kept(x: Symbol, y: Symbol) -> Any:
    e = tanh(x)
    return into(x, e * row_sum(e)), into(y, y - row_sum(e * y))


def chosen(x: Symbol, i: Symbol) -> Any:
    early = cast(column(x), "i64") <= row(x)
    return where(early, x, -1.0), pick(x, i), cast(one_hot(i), "f32"), early


def counted(n: Symbol, m: Symbol) -> Any:
    return n * m - 3, row_sum(n), row_max(n), (n < m) & (n != 2), n * cast(n > m, "i64")


def scratch(x: Symbol) -> Any:
    e = exp(x)
    return row_sum(where(e * 3.0 > row_sum(e), e, 0.0))


CASES: dict[str, tuple[Callable[..., Any], Operands]] = {
    "softmax": (softmax, {"x": ("f", "T")}),
    "log_softmax": (log_softmax, {"x": ("f", "T")}),
    "normalised": (
        normalised, {"x": ("f", "T"), "w": ("c", "T"), "b": ("c", "T"), "part": ("s", "T")},
    ),
    "sums": (sums, {"x": ("f", "T"), "y": ("f", "T"), "r": ("r", "T")}),
    "extremes": (extremes, {"x": ("f", "T")}),
    "swapped": (swapped, {"x": ("f", "T"), "y": ("f", "T")}),
    "kept": (kept, {"x": ("f", "T"), "y": ("f", "T")}),
    "chosen": (chosen, {"x": ("f", "f32"), "i": ("r", "i64")}),
    "counted": (counted, {"n": ("f", "i64"), "m": ("r", "i64")}),
    "scratch": (scratch, {"x": ("f", "T")}),
}  # fmt: skip
SHAPES = [(1, 1), (3, 7), (5, 8), (4, 16), (3, 17), (2, 33), (6, 64), (2, 129), (3, 300), (2, 9000)]


def group_of(name: str, dtype: str) -> Group:
    function, operands = CASES[name]
    kinds = {key: (k, dtype if d == "T" else d) for key, (k, d) in operands.items()}
    return trace(name, function, kinds)


def drawn(group: Group, rows: int, columns: int, seed: int) -> list[Any]:
    rng = np.random.default_rng(seed)
    found: list[Any] = []
    for operand in group.operands:
        shape = (rows if operand.kind in "fr" else 1, columns if operand.kind in "fc" else 1)
        if operand.dtype[0] == "f":
            found.append(rng.standard_normal(shape).astype(RAW_DTYPES[operand.dtype]))
        else:
            found.append(rng.integers(0, columns, shape))
    return found


def run(
    group: Group, operands: list[Any], rows: int, columns: int, grain: int, constant: bool
) -> list[Any]:
    """The outputs of the machine code, partial sums added up."""
    import ctypes
    import struct

    from rushlight._native.fusion.row_loops import lanes_for, lower_group
    from rushlight._native.llvm import loader as engine

    lanes = lanes_for(group, target.machine().width)
    module = lower_group(group, lanes, -(-columns // lanes) if constant else None)
    code = ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_int64)(
        engine.load(module)[f"{group.name}_all"]
    )
    chunks = -(-rows // grain)
    held = [x.copy() for x in operands]
    outputs, strides = [], []
    for out in group.outputs:
        kind = group.kind(out.value)
        dtype = RAW_DTYPES[group.dtype(out.value)]
        if out.alias >= 0:
            outputs.append(held[out.alias])
        elif kind == "c":
            outputs.append(np.full((chunks, columns), 7, dtype))
        elif kind == "s":
            outputs.append(np.full((chunks, 1), 7, np.float64))
        else:
            outputs.append(np.full((rows, columns if kind == "f" else 1), 7, dtype))
        strides.append(columns if kind == "f" else 1)
    words = b""
    for x, operand in zip(held, group.operands, strict=True):
        if operand.kind == "s":
            words += struct.pack("d", x.item())
        else:
            words += struct.pack("q", x.ctypes.data)
    words += struct.pack(f"{len(outputs)}q", *(x.ctypes.data for x in outputs))
    words += struct.pack(
        f"{len(held)}q", *(columns if o.kind == "f" else 1 for o in group.operands)
    )
    words += struct.pack(f"{len(strides)}q", *strides)
    code(struct.pack("4q", rows, columns, rows * columns, grain) + words, chunks)
    for place, out in enumerate(group.outputs):
        if group.kind(out.value) in "cs":
            outputs[place] = outputs[place].sum(0, keepdims=True)
    return outputs


def compare(group: Group, operands: list[Any], rows: int, columns: int, **how: Any) -> None:
    expected = interpret(group, operands, rows, columns)
    for found, wanted in zip(run(group, operands, rows, columns, **how), expected, strict=True):
        if wanted.dtype.kind != "f":
            np.testing.assert_array_equal(found, wanted)
            continue
        single = "f32" in {o.dtype for o in group.operands}
        tolerance = 3e-6 if single else 1e-13
        size = np.nanmax(np.abs(wanted), initial=1, where=np.isfinite(wanted))
        np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance * size)


@pytest.mark.parametrize("dtype", ["f32", "f64"])
@pytest.mark.parametrize("name", CASES)
def test_a_kernel_computes_what_its_group_means(name: str, dtype: str) -> None:
    group = group_of(name, dtype)
    for seed, (rows, columns) in enumerate(SHAPES):
        if name in ("scratch", "kept") and columns > 8192:
            continue  # rows that are kept in scratch memory have a limit
        operands = drawn(group, rows, columns, seed)
        compare(group, operands, rows, columns, grain=2, constant=False)


@pytest.mark.parametrize("name", CASES)
def test_rows_of_few_vectors_stay_in_registers(name: str) -> None:
    for dtype in ("f32", "f64"):
        group = group_of(name, dtype)
        for seed, (rows, columns) in enumerate([(3, 7), (4, 16), (2, 33), (5, 50)]):
            operands = drawn(group, rows, columns, seed)
            compare(group, operands, rows, columns, grain=3, constant=True)


SPECIAL = [np.nan, np.inf, -np.inf, -0.0, 0.0, 1e-41, -1e-41, 3e38, -3e38, 1.0]


@pytest.mark.parametrize("constant", [False, True])
@pytest.mark.parametrize("dtype", ["f32", "f64"])
@pytest.mark.parametrize("name", ["softmax", "log_softmax", "normalised", "extremes", "kept"])
def test_special_values_come_out_as_numpy_has_them(name: str, dtype: str, constant: bool) -> None:
    group = group_of(name, dtype)
    rng = np.random.default_rng(5)
    columns = 37
    operands = drawn(group, len(SPECIAL), columns, 5)
    for row_number, special in enumerate(SPECIAL):
        operands[0][row_number, rng.integers(0, columns)] = special
    expected = interpret(group, operands, len(SPECIAL), columns)
    found = run(group, operands, len(SPECIAL), columns, grain=4, constant=constant)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


def test_the_last_row_of_a_flat_array_may_be_short() -> None:
    import ctypes
    import struct

    from rushlight._native.fusion.row_loops import lanes_for, lower_group
    from rushlight._native.llvm import loader as engine

    group = trace("doubled", lambda x: (x * 2.0, total(x)), {"x": ("f", "f32")})
    module = lower_group(group, lanes_for(group, target.machine().width), ragged=True)
    code = ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_int64)(
        engine.load(module)["doubled_all"]
    )
    for size in (1, 63, 64, 65, 1000):
        x = np.arange(size + 8, dtype=np.float32)
        y = np.full(size + 8, -1, np.float32)
        rows = -(-size // 64)
        sums = np.empty(rows)
        frame = (rows, 64, size, 1, x.ctypes.data, y.ctypes.data, sums.ctypes.data, 64, 64, 0)
        code(struct.pack("10q", *frame), rows)
        np.testing.assert_array_equal(y[:size], 2 * x[:size])
        assert (y[size:] == -1).all()
        assert sums.sum() == x[:size].sum()


def test_long_sums_are_as_exact_as_pairwise_ones() -> None:
    group = trace("summed", lambda x: row_sum(x), {"x": ("f", "f32")})
    x = np.random.default_rng(0).random((2, 1_000_000)).astype(np.float32)
    exact = x.sum(1, dtype=np.float64, keepdims=True)
    (found,) = run(group, [x], 2, 1_000_000, grain=1, constant=False)
    pairwise = x.sum(1, keepdims=True)
    assert np.abs(found - exact).max() <= max(np.abs(pairwise - exact).max(), 1e-6 * exact.max())


def test_sums_are_the_same_for_any_order_of_chunks() -> None:
    group = group_of("sums", "f32")
    operands = drawn(group, 50, 33, 1)
    first = run(group, operands, 50, 33, grain=8, constant=False)
    second = run(group, operands, 50, 33, grain=8, constant=False)
    for a, b in zip(first, second, strict=True):
        np.testing.assert_array_equal(a, b)
