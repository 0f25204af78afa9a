"""New arrays of numbers, draws without keywords, and what is asked of small arrays."""

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight._array.linalg import fft
from rushlight._array.memory import dense_layout
from rushlight._array.random import mt19937
from rushlight._array.reduce import searchsorted
from rushlight._array.shape import create, indexing
from rushlight._base import dtypes as D
from tests.native.loops import module, same

NUMBERS: list[Any] = [
    0, 1, -1, 3, 0.0, -0.0, 0.1, 1 / 3, -7.25, 1e-40, 5e-324, 1e36, -1e36, 9.9e36, 1e37, 3.4e38,
    1e300, float("inf"), -float("inf"), float("nan"), 1 << 24, (1 << 53) + 1, 1 << 62,
    1 << 63, -(1 << 80), True, None, 1j, np.float64(2), "1",
]  # fmt: skip


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    yield module("fresh", tmp_path_factory.mktemp("fresh"))


def test_numbers_from_one_to_another(built: Any) -> None:
    taken = 0
    for start in NUMBERS:
        for end in NUMBERS:
            for steps in (2, 3, 16, 1001, 8192, 0, 1, -1, 65537, 1 << 70, True, 3.0, None):
                found = built.spaced(start, end, steps)
                if found is not None:
                    assert same(found, create.linspace(start, end, steps, D.float32)), (start, end)
                    taken += 1
    rng = np.random.default_rng(0)
    for _ in range(500):
        start, end = (float(n) for n in rng.standard_normal(2) * 10.0 ** rng.integers(-9, 9))
        steps = int(rng.integers(2, 300))
        assert same(built.spaced(start, end, steps), create.linspace(start, end, steps, D.float32))
    assert taken > 500 and built.spaced(0, 1) is None and built.spaced() is None


