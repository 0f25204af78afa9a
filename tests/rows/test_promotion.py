"""The types of results: which dtype two operands give.

The tables were written down from PyTorch 2.13, one letter for each dtype. `-` stands for complex32.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from math import inf
from typing import Any

import pytest

import rushlight as torch

LETTERS = {
    "b": torch.bool, "u": torch.uint8, "c": torch.int8, "s": torch.int16, "i": torch.int32,
    "l": torch.int64, "h": torch.float16, "f": torch.float32, "d": torch.float64,
    "F": torch.complex64, "D": torch.complex128,
}  # fmt: skip
NUMBERS: list[Any] = [True, 2, 1.5, 1j]

BOTH_WITH_DIMENSIONS = [
    "bucsilhfdFD",
    "uussilhfdFD",
    "cscsilhfdFD",
    "ssssilhfdFD",
    "iiiiilhfdFD",
    "llllllhfdFD",
    "hhhhhhhfdFD",
    "ffffffffdFD",
    "dddddddddDD",
    "FFFFFFFFDFD",
    "DDDDDDDDDDD",
]
SECOND_WITHOUT_DIMENSIONS = [
    "bucsilhfdFD",
    "uuuuuuhfdFD",
    "cccccchfdFD",
    "sssssshfdFD",
    "iiiiiihfdFD",
    "llllllhfdFD",
    "hhhhhhhhh--",
    "fffffffffFF",
    "dddddddddDD",
    "FFFFFFFFFFF",
    "DDDDDDDDDDD",
]
WITH_NUMBERS = [
    "blfF",
    "uufF",
    "ccfF",
    "ssfF",
    "iifF",
    "llfF",
    "hhh-",
    "fffF",
    "dddD",
    "FFFF",
    "DDDD",
]
WITH_NUMBERS_BY_DOUBLE_DEFAULT = [
    "bldD",
    "uudD",
    "ccdD",
    "ssdD",
    "iidD",
    "lldD",
    "hhh-",
    "fffF",
    "dddD",
    "FFFF",
    "DDDD",
]
QUOTIENTS = "ffffffhfdFD"


@pytest.fixture
def double_default() -> Iterator[None]:
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


def ones(letter: str, *shape: int) -> Any:
    return torch.ones(shape, dtype=LETTERS[letter])


def expect(result: Any, letter: str) -> None:
    """Runs `result` and checks the type of what it gives."""
    assert result().dtype is (torch.complex32 if letter == "-" else LETTERS[letter])


@pytest.mark.parametrize("row", range(len(LETTERS)), ids=list(LETTERS))
def test_two_tensors_with_dimensions_give_the_larger_of_their_types(row: int) -> None:
    first = list(LETTERS)[row]
    for second, wanted in zip(LETTERS, BOTH_WITH_DIMENSIONS[row], strict=True):
        expect(lambda s=second: ones(first, 2) * ones(s, 2), wanted)
        expect(lambda s=second: ones(first) * ones(s), wanted)


@pytest.mark.parametrize("row", range(len(LETTERS)), ids=list(LETTERS))
def test_a_tensor_without_dimensions_only_raises_the_category(row: int) -> None:
    first = list(LETTERS)[row]
    for second, wanted in zip(LETTERS, SECOND_WITHOUT_DIMENSIONS[row], strict=True):
        expect(lambda s=second: ones(first, 2) * ones(s), wanted)
        expect(lambda s=second: ones(s) * ones(first, 2), wanted)


@pytest.mark.parametrize("row", range(len(LETTERS)), ids=list(LETTERS))
@pytest.mark.parametrize("shape", [(2,), ()], ids=["dimensions", "none"])
def test_a_python_number_only_raises_the_category(row: int, shape: tuple[int, ...]) -> None:
    first = list(LETTERS)[row]
    for number, wanted in zip(NUMBERS, WITH_NUMBERS[row], strict=True):
        expect(lambda n=number: ones(first, *shape) * n, wanted)
        expect(lambda n=number: n * ones(first, *shape), wanted)
        if wanted != "-":
            mask = torch.ones(2, dtype=torch.bool)
            expect(lambda n=number, m=mask: torch.where(m, ones(first, *shape), n), wanted)


@pytest.mark.parametrize("row", range(len(LETTERS)), ids=list(LETTERS))
@pytest.mark.usefixtures("double_default")
def test_python_floats_take_the_default_type_where_they_raise_the_category(row: int) -> None:
    first = list(LETTERS)[row]
    for number, wanted in zip(NUMBERS, WITH_NUMBERS_BY_DOUBLE_DEFAULT[row], strict=True):
        expect(lambda n=number: ones(first, 2) * n, wanted)


def test_division_and_functions_of_integers_give_the_default_floating_type() -> None:
    for letter, wanted in zip(LETTERS, QUOTIENTS, strict=True):
        expect(lambda k=letter: ones(k, 2) / ones(k, 2), wanted)
        expect(lambda k=letter: torch.exp(ones(k, 2)), wanted)
        expect(lambda k=letter: torch.sigmoid(ones(k, 2)), wanted)


@pytest.mark.usefixtures("double_default")
def test_functions_of_integers_follow_the_default_type() -> None:
    assert torch.exp(torch.ones(2, dtype=torch.int64)).dtype is torch.float64
    assert (torch.ones(2, dtype=torch.bool) / 2).dtype is torch.float64


def test_comparisons_promote_their_operands_and_give_bools() -> None:
    whole, broken = torch.tensor([1, 2]), torch.tensor([1.5, 2.0])
    assert (whole == broken).tolist() == [False, True]
    assert (whole < 1.5).tolist() == [True, False]
    assert (whole < broken).dtype is torch.bool


def test_integers_out_of_range_wrap_as_numbers_of_the_tensors_type() -> None:
    x = torch.tensor([44], dtype=torch.uint8)
    assert (x == 300).tolist() == [True]
    assert (x + 300).tolist() == [88]


def test_a_gradient_comes_back_in_the_type_of_its_operand() -> None:
    x = torch.ones(2, dtype=torch.float32, requires_grad=True)
    y = torch.ones(2, dtype=torch.float64, requires_grad=True)
    z = torch.tensor(3.0, dtype=torch.float16, requires_grad=True)
    (x * y * z).backward(torch.tensor([1.0, 2.0], dtype=torch.float64))
    assert [x.grad.dtype, y.grad.dtype, z.grad.dtype] == [
        torch.float32,
        torch.float64,
        torch.float16,
    ]
    assert z.grad.tolist() == 3.0
    assert y.grad.tolist() == [3.0, 6.0]


def test_wide_unsigned_types_refuse_to_promote() -> None:
    with pytest.raises(RuntimeError, match="Promotion for uint16, uint32, uint64 types"):
        torch.ones(2, dtype=torch.uint16) + torch.ones(2, dtype=torch.int32)


@pytest.mark.parametrize("dtype", [torch.int8, torch.int16, torch.int32])
def test_integers_refuse_products_with_fractions_in_place(dtype):
    x = torch.ones(3, dtype=dtype)
    for write in (lambda: x.mul_(0.5), lambda: x.div_(2), lambda: x.mul_(torch.tensor(0.5))):
        with pytest.raises(RuntimeError, match="can't be cast to the desired output type"):
            write()
    assert x.tolist() == [1, 1, 1]
    assert (
        x.mul_(2).dtype is dtype and (x * 3).dtype is dtype and (x * torch.tensor(2)).dtype is dtype
    )


def test_a_number_before_halves_is_rounded_and_one_behind_them_is_not() -> None:
    x = torch.tensor([3.0], dtype=torch.float16)
    assert (x * 1e5).tolist() == [inf] and (x / 1e5).tolist() == [2.9981136322021484e-05]
    assert (1e5 // x).isnan().all()
    assert torch.div(torch.tensor(1e5), x).tolist() == [inf]


def test_two_to_the_power_of_an_exponent_has_the_type_of_the_first_operand() -> None:
    exponent = torch.tensor(1.3, dtype=torch.float16)
    rounded = torch.ldexp(torch.tensor([3.0]), exponent).item()
    exact = torch.ldexp(torch.tensor([3.0], dtype=torch.float64), exponent).item()
    assert (rounded, round(exact, 6)) == (7.388671875, 7.385867)
    with pytest.raises(NotImplementedError, match="\"pow\" not implemented for 'ComplexHalf'"):
        torch.ldexp(torch.ones(2, dtype=torch.complex64), torch.ones(2, dtype=torch.float16))


def test_the_next_number_of_an_equal_one_passes_no_gradient() -> None:
    a, b = (torch.full((2,), 2.5, requires_grad=True) for _ in range(2))
    found = torch.autograd.grad(torch.nextafter(a, b).sum(), [a, b])
    assert [g.tolist() for g in found] == [[0.0, 0.0], [0.0, 0.0]]


def test_conversions_between_ordinary_types_are_those_of_arrays() -> None:
    values = [0.0, -0.0, 1.5, -2.7, 250.0, 1e9, -1e9]
    kinds = (torch.float32, torch.float64, torch.int32, torch.int64, torch.bool)
    for have, want in itertools.product(kinds, repeat=2):
        x = torch.tensor(values).to(have)
        for t in (x, x[:6].reshape(2, 3), x[:6].reshape(2, 3).t(), x[::2], x[:0], x[0]):
            found = t.to(want)
            assert found.dtype is want and found.shape == t.shape
            assert found.stride() == (t if have is want else t.clone()).stride()
            assert found.tolist() == t.numpy().astype(found.numpy().dtype).tolist()
            assert (found is t) == (have is want)
