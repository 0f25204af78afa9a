"""Arithmetic on numbers alone: `torch.mul(5, 3)` is a tensor."""

import pytest

import rushlight as torch


@pytest.mark.parametrize(
    ("name", "wanted"),
    [("add", 8), ("sub", 2), ("mul", 15), ("floor_divide", 1), ("multiply", 15), ("subtract", 2)],
)
def test_two_integers_give_an_integer_without_dimensions(name: str, wanted: int) -> None:
    for made in (getattr(torch, name)(5, 3), getattr(torch, name)(input=5, other=3)):
        assert (made.tolist(), made.dtype, made.shape) == (wanted, torch.int64, ())


def test_the_type_is_that_of_numbers_by_themselves() -> None:
    assert torch.div(5, 2).dtype is torch.float32
    assert torch.mul(5, 2.5).dtype is torch.float32
    assert torch.add(1j, 2).dtype is torch.complex64
    assert torch.add(True, True).dtype is torch.bool
    assert torch.add(5, 3, alpha=2).tolist() == 11
    assert torch.div(-7, 2, rounding_mode="floor").tolist() == -4
    assert torch.mul(5, 3, out=torch.empty((), dtype=torch.int64)).tolist() == 15


def test_a_number_and_a_tensor_with_a_factor() -> None:
    assert torch.add(5, torch.ones(2), alpha=2).tolist() == [7.0, 7.0]
    assert torch.sub(5, torch.ones(2, dtype=torch.int8), alpha=2).dtype is torch.int8


def test_what_is_refused() -> None:
    with pytest.raises(OverflowError, match="int too big to convert"):
        torch.add(2**70, 1)
    with pytest.raises(RuntimeError, match="with two bool tensors is not supported"):
        torch.sub(True, True)
    with pytest.raises(TypeError):
        torch.maximum(5, 3)
    with pytest.raises(TypeError):
        torch.mul("5", 3)
