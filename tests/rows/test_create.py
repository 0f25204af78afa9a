"""Creation: fills out of range, memory formats, `out=`, ranges and draws."""

from __future__ import annotations

from typing import Any

import pytest

import rushlight as torch


@pytest.mark.parametrize(
    "make",
    [
        lambda v, d: torch.full((1,), v, dtype=d),
        lambda v, d: torch.full_like(torch.ones(1, dtype=d), v),
        lambda v, d: torch.ones(1).new_full((1,), v, dtype=d),
        lambda v, d: torch.ones(1, dtype=d).fill_(v),
        lambda v, d: torch.scalar_tensor(v, dtype=d),
    ],
)
def test_fills_take_what_the_type_holds(make: object) -> None:
    fill: Any = make
    for value, dtype, name in (
        (300, torch.uint8, "uint8_t"),
        (-129, torch.int8, "int8_t"),
        (float("nan"), torch.int64, "int64_t"),
        (1e300, torch.float32, "float"),
        (1e300, torch.complex64, "c10::complex<float>"),
        (1j, torch.float16, "double"),
    ):
        with pytest.raises(RuntimeError, match=f"cannot be converted to type {name} without"):
            fill(value, dtype)
    with pytest.raises(OverflowError, match="int too big to convert"):
        fill(2**64, torch.float32)
    with pytest.raises(OverflowError, match="can't convert negative int"):
        fill(-(2**63) - 1, torch.bool)
    assert fill(2**63, torch.bfloat16).item() == 2.0**63
    assert fill(1e300, torch.float16).item() == float("inf")
    assert fill(-1, torch.uint8).item() == 255


def test_likes_are_laid_out_as_asked() -> None:
    x = torch.ones(2, 3, 4, 5)
    for like in (torch.zeros_like, torch.rand_like, lambda t, **k: torch.full_like(t, 2, **k)):
        assert like(x, memory_format=torch.channels_last).stride() == (60, 1, 15, 3)
        turned = x.permute(3, 2, 1, 0)
        assert like(turned, memory_format=torch.contiguous_format).is_contiguous()
        with pytest.raises(RuntimeError, match="required rank 4 tensor"):
            like(torch.ones(2), memory_format=torch.channels_last)


def test_out_is_of_the_type_and_requires_gradients() -> None:
    makes: tuple[Any, ...] = (
        lambda **k: torch.zeros(2, **k),
        lambda **k: torch.full((2,), 1.0, **k),
        lambda **k: torch.arange(2, **k),
        lambda **k: torch.rand(2, **k),
    )
    for make in makes:
        assert make(out=torch.zeros(2), requires_grad=True).requires_grad
        with pytest.raises(RuntimeError, match="does not match dtype of out parameter"):
            make(out=torch.zeros(2), dtype=int)
    with pytest.raises(RuntimeError, match="dtype Long does not match dtype of out parameter"):
        torch.ones(2, dtype=torch.int64, out=torch.zeros(2))
    with pytest.raises(RuntimeError, match="cannot be converted to type float"):
        torch.full((2,), 1j, out=torch.zeros(2))


def test_what_cannot_be_drawn() -> None:
    with pytest.raises(NotImplementedError, match="check_uniform_bounds"):
        torch.rand(0, dtype=torch.int8)
    with pytest.raises(NotImplementedError, match="normal_kernel_cpu"):
        torch.randn(2, out=torch.zeros(2, dtype=torch.int32))
    assert torch.randn(0, dtype=torch.int8).dtype is torch.int8


@pytest.mark.filterwarnings("ignore:torch.range")
def test_ranges() -> None:
    assert torch.range(1, 2.5, 0.5, out=torch.zeros(0)).tolist() == [1, 1.5, 2, 2.5]
    assert torch.range(1, 4, 1.5, dtype=torch.int32).tolist() == [1, 2, 3, 4]
    with pytest.raises(RuntimeError, match="inconsistent with step sign"):
        torch.range(0.5, -1)
    with pytest.raises(RuntimeError, match="step must be nonzero"):
        torch.range(1, 2, 0)
    with pytest.raises(NotImplementedError, match="range_cpu"):
        torch.range(1, 2, dtype=torch.bool)
    assert torch.logspace(0.5, 2, 1, dtype=torch.int16).tolist() == [3]


def test_large_integers_beside_bfloat16() -> None:
    assert (torch.ones(2, dtype=torch.bfloat16) + 2**63).tolist() == [2.0**63, 2.0**63]
    assert torch.tensor([2**63, 1], dtype=torch.bfloat16).tolist() == [2.0**63, 1.0]


def test_draws_like_a_tensor_follow_its_memory() -> None:
    x = torch.ones(3, 4).t()
    torch.manual_seed(0)
    drawn = torch.randint_like(x, 100)
    torch.manual_seed(0)
    assert drawn.stride() == (1, 4)
    assert drawn.t().flatten().tolist() == torch.randint(100, (12,)).tolist()


def test_what_goes_into_out_says_first_what_out_can_not_be() -> None:
    out = torch.zeros(2, dtype=torch.int8)
    with pytest.raises(RuntimeError, match="device type cuda does not match device type of out"):
        torch.full((2,), 5, device="cuda", out=out)
    for make in (torch.zeros, torch.ones):
        with pytest.raises(RuntimeError, match=r"^numel: integer multiplication overflow"):
            make(2, -1, out=out)
    with pytest.raises(RuntimeError, match=r"^n must be non-negative, got-1"):
        torch.randperm(-1, out=out)
    with pytest.raises(RuntimeError, match=r"^Only Tensors of floating point and complex"):
        torch.zeros(2, requires_grad=True, out=out)


def test_a_range_that_leads_away_is_refused_before_its_whole_step() -> None:
    with pytest.warns(UserWarning), pytest.raises(RuntimeError, match="inconsistent with step"):
        torch.range(0, -2, 0.5, dtype=torch.int8)


def test_triangles_take_python_types() -> None:
    assert torch.triu_indices(1, 2, dtype=int).dtype is torch.int64
    assert torch.tril_indices(1, 2, dtype=int).dtype is torch.int64
