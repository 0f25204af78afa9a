"""What emitted operations compute."""

import ctypes
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from rushlight._native.llvm import target
from rushlight._native.llvm.emit import F32, F64, I1, I32, I64, PTR, Function, Module, Value
from tests.native.native import elementwise, function

SIZES = [0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 47, 64, 65]
SPECIAL = [0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan, 1e-310, 1e-42, 3.5]


def integers(body: Callable[[Function, Value, Value], Value]) -> Callable[[int, int], int]:
    module = Module("integers")
    f = module.function("run", [("a", I64), ("b", I64)], I64)
    f.ret(body(f, *f.params))
    run: Callable[[int, int], int] = function(
        module, "run", ctypes.c_int64, ctypes.c_int64, returns=ctypes.c_int64
    )
    return run


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("lanes", [None, 0, 4])
def test_arithmetic_equals_numpys_at_every_length(dtype: Any, lanes: int | None) -> None:
    def body(f: Function, x: Value, y: Value) -> Value:
        f.contract = False
        return (x + y) * (x - 2.0) / (3.0 - y) + -x

    run = elementwise(body, dtype, 2, lanes)
    rng = np.random.default_rng(0)
    for size in SIZES:
        x, y = rng.standard_normal((2, size)).astype(dtype)
        assert np.array_equal(run(x, y), (x + y) * (x - 2) / (3 - y) + -x)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_maximum_and_minimum_keep_nan(dtype: Any) -> None:
    x, y = (a.ravel().astype(dtype) for a in np.meshgrid(SPECIAL, SPECIAL))
    larger = elementwise(lambda f, x, y: f.maximum(x, y), dtype, 2)(x, y)
    smaller = elementwise(lambda f, x, y: f.minimum(x, y), dtype, 2)(x, y)
    assert np.array_equal(larger, np.maximum(x, y), equal_nan=True)
    assert np.array_equal(smaller, np.minimum(x, y), equal_nan=True)


def test_comparisons_with_nan_are_false_but_for_ne() -> None:
    x, y = (a.ravel() for a in np.meshgrid(SPECIAL, SPECIAL))
    tests: dict[Any, Callable[[Value, Value], Value]] = {
        np.less: lambda x, y: x < y,
        np.less_equal: lambda x, y: x <= y,
        np.greater: lambda x, y: x > y,
        np.greater_equal: lambda x, y: x >= y,
        np.equal: lambda x, y: x.eq(y),
        np.not_equal: lambda x, y: x.ne(y),
    }
    for ufunc, test in tests.items():
        run = elementwise(lambda f, x, y, test=test: f.cast(test(x, y), F64), np.float64, 2)
        assert np.array_equal(run(x, y), ufunc(x, y).astype(float)), ufunc


