"""Matrix products of types and shapes that don't fit: what is said, and what needs no types."""

from __future__ import annotations

from typing import Any

import pytest

import rushlight as torch

LONG, BYTE = torch.int64, torch.uint8


@pytest.mark.parametrize(
    ("left", "right", "text"),
    [
        ((3,), (2, 2, 2), r"batch2 tensor to be: \[2, 3\] but got: \[2, 2\]"),
        ((1,), (2, 1, 3, 2, 2), r"batch2 tensor to be: \[6, 1\] but got: \[6, 2\]"),
        ((3,), (2, 1, 4), r"size mismatch, got input \(8\), mat \(8x1\), vec \(3\)"),
        ((2, 2), (2, 2, 2), "expected scalar type Long but found Byte"),
        ((2, 2, 2), (2,), "addmv input tensors must have the same dtype"),
        ((2, 2, 2), (2, 2), "expected m1 and m2 to have the same dtype"),
    ],
)
def test_a_product_is_refused_in_the_words_of_its_parts(
    left: tuple[int, ...], right: tuple[int, ...], text: str
) -> None:
    with pytest.raises(RuntimeError, match=text):
        torch.ones(left, dtype=LONG) @ torch.ones(right, dtype=BYTE)


def test_a_product_without_elements_asks_no_types() -> None:
    found = torch.ones(2, 0, dtype=LONG) @ torch.ones(2, 0, 3, dtype=BYTE)
    assert found.dtype is BYTE and found.shape == (2, 2, 3) and not found.any()
    assert (torch.ones(0, 2, dtype=torch.bool) @ torch.ones(2, 2, dtype=torch.bool)).shape == (0, 2)


def test_bools_have_no_products() -> None:
    x = torch.ones(2, 2, 2, dtype=torch.bool)
    with pytest.raises(NotImplementedError, match="\"bmm\" not implemented for 'Bool'"):
        x @ torch.ones(2, 2, 2)
    with pytest.raises(RuntimeError, match="both inputs should have same dtype"):
        torch.ones(2).inner(torch.ones(2, dtype=LONG))


def test_a_type_of_out_is_told_before_those_of_the_operands() -> None:
    x = torch.ones(2, 2, 2)
    with pytest.raises(RuntimeError, match="have dtype long int, but got double instead"):
        torch.matmul(x, x.long(), out=torch.ones(2, 2, 2, dtype=torch.float64))


def test_shapes_and_types_are_told_before_a_division_by_zero() -> None:
    zero = torch.zeros(3, 1, dtype=torch.int32)
    with pytest.raises(RuntimeError, match="doesn't match the broadcast shape"):
        torch.ones(1, dtype=torch.int32).remainder_(zero)
    with pytest.raises(RuntimeError, match="result type Int can't be cast"):
        torch.ones(3, 1, dtype=torch.bool).floor_divide_(zero)


def test_a_stack_of_halves_takes_no_other_type() -> None:
    x = torch.ones(1, 2, 2, dtype=torch.float16)
    with pytest.raises(RuntimeError, match=r"^expected scalar type Half but found Float$"):
        torch.baddbmm(x, x, x.float())
    assert torch.baddbmm(x, x, x).tolist() == [[[3, 3], [3, 3]]]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bool])
def test_stacks_that_do_not_meet_are_told_before_the_missing_kernel(dtype: Any) -> None:
    c, a, b = (torch.zeros(s, dtype=dtype) for s in ((1, 2, 2), (1, 2, 3), (1, 4, 2)))
    with pytest.raises(RuntimeError, match=r"to be: \[1, 3\] but got: \[1, 4\]\."):
        torch.baddbmm(c, a, b)
    with pytest.raises(RuntimeError, match=r"Incompatible matrix sizes for bmm \(2x3 and 4x2\)"):
        torch.addbmm(c[0], a, b)


def test_a_sum_of_products_in_place_says_what_does_not_match() -> None:
    c, a, b = torch.zeros(1, 2, 2), torch.zeros(5, 2, 3), torch.zeros(5, 3, 2)
    with pytest.raises(RuntimeError, match="Bad in-place call: input tensor size"):
        c.baddbmm_(a, b)
    with pytest.raises(RuntimeError, match="input tensor dtype float and output tensor dtype d"):
        c.baddbmm_(a, b.double())
    with pytest.raises(RuntimeError, match="The expanded size of the tensor"):
        torch.zeros(7, 2, 2).baddbmm_(a, b)


def test_addr_is_laid_out_as_the_matrix_is_that_it_adds_to() -> None:
    for matrix in (torch.rand(3, 2).t(), torch.rand(6, 4)[::2, ::2].t()):
        for beta in (0, 1, 2):
            added = torch.addr(matrix, torch.ones(2), torch.ones(3), beta=beta)
            assert added.stride() == (1, 2)
            assert torch.equal(added, beta * matrix + 1)
    assert torch.addr(torch.rand(2, 3), torch.ones(2), torch.ones(3)).stride() == (3, 1)
