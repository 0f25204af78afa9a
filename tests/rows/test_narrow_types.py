"""Types that are only stored: complex numbers of half precision and 8-bit floats."""

from __future__ import annotations

import copy
import io
import pickle
from math import inf, nan
from typing import Any

import pytest

import rushlight as torch

FLOATS = [
    torch.float8_e4m3fn, torch.float8_e4m3fnuz, torch.float8_e5m2, torch.float8_e5m2fnuz,
    torch.float8_e8m0fnu,
]  # fmt: skip
ALL = [*FLOATS, torch.complex32]


def of(dtype: Any, *values: complex) -> Any:
    return torch.tensor(values).to(dtype)


@pytest.mark.parametrize("dtype", ALL)
def test_tensors_of_the_type_are_made_stored_and_read(dtype: Any) -> None:
    x = of(dtype, 1, 2, 4)
    assert x.dtype is dtype and x.element_size() == dtype.itemsize
    assert x.tolist() == [1, 2, 4] and x[2].item() == 4
    assert torch.ones(2, dtype=dtype).tolist() == [1, 1]
    assert torch.full((2,), 2, dtype=dtype).tolist() == [2, 2]
    assert torch.tensor([1.0, 2.0], dtype=dtype).tolist() == [1, 2]
    assert torch.empty_like(x).copy_(x).tolist() == [1, 2, 4]
    assert torch.zeros(2, 3, dtype=dtype).T.clone().stride() == (1, 3)
    assert x.view(torch.uint8).view(dtype).tolist() == [1, 2, 4]
    assert (x == of(dtype, 1, 3, 4)).tolist() == [True, False, True]
    with pytest.raises(TypeError, match="Got unsupported ScalarType"):
        x.numpy()


@pytest.mark.parametrize("dtype", ALL)
def test_elements_move_as_those_of_any_type(dtype: Any) -> None:
    x = of(dtype, 1, 2, 4)
    mask = torch.tensor([True, False, True])
    assert torch.cat([x, x[:1]]).tolist() == [1, 2, 4, 1]
    assert torch.stack([x, x])[1].tolist() == [1, 2, 4]
    assert x[mask].tolist() == [1, 4] and x[[2, 0]].tolist() == [4, 1]
    assert torch.where(mask, x, x[1]).tolist() == [1, 2, 4]
    assert x.expand(2, 3).contiguous().stride() == (3, 1)
    assert x.roll(1).tolist() == [4, 1, 2]
    x[0] = 2
    assert x.tolist() == [2, 2, 4]


@pytest.mark.parametrize("dtype", ALL)
def test_it_is_saved_copied_and_pickled(dtype: Any) -> None:
    x = of(dtype, 1, 2, 4)
    file = io.BytesIO()
    torch.save({"whole": x, "part": x[1:]}, file)
    file.seek(0)
    found = torch.load(file)
    assert found["part"].dtype is dtype and found["part"].tolist() == [2, 4]
    assert pickle.loads(pickle.dumps(x)).tolist() == [1, 2, 4]
    assert copy.deepcopy(x).tolist() == [1, 2, 4]
    assert torch.from_dlpack(x).tolist() == [1, 2, 4]


def test_conversions_round_and_saturate_as_pytorchs() -> None:
    wide = torch.tensor([300.0, 1e9, -inf, nan, 0.0, -2.0])
    assert str(wide.to(torch.float8_e4m3fn).tolist()) == "[288.0, 448.0, -448.0, nan, 0.0, -2.0]"
    assert str(wide.to(torch.float8_e5m2).tolist()) == "[320.0, inf, -inf, nan, 0.0, -2.0]"
    least = 2.0**-127
    assert wide.to(torch.float8_e8m0fnu).tolist()[4:] == [least, 2.0]
    assert torch.zeros(1, dtype=torch.float8_e8m0fnu).tolist() == [least]
    assert torch.ones(1, dtype=torch.float8_e8m0fnu).zero_().tolist() == [least]
    assert of(torch.float8_e5m2, 2.5).to(torch.int64).tolist() == [2]
    assert torch.ones(2).copy_(of(torch.float8_e4m3fn, 1.5, 2)).tolist() == [1.5, 2]


