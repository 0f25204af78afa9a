"""The options of what makes tensors: which is looked at first, and what they may be."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rushlight as torch

NO_CUDA = "Torch not compiled with CUDA enabled"


@pytest.mark.parametrize("name", ["zeros", "ones", "rand", "randn", "empty"])
@pytest.mark.parametrize("size", [(2, None), (2, 2.0), (2, "a"), (2**63,)])
def test_a_device_and_an_out_are_looked_at_before_sizes_are_unpacked(
    name: str, size: tuple[Any, ...]
) -> None:
    make = getattr(torch, name)
    with pytest.raises(AssertionError, match=NO_CUDA):
        make(size, device="cuda")
    with pytest.raises(RuntimeError, match="dtype Short does not match dtype of out"):
        make(size, dtype=torch.int16, out=torch.zeros(1, dtype=torch.int8))
    with pytest.raises(TypeError, match="failed to unpack the object"):
        make(size)


def test_a_size_of_too_many_bits_is_refused_while_somebody_is_on() -> None:
    with torch.autograd.set_detect_anomaly(True):
        for make in (torch.randn, torch.rand, torch.zeros):
            make((2, 2))
            with pytest.raises(TypeError, match="failed to unpack the object"):
                make((2**63,))


@pytest.mark.parametrize("name", ["new_zeros", "new_ones", "new_empty"])
@pytest.mark.parametrize("size", [(2, None), (-1,), (2**63,)])
def test_a_device_is_looked_at_before_the_sizes_of_new_tensors(name: str, size: Any) -> None:
    x = torch.ones(1)
    with pytest.raises(AssertionError, match=NO_CUDA):
        getattr(x, name)(size, device="cuda")
    with pytest.raises(RuntimeError, match="Cannot access accelerator device"):
        getattr(x, name)(size, device=0)
    with pytest.raises(AssertionError, match=NO_CUDA):
        x.new_full((2,), 1, device="cuda")


@pytest.mark.parametrize("make", [torch.tensor, torch.as_tensor, torch.ones(1).new_tensor])
def test_data_are_looked_at_before_cuda_is_missed(make: Any) -> None:
    with pytest.raises(ValueError, match="too many dimensions 'str'"):
        make(["a"], device="cuda")
    with pytest.raises(RuntimeError, match="Cannot access accelerator device"):
        make(["a"], device=0)
    with pytest.raises(AssertionError, match=NO_CUDA):
        make([1], device="cuda")


def test_a_class_that_is_no_type_of_elements_is_refused_whatever_came_before() -> None:
    x = torch.ones(2)
    assert x.new_ones(2, dtype=float).dtype is torch.float64
    with pytest.raises(TypeError, match=r"new_ones\(\): argument 'dtype' must be torch.dtype"):
        x.new_ones(2, dtype=str)


def test_a_number_of_numpy_is_an_array_to_asarray() -> None:
    assert torch.asarray(np.float16(1.5), dtype=torch.int32).item() == 1
    assert torch.asarray(np.float32(1.5), requires_grad=None).dtype is torch.float32
    with pytest.raises(RuntimeError, match="can't alias NumPy scalars"):
        torch.asarray(np.float16(1.5), copy=False)


def test_a_buffer_that_cannot_be_written_is_warned_of_first() -> None:
    with (
        pytest.warns(UserWarning, match="The given buffer is not writable"),
        pytest.raises(ValueError, match="must be a multiple of"),
    ):
        torch.frombuffer(b"ab", dtype=torch.float64)


@pytest.mark.parametrize("name", ["linspace", "logspace"])
@pytest.mark.parametrize(
    ("end", "dtype"),
    [(1e10, torch.int16), (2**63, torch.int64), (float("inf"), torch.int64), (1e300, torch.half)],
)
def test_an_end_that_an_element_cannot_be_is_refused(name: str, end: float, dtype: Any) -> None:
    with pytest.raises(RuntimeError, match="value cannot be converted to type"):
        getattr(torch, name)(0, end, 5, dtype=dtype)
    assert getattr(torch, name)(0, end, 0, dtype=dtype).shape == (0,)


def test_classes_of_tensors_take_part_in_the_checks_of_arguments() -> None:
    x = torch.ones(2)
    with pytest.raises(TypeError, match="argument 'non_blocking' must be bool, not int"):
        x.type(torch.Tensor, non_blocking=1)
    with pytest.raises(RuntimeError, match="Cannot initialize CUDA without ATen_cuda library"):
        x.type("torch.cuda.FloatTensor")


def test_a_python_class_is_the_dtype_that_an_out_must_have() -> None:
    with pytest.raises(RuntimeError, match="dtype Bool does not match dtype of out"):
        torch.rand(2, dtype=bool, out=torch.ones(2, requires_grad=True))
    with pytest.raises(NotImplementedError, match="\"logspace_cpu\" not implemented for 'Bool'"):
        torch.logspace(2.5, 5, 2, dtype=torch.bool)


def test_a_device_is_one_before_an_out_has_a_type() -> None:
    with pytest.raises(RuntimeError, match="device type at start of device string: a"):
        torch.ones(2, dtype=torch.uint8, device="a", out=torch.ones(2))


@pytest.mark.parametrize("name", ["hann_window", "kaiser_window"])
def test_a_window_takes_pythons_types(name: str) -> None:
    assert getattr(torch, name)(3, dtype=float).dtype is torch.float64
    with pytest.raises(RuntimeError, match="expects floating point dtypes"):
        getattr(torch, name)(3, dtype=int)


@pytest.mark.parametrize("name", ["linspace", "logspace"])
def test_an_out_of_as_many_elements_keeps_its_shape(name: str) -> None:
    out = torch.zeros(2, 2)
    assert getattr(torch, name)(0, 1, 4, out=out) is out and out.shape == (2, 2)
    assert out.reshape(-1).tolist() == getattr(torch, name)(0, 1, 4).tolist()


def test_an_end_that_is_none_is_not_one_left_out() -> None:
    assert torch.arange(2).tolist() == [0, 1]
    with pytest.raises(TypeError, match=r"invalid combination of arguments - got .int, NoneType"):
        torch.arange(2, None)


def test_a_copy_of_a_tensor_has_its_warning_before_its_device_is_looked_at() -> None:
    with (
        pytest.warns(UserWarning, match="To copy construct from a tensor"),
        pytest.raises(RuntimeError, match="Expected one of cpu, cuda"),
    ):
        torch.tensor(torch.ones(()), device="a")


@pytest.mark.parametrize("name", ["randn", "empty"])
def test_an_out_that_may_be_resized_requires_no_grad(name: str) -> None:
    out = torch.ones(2, requires_grad=True)
    with torch.no_grad(), pytest.raises(RuntimeError, match="cannot resize variables that require"):
        getattr(torch, name)(2, out=out)


def test_an_out_requires_grad_as_the_factory_is_told() -> None:
    out = torch.ones(2, requires_grad=True)
    with torch.no_grad():
        torch.bernoulli(torch.ones(2), out=out)
        assert out.requires_grad
        torch.zeros(2, out=out)
    assert not out.requires_grad
    assert torch.zeros(2, out=out, requires_grad=True).requires_grad
    with pytest.raises(RuntimeError, match=r"^aten::normal\(\): functions with out="):
        torch.normal(0.0, 1.0, (2,), out=out)
