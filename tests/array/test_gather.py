"""Reading and adding at computed places, against loops and NumPy's own indexing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from rushlight._array.shape import gather as module

DTYPES = [np.float32, np.float64, np.int64, np.complex64]


def draw(*shape: int, dtype: type = np.float32) -> Any:
    return (np.random.default_rng(len(shape)).standard_normal(shape) * 9).astype(dtype)


def indices(high: int, *shape: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).integers(0, high, shape)


@pytest.mark.parametrize("dtype", [np.float32, np.complex64])
@pytest.mark.parametrize("width", [1, 3, 16])
def test_narrow_rows_are_added_one_after_the_other_in_their_own_type(
    dtype: type, width: int
) -> None:
    index, source = indices(3, 900), draw(900, width, dtype=dtype)
    expected = np.zeros((3, width), dtype)
    for place, row in zip(index, source, strict=True):
        expected[place] += row
    assert (module.add_rows(np.zeros((3, width), dtype), index, source) == expected).all()


# Widths on both sides of every choice that add_rows makes; few and many repetitions of a place.
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("width", [1, 3, 8, 40])
@pytest.mark.parametrize(
    ("count", "places"), [(1, 1), (50, 7), (500, 1), (300, 5000), (4000, 70), (30, 70_000)]
)
def test_rows_add_up_at_repeated_places(dtype: type, width: int, count: int, places: int) -> None:
    index, source = indices(places, count), draw(count, width, dtype=dtype)
    start = draw(places, width, dtype=dtype)
    wide = np.result_type(dtype, np.int64)
    expected = start.astype(wide)
    for place, row in zip(index, source, strict=True):
        expected[place] += row
    out = start.copy()
    assert module.add_rows(out, index, source) is out
    np.testing.assert_allclose(out, expected, rtol=1e-5, atol=1e-3)
    if dtype is np.int64:
        np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("width", [1, 8, 40])
def test_adding_rows_gives_the_same_bits_every_time(width: int) -> None:
    index, source = indices(11, 3000), draw(3000, width)
    results = [module.embedding_backward(source, index, 11) for _ in range(3)]
    for result in results:
        np.testing.assert_array_equal(result, results[0])


def test_many_rows_at_one_place_lose_no_accuracy() -> None:
    source = np.random.default_rng(0).uniform(0, 1, (20_000, 20)).astype(np.float32)
    total = module.embedding_backward(source, np.zeros(20_000, np.int64), 1)
    np.testing.assert_allclose(total[0], source.astype(np.float64).sum(0), rtol=3e-7)


def test_large_integers_add_exactly() -> None:
    out = np.zeros((2, 1), np.int64)
    module.add_rows(out, np.array([1, 1]), np.array([[2**60 + 1], [2**60 + 1]]))
    assert out[1, 0] == 2**61 + 2


def test_half_precision_rows_add_up_in_float32() -> None:
    out = np.zeros((1, 2), np.float16)
    module.add_rows(out, np.zeros(3000, np.int64), np.ones((3000, 2), np.float16))
    # One by one in float16 the sum would stop at 2048.
    assert out.tolist() == [[3000, 3000]]


def test_rows_are_added_into_strided_arrays() -> None:
    base = np.zeros((4, 6), np.float32)
    module.add_rows(base[:, ::2], np.array([1, 1, 3]), np.ones((3, 3), np.float32))
    assert base[1].tolist() == [2, 0, 2, 0, 2, 0] and base[3, 0] == 1 and base.sum() == 9


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("axis", [0, 1, 2, -1])
def test_index_add_adds_slices(dtype: type, axis: int) -> None:
    x = draw(4, 5, 6, dtype=dtype)
    index = indices(x.shape[axis], 9)
    shape = list(x.shape)
    shape[axis] = 9
    source = draw(*shape, dtype=dtype)
    expected = x.copy()
    moved = np.moveaxis(expected, axis, 0)
    for place, part in zip(index, np.moveaxis(source, axis, 0), strict=True):
        moved[place] += 2 * part
    before = x.copy()
    np.testing.assert_allclose(
        module.index_add(x, axis, index, source, 2), expected, rtol=1e-4, atol=1e-3
    )
    np.testing.assert_array_equal(x, before)


def test_index_add_to_a_number() -> None:
    result = module.index_add(np.asarray(1.0), 0, np.array([0, 0]), np.array([2.0, 3.0]))
    assert isinstance(result, np.ndarray) and result.shape == () and result == 6


def test_embedding_backward_skips_padding_and_scales_by_frequency() -> None:
    index = np.array([[1, 2, 1], [0, 1, 3]])
    g = np.ones((2, 3, 4), np.float32)
    plain = module.embedding_backward(g, index, 5)
    assert plain[:, 0].tolist() == [1, 3, 1, 1, 0]
    padded = module.embedding_backward(g, index, 5, padding_idx=1)
    assert padded[:, 0].tolist() == [1, 0, 1, 1, 0]
    scaled = module.embedding_backward(g, index, 5, scale_by_frequency=True)
    np.testing.assert_allclose(scaled[:, 0], [1, 1, 1, 1, 0])


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
@pytest.mark.parametrize("dtype", [*DTYPES, np.float16, np.bool_])
def test_gather_reads_along_an_axis(axis: int, dtype: type) -> None:
    x = draw(4, 5, 6).astype(dtype)
    shape = [3, 4, 5]
    shape[axis] = 8
    index = indices(x.shape[axis], *shape)
    expected: Any = np.empty(shape, dtype)
    for place in np.ndindex(*shape):
        source = list(place)
        source[axis] = index[place]
        expected[place] = x[tuple(source)]
    np.testing.assert_array_equal(module.gather(x, axis, index), expected)
    strided = x.transpose(2, 0, 1).copy().transpose(1, 2, 0)
    np.testing.assert_array_equal(module.gather(strided, axis, index), expected)


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("dtype", DTYPES)
def test_scatter_and_scatter_add_write_along_an_axis(axis: int, dtype: type) -> None:
    x, source = draw(4, 5, 6, dtype=dtype), draw(8, 8, 8, dtype=dtype)
    shape = [3, 4, 5]
    shape[axis] = 8
    index = indices(x.shape[axis], *shape)
    written, added = x.copy(), x.copy()
    for place in np.ndindex(*shape):
        target = list(place)
        target[axis] = index[place]
        written[tuple(target)] = source[place]
        added[tuple(target)] += source[place]
    np.testing.assert_array_equal(module.scatter(x, axis, index, source), written)
    np.testing.assert_allclose(
        module.scatter_add(x, axis, index, source), added, rtol=1e-4, atol=1e-3
    )
    number = module.scatter(x, axis, index, 3)
    assert (number == 3).sum() >= (written != x).sum()


def test_gather_undoes_scatter() -> None:
    x = draw(6, 7)
    order = np.argsort(draw(6, 7, dtype=np.float64), axis=1)
    np.testing.assert_array_equal(
        module.gather(module.scatter(np.zeros_like(x), 1, order, x), 1, order), x
    )


def test_gather_and_scatter_of_numbers_and_of_nothing() -> None:
    x = np.asarray(5.0)
    zero = np.asarray(0)
    assert module.gather(x, 0, zero).shape == () and module.gather(x, 0, zero) == 5
    assert module.scatter(x, 0, zero, np.asarray(7.0)) == 7
    assert module.scatter_add(x, 0, zero, np.asarray(7.0)) == 12
    nothing = np.empty((0, 3), np.int64)
    assert module.gather(draw(4, 5), 0, nothing).shape == (0, 3)
    np.testing.assert_array_equal(
        module.scatter_add(draw(4, 5), 0, nothing, draw(4, 5)), draw(4, 5)
    )


def test_half_precision_scatter_add_rounds_once() -> None:
    result = module.scatter_add(
        np.zeros(1, np.float16), 0, np.zeros(3000, np.int64), np.ones(3000, np.float16)
    )
    assert result.dtype == np.float16 and result[0] == 3000


@pytest.mark.parametrize("wrong", [-1, 5])
def test_an_index_outside_the_axis_is_named(wrong: int) -> None:
    x, index = draw(5, 5), np.array([[0, wrong]])
    message = f"index {wrong} is out of bounds for dimension 1 with size 5"
    calls: tuple[Callable[[], Any], ...] = (
        lambda: module.gather(x, 1, index),
        lambda: module.scatter(x, 1, index, 0),
        lambda: module.scatter_add(x, 1, index, x),
    )
    for call in calls:
        with pytest.raises(RuntimeError, match=message):
            call()
    selections: tuple[Callable[[], Any], ...] = (
        lambda: module.index_select(x, 1, index[0]),
        lambda: module.index_add(x, 1, index[0], x[:, :2]),
    )
    for select in selections:
        with pytest.raises(IndexError, match="index out of range in self"):
            select()


def test_index_select_copies_slices() -> None:
    x = draw(4, 5)
    np.testing.assert_array_equal(module.index_select(x, 1, np.array([4, 0, 4])), x[:, [4, 0, 4]])
    assert module.index_select(np.asarray(3.0), 0, np.array([0])).shape == ()


PUTS: list[tuple[Any, ...]] = [
    (np.array([0, 3, -1, 3]),),
    (indices(4, 3, 1), indices(5, 6)),
    (draw(4, 5) > 0,),
    (indices(4, 9), indices(5, 9), indices(6, 9)),
    (slice(None), np.array([1, 1, 4])),
    (np.array([2, 2]), slice(1, 3), None, np.array([0, 0])),
    (2, np.array([0, 0, 1])),
    (draw(4) > -99, slice(None, None, 2)),
    (np.empty(0, np.int64),),
]


@pytest.mark.parametrize("place", PUTS, ids=str)
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_index_put_writes_and_adds(place: tuple[Any, ...], order: Any, dtype: type) -> None:
    x = np.array(draw(4, 5, 6, dtype=dtype), order=order)
    values = draw(*x[place].shape, dtype=dtype)
    expected = x.copy()
    np.add.at(expected, place, values)
    out = x.copy(order="K")
    assert module.index_put(out, place, values, accumulate=True) is out
    np.testing.assert_allclose(out, expected, rtol=1e-4, atol=1e-3)
    one = x.copy(order="K")
    module.index_put(one, place, dtype(1))
    assert (one[place] == 1).all()


def test_index_put_names_the_index_outside() -> None:
    for wrong in (7, -5):
        message = f"index {wrong} is out of bounds for dimension 0 with size 4"
        with pytest.raises(IndexError, match=message):
            module.index_put(draw(4, 5), (np.array([0, wrong]),), 1, accumulate=True)


def test_masks_select_and_fill() -> None:
    x = draw(4, 5)
    mask = draw(4, 1, dtype=np.float64) > 0
    spread = np.broadcast_to(mask, x.shape)
    np.testing.assert_array_equal(module.masked_select(x, mask), x[spread])
    source = np.arange(40, dtype=np.float32).reshape(5, 8)
    result = module.masked_scatter(x, mask, source)
    np.testing.assert_array_equal(result[spread], np.arange(spread.sum()))
    np.testing.assert_array_equal(result[~spread], x[~spread])
    assert module.masked_select(np.asarray(2.0), np.asarray(True)).tolist() == [2.0]
    with pytest.raises(RuntimeError, match="Number of elements of source < number of ones in mask"):
        module.masked_scatter(x, np.ones((4, 5), bool), source[0])


def test_one_hot_marks_each_class() -> None:
    index = indices(5, 2, 3)
    np.testing.assert_array_equal(module.one_hot(index, 7), np.eye(7, dtype=np.int64)[index])
    assert module.one_hot(np.array([0, 4])).shape == (2, 5)
    assert module.one_hot(np.asarray(2), 3).tolist() == [0, 0, 1]
    assert module.one_hot(np.empty((0, 2), np.int64), 3).shape == (0, 2, 3)
    for wrong, classes, message in (
        (np.array([-1]), 3, "Class values must be non-negative."),
        (np.array([3]), 3, "Class values must be smaller than num_classes."),
        (np.empty(0, np.int64), -1, "Can not infer total number of classes from empty tensor."),
    ):
        with pytest.raises(RuntimeError, match=message):
            module.one_hot(wrong, classes)


@pytest.mark.parametrize(
    ("count", "places", "width"), [(3000, 20, 24), (70_000, 1, 17), (400, 3, 32)]
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_many_rows_at_few_places_lose_no_digits(
    count: int, places: int, width: int, dtype: type
) -> None:
    rng = np.random.default_rng(4)
    index = rng.integers(0, places, count)
    rows = rng.random((count, width)).astype(dtype)
    exact = np.zeros((places, width), np.longdouble)
    np.add.at(exact, index, rows.astype(np.longdouble))
    start = rng.random((places, width)).astype(dtype)
    found = module.add_rows(start.copy(), index, rows)
    np.testing.assert_allclose(found, start + exact, rtol=16 * float(np.finfo(dtype).eps))
