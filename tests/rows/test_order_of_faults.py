"""Of several faults of a call, the one that is told; and numbers at the ends of their ranges."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rushlight as torch


@pytest.mark.parametrize("bounds", [("min",), ("max",), ("min", "max")])
def test_a_complex_tensor_is_not_clamped_whatever_the_shapes(bounds: tuple[str, ...]) -> None:
    x = torch.ones(2, 3, dtype=torch.complex64)
    given = {name: torch.ones(4) for name in bounds}
    with pytest.raises(NotImplementedError, match="clamp is not supported for complex types"):
        torch.clamp(x, **given)
    with pytest.raises(NotImplementedError, match="clamp is not supported for complex types"):
        x.clamp_(**given)


def test_a_missing_kernel_is_told_after_shapes() -> None:
    with pytest.raises(RuntimeError, match="The size of tensor a"):
        torch.lt(torch.ones(2, 3, dtype=torch.complex64), torch.ones(4))


def test_a_complex_bound_does_not_turn_a_float_tensor_complex() -> None:
    with pytest.raises(RuntimeError, match="value cannot be converted to type double"):
        torch.ones(2).clamp_(1j)
    with pytest.raises(NotImplementedError, match="clamp is not supported"):
        torch.ones(2).clamp_min_(1j)
    with pytest.raises(RuntimeError, match="result type ComplexFloat can't be cast"):
        torch.ones(2, dtype=torch.int64).clamp_(1j)


def test_types_of_distances_are_looked_at_where_there_are_some() -> None:
    x = torch.ones(0, 4, requires_grad=True)
    y = torch.ones(2, 4, dtype=torch.float64, requires_grad=True)
    torch.cdist(x, y).sum().backward()
    assert x.grad.dtype is torch.float32 and y.grad.dtype is torch.float64
    assert torch.cdist(torch.ones(2, 0), torch.ones(3, 0).double()).shape == (2, 3)
    with pytest.raises(NotImplementedError, match="\"cdist\" not implemented for 'Half'"):
        torch.cdist(torch.ones(2, 4).half(), torch.ones(2, 4))
    with pytest.raises(RuntimeError, match="expected scalar type Float but found Double"):
        torch.cdist(torch.ones(2, 4), torch.ones(2, 4).double())


@pytest.mark.parametrize("p", [np.float32(1), np.bool_(True), torch.tensor(1), torch.tensor(1.0)])
def test_an_order_of_distances_is_any_real_number(p: Any) -> None:
    x = torch.tensor([[0.0, 0.0], [3.0, 4.0]])
    assert torch.cdist(x, x, p).tolist() == [[0, 7], [7, 0]]


def test_a_cross_product_has_no_kernel_for_bools_whatever_the_other_type() -> None:
    with pytest.raises(NotImplementedError, match="\"cross\" not implemented for 'Bool'"):
        torch.linalg.cross(torch.ones(2, 3) > 0, torch.ones(2, 3))


@pytest.mark.parametrize("name", ["isclose", "allclose"])
def test_a_complex_tensor_is_no_tolerance(name: str) -> None:
    with pytest.raises(RuntimeError, match="value cannot be converted to type double"):
        getattr(torch, name)(torch.ones(2), torch.ones(2).double(), torch.tensor(1j))


def test_a_bool_tensor_is_refused_before_its_type_is_joined_with_a_large_number() -> None:
    x = torch.ones(2) > 0
    with pytest.raises(RuntimeError, match="Subtraction, the `-` operator, with a bool tensor"):
        x - 2**63
    with pytest.raises(RuntimeError, match="value cannot be converted to type int64_t"):
        x ** (2**63)
    with pytest.raises(RuntimeError, match="Promotion for uint16, uint32, uint64 types"):
        x % 2**63


@pytest.mark.parametrize("ord", [-1000, 2, 3, 1000, 2**63])
def test_the_norm_of_one_element_is_its_size(ord: float) -> None:
    x = torch.tensor([[1e30, -2.0]])
    assert torch.linalg.vector_norm(x, ord, dim=0).tolist() == x.abs()[0].tolist()
    assert torch.tensor([-1e30]).norm(ord) == torch.tensor(1e30)


def test_a_condition_of_bytes_is_warned_of() -> None:
    always = torch.is_warn_always_enabled()
    torch.set_warn_always(True)
    try:
        with pytest.warns(UserWarning, match="where received a uint8 condition tensor"):
            torch.where(torch.ones(2, dtype=torch.uint8), 1.0, torch.zeros(2))
    finally:
        torch.set_warn_always(always)


def test_an_old_order_is_warned_of_only_where_it_is_one() -> None:
    x = torch.ones(2)
    with pytest.warns(UserWarning, match="This overload of add is deprecated"):
        always = torch.is_warn_always_enabled()
        torch.set_warn_always(True)
        try:
            assert x.add(torch.tensor(2.0), x).tolist() == [3, 3]
        finally:
            torch.set_warn_always(always)
    with pytest.raises(TypeError, match=r"add\(\) takes 1 positional argument but 2 were given"):
        x.add(torch.ones(1), x)


def test_a_product_with_a_small_operand_that_requires_grad_is_one_of_matrices() -> None:
    stack = torch.ones(2, 3, 4, 5)
    with pytest.raises(RuntimeError, match=r"cannot be multiplied \(30x4 and 3x2\)"):
        torch.ones(2, 3, requires_grad=True) @ stack
    with pytest.raises(RuntimeError, match="Expected size for first two dimensions of batch2"):
        torch.ones(2, 3) @ stack


@pytest.mark.parametrize("size", [(-2, 2), (-2, 1), (-2, -2), (3, -2)])
def test_a_negative_size_makes_no_number_of_elements(size: tuple[int, ...]) -> None:
    with pytest.raises(RuntimeError, match="numel: integer multiplication overflow"):
        torch.ones(1).expand(*size)


def test_an_array_on_the_left_is_compared_and_divided_by_the_tensor() -> None:
    array = np.array([1.0, 2.0], np.float32)
    found = array / torch.tensor([3, 4])
    assert found.dtype is torch.float32
    half = torch.tensor([3.0, 3.0]).half()
    assert (array / half).tolist() == (half.reciprocal() * array).tolist()
    with pytest.raises(RuntimeError, match="The size of tensor a"):
        array == torch.ones(3)  # noqa: B015


@pytest.mark.parametrize(
    "call",
    [
        lambda x, seen: torch.mm(seen, x[0]),
        lambda x, seen: torch.mv(x, seen),
        lambda x, seen: torch.baddbmm(x, x, seen),
        lambda x, seen: x * seen[:1].expand(7, 3),
    ],
)
def test_an_inference_tensor_that_would_be_saved_is_told_before_shapes(call: Any) -> None:
    with torch.inference_mode():
        seen = torch.ones(4, 3)
    with pytest.raises(RuntimeError, match="Inference tensors cannot be saved for backward"):
        call(torch.ones(2, 5, requires_grad=True), seen)


def test_spacings_of_a_gradient_are_looked_at_last() -> None:
    point = [torch.tensor(1.0)]
    with pytest.raises(RuntimeError, match="only supports edge_order=1 and edge_order=2"):
        torch.gradient(torch.ones(3), spacing=point, dim=(5,), edge_order=7)
    with pytest.raises(IndexError, match="Dimension out of range"):
        torch.gradient(torch.ones(3), spacing=point, dim=(5,))
    with pytest.raises(RuntimeError, match="each dimension size to be at least edge_order"):
        torch.gradient(torch.ones(1), spacing=point)
    with pytest.raises(RuntimeError, match="each element of spacing to have one dimension"):
        torch.gradient(torch.ones(3), spacing=point)
