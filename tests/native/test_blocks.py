"""One ufunc's loop over two arrays that broadcast, block by block: every bit is NumPy's."""

import gc
import os
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from rushlight._array import kernels
from rushlight._array.elementwise import chains
from rushlight._array.memory import parallel
from rushlight._native import ufunc_loops
from rushlight._native.llvm import target
from tests.native.loops import Plain, module, run_at_once, same

ARITHMETIC = [np.add, np.subtract, np.multiply, np.true_divide]
SHAPES: list[tuple[tuple[int, ...], tuple[int, ...]]] = [
    ((37, 53), (53,)), ((37, 53), (37, 1)), ((37, 53), (1, 53)), ((37, 53), ()),
    ((37, 53), (1, 1)), ((37, 1), (53,)), ((9, 1, 64), (1, 11, 64)), ((9, 11, 64), (9, 1, 64)),
    ((9, 11, 64), (11, 1)), ((9, 11, 65), (9, 1, 1)), ((3, 4, 5, 70), (4, 1, 70)),
    ((3, 1, 5, 1), (1, 4, 1, 70)), ((2, 1, 1, 3, 20), (2, 1, 4, 1, 20)), ((70000,), (1,)),
    ((2, 40000), (2, 1)), ((5, 16), (5, 1)), ((1, 1, 300), (300,)), ((200, 1, 3), (1, 200, 3)),
    ((200, 1, 5), (200, 5)), ((40, 3, 3), (40, 1, 1)), ((40, 3, 3), (3, 1)), ((9, 1), (1, 9)),
    ((8, 10, 64, 16), (8, 10, 64, 1)), ((8, 10, 64, 16), (8, 10, 1, 16)), ((2, 1), (2, 2)),
    ((3000, 1), (3000, 2)), ((3000, 1), (3000, 7)), ((1025, 1), (1, 2)), ((2, 1025), (2, 1)),
    ((2, 2, 2, 2, 2, 2, 2, 9), (2, 1, 2, 1, 2, 1, 2, 9)), ((127, 129), (129,)),
    ((129, 127), (129, 1)), ((16, 3, 32, 32), (1, 3, 1, 1)), ((60, 50, 1), (60, 1, 40)),
    ((300, 300), (300, 300)), ((1, 1), (1, 1, 1)), ((5, 1, 1, 1, 7), (3, 1, 2, 1)),
]  # fmt: skip


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    found = module("chains", tmp_path_factory.mktemp("chains"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ufunc_loops, "FUNCTION", found.Function)
        found.set_pool(chains._find_pool)
        yield found


def made_of(build: Any, ufunc: np.ufunc) -> tuple[Any, Plain]:
    """A function of one ufunc that knows its loops, and what takes all else."""
    plain = Plain(ufunc)
    made = build.Function(plain, lambda: chains.chains_of(ufunc, lambda: None, "ff"), "ff", 0, 2048)
    made(np.ones(3), np.ones(3))
    assert made.known
    plain.calls = 0
    return made, plain


def drawn(shape: tuple[int, ...], dtype: str, seed: int) -> Any:
    x = np.random.default_rng(seed).standard_normal(shape).astype(dtype)
    if x.size > 20:  # all that floats are
        flat = x.reshape(-1)
        flat[3:15:2] = [0.0, -0.0, np.inf, -np.inf, np.nan, 1e-42]
        flat[-1] = np.finfo(dtype).max
    return x


@pytest.mark.parametrize("ufunc", [*ARITHMETIC, np.less, np.not_equal])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_every_bit_is_numpys(build: Any, ufunc: np.ufunc, dtype: str) -> None:
    made, plain = made_of(build, ufunc)
    with np.errstate(all="ignore"):
        for k, (left, right) in enumerate(SHAPES):
            a, b = drawn(left, dtype, k), drawn(right, dtype, k + 50)
            for x, y in ((a, b), (b, a)):
                assert same(made(x, y), ufunc(x, y)), (left, right)
    assert plain.calls == 0


def parts(x: Any) -> Iterator[Any]:
    """Views of an array of three axes, as they may lie."""
    yield x
    yield x.transpose(2, 0, 1)
    yield x.swapaxes(0, 1)
    yield x[::-1]
    yield x[..., ::-1]
    yield x[::2]
    yield x[..., ::2]
    yield x[:, 1:, 3:]
    yield x[:, :1]
    yield x[..., :1]
    yield x[..., :1, :]
    yield x[..., :5]
    yield x[..., ::13]
    yield x[:, ::2, :3]
    yield np.broadcast_to(x[:1], x.shape)
    yield np.broadcast_to(x[..., :1], x.shape)
    yield np.broadcast_to(x[:, :1, :1], x.shape)
    yield np.broadcast_to(x[:, :1, :5], (21, 22, 5))
    yield np.lib.stride_tricks.sliding_window_view(x.reshape(-1)[:90], 40)[:20, :]
    yield np.lib.stride_tricks.as_strided(x, (21, 22, 40), (4, 4, 4))
    yield np.asfortranarray(x)
    yield np.asfortranarray(x)[:, :1]


@pytest.mark.parametrize("ufunc", ARITHMETIC)
def test_views_of_any_kind_are_taken(build: Any, ufunc: np.ufunc) -> None:
    made, plain = made_of(build, ufunc)
    first, second = drawn((21, 22, 40), "f4", 1), drawn((21, 22, 40), "f4", 2)
    taken = 0
    with np.errstate(all="ignore"):
        for a in parts(first):
            for b in parts(second):
                before = plain.calls
                try:
                    expected = ufunc(a, b)
                except ValueError:
                    with pytest.raises(ValueError, match="broadcast"):
                        made(a, b)
                    continue
                assert same(made(a, b), expected), (a.shape, a.strides, b.shape, b.strides)
                taken += plain.calls == before
    assert taken > 60


def test_results_lie_as_numpy_lays_them_out(build: Any) -> None:
    made, plain = made_of(build, np.subtract)
    rng = np.random.default_rng(3)
    taken = 0
    for turn in range(2000):
        rank = int(rng.integers(2, 6))
        shape = [int(rng.choice([1, 2, 3, 8, 17])) for _ in range(rank)]
        operands = []
        for seed in range(2):
            order = rng.permutation(rank)
            own = [1 if rng.random() < 0.3 else n for n in shape]
            x = drawn(tuple(own[k] for k in order), "f4", turn + seed).transpose(np.argsort(order))
            if rng.random() < 0.2:
                x = np.broadcast_to(x, shape)
            operands.append(x[int(rng.integers(2)) :] if x.shape[0] > 2 else x)
        n = min([x.shape[0] for x in operands if x.shape[0] > 1], default=1)
        operands = [x[:n] for x in operands]
        before = plain.calls
        with np.errstate(all="ignore"):
            found = made(*operands)
            expected = np.subtract(*operands)
        assert same(found, expected), [x.strides for x in operands]
        taken += plain.calls == before
    assert taken == 2000


def test_random_shapes_and_steps(build: Any) -> None:
    made = {ufunc: made_of(build, ufunc)[0] for ufunc in ARITHMETIC}
    rng = np.random.default_rng(5)
    for turn in range(3000):
        rank = int(rng.integers(1, 6))
        shape = [int(rng.choice([1, 2, 3, 5, 8, 16, 31, 64, 130])) for _ in range(rank)]
        while np.prod(shape) > 60_000:
            shape[int(np.argmax(shape))] //= 2
        operands = []
        for _ in range(2):
            own = [n if rng.random() < 0.6 else 1 for n in shape][int(rng.integers(2)) :]
            wide = [n + int(rng.integers(3)) for n in own]
            x = drawn(tuple(wide), ("f4", "f8")[turn % 2], turn)
            cut = x[tuple(slice(0, n) for n in own)]
            if rng.random() < 0.3 and cut.ndim:
                cut = np.broadcast_to(cut[:1], cut.shape)
            operands.append(cut if rng.random() < 0.5 else np.ascontiguousarray(cut))
        ufunc = ARITHMETIC[turn % 4]
        with np.errstate(all="ignore"):
            assert same(made[ufunc](*operands), ufunc(*operands)), [
                (x.shape, x.strides) for x in operands
            ]


def test_nothing_is_read_or_written_beyond_the_end(build: Any) -> None:
    mmap = pytest.importorskip("mmap")
    made, plain = made_of(build, np.multiply)
    page = mmap.PAGESIZE
    memory = mmap.mmap(-1, 16 * page)  # at whose end nothing else of ours lies
    for rows, n in ((5, 3), (64, 16), (33, 31), (1, 127), (200, 5), (16, 64)):
        x = np.frombuffer(memory, "f4")[-rows * n :].reshape(rows, n)
        x[...] = 2
        c = np.arange(rows, dtype="f4")[:, None]
        assert same(made(x, c), x * c) and same(made(c, x), c * x)
        assert same(made(x, x[0]), x * x[0])
        del x
    assert plain.calls == 0
    # The result's neighbours keep what they have.
    for rows in (1, 2, 3, 7, 40):
        for n in (2, 3, 5, 9):
            c, x = np.ones((rows, 1), "f4"), np.ones((rows, n), "f4")
            for _ in range(50):
                out = made(c, x)
                assert (out == 1).all()


def test_threads_change_no_bit(build: Any) -> None:
    made, _ = made_of(build, np.true_divide)
    pairs = [
        (drawn(left, "f4", 1), drawn(right, "f4", 2))
        for left, right in (
            ((90, 10, 70), (90, 10, 1)), ((90, 1, 70), (80, 70)), ((600, 600), (600, 600)),
            ((40000, 9), (40000, 1)), ((400, 1, 3), (1, 400, 3)), ((70000, 1), (1, 5)),
        )
    ]  # fmt: skip
    before = parallel.get_num_threads()
    try:
        with np.errstate(all="ignore"):
            for threads in (1, 2, 3, 2):
                parallel.set_num_threads(threads)
                for a, b in pairs:
                    for _ in range(5):
                        assert same(made(a, b), a / b)
    finally:
        parallel.set_num_threads(before)


def test_several_threads_call_at_once(build: Any) -> None:
    made, _ = made_of(build, np.multiply)
    wrong: list[object] = []

    def run(seed: int) -> None:
        rng = np.random.default_rng(seed)
        for _ in range(20):
            a, b = rng.standard_normal((9000, 6)), rng.standard_normal((9000, 1))
            if not same(made(a, b), a * b):
                wrong.append(seed)

    run_at_once(run)
    assert not wrong


def test_what_is_left_to_numpy(build: Any) -> None:
    made, plain = made_of(build, np.add)
    x = np.ones((30, 40), np.float32)
    odd = np.zeros(30 * 40 * 8, np.uint8).view([("skip", "u1"), ("x", "f4"), ("y", "u1", 3)])["x"]
    left = [
        (x, x.astype("f8")), (x, x.view(np.recarray)), (x, np.ma.ones((30, 40), "f4")),
        (x, x[:, ::-1]), (odd, odd), (x[:0], x[:1]),
        *[(x.astype(d), x.astype(d)) for d in ("i4", "c8", "f2", "?", ">f4")],
        (np.ones((1,) * 9 + (4,)), np.ones(4)),
    ]  # fmt: skip
    for k, (a, b) in enumerate(left):
        found = made(a, b)
        assert plain.calls == k + 1, k
        assert type(found) is type(a + b) and np.array_equal(found, a + b)
    with pytest.raises(ValueError, match="broadcast"):
        made(x, x[:7])
    huge = np.broadcast_to(np.float32(1), (1 << 21, 1 << 21))
    with pytest.raises((MemoryError, ValueError)):
        made(huge, huge)


def test_a_pool_that_fails_or_is_none(build: Any) -> None:
    made, _ = made_of(build, np.add)
    a, b = np.ones((40000, 3)), np.ones((40000, 1))

    def fail() -> None:
        raise LookupError

    try:
        build.set_pool(fail)
        with pytest.raises(LookupError):
            made(a, b)
        for told in (None, (), (1, 0, 0), (0, 0)):
            build.set_pool(lambda told=told: told)
            assert same(made(a, b), a + b)
        build.set_pool(lambda: ("a", 1, 1))
        with pytest.raises(TypeError):
            made(a, b)
    finally:
        build.set_pool(chains._find_pool)
    assert same(made(a, b), a + b)


def test_nothing_leaks(build: Any) -> None:
    made, _ = made_of(build, np.add)
    a, b = np.ones((40000, 3)), np.ones((40000, 1))
    counts = []
    for _ in range(3):
        for _ in range(50):
            made(a, b)
        gc.collect()
        counts.append((sys.getrefcount(a), sys.getrefcount(b), sys.getrefcount(a.dtype)))
    assert counts[1] == counts[2]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_child_makes_threads_of_its_own(build: Any) -> None:
    made, _ = made_of(build, np.multiply)
    a, b = drawn((9000, 40), "f4", 1), drawn((9000, 1), "f4", 2)
    with np.errstate(all="ignore"):
        expected = a * b
        assert same(made(a, b), expected)
        child = os.fork()
        if child == 0:
            os._exit(0 if all(same(made(a, b), expected) for _ in range(5)) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_where_kernels_are_off_one_thread_does_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "LEAST", sys.maxsize)
    assert chains._find_pool() is None
    monkeypatch.undo()
    if target.available() and sys.maxsize != kernels.LEAST and parallel.get_num_threads() > 1:
        assert len(chains._find_pool() or ()) == 3
