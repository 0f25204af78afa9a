"""Elements read and added at places by emitted code, against NumPy's ways."""

from typing import Any

import numpy as np
import pytest

from rushlight._array import kernels
from rushlight._array.kernels import places
from rushlight._array.memory import parallel
from rushlight._array.nn import class_losses as losses
from rushlight._array.shape import gather as ways, scatter as scatter_ways
from rushlight._native.emitted import places as code
from rushlight._native.llvm import target

pytest.importorskip("llvmlite")
if not target.available():
    pytest.skip("this machine can't run emitted code", allow_module_level=True)


@pytest.fixture(autouse=True)
def _numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    """What `ways` does is NumPy's way, unless a test says otherwise."""
    monkeypatch.setattr(kernels, "LEAST", 1 << 60)


def drawn(seed: int, dtype: str) -> tuple[Any, int, Any, Any]:
    """An array, an axis, indices along it, and an element for each index."""
    rng = np.random.default_rng(seed)
    shape = tuple(int(n) for n in rng.integers(1, 40, rng.integers(1, 4)))
    axis = int(rng.integers(len(shape)))
    count = int(rng.integers(1, 90))
    index = rng.integers(0, shape[axis], (*shape[:axis], count, *shape[axis + 1 :]))
    x = (9 * rng.standard_normal(shape)).astype(dtype)
    source = (9 * rng.standard_normal(index.shape)).astype(dtype)
    if seed % 3 == 1:  # as a transpose lies
        x, index, source = (np.asfortranarray(a) for a in (x, index, source))
    if seed % 3 == 2:
        x, source = x[..., ::-1], source[::-1]
    return x, axis, index, source


@pytest.mark.parametrize("dtype", ["f4", "f8", "i8", "i4", "c8"])
@pytest.mark.parametrize("seed", range(12))
def test_what_is_read_equals_numpys(seed: int, dtype: str) -> None:
    x, axis, index, _ = drawn(seed, dtype)
    found = places.gather(x, axis, index)
    assert found is not None and found.dtype == x.dtype and found.flags.c_contiguous
    assert np.array_equal(found, np.take_along_axis(x, index, axis))
    assert np.array_equal(found, ways.gather(x, axis, index))


@pytest.mark.parametrize("dtype", ["f4", "f8", "i8"])
@pytest.mark.parametrize("seed", range(12))
def test_what_is_added_equals_numpys(seed: int, dtype: str) -> None:
    x, axis, index, source = drawn(seed, dtype)
    before = x.copy()
    found = places.combine(x, axis, index, source, "add")
    assert found is not None and found.dtype == x.dtype and np.array_equal(x, before)
    expected = ways.scatter_add(x, axis, index, source)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-4 if dtype == "f4" else 1e-12)


@pytest.mark.parametrize("reduce", ["sum", "prod", "mean", "amax", "amin"])
@pytest.mark.parametrize("dtype", ["f4", "f8", "i8", "i4", "f2", "c8", "?"])
@pytest.mark.parametrize("seed", range(6))
def test_what_is_reduced_has_numpys_digits(
    monkeypatch: pytest.MonkeyPatch, seed: int, dtype: str, reduce: str
) -> None:
    if (dtype == "c8" and reduce[0] == "a") or (dtype == "?" and reduce == "mean"):
        return  # refused
    x, axis, index, source = drawn(seed, dtype)
    if dtype[0] == "f":  # that no nan is lost
        for a in (x, source):
            flat = a.reshape(-1)
            flat[::5], flat[1::7], flat[2::11], flat[3::13] = np.nan, np.inf, 0.0, -0.0
            a[...] = flat.reshape(a.shape)
    source = np.pad(source, 2)[tuple([slice(2, None)] * source.ndim)]  # larger than the index
    before = x.copy()
    for own in (True, False):
        with np.errstate(all="ignore"):
            monkeypatch.setattr(kernels, "LEAST", 1 << 60)
            expected = scatter_ways.scatter_reduce(x, axis, index, source, reduce, own)
            monkeypatch.setattr(kernels, "LEAST", 1)
            found = scatter_ways.scatter_reduce(x, axis, index, source, reduce, own)
        assert found.dtype == expected.dtype
        assert np.array_equal(found, expected, equal_nan=dtype[0] in "fc")
        assert np.array_equal(x, before, equal_nan=dtype[0] in "fc")


@pytest.mark.parametrize("word", code.COMBINED)
def test_kernels_take_what_numpy_combines(word: str) -> None:
    for dtype in code.TYPES:
        x, index = np.ones((40, 50), dtype), np.zeros((40, 50), np.int64)
        expected = x.copy()
        getattr(np, word).at(expected, (index, np.arange(50)), 3 * x)
        assert np.array_equal(places.combine(x, 0, index, 3 * x, word), expected)


@pytest.mark.parametrize("word", ["maximum", "minimum"])
@pytest.mark.parametrize("zero", [0.0, -0.0])
def test_of_two_zeros_the_one_that_is_there_stays(word: str, zero: float) -> None:
    x, index = np.full((1, 3), zero, np.float32), np.zeros((1, 3), np.int64)
    found = places.combine(x, 0, index, -x, word)
    assert found is not None and (np.signbit(found) == np.signbit(x)).all()


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_any_number_of_threads_adds_the_same_digits(axis: int) -> None:
    rng = np.random.default_rng(0)
    x = np.zeros((70, 80, 90), np.float32)
    index = rng.integers(0, x.shape[axis], x.shape)
    source = rng.standard_normal(x.shape).astype(np.float32)
    found = []
    before = parallel.get_num_threads()
    try:
        for threads in (1, 2, 3):
            parallel.set_num_threads(threads)
            added = places.combine(x, axis, index, source, "add")
            found.append((added, places.gather(source, axis, index)))
    finally:
        parallel.set_num_threads(before)
    for added, read in found[1:]:
        assert np.array_equal(added, found[0][0]) and np.array_equal(read, found[0][1])