@pytest.mark.parametrize("dtype", FLOATS)
def test_8_bit_floats_compute_little_and_say_so(dtype: Any) -> None:
    name = str(dtype).removeprefix("torch.").capitalize()
    x = of(dtype, 1, 2, 4)
    assert (x * x).tolist() == [1, 4, 16]
    for refused, kernel in (
        (lambda: x + x, "add_stub"), (lambda: x * 2.0, "mul_cpu_reduced_float"),
        (lambda: x.sum(), "sum_cpu"), (lambda: x < x, "lt_cpu"), (lambda: -x, "neg_cpu"),
        (lambda: x.exp(), "exp_vml_cpu"), (lambda: torch.arange(2, dtype=dtype), "arange_cpu"),
        (lambda: x.add_(1), "add_stub"),
        (lambda: torch.rand(2, dtype=dtype), "check_uniform_bounds"),
    ):  # fmt: skip
        with pytest.raises(NotImplementedError, match=f"\"{kernel}\" not implemented for '{name}'"):
            refused()
    assert x.tolist() == [1, 2, 4]
    with pytest.raises(RuntimeError, match="Promotion for Float8 Types is not supported"):
        x + torch.ones(3)
    with pytest.raises(RuntimeError, match="Unknown Complex ScalarType"):
        x * 1j
    with pytest.raises(RuntimeError, match="without overflow"):
        torch.full((2,), 1e39, dtype=dtype)


def test_products_of_8_bit_matrices_are_rounded_once() -> None:
    a = torch.tensor([[1.0, 0.125], [2.0, 4.0]]).to(torch.float8_e4m3fn)
    assert (a @ a).tolist() == [[1.25, 0.625], [10.0, 16.0]]
    assert torch.nn.functional.linear(a, a).dtype is torch.float8_e4m3fn


def test_pairs_of_4_bit_floats_have_a_name_and_no_conversion() -> None:
    with pytest.raises(NotImplementedError, match='"copy_kernel" not implemented for \'Float4'):
        torch.ones(2).to(torch.float4_e2m1fn_x2)


def test_halves_of_complex_numbers_compute_and_round_once() -> None:
    x = of(torch.complex32, 1 + 2j, 3)
    assert (x * x).tolist() == [-3 + 4j, 9] and (x + 1).tolist() == [2 + 2j, 4]
    assert (2.7 * torch.ones(1).chalf()).tolist() == [2.69921875]
    assert (torch.ones(1).half() * 1j).dtype is torch.complex32
    assert (x + torch.ones(2)).dtype is torch.complex64
    assert (x * torch.ones(2, dtype=torch.bfloat16)).dtype is torch.complex64
    assert x.abs().dtype is torch.float16 and x.real.tolist() == [1, 3]
    assert torch.view_as_real(x).tolist() == [[1, 2], [3, 0]]
    assert torch.view_as_complex(torch.ones(2, 2).half()).tolist() == [1 + 1j, 1 + 1j]
    assert torch.complex(torch.ones(1).half(), torch.ones(1).half()).tolist() == [1 + 1j]
    x.real.add_(1)
    assert x.tolist() == [2 + 2j, 4] and x.is_complex()
    assert x.mul_(2).tolist() == [4 + 4j, 8]
    assert str(x) == "tensor([4.+4.j, 8.+0.j], dtype=torch.complex32)"


def test_halves_of_complex_numbers_are_refused_by_the_kernels_that_lack_them() -> None:
    x = of(torch.complex32, 1, 2)
    for refused, kernel in (
        (lambda: x.sum(), "sum_cpu"), (lambda: x / x, "div_cpu"), (lambda: x.exp(), "exp_vml_cpu"),
        (lambda: x @ x, "dot"), (lambda: torch.eye(2, dtype=x.dtype), "eye"),
        (lambda: x.cumsum(0), "cumsum_out_cpu"), (lambda: x**2, "pow"),
    ):  # fmt: skip
        with pytest.raises(NotImplementedError, match=f"\"{kernel}\" .* 'ComplexHalf'"):
            refused()
    with pytest.raises(RuntimeError, match="Sort does not support complex"):
        x.sort()


def test_random_halves_of_complex_numbers_have_the_right_spread() -> None:
    torch.manual_seed(0)
    drawn = torch.randn(4000, dtype=torch.complex32).to(torch.complex64)
    assert abs(drawn.real.std().item() - 0.5**0.5) < 0.03
    assert torch.rand(100, dtype=torch.complex32).real.min().item() >= 0


def test_gradients_pass_through_conversions_and_products() -> None:
    x = of(torch.complex32, 1 + 1j, 2).requires_grad_()
    (x * x).abs().float().sum().backward()
    assert x.grad is not None and x.grad.dtype is torch.complex32
    y = of(torch.float8_e5m2, 1, 2).requires_grad_()
    y.float().sum().backward()
    assert y.grad.dtype is torch.float8_e5m2 and y.grad.tolist() == [1, 1]


@pytest.mark.parametrize("dtype", ALL)
def test_compiled_steps_run_such_tensors_eagerly(dtype: Any) -> None:
    step = torch.compile(lambda x: (x * x).clone())
    for _ in range(3):
        assert step(of(dtype, 1, 2)).tolist() == [1, 4]


def test_8_bit_floats_are_compared_as_they_are() -> None:
    x = of(torch.float8_e5m2, 1, 2)
    torch.testing.assert_close(x, x.clone())
    with pytest.raises(AssertionError, match="The first mismatched element is at index"):
        torch.testing.assert_close(x, of(torch.float8_e5m2, 1, 4))
