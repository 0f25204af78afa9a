"""Numbers that a type, a kernel or 64 bits can't hold are refused, after a look at shapes."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

import rushlight
from rushlight.nn import functional as F

X = rushlight.ones(3)


@pytest.mark.parametrize("weight", [1e300, -1e39, 1j])
def test_a_weight_of_lerp_that_single_precision_does_not_have(weight: Any) -> None:
    with pytest.raises(
        RuntimeError, match="value cannot be converted to type float without overflow"
    ):
        X.lerp(X, weight)
    with pytest.raises(RuntimeError, match="must match the size"):
        X.lerp(rushlight.ones(2), weight)
    if not isinstance(weight, complex):
        assert X.double().lerp(2 * X.double(), weight).tolist() == [1 + weight] * 3
    assert X.lerp(X * 2, float("inf")).tolist() == [float("inf")] * 3


def test_a_window_of_more_than_32_bits() -> None:
    x = rushlight.ones(1, 2, 5, 5)
    for call in (
        lambda n: F.max_pool2d(x, n),
        lambda n: F.max_pool2d(x, 2, n),
        lambda n: F.avg_pool2d(x, 2, 1, n),
        lambda n: F.max_pool1d_with_indices(x[0], n),
        lambda n: F.max_pool3d(x[None], 2, 1, 0, n),
    ):
        with pytest.raises(RuntimeError, match="converted to type int without overflow"):
            call(2**62)
    with pytest.raises(ValueError, match="Overflow when unpacking long long"):
        F.max_pool2d_with_indices(x, 2**63)


@pytest.mark.parametrize("bounds", [(0, 2**70), (-(2**63) - 1, 1)])
def test_bounds_of_hardtanh(bounds: tuple[int, int]) -> None:
    for x in (X, X.int()):
        with pytest.raises(OverflowError):
            F.hardtanh(x, *bounds)
    with pytest.raises(RuntimeError, match="int8_t without overflow"):
        F.hardtanh(X.to(rushlight.int8), -300, 300)
    assert F.hardtanh(X.to(rushlight.int8) * 5, -3, 3).tolist() == [3] * 3


def test_a_delta_of_huber_loss() -> None:
    for delta in (0.0, -1.0, float("nan")):
        for more in ({}, {"weight": X}):
            with pytest.raises(RuntimeError, match="non-positive values for delta"):
                F.huber_loss(X, X, delta=delta, **more)
    for delta in ("a", None, 1j, [1]):
        with pytest.raises(TypeError, match=r"argument 'delta' \(position 4\) must be float"):
            F.huber_loss(X, X, delta=delta)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="Weights and input"):
        F.huber_loss(X, X, "none of these", 0.5, rushlight.ones(2))


def test_places_in_triangles_of_matrices_that_no_memory_holds() -> None:
    assert rushlight.tril_indices(2, 2**62, 2).tolist() == [
        [0, 0, 0, 1, 1, 1, 1],
        [0, 1, 2, 0, 1, 2, 3],
    ]
    assert rushlight.triu_indices(2**62, 2).tolist() == [[0, 0, 1], [0, 1, 1]]
    for shape in ((0, 2**62), (2**62, 0), (2, 2**62, -2)):
        assert rushlight.tril_indices(*shape).shape == (2, 0)
    with pytest.raises(RuntimeError, match=r"sizes=\[2, 9223372036854775803\]"):
        rushlight.triu_indices(2, 2**62, 2)


@pytest.mark.parametrize("rows", range(5))
@pytest.mark.parametrize("columns", range(5))
def test_places_in_triangles(rows: int, columns: int) -> None:
    for offset in range(-6, 7):
        inside = [(i, j) for i in range(rows) for j in range(columns) if j - i <= offset]
        above = [(i, j) for i in range(rows) for j in range(columns) if j - i >= offset]
        for made, want in (
            (rushlight.tril_indices(rows, columns, offset), inside),
            (rushlight.triu_indices(rows, columns, offset), above),
        ):
            assert list(zip(*made.tolist())) == want


def test_sizes_and_strides_by_numpys_name() -> None:
    x = rushlight.ones(2, 3)
    assert (x.size(axis=0), x.stride(axis=0)) == (2, 3)
    for call in (x.size, x.stride):
        with pytest.raises(TypeError, match="unexpected keyword argument 'axis'"):
            call(0, axis=0)  # type: ignore[call-overload]
        with pytest.raises(TypeError, match="argument 'dim' must be int, not str"):
            call(axis="a")  # type: ignore[call-overload]
        with pytest.raises(IndexError, match="Dimension out of range"):
            call(axis=5)


def test_a_dropout_whose_probability_is_no_number_names_dimensions_first() -> None:
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        with pytest.raises(
            RuntimeError, match="probability has to be between 0 and 1, but got nan"
        ):
            F.dropout3d(rushlight.ones(3, 1), float("nan"))
    assert "Received a 2-D input to dropout3d" in str(said[0].message)


def test_a_step_of_stft_that_is_a_tensor() -> None:
    x = rushlight.ones(1, 3, dtype=rushlight.complex64)
    with pytest.raises(TypeError, match="invalid combination of arguments"):
        rushlight.stft(x, 1, rushlight.tensor([1]), window=rushlight.ones(1), return_complex=True)  # type: ignore[arg-type]


def test_a_copy_of_a_tensor_can_not_be_pinned() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(RuntimeError, match="Can't pin tensor constructed from a variable"):
            rushlight.tensor(X, pin_memory=True)


@pytest.mark.parametrize("made", [rushlight.linspace, rushlight.logspace])
@pytest.mark.parametrize("dtype", [None, rushlight.bfloat16, rushlight.float64])
def test_the_ends_of_evenly_spaced_numbers_are_of_64_bits(made: Any, dtype: Any) -> None:
    assert made(0, 2**63, 2, dtype=dtype).shape == (2,)
    for end in (2**64, 2**70, 10**400):
        with pytest.raises(OverflowError, match="int too big to convert"):
            made(-1, end, 2, dtype=dtype)
        with pytest.raises(OverflowError, match="int too big to convert"):
            made(end, 0, 2, dtype=dtype)
    with pytest.raises(OverflowError, match="can't convert negative int to unsigned"):
        made(0, -(2**63) - 1, 2, dtype=dtype)
