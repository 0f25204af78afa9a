"""Numbers and types that operations refuse, or take where there is nothing to compute."""

from __future__ import annotations

from typing import Any

import pytest

import rushlight as torch


def test_sums_to_integers_have_no_gradients() -> None:
    x = torch.ones(2, 3, requires_grad=True)
    for reduce in (torch.sum, torch.prod, torch.nansum):
        with pytest.raises(RuntimeError, match="Autograd not support dtype: Int"):
            reduce(x, dtype=torch.int32)
    with pytest.raises(RuntimeError, match="Autograd not support dtype: Long"):
        torch.cumsum(x, 0, dtype=torch.int64)
    assert not x.to(torch.int32).requires_grad and not x.bool().requires_grad


def test_nothing_is_divided_by_zero() -> None:
    empty = torch.ones(0, dtype=torch.int32)
    assert (empty % 0).shape == (0,) and (empty // torch.tensor(0)).shape == (0,)
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        torch.ones(1, dtype=torch.int32) % 0


def test_powers_of_integers() -> None:
    with pytest.raises(RuntimeError, match="cannot be converted to type int16_t"):
        torch.ones(2, dtype=torch.int16) ** 2**62
    assert (torch.ones(2, dtype=torch.int16) ** 200).tolist() == [1, 1]


def test_batches_that_do_not_broadcast() -> None:
    with pytest.raises(RuntimeError, match=r"size of tensor a \(3\) must match"):
        (torch.rand(3, 2, 3) > 0.5) @ torch.ones(2, 2, 2)


def test_distances_and_norms_say_what_they_take() -> None:
    cdist: Any = torch.cdist
    amax: Any = torch.amax
    x = torch.ones(2, 2)
    with pytest.raises(TypeError, match=r"'x2' \(position 2\) must be Tensor, not int"):
        cdist(x, 1)
    with pytest.raises(TypeError, match=r"'p' \(position 3\) must be float, not str"):
        cdist(x, x, "a")
    with pytest.raises(TypeError, match=r"'ord' \(position 2\) must be Number, not list"):
        torch.norm(x, [2])
    with pytest.raises(TypeError, match=r"'dim' \(position 3\) must be tuple of ints, not float"):
        torch.norm(x, 2, 1.5)
    assert amax(x, None).item() == 1


def test_reversed_flips_the_first_dimension() -> None:
    assert reversed(torch.tensor([[1, 2], [3, 4]])).tolist() == [[3, 4], [1, 2]]
    assert reversed(torch.tensor(1)).item() == 1


def test_nonzero_names_what_it_does_not_take() -> None:
    nonzero: Any = torch.nonzero
    with pytest.raises(TypeError, match="takes 1 positional argument but 2 were given"):
        nonzero(torch.ones(2), True)
    with pytest.raises(TypeError, match="got an unexpected keyword argument 'dim'"):
        nonzero(torch.ones(2), dim=1)


@pytest.mark.parametrize("bound", [300, -300, 2**40, 1e40])
@pytest.mark.parametrize("name", ["clamp", "clamp_min", "clamp_max", "clamp_"])
def test_a_bound_that_no_element_can_be_is_refused(name: str, bound: float) -> None:
    dtype = torch.float32 if isinstance(bound, float) else torch.uint8
    x = torch.ones(3, dtype=dtype)
    with pytest.raises(RuntimeError, match="without overflow"):
        getattr(x, name)(bound)
    assert x.tolist() == [1, 1, 1]


def test_a_bool_tensor_is_clamped_by_one_tensor_and_not_by_numbers() -> None:
    x = torch.tensor([True, False])
    assert x.clamp(torch.tensor(True)).tolist() == [True, True]
    with pytest.raises(NotImplementedError, match='"clamp_min_scalar_cpu" not implemented'):
        x.clamp(True)


def test_where_refuses_a_number_that_no_element_can_be() -> None:
    x = torch.ones(2, dtype=torch.uint8)
    assert torch.where(x > 0, x, -1).tolist() == [1, 1]
    for number in (300, 2**40):
        with pytest.raises(RuntimeError, match="type uint8_t without overflow"):
            torch.where(x > 0, x, number)
        with pytest.raises(RuntimeError, match="type uint8_t without overflow"):
            torch.where(x > 0, number, x)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_a_power_of_halves_takes_an_exponent_that_is_one(dtype: torch.dtype) -> None:
    with pytest.raises(RuntimeError, match="without overflow"):
        torch.ones(2, dtype=dtype) ** 1e40


def test_unsigned_64_bits_and_bools_have_no_common_type() -> None:
    x = torch.tensor([True])
    for call in (lambda: x + 2**63, lambda: 2**63 | x, lambda: x & (2**64 - 1)):
        with pytest.raises(RuntimeError, match="attempted to promote Bool and UInt64"):
            call()
    with pytest.raises(RuntimeError, match="attempted to promote UInt16 and ComplexFloat"):
        torch.promote_types(torch.uint16, torch.complex64)
    assert (torch.tensor([1]) + 2**63).dtype is torch.int64


def test_the_smallest_shapes_and_their_words() -> None:
    for count, name in ((1, "double"), (2, "c10::Half")):
        with pytest.raises(RuntimeError, match=f"to type {name} without overflow"):
            torch.full((count,), 1j, dtype=torch.float16)
    one: Any = torch.atleast_1d
    with pytest.raises(TypeError, match=r"got \(int\), but expected one of"):
        one(5)
    with pytest.raises(TypeError, match="expected Tensor as element 1 in argument 0, but got int"):
        one([torch.ones(1), 2])
    assert torch.ones(2, 0).roll(1, 5).shape == (2, 0)
    x: Any = torch.ones(2)
    with pytest.raises(TypeError, match=r"got \(torch._C._TensorMeta\)"):
        x.view(torch.Tensor)