def test_integers_divide_towards_zero_and_shift_with_and_without_sign() -> None:
    assert integers(lambda f, a, b: a // b)(-7, 2) == -3
    assert integers(lambda f, a, b: a % b)(-7, 2) == -1
    assert integers(lambda f, a, b: a >> b)(-8, 1) == -4
    assert integers(lambda f, a, b: f.shift_right(a, b))(-8, 1) == 2**63 - 4
    assert integers(lambda f, a, b: (a << b) | (a ^ ~b))(5, 2) == (20 | (5 ^ ~2))
    assert integers(lambda f, a, b: f.maximum(a, b))(-5, 3) == 3
    assert integers(lambda f, a, b: f.abs(a))(-5, 3) == 5


def test_a_float_out_of_range_becomes_the_nearest_integer_and_nan_0() -> None:
    module = Module("cast")
    f = module.function("run", [("x", F64)], I32)
    f.ret(f.cast(f.params[0], I32))
    run = function(module, "run", ctypes.c_double, returns=ctypes.c_int32)
    assert [run(x) for x in (2.9, -2.9, 1e20, -1e20, math.nan)] == [2, -2, 2**31 - 1, -(2**31), 0]


def test_loops_carry_values_and_may_not_run_at_all() -> None:
    def body(f: Function, a: Value, b: Value) -> Value:
        with f.loop(a, b, 2, carried=[f.constant(I64, 100)]) as loop:
            loop.next(loop.carried[0] + loop.index)
        return loop.results[0]

    run = integers(body)
    assert run(0, 10) == 100 + sum(range(0, 10, 2))
    assert run(5, 5) == 100
    assert run(9, 5) == 100


def test_loops_nest_and_hold_branches() -> None:
    def body(f: Function, a: Value, b: Value) -> Value:
        with f.loop(0, a, carried=[f.constant(I64, 0)]) as outer:
            with f.loop(0, b, carried=outer.carried) as inner:
                (chosen,) = f.choose(
                    (inner.index & 1).eq(0),
                    lambda: [inner.carried[0] + outer.index],
                    lambda: [inner.carried[0] - 1],
                )
                inner.next(chosen)
            outer.next(*inner.results)
        return outer.results[0]

    def wanted(a: int, b: int) -> int:
        total = 0
        for i in range(a):
            for j in range(b):
                total = total + i if j % 2 == 0 else total - 1
        return total

    assert integers(body)(5, 7) == wanted(5, 7)
    assert integers(body)(5, 0) == 0


def test_repeat_runs_until_it_is_told_to_stop() -> None:
    def body(f: Function, a: Value, b: Value) -> Value:
        def halve(values: list[Value]) -> tuple[Value, list[Value]]:
            x, turns = values
            x = x // 2
            return x > 0, [x, turns + 1]

        return f.repeat([a, f.constant(I64, 0)], halve)[1]

    assert integers(body)(1000, 0) == 10


def test_an_early_return_leaves_the_function() -> None:
    def body(f: Function, a: Value, b: Value) -> Value:
        with f.when(a > b):
            f.ret(-1)
        return a + b

    assert integers(body)(3, 2) == -1
    assert integers(body)(2, 3) == 5


def test_masked_loads_and_stores_touch_their_lanes_only() -> None:
    lanes = target.lanes(F32)
    module = Module("masked")
    f = module.function("run", [("x", PTR), ("y", PTR), ("n", I64)])
    x, y, n = f.params
    mask = f.mask(n, lanes)
    f.store_masked(y, f.load_masked(x, F32.vector(lanes), mask, 7.0) + 1.0, mask)
    f.ret()
    run = function(module, "run", ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)
    source = np.arange(lanes, dtype=np.float32)
    for n in range(lanes + 1):
        result = np.full(lanes, -1, np.float32)
        run(source.ctypes.data, result.ctypes.data, n)
        assert np.array_equal(result, np.where(np.arange(lanes) < n, source + 1, -1))


def test_folds_shuffles_and_inserts_move_lanes() -> None:
    module = Module("lanes")
    f = module.function("run", [("x", PTR)], F64)
    wide = f.load(f.params[0], F64.vector(8))
    back = f.shuffle(wide, None, range(7, -1, -1))
    changed = f.insert(back, f.extract(wide, 1), 0)
    f.ret(f.fold(changed * f.iota(F64.vector(8)), lambda a, b: a + b))
    x = np.arange(8.0) ** 2
    expected = x[::-1].copy()
    expected[0] = x[1]
    run = function(module, "run", ctypes.c_void_p, returns=ctypes.c_double)
    assert run(x.ctypes.data) == float((expected * np.arange(8)).sum())


def test_masks_are_bytes_in_memory() -> None:
    module = Module("bytes")
    f = module.function("run", [("x", PTR), ("out", PTR)])
    x, out = f.params
    mask = f.load(x, I1.vector(8))
    f.store(out, ~mask)
    f.ret()
    given = np.array([1, 0, 1, 1, 0, 0, 1, 0], bool)
    result = np.zeros(8, bool)
    function(module, "run", ctypes.c_void_p, ctypes.c_void_p)(given.ctypes.data, result.ctypes.data)
    assert np.array_equal(result, ~given)


def test_tables_are_read_by_gathering() -> None:
    module = Module("gathered")
    f = module.function("run", [("out", PTR)])
    table = f.address_of(module.constants(F64, [1.5, 2.5, -3.0, 4.0]))
    index = f.iota(I64.vector(4)) ^ 3
    f.store(f.params[0], f.gather(f.at(table, index, F64), F64))
    f.ret()
    result = np.zeros(4)
    function(module, "run", ctypes.c_void_p)(result.ctypes.data)
    assert result.tolist() == [4.0, -3.0, 2.5, 1.5]


def test_values_of_different_types_are_refused() -> None:
    f = Module().function("run", [("a", I64), ("x", F64)])
    a, x = f.params
    with pytest.raises(TypeError, match="different types: i64 and double"):
        a + x
    with pytest.raises(TypeError, match="use select, choose or when"):
        bool(a)
    with pytest.raises(TypeError, match="carried"), f.loop(0, 3, carried=[a]) as loop:
        loop.next(x)