def test_few_draws_are_those_of_many(built: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    shapes: list[tuple[int, ...]] = [
        (4, 4), (16,), (3,), (), (2, 8, 3), (5, 7), (600,), (1,), (32,), (0,), (2, 0), (700,),
    ]  # fmt: skip
    draws = (torch.rand, torch.randn, lambda shape: torch.rand_like(torch.empty(shape)),
             lambda shape: torch.randn_like(torch.empty(shape)))  # fmt: skip
    taken = 0

    def run(fresh: Any, seed: int) -> list[Any]:
        nonlocal taken
        monkeypatch.setattr(mt19937, "FRESH", fresh)
        order = np.random.default_rng(seed)
        torch.manual_seed(seed)
        made: list[Any] = []
        for _ in range(150):
            what, where = order.integers(0, len(draws) + 2), order.integers(0, len(shapes))
            taken += fresh is not None
            if what == len(draws):
                made.append(torch.randperm(int(order.integers(0, 700))))
            elif what > len(draws):
                low, many = int(order.integers(-9, 9)), int(order.choice([1, 7, 64, 1 << 28]))
                made.append(torch.randint(low, low + many, shapes[where]))
            else:
                made.append(draws[what](shapes[where]))
        return [*made, torch.get_rng_state()]

    for seed in range(6):
        if seed == 3:
            mt19937.NATIVE.ask(1 << 20)  # emitted code makes normals, where there is some
        for a, b in zip(run(built, seed), run(None, seed), strict=True):
            assert same(a.numpy(), b.numpy())
    assert taken


def test_odd_blocks_draw_nothing(built: Any) -> None:
    block, units = np.arange(624, dtype=np.uint32), np.ones(624, np.float32)
    for start in (-1, 620, 1 << 70, 1.0, None, True):
        assert built.uniforms(block, start, (5,)) is None
        assert built.shuffled(block, start, 6) is None
        assert built.normals(1, block, start, (16,)) is None
    for other in (units[::2], units.astype(np.float64), units.reshape(2, -1), units.tolist(), None,
                  units.view(Alike)):  # fmt: skip
        assert built.uniforms(other, 0, (5,)) is None
    for other in (block[::2], block.astype(np.int64), block.reshape(2, -1), None):
        assert built.shuffled(other, 0, 6) is None and built.normals(1, other, 0, (16,)) is None
    for n in (0, -1, 626, 1 << 70, 2.0, True, None):
        assert built.shuffled(block, 0, n) is None
    for shape in ((15,), (), (1 << 70,), [16], (640,), 16):
        assert built.normals(1, block, 0, shape) is None
    rows = np.arange(64, dtype=np.float32).reshape(2, 32)
    wanted = np.concatenate((np.arange(3, 11), np.arange(35, 43))).astype(np.float32)
    assert same(built.paired(rows, 3, (4, 4)), wanted.reshape(4, 4))
    for other in (rows.T, rows[:, ::2], rows[:1], rows.astype(float), rows[0], units, None, [1.0]):
        assert built.paired(other, 0, (16,)) is None
    for start in (-1, 17, 1 << 70, 0.0, None, True):
        assert built.paired(rows, start, (16,)) is None
    for shape in ((48,), (15,), (0,), 16, None):
        assert built.paired(rows, 0, shape) is None
    with pytest.raises(ValueError, match="no code"):
        built.normals(0, block, 0, (16,))
    with pytest.raises(TypeError):
        built.normals("1", block, 0, (16,))
    before = sys.getrefcount(block)
    for _ in range(100):
        built.uniforms(block, 3, (4, 4))
    assert sys.getrefcount(block) == before


class Alike(np.ndarray):
    """An array of another class."""


def test_shapes_of_arrays_and_ranges_of_elements(built: Any) -> None:
    block = np.arange(624, dtype=np.uint32) * 6_777_777
    like = np.ones((3, 4), np.float32)
    units = ((block & 0xFFFFFF) * np.float32(2.0**-24)).astype(np.float32)
    assert same(built.uniforms(block, 7, like), units[7:19].reshape(3, 4))
    for odd in (like.T, like[:, ::2], like.astype(np.float64), like[:1], like.view(Alike),
                units[:0], like[0, 0], np.ones(1 << 17, np.float32),
                np.ones((30, 30), np.float32)):  # fmt: skip
        assert built.uniforms(block, 7, odd) is None
    nan, inf = float("nan"), float("inf")
    for kind in (np.float32, np.float64):
        for values in ([0, 1, 0.5], [-0.0], [1.0000001], [-1e-45], [nan, 0], [0, nan], [inf],
                       [-inf, 0.5], [0.5] * 100):  # fmt: skip
            x = np.array(values, kind)
            wanted = all(0 <= v <= 1 for v in x.tolist())
            assert built.are_between(x, 0, 1) is wanted and built.are_between(x, 0.0, 1.0) is wanted
    for odd in (like.T, like.astype("i4"), like.astype(np.float16), like.view(Alike), 1, None):
        assert built.are_between(odd, 0, 1) is None
    for args in ((like, "0", 1), (like, 0), (like, 0, None), (like, 0, 1 << 60), ()):
        assert built.are_between(*args) is None


def test_counts_in_bins(built: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searchsorted, "FRESH", None)
    rng = np.random.default_rng(0)
    odd = [0.0, -0.0, 1.0, -1.0, 0.5, 1e-40, 1e30, -1e38, 3.4e38, float("inf"), float("nan")]
    bounds: list[Any] = [
        0, 1, -1, 0.5, 1e-3, 1.0000000001, 1e38, -3.4e38, 1e300, float("nan"), True,
    ]  # fmt: skip
    taken = 0
    with np.errstate(all="ignore"):
        for kind in (np.float32, np.float64):
            arrays = [(rng.standard_normal(n) * scale).astype(kind)
                      for n in (1, 2, 7, 16, 300) for scale in (1, 1e-3, 1e6)]  # fmt: skip
            arrays += [np.full(5, 2.5, kind), rng.choice(odd[:5], 50).astype(kind)]
            arrays += [rng.choice(odd, 4).astype(kind) for _ in range(50)]
            for x in (*arrays, arrays[9].reshape(4, 4)):
                for bins in (1, 2, 10, 100):
                    for low, high in [(0, 0), *rng.choice(bounds, (12, 2)).tolist()]:
                        found = built.counted(x, bins, low, high)
                        if found is not None:
                            assert same(found, searchsorted.histc(x, bins, low, high))
                            taken += 1
    assert taken > 1000
    x = np.ones((4, 4), np.float32)
    for other in (x.T[::2], x[:, ::2], x.astype(np.float16), x.view(Alike), x[:0], [1.0], None,
                  x.astype(">f4"), np.ones(8193, np.float32)):  # fmt: skip
        assert built.counted(other, 10, 0, 0) is None
    for args in ((0, 0, 0), (-1, 0, 0), (10, 0, "1"), (10.0, 0, 0), (1 << 70, 0, 0), (10, 2, 1)):
        assert built.counted(x, *args) is None


def test_arrays_filled_with_a_number(built: Any) -> None:
    types = {float: D.float32, int: D.int64, bool: D.bool_}
    taken = 0
    shapes = [(), (1,), (3, 4), (2,) * 8, (2,) * 9, (0,), (-1,), (8192,), (91, 91), (300, 300),
              (1 << 70,)]  # fmt: skip
    for shape in shapes:
        for value in NUMBERS:
            found = built.filled(shape, value)
            if found is not None:
                assert same(found, create.full(shape, value, types[type(value)])), (shape, value)
                assert found.flags.owndata and found.flags.writeable
                taken += 1
    assert taken > 50
    for odd in ([2, 2], (2.0,), (True,), 3, None):
        assert built.filled(odd, 1.0) is None
    for n in (1, 2, 5, 90, 256):
        assert same(built.eye(n), np.eye(n, dtype=np.float32))
    assert [built.eye(n) for n in (0, -1, 257, 1.0, True, None, 1 << 70)] == [None] * 7


def test_whether_arrays_are_equal(built: Any) -> None:
    rng = np.random.default_rng(1)
    taken = 0
    for _ in range(3000):
        dtype = rng.choice(["f4", "f8", "i8", "?", "f2", "c8", "i4"])
        shape = tuple(int(n) for n in rng.integers(0, 4, rng.integers(0, 3)))
        a = rng.integers(0, 2, shape).astype(dtype)
        b = a.copy() if rng.random() < 0.5 else rng.integers(0, 2, shape).astype(dtype)
        if a.dtype.kind == "f" and a.size and rng.random() < 0.3:
            a.flat[0] = b.flat[-1] = rng.choice([np.nan, -0.0, np.inf])
        if rng.random() < 0.2:
            b = (b.T, b.reshape(-1), b.real.astype("f4"), b[..., None])[rng.integers(4)]
        known = built.are_equal(a, b)
        assert known is None or known is bool(a.shape == b.shape and (a == b).all()), (a, b)
        taken += known is not None
    long, other = np.ones(20000), np.ones(20000)
    assert built.are_equal(long, other) is None and built.are_equal(long, long[1:]) is False
    other[-1] = 2
    assert built.are_equal(long, other) is None  # NumPy says
    other[7] = 2
    assert built.are_equal(long, other) is False
    assert taken > 500 and built.are_equal(1, 2) is None and built.are_equal(a) is None
    bits = np.frombuffer(b"\2\0\1", bool)  # truth isn't one bit
    assert built.are_equal(bits, np.array([True, False, True])) is True


def test_results_in_order_stay_as_they_are(built: Any) -> None:
    rng = np.random.default_rng(2)
    sure = 0
    for _ in range(4000):
        shape = tuple(int(n) for n in rng.integers(1, 4, rng.integers(1, 5)))
        operands = []
        for _ in range(rng.integers(1, 4)):
            own = [n if rng.random() < 0.7 else 1 for n in shape]
            x = np.zeros(own).transpose(order := rng.permutation(len(own)))
            x = (
                x.transpose(np.argsort(order))
                if rng.random() < 0.5
                else np.zeros(np.array(own)[order])
            )
            x = x if x.shape == tuple(own) else x.transpose(np.argsort(order))
            if rng.random() < 0.2:
                x = np.repeat(x, 2, -1)[..., ::2]
            operands.append(np.broadcast_to(x, shape) if rng.random() < 0.2 else x)
        result = np.zeros(np.broadcast_shapes(*[x.shape for x in operands]))
        if built.is_in_order(result, tuple(operands)):
            sure += 1
            named = tuple([(x.shape, x.strides) for x in operands])
            assert dense_layout.order_by(result, named) is result, (shape, named)
    assert sure > 200
    assert not built.is_in_order(1, (1,)) and not built.is_in_order(result, [result])


def test_draws_without_keywords_are_those_with_them() -> None:
    layouts = [
        torch.zeros(4, 4), torch.zeros(5), torch.zeros(()), torch.zeros(1, 3), torch.zeros(0, 3),
        torch.zeros(4, 6).T, torch.zeros(4, 6)[:, ::2], torch.zeros(3, 4, dtype=torch.float64),
        torch.zeros(2, 3, 4, 5).to(memory_format=torch.channels_last), torch.zeros(3).expand(2, 3),
        torch.zeros(32), torch.zeros(2, 3, dtype=torch.bfloat16),
        torch.nn.Parameter(torch.zeros(3, 2)),
    ]  # fmt: skip
    for like in (torch.rand_like, torch.randn_like):
        for x in layouts:
            torch.manual_seed(3)
            a = like(x)
            torch.manual_seed(3)
            b = like(x, dtype=x.dtype)
            assert torch.equal(a, b) and a.stride() == b.stride() and a.dtype is b.dtype
            assert not a.requires_grad
    for draw in (torch.rand, torch.randn):
        for shape in ((4, 4), (5,), (2, 0), (16, 3)):
            torch.manual_seed(3)
            a = draw(*shape)
            torch.manual_seed(3)
            assert torch.equal(a, draw(shape, dtype=torch.float32))
        for wrong in (((-1, 2),), (1.5,), ("a",)):
            with pytest.raises((RuntimeError, TypeError)):
                draw(*wrong)
        assert draw(()).shape == ()


def test_defaults_and_modes_are_asked() -> None:
    calls = [
        lambda: torch.linspace(0, 1, 5), lambda: torch.eye(3), lambda: torch.full((2, 2), 1.5),
        lambda: torch.rand(3), lambda: torch.randn(3),
    ]  # fmt: skip
    torch.set_default_dtype(torch.float64)
    try:
        assert all(call().dtype is torch.float64 for call in calls)
    finally:
        torch.set_default_dtype(torch.float32)
    assert all(call().dtype is torch.float32 for call in calls)
    with torch.device("meta"):
        assert all(call().is_meta for call in calls)
    with torch.inference_mode():
        assert all(call().is_inference() for call in calls)
    with pytest.raises(RuntimeError, match="randomness"):
        torch.func.vmap(lambda x: x + torch.rand(3))(torch.zeros(2, 3))
    assert torch.full((2,), True).dtype is torch.bool and torch.full((2,), 3).dtype is torch.int64
    assert torch.equal(torch.eye(2), torch.tensor([[1.0, 0.0], [0.0, 1.0]]))


def test_nothing_is_left_behind(built: Any) -> None:
    x, number = np.ones((2, 3), np.float32), 1.5
    kept = [x, number, x.dtype]
    before = [sys.getrefcount(one) for one in kept]
    for _ in range(10_000):
        built.spaced(number, 2.5, 4), built.filled((2, 2), number), built.eye(3)
        built.are_equal(x, x), built.is_in_order(x, (x, x))
    assert all(abs(sys.getrefcount(one) - n) < 50 for one, n in zip(kept, before))


def test_short_transforms_are_those_of_numpy() -> None:
    rng = np.random.default_rng(0)
    for kind in (np.float32, np.float64, np.float16):
        for shape in ((1,), (2,), (3,), (4, 4), (1, 5), (7, 1), (2, 3, 8), (40, 40), (3, 1, 6)):
            x = rng.standard_normal(shape).astype(kind)
            for y in (x, x.T, x[..., ::-1]):
                for norm in (0, 1, 2):
                    name = ("backward", "ortho", "forward")[norm]
                    found = fft.r2c(y, (y.ndim - 1,), norm, True)
                    assert same(found.copy(), np.fft.rfft(y, norm=name).copy())


def test_coins_are_those_of_plain_draws(built: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    order = np.random.default_rng(0)
    plans = [
        (int(order.integers(0, 9)), int(order.integers(1, 60)), float(order.random()))
        for _ in range(400)
    ]

    def run(fresh: Any, seed: int) -> list[Any]:
        monkeypatch.setattr(mt19937, "FRESH", fresh)
        torch.manual_seed(seed)
        made: list[Any] = []
        for what, n, p in plans:
            x = torch.zeros(n)
            if what == 0:
                made.append(torch.nn.functional.dropout(x + 1, p))
            elif what == 1:
                made.append(x.double().bernoulli_(p))
            elif what == 2:
                made.append((x > 0).bernoulli_(p))
            elif what == 3:
                made.append(x.long().bernoulli_(p))
            elif what == 4:
                made.append(torch.zeros(2, n).t().bernoulli_(p).contiguous())
            elif what == 5:
                made.append(torch.rand(n))
            elif what == 6:
                made.append(torch.randn(n))
            elif what == 7:
                made.append(torch.zeros(n, 2)[:, 0].bernoulli_(round(p)).contiguous())
            else:
                made.append(torch.zeros(n, 30).bernoulli_(p))
        return [*made, torch.get_rng_state()]

    for seed in range(4):
        for a, b in zip(run(built, seed), run(None, seed), strict=True):
            assert same(a.numpy(), b.numpy())


def test_odd_blocks_make_no_whole_numbers(built: Any) -> None:
    block = np.arange(1 << 29, (1 << 29) + 624, dtype=np.uint32)
    for other in (block[::2], block.astype("i8"), block.reshape(2, -1), block.tolist(), None):
        assert built.remainders(other, 0, (5,), 0, 9) is None
    for start in (-1, 620, 1 << 70, 1.0, None, True):
        assert built.remainders(block, start, (5,), 0, 9) is None
    for shape in ((0,), [5], (625,), (-1,), (1 << 40, 1 << 40), 5, None):
        assert built.remainders(block, 0, shape, 0, 9) is None
    for low, many in ((0, 0), (0, -1), (0, 1 << 28), (1 << 70, 2), (0.0, 2), (0, 2.0), (True, 2),
                      ((1 << 63) - 2, 3), (0, 1 << 70)):  # fmt: skip
        assert built.remainders(block, 0, (5,), low, many) is None
    for args in ((), (block,), (block, 0, (5,), 0), (block, 0, (5,), 0, 2, 1)):
        assert built.remainders(*args) is None
    found = built.remainders(block, 600, (2, 3), -(1 << 63), (1 << 28) - 1)
    wanted = block[600:606].astype(object) % ((1 << 28) - 1) - (1 << 63)
    assert same(found, wanted.astype(np.int64).reshape(2, 3))
    assert built.remainders(block, 0, (), 3, 1).tolist() == 3


def test_odd_blocks_toss_nothing(built: Any) -> None:
    block, out = np.arange(624, dtype=np.uint32), np.full(8, 7.0, np.float32)
    locked = out.copy()
    locked.setflags(write=False)
    odd = (out[::2], out.astype("f2"), out.astype("i4"), out.view(Alike), locked, [1.0], None,
           np.ones(400), out.astype(">f4"))  # fmt: skip
    for other in odd:
        assert built.toss(block, 0, other, 5) is False
    for start in (-1, 609, 1 << 70, 1.0, None, True):
        assert built.toss(block, start, out, 5) is False
    for bound in (1 << 70, 1.0, None, True):
        assert built.toss(block, 0, out, bound) is False
    for args in ((), (block,), (block, 0), (block, 0, out), (block, 0, out, 1, 1)):
        assert built.toss(*args) is False
    assert (out == 7).all() and (locked == 7).all()
    assert built.toss(block, 608, out, 1 << 53) is True and out.tolist() == [1.0] * 8
    assert built.toss(block, 0, out, 0) is True and out.tolist() == [0.0] * 8
    assert built.toss(block, 0, out, (2 << 32) + 4) is True
    assert out.tolist() == [1.0, 1.0, 0, 0, 0, 0, 0, 0]


def test_places_are_looked_at_as_the_plain_way_looks(
    built: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    least, most = -(1 << 63), (1 << 63) - 1
    for values in ([0, 3], [0, 4], [-1, 2], [least], [most], [3, 3, 3], [[0, 1], [2, 4]]):
        x = np.array(values, np.int64)
        for y in (x, x[::-1], x.astype(np.int32), x.view(Alike)):
            said = []
            for fresh in (built, None):
                monkeypatch.setattr(indexing, "FRESH", fresh)
                said.append([indexing.are_places(y, n) for n in (1, 4, 5, 1 << 60, most)])
            assert said[0] == said[1] and all(type(one) is bool for one in said[0])
    assert built.are_between(np.array([2, 3]), 2, 3) is True
    assert built.are_between() is None and built.are_between(1, 2, 3) is None
    table = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    for places, wanted in (([[0, 1], [1, 0]], [[1, 4], [3, 2]]), ([[-1, 0]], [[3, 2]])):
        assert table.take_along_dim(torch.tensor(places), 0).tolist() == wanted
