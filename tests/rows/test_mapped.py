"""`apply_`, `map_` and `map2_` walk element by element, in order."""

from __future__ import annotations

import numpy
import pytest

import rushlight as torch


def test_an_operand_in_the_same_memory_is_read_as_it_is_by_then() -> None:
    x = torch.full((3, 3), 2.5)
    x.map_(x[0], lambda v, w: v + w)
    assert x.tolist() == [[5.0] * 3, [7.5] * 3, [7.5] * 3]
    y = torch.arange(6.0)
    y[1:].map2_(y[:-1], y[:-1], lambda v, w, u: v + w + u)
    assert y.tolist() == [0, 1, 4, 11, 26, 57]
    z = torch.arange(9.0).view(3, 3)
    z.map_(z.t(), lambda v, w: v + w)
    assert z.tolist() == [[0, 4, 8], [7, 8, 12], [14, 19, 16]]


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "int64", "complex64"])
def test_memory_shown_more_than_once_is_written_more_than_once(dtype: str) -> None:
    one = torch.zeros(1, dtype=getattr(torch, dtype))
    one.expand(4).apply_(lambda v: v + 200)
    assert one.item() == 800


@pytest.mark.parametrize(
    "dtype",
    ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16"]
    + ["float32", "float64", "complex64", "complex128"],
)
def test_integers_are_written_as_each_alone(dtype: str) -> None:
    kind = getattr(torch, dtype)
    for value in [0, 1, -1, 127, 128, -128, 255, 256, 2047, 2049, 2**24, 2**24 + 1, -(2**53) - 1]:
        for written in (value, True, numpy.int64(value)):
            try:
                alone = torch.zeros(1, dtype=kind)
                alone[0] = written
                expected = alone.item()
            except (RuntimeError, OverflowError):
                continue
            assert (
                torch.ones(2, dtype=kind).apply_(lambda _, it=written: it).tolist()
                == [expected] * 2
            )


def test_what_was_written_before_a_fault_stays() -> None:
    def double(value: float) -> float:
        if value == 3:
            raise ValueError("three")
        return value * 2

    x = torch.arange(6.0)
    with pytest.raises(ValueError, match="three"):
        x.apply_(double)
    assert x.tolist() == [0, 2, 4, 3, 4, 5] and x._version == 0


def test_the_function_sees_and_changes_the_tensor() -> None:
    x = torch.arange(3.0)
    x.apply_(lambda v: (x.add_(1), v * 2)[1])
    assert x.tolist() == [2, 5, 8]


@pytest.mark.parametrize(
    ("dtype", "value", "message"),
    [
        ("float32", "a", "must be real number, not str"),
        ("bfloat16", [1], "must be real number, not list"),
        ("int32", b"x", "'bytes' object cannot be interpreted as an integer"),
        ("bool", None, "'NoneType' object cannot be interpreted as an integer"),
        ("uint64", torch.tensor(2), "an integer is required"),
    ],
)
def test_what_is_no_number_is_refused(dtype: str, value: object, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        torch.zeros(1, dtype=getattr(torch, dtype)).apply_(lambda _: value)


def test_numbers_are_stored_as_by_a_factory() -> None:
    assert torch.zeros(1).apply_(lambda _: 1e300).item() == float("inf")
    assert torch.zeros(1, dtype=torch.uint8).apply_(lambda _: -1).item() == 255
    assert torch.zeros(1, dtype=torch.int8).apply_(lambda _: 2.7).item() == 2
    with pytest.raises(RuntimeError, match="without overflow"):
        torch.zeros(1, dtype=torch.uint8).apply_(lambda _: 300)


def test_tensors_without_data() -> None:
    x = torch.zeros(2, device="meta")
    assert x.apply_(lambda v: 1 / 0) is x
    with pytest.raises(TypeError, match=r"expected MetaFloatType for 'other' \(got torch.Float"):
        x.map_(torch.zeros(2), lambda v, w: v)