@pytest.mark.parametrize("wrong", [-1, 30, 1 << 62, -(1 << 62)])
@pytest.mark.parametrize("axis", [0, 1])
def test_an_index_outside_is_refused_before_anything_is_read(
    wrong: int, axis: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernels, "LEAST", 1)
    x = np.zeros((30, 30), np.float32)
    index = np.zeros((30, 30), np.int64)
    index[7, 8] = wrong
    assert places.gather(x, axis, index) is None
    assert places.combine(x, axis, index, x, "add") is None
    words = f"index {wrong} is out of bounds for dimension {axis} with size 30"
    with pytest.raises(RuntimeError, match=words):
        ways.gather(x, axis, index)
    with pytest.raises(RuntimeError, match=words):
        ways.scatter_add(x, axis, index, x)
    assert not x.any()


def test_what_kernels_leave_alone() -> None:
    x, index = np.zeros((4, 5), np.float32), np.zeros((4, 5), np.int64)
    for other in (x.astype(np.float16), x.astype(bool), x[:0], x.astype(">f4").view(">i2")):
        assert places.combine(other, 0, index[: len(other)], other, "add") is None
    assert places.gather(x.astype(np.float16), 0, index) is None
    assert places.gather(x, 0, index[:, :3]) is None  # fewer places of another axis
    assert places.gather(x, 0, index.astype(np.int32)) is None
    assert places.gather(x[:, :0], 0, index[:, :0]) is None
    assert places.gather(x, 0, index[:0]) is None
    assert places.combine(x, 0, index, 1.0, "add") is None
    assert places.combine(x, 0, index, x.astype(np.float64), "add") is None


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i8"])
def test_an_expanded_index_goes_by_whole_lines(axis: int, dtype: str) -> None:
    rng = np.random.default_rng(axis)
    x = rng.integers(0, 9, (120, 130)).astype(dtype)
    line = rng.integers(0, x.shape[axis], 110)
    shape = (110, 130) if axis == 0 else (120, 110)
    index = np.broadcast_to(line[:, None] if axis == 0 else line, shape)
    source = rng.integers(0, 9, (131, 140)).astype(dtype)
    plain = np.ascontiguousarray(index)
    assert np.array_equal(ways.gather(x, axis, index), np.take_along_axis(x, plain, axis))
    added = ways.scatter_add(x, axis, index, source)
    assert added.dtype == x.dtype
    assert np.array_equal(added, ways.scatter_add(x, axis, plain, source))
    with pytest.raises(RuntimeError, match=f"index 999 is out of bounds for dimension {axis}"):
        ways.gather(x, axis, np.broadcast_to(np.array(999), shape))


@pytest.mark.parametrize("dtype", ["f4", "f8", "i8", "i4"])
@pytest.mark.parametrize("seed", range(12))
def test_what_is_written_equals_numpys(seed: int, dtype: str) -> None:
    x, axis, index, source = drawn(seed, dtype)
    # Each place is named once at most: which of several elements stays is the last one's right.
    index = np.argsort(np.random.default_rng(seed).random(x.shape), axis)[
        tuple(slice(min(n, m)) if a == axis else slice(None) for a, (n, m) in
              enumerate(zip(x.shape, index.shape)))
    ]  # fmt: skip
    source = source[tuple(slice(n) for n in index.shape)]
    found, expected = np.array(x, order="C"), np.array(x, order="C")
    assert places.write(found, axis, index, source)
    np.put_along_axis(expected, index, source, axis)
    assert np.array_equal(found, expected)


def test_the_last_one_stays_where_a_place_is_named_twice() -> None:
    index = np.zeros((500, 3), np.int64)
    source = np.arange(1500, dtype=np.float32).reshape(500, 3)
    out = np.zeros((4, 3), np.float32)
    assert places.write(out, 0, index, source)
    assert out.tolist() == [[1497, 1498, 1499], [0] * 3, [0] * 3, [0] * 3]


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("ignored", [-100, 2, 7])
@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_likelihood_of_places_is_the_same(
    dtype: str, ignored: int, reduction: str, weighted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(0)
    x = rng.standard_normal((3, 7, 11, 5)).astype(dtype)
    target = rng.integers(0, 7, (3, 11, 5))
    target[rng.random(target.shape) < 0.2] = ignored if ignored != 7 else 0
    weight = rng.random(7).astype(dtype) if weighted else None
    given = x, target, weight, ["none", "mean", "sum"].index(reduction), ignored
    g = rng.standard_normal(target.shape if reduction == "none" else ()).astype(dtype)
    found = []
    for least in (1 << 60, 1):
        monkeypatch.setattr(kernels, "LEAST", least)
        back = losses.nll_loss_backward(np.asarray(g), *given)
        found += [losses.nll_loss2d(*given), back]
    assert np.array_equal(found[0], found[2]) and np.array_equal(found[1], found[3])
    for wrong in (-1, 8):
        target[1, 2, 3] = wrong
        with pytest.raises(IndexError, match=f"Target {wrong} is out of bounds"):
            losses.nll_loss2d(*given)
