"""Small arrays by ufuncs' inner loops: the digits of the plain functions, which take all else."""

import gc
import os
import sys
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rushlight._array import numpy_namespace
from rushlight._array.elementwise import chains
from rushlight._array.elementwise.generated import generate
from rushlight._base.schema import parse
from rushlight._core.op import Op
from rushlight._formula import words
from rushlight._native import ufunc_loops
from rushlight._table import ROWS
from rushlight._table.rows import small_arrays
from tests.native.loops import Plain, module as loops_module, same

SPECIAL = [
    0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -3.7, 1e-40, -1e-40, 3e38, -3e38, np.inf, -np.inf, np.nan,
    20.5, -20.5, 88.9, -104.0, 710.0, 1e-8, 0.999999, -7.25, 1e-310,
]  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def loops(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The class of functions with loops: what came with the package, else built here."""
    module = loops_module("chains", tmp_path_factory.mktemp("chains"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ufunc_loops, "FUNCTION", module.Function)
        yield module.Function


def loops_of() -> Any:
    return ufunc_loops.FUNCTION


def small(ufunc: np.ufunc, kinds: str = "ff") -> tuple[Any, Plain]:
    """A function of one ufunc that knows its loops, and what takes all else."""
    plain = Plain(ufunc)
    maker = lambda: chains.chains_of(ufunc, lambda: None, kinds)  # noqa: E731
    made = loops_of()(plain, maker, kinds, 0, ufunc_loops.MOST)
    made(*[np.ones(3)] * len(kinds))
    assert made.known
    plain.calls = 0
    return made, plain


def arrays(dtype: str) -> tuple[Any, Any]:
    rng = np.random.default_rng(3)
    found = []
    for _ in range(2):
        values = np.concatenate([np.array(SPECIAL, dtype), rng.standard_normal(40).astype(dtype)])
        found.append(rng.permutation(values))
    return found[0], found[1]


@pytest.fixture(autouse=True)
def silent() -> Iterator[None]:
    with np.errstate(all="ignore"):
        yield


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_a_ufunc_on_arrays_and_numbers(dtype: str) -> None:
    x, y = arrays(dtype)
    for ufunc in (np.add, np.subtract, np.multiply, np.divide, np.maximum, np.less, np.equal):
        made, plain = small(ufunc)
        for a, b in (
            (x, y), (x, 2.5), (x, 3), (x, -0.0), (x, 1e300), (2, x), (x, np.array(0.1, dtype)),
            (np.array(0.1, dtype), x), (x.reshape(8, 8), y.reshape(8, 8)), (x[:1], y[:1]),
            (x, np.broadcast_to(y[3], x.shape)), (x[1:], y[1:]), (x, x),
        ):  # fmt: skip
            assert same(made(a, b), ufunc(a, b)), (ufunc, a, b)
        assert not plain.calls
        zero = np.array(0.3, dtype)
        assert type(made(zero, zero)) is np.ndarray and made(zero, zero).shape == ()
        assert same(made(zero, zero), ufunc(zero, zero))


def test_what_is_not_plain_goes_to_the_function() -> None:
    made, plain = small(np.multiply)
    x = np.arange(12, dtype=np.float32)

    class Kind(np.ndarray):
        pass

    misaligned = np.zeros(12 * 4 + 1, np.uint8)[1:].view(np.float32)
    cases: list[tuple[Any, Any]] = [
        (x, x.astype(np.float64)), (x, x.astype(">f4")), (x.astype(">f4"), x.astype(">f4")),
        (x.view(Kind), x), (x, x.view(Kind)), (x, misaligned), (misaligned, 2.0),
        (x[::2], x[:6]), (x[:6], x[::-1][:6]), (x.reshape(3, 4).T, x.reshape(4, 3)),
        (x.reshape(3, 4), x[:4]), (x, x[:1]), (x[:0], x[:0]), (x, True), (x, np.float32(2)),
        (x, np.float64(2)), (x, 1 << 60), (x, 1j), (x, x.astype(np.int64)), (x, x.astype(bool)),
        (np.ones(ufunc_loops.MOST + 1), 2.0), (x.astype(np.float16), 2.0), (2.0, 3.0),
        (x[:1].reshape(1, 1), x), (np.broadcast_to(x[1], (3,)), np.broadcast_to(x[2], (3,))),
        (np.ones((3, 1), np.float32).T, np.ones((3, 1), np.float32).T),
        (x.astype(np.float32, copy=True).astype(np.dtype(np.float32, metadata={"a": 1})), x),
    ]  # fmt: skip
    taken = []
    for k, (a, b) in enumerate(cases):
        before = plain.calls
        assert same(made(a, b), np.multiply(a, b)), k
        assert type(made(a, b)) is type(np.multiply(a, b))
        assert plain.calls - before in (0, 2)
        taken += [k] if plain.calls == before else []
    assert taken == [7, 9, 10, 11, 23, 24, 25]  # of other strides or shapes
    for bad in ((x, "a"), (x, None), (x,), (x, x, x, x)):
        with pytest.raises((TypeError, ValueError)):
            made(*bad)
    with pytest.raises(ValueError):
        made(x, x[:5])
    assert same(made(x, x), x * x)


def test_a_result_is_new_and_operands_are_only_read() -> None:
    made, plain = small(np.add)
    x = np.arange(8.0)
    x.flags.writeable = False
    result = made(x, x)
    assert result.flags.owndata and result.flags.writeable and result.base is None
    assert not np.shares_memory(result, x) and not plain.calls


def test_blocks_and_numbers_of_a_formula() -> None:
    soft = generate(
        "soft",
        lambda x, beta, limit: words.where(
            x * beta > limit, x, words.log1p(words.exp(x * beta)) * (1 / (beta * 3 - beta))
        ),
        ("x",), {"beta": 1, "limit": 20},
    )  # fmt: skip
    made = chains.take_chains(soft, lambda: None, "fss")
    assert made is not soft
    for size in (1, 7, 255, 256, 257, 700, 2048):
        for dtype in (np.float32, np.float64):
            x = np.linspace(-30, 30, size).astype(dtype)
            for numbers in ((1, 20), (1.0, 20.0), (2, 20), (0.5, 3.5)):
                for _ in range(4):
                    assert same(made(x, *numbers), soft(x, *numbers)), (size, numbers)
    assert getattr(made, "known", True)
    with pytest.raises(ZeroDivisionError):
        soft(x, 0, 1)
    with pytest.raises(ZeroDivisionError):
        made(x, 0, 1)


#: Of operands that broadcast.
SHAPES = ((4, 5), (5,), (4, 1), (1, 5), (2, 1, 5), (1,), (4, 5), ())


def ops() -> Iterator[tuple[str, Op, Any, str]]:
    """Each operation by element, with its schema and kind."""
    for rows in ROWS.values():
        for row in rows:
            if row.kind != "elementwise" and not row.op.broadcasts:
                continue
            yield str(row), row.op, row.schema, row.kind
            if row.simple_op is not None and row.simple_op is not row.op:
                tensors = ", ".join(f"Tensor {p.name}" for p in row.schema.params if p.is_tensor)
                schema = parse(f"{row.schema.name}.default({tensors}) -> Tensor")
                yield str(row), row.simple_op, schema, row.kind


def attempt(function: Any, args: list[Any]) -> Any:
    try:
        return function(*args)
    except Exception as error:
        return error


def test_every_row_agrees_with_its_plain_function() -> None:
    known = 0
    for text, op, schema, kind in ops():
        former = op.small, op.small_formulas
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(ufunc_loops, "_WAITS", 0)
            small_arrays.add_chains(op, schema, kind)
        pairs = zip((op.small, *op.small_formulas), (op.raw, *op.formulas), strict=True)
        try:
            known += sum(agrees(text, made, plain) for made, plain in pairs)
        finally:
            op.small, op.small_formulas = former
    assert known > 180


def agrees(text: str, made: Any, plain: object) -> bool:
    if type(made) is not loops_of():
        assert made is plain
        return False
    (maker,) = [x for x in gc.get_referents(made) if hasattr(x, "func")]
    kinds, defaults = maker.args[2], maker.args[3]
    for dtype in ("f4", "f8"):
        x, y = arrays(dtype)
        for numbers in (
            (0.7, 2),
            (-0.3, 0.7),
            (0.0, 0.5),
            (1, 1.0),
            (3, 0.25),
            (0.0, -1),
            (1e300, -1e300),
            (None, None),
            tuple(n for n in defaults if type(n) in (int, float)),
        ):
            if None in numbers and "o" not in kinds:
                continue
            free, left = iter((x, y, x[::-1].copy(), y)), iter((*numbers, 1, 1, 1))
            given = {"f": free, "s": left, "o": left, "b": iter([x > 0.3]),
                     "-": iter([numpy_namespace])}  # fmt: skip
            args = [next(given[k]) for k in kinds]
            attempt(made, args)
            if not made.known:
                return False
            shaped = [a[:5].reshape(5, 1) if isinstance(a, np.ndarray) else a for a in args]
            single = [np.array(a[30]) if isinstance(a, np.ndarray) else a for a in args]
            grid = [
                np.resize(a, shape) if isinstance(a, np.ndarray) else a
                for a, shape in zip(args, SHAPES)
            ]
            apart = [
                np.resize(a, (5, 8))[::2, :: k + 1][:, :3] if isinstance(a, np.ndarray) else a
                for k, a in enumerate(args)
            ]
            turned = [a.T if isinstance(a, np.ndarray) else a for a in grid]
            back = [a[::-1] if isinstance(a, np.ndarray) else a for a in grid]
            for case in (args, shaped, single, grid, apart, turned, back, [*turned[:1], *grid[1:]]):
                found, wanted = attempt(made, case), attempt(plain, case)
                if isinstance(wanted, Exception):
                    assert type(found) is type(wanted), (text, found, wanted)
                else:
                    assert same(found, wanted), (text, kinds, dtype, found, wanted)
    return True


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_gradients_of_sums(dtype: str) -> None:
    made = {}
    for function, (kinds, step) in small_arrays.OF_SUMS.items():
        maker = partial(chains.of_sum, kinds, step)
        made[step] = loops_of()(function, maker, kinds, 0, ufunc_loops.MOST), function
    for values in ([0.5, -3.25, 1e30], [-0.0], [np.inf, 1.0, -np.inf, np.nan]):
        for value in values:
            g = np.array(value, dtype)
            for shape in ((3,), (2, 5), (1,), (), (0,), (1, 1), (7, 1)):
                for step in "sd":
                    for _ in range(2):
                        found = made[step][0](numpy_namespace, g, shape)
                    wanted = made[step][1](numpy_namespace, g, shape)
                    assert same(found, wanted) and found.flags == wanted.flags, (step, shape)
    assert all(one.known for one, _ in made.values())
    spread = made["d"][0](numpy_namespace, np.array(3.0), (2,))
    gc.collect()
    assert spread.tolist() == [1.5, 1.5]


def test_calls_leave_no_memory_and_no_references() -> None:
    soft = generate("soft", lambda x, y: words.exp(x) * y + words.sqrt(x), ("x", "y"), {})
    made = chains.take_chains(soft, lambda: None, "ff")
    x = np.ones(16, np.float32)
    odd = x[::2]

    sums = [
        loops_of()(function, partial(chains.of_sum, *told), told[0], 0, 99)
        for function, told in small_arrays.OF_SUMS.items()
    ]
    g = np.ones((), np.float32)

    def calls(count: int) -> None:
        for _ in range(count):
            for one in sums:
                one(numpy_namespace, g, (4, 2))
            made(x, x)
            made(odd, odd)

    calls(1000)
    kept = [x, odd, x.dtype, soft, g, None if sys.version_info >= (3, 12) else numpy_namespace]
    before = [sys.getrefcount(one) for one in kept]
    statm = Path("/proc/self/statm")
    size = int(statm.read_text().split()[1]) if statm.exists() else 0
    calls(50_000)
    assert [sys.getrefcount(one) for one in kept] == before
    if size:
        pages = int(statm.read_text().split()[1]) - size
        assert pages * os.sysconf("SC_PAGE_SIZE") < 1 << 20


def test_a_maker_that_fails_or_refuses() -> None:
    x = np.ones(3)
    refused = loops_of()(np.exp, lambda: None, "f", 0, 99)
    assert same(refused(x), np.exp(x)) and same(refused(x), np.exp(x)) and not refused.known

    def fails() -> None:
        raise KeyError("why")

    failing = loops_of()(np.exp, fails, "f", 0, 99)
    with pytest.raises(KeyError):
        failing(x)
    assert same(failing(x), np.exp(x)) and not failing.known
    for told in (("ff", ()), ("f", ((),)), ("f", (((), (), 0, 0, 0, (("u", 3, "ff", b"\0\1"),)),))):
        odd = loops_of()(np.exp, lambda told=told: told, "f", 0, 99)
        attempt(odd, [x])
        assert same(odd(x), np.exp(x)) and not odd.known
    gc.collect()


def test_threads_share_a_function() -> None:
    made = chains.take_chains(
        generate("twice", lambda x, y: words.exp(x) * y - x, ("x", "y"), {}), lambda: None, "ff"
    )
    wrong = []

    def work(seed: int) -> None:
        rng = np.random.default_rng(seed)
        for _ in range(500):
            x, y = rng.standard_normal((2, 50))
            if not same(made(x, y), np.exp(x) * y - x):
                wrong.append(seed)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert not wrong
