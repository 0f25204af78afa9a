"""Tensors that functions without operands write into: without data, of rare types, elsewhere."""

from collections.abc import Callable
from typing import Any

import pytest

import rushlight as torch

MAKERS: dict[str, Callable[[Any], Any]] = {
    "ones": lambda out: torch.ones(2, out=out),
    "full": lambda out: torch.full((2,), 1.0, out=out),
    "arange": lambda out: torch.arange(2, out=out),
    "linspace": lambda out: torch.linspace(0, 1, 2, out=out),
    "rand": lambda out: torch.rand(2, out=out),
    "randint": lambda out: torch.randint(2, (2,), out=out),
    "randperm": lambda out: torch.randperm(2, out=out),
    "normal": lambda out: torch.normal(0.0, 1.0, (2,), out=out),
}


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("shape", [(0,), (2,)])
def test_an_out_without_data_keeps_none(name: str, shape: tuple[int, ...]) -> None:
    out = torch.empty(shape, device="meta")
    made = MAKERS[name](out)
    assert made is out and out.is_meta and out.shape == (2,) and out.dtype is torch.float32


@pytest.mark.parametrize("make", [torch.ones, torch.arange, torch.rand, torch.randperm])
def test_an_out_elsewhere_is_refused(make: Callable[..., Any]) -> None:
    text = "device type {} does not match device type of out parameter \\({}\\)"
    with pytest.raises(RuntimeError, match=text.format("meta", "cpu")):
        make(2, out=torch.empty(2), device="meta")
    with pytest.raises(RuntimeError, match=text.format("cpu", "meta")):
        make(2, out=torch.empty(2, device="meta"), device="cpu")
    with pytest.raises(RuntimeError, match=text.format("cuda", "cpu")):
        make(2, out=torch.empty(2), device="cuda")


@pytest.mark.parametrize(
    ("name", "dtype", "text"),
    [
        ("randperm", torch.bool, "\"randperm\" not implemented for 'Bool'"),
        ("randperm", torch.uint16, "\"randperm\" not implemented for 'UInt16'"),
        ("normal", torch.int64, "\"normal_kernel_cpu\" not implemented for 'Long'"),
        ("randint", torch.complex64, "check_random_bounds handles only integral"),
        ("arange", torch.uint32, "\"arange_cpu\" not implemented for 'UInt32'"),
        ("linspace", torch.uint64, "\"linspace_cpu\" not implemented for 'UInt64'"),
    ],
)
def test_what_is_drawn_or_counted_is_of_the_outs_type(name: str, dtype: Any, text: str) -> None:
    with pytest.raises((RuntimeError, NotImplementedError), match=text):
        MAKERS[name](torch.empty(0, dtype=dtype))
    drawn = torch.randint(3, (50,), out=torch.empty(0, dtype=torch.float16))
    assert drawn.dtype is torch.float16 and set(drawn.tolist()) == {0.0, 1.0, 2.0}


@pytest.mark.parametrize("dtype", [torch.uint16, torch.uint32, torch.uint64])
def test_few_kernels_know_wide_numbers_without_sign(dtype: Any) -> None:
    calls: dict[str, Callable[[], Any]] = {
        "arange_cpu": lambda: torch.arange(2, dtype=dtype),
        "linspace_cpu": lambda: torch.linspace(0, 1, 2, dtype=dtype),
        "logspace_cpu": lambda: torch.logspace(0, 1, 2, dtype=dtype),
        "eye": lambda: torch.eye(2, dtype=dtype),
        "tril_indices": lambda: torch.tril_indices(2, 2, dtype=dtype),
        "triu_indices": lambda: torch.triu_indices(2, 2, dtype=dtype),
    }
    for kernel, call in calls.items():
        with pytest.raises(NotImplementedError, match=f'"{kernel}" not implemented for .UInt'):
            call()
    assert torch.ones(2, dtype=dtype).tolist() == [1, 1]


def test_narrow_floats_are_not_drawn() -> None:
    x = torch.ones(2).to(torch.float8_e5m2)
    calls: dict[str, Callable[[], Any]] = {
        "bernoulli_scalar_cpu_": lambda: x.bernoulli_(0.5),
        "bernoulli_tensor_cpu_self_": lambda: torch.bernoulli(x),
        "geometric_cpu": lambda: x.geometric_(0.5),
        "random_update_from_to": lambda: x.random_(3),
    }
    for kernel, call in calls.items():
        with pytest.raises(NotImplementedError, match=f'"{kernel}" not implemented for .Float8'):
            call()
