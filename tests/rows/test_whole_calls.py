"""What calls that are looked at as a whole take and refuse: numbers for tensors, empty operands."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import rushlight as torch

#: A call, the exception, and how its message begins.
REFUSED: list[tuple[str, type[Exception], str]] = [
    ("torch.split(3, 2)", AttributeError, "'int' object has no attribute 'split'"),
    ("torch.split([torch.ones(2)], 2)", AttributeError, "'list' object has no attribute 'split'"),
    ("torch.isin(element=1j, test_elements=x)", RuntimeError, "Unsupported input type encountered"),
    ("F.group_norm(x, -2**63 - 1)", ValueError, "Overflow when unpacking long long"),
    ("F.group_norm(x, 2**63)", ValueError, "Overflow when unpacking long long"),
    ("torch.zeros(2).byte().scatter_(0, i, -1.5)", RuntimeError, "value cannot be converted to"),
    (
        "torch.fft.fftfreq(2**61)",
        RuntimeError,
        "Storage size calculation overflowed with sizes=[23",
    ),
    ("torch.fft.rfftfreq(2**50)", RuntimeError, "[enforce fail at alloc_cpu.cpp"),
    ("torch.logcumsumexp(x, 5, out=x.double())", RuntimeError, "expected scalar_type Float but"),
    ("torch.cummax(x, 5, out=(x.double(), i))", RuntimeError, "expected scalar_type Float but"),
    ("torch.tensordot(x, x, 1, out=(1, 2))", TypeError, "tensordot(): argument 'out' must be Ten"),
    ("torch.dstack((x, x[:1]), out=x.bool())", TypeError, "torch.cat(): input types can't be cast"),
    ("torch.cat((x, x[:, :1]), out=x.bool())", TypeError, "torch.cat(): input types can't be cast"),
    ("torch.avg_pool1d(x, -1)", RuntimeError, "kernel size should be greater than zero, but got"),
    ("torch.avg_pool1d(x, -5)", RuntimeError, "pad should be at most half of effective kernel"),
    ("torch.norm_except_dim(torch.ones(()))", IndexError, "Dimension specified as 0 but tensor"),
    ("torch.divide(-2**63 - 1, 1)", OverflowError, "can't convert negative int to unsigned"),
    ("F.celu(x.int(), 0)", RuntimeError, "ZeroDivisionError: alpha cannot be 0 for CELU"),
    ("torch.celu(x + 0j, 0)", RuntimeError, "ZeroDivisionError: alpha cannot be 0 for CELU"),
    ("x.flatten(torch.tensor(True))", TypeError, "flatten(): argument 'start_dim' (position 1)"),
    ("x.flatten(0, torch.tensor(True))", TypeError, "flatten(): argument 'end_dim' (position 2)"),
    (
        "F.scaled_dot_product_attention(x, x, x, enable_gqa=True, dropout_p=1.0)",
        IndexError,
        "Dimension out of range (expected to be in range of [-2, 1], but got -3)",
    ),
    (
        "torch.native_batch_norm(x[0], None, None, g, None, True, 0.1, 1e-5)",
        RuntimeError,
        "The function 'native_batch_norm' is not differentiable with respect to argument 'running",
    ),
]


def names() -> dict[str, Any]:
    return {
        "torch": torch, "F": torch.nn.functional, "x": torch.ones(2, 3), "i": torch.tensor([0]),
        "g": torch.ones(3, requires_grad=True),
    }  # fmt: skip


@pytest.mark.parametrize(("call", "kind", "text"), REFUSED, ids=[call for call, _, _ in REFUSED])
def test_it_is_refused(call: str, kind: type[Exception], text: str) -> None:
    with pytest.raises(kind) as raised:
        eval(call, names())
    assert type(raised.value) is kind and str(raised.value).startswith(text)


def test_a_number_may_be_looked_for_by_its_own_name() -> None:
    assert torch.isin(element=3, test_elements=torch.tensor([3, 4])).item() is True


def test_what_is_no_tensor_is_split_by_itself() -> None:
    assert torch.split("a b", " ") == ["a b"]


@pytest.mark.parametrize("reduce", [None, "add"])
@pytest.mark.parametrize("dtype", [torch.uint8, torch.float32])
def test_a_number_that_is_written_nowhere_is_not_looked_at(dtype: Any, reduce: Any) -> None:
    named = {} if reduce is None else {"reduce": reduce}
    x = torch.zeros(3, dtype=dtype)
    for index in (torch.zeros(0).long(), torch.zeros(0)):
        assert x.scatter_(0, index, 1j, **named) is x and x.tolist() == [0, 0, 0]
        assert x.scatter(0, index, -1.5, **named).dtype is dtype


def test_no_places_are_gathered_whatever_their_type_is() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = torch.ones(2, 3).byte().gather(0, torch.zeros(0, 3, dtype=torch.complex64))
    assert found.shape == (0, 3) and found.dtype is torch.uint8


def test_pinning_for_a_device_warns_of_it_twice() -> None:
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        with pytest.raises(RuntimeError, match="CPU device type not an accelerator"):
            torch.ones(1).pin_memory("cpu")
    assert [w.category for w in said] == [DeprecationWarning] * 2
    assert [str(w.message).split("of ")[1].split(" is")[0] for w in said] == [
        "Tensor.pin_memory()", "Tensor.is_pinned()",
    ]  # fmt: skip


def test_frequencies_are_what_they_were() -> None:
    assert torch.fft.fftfreq(5).tolist() == np.fft.fftfreq(5).astype(np.float32).tolist()
    assert torch.fft.rfftfreq(4).tolist() == [0.0, 0.25, 0.5]


@pytest.mark.parametrize(
    "call",
    [
        lambda out: torch.nn.functional.logsigmoid(torch.ones(3, 2), out=out),
        lambda out: torch.addbmm(
            torch.ones(3, 2), torch.ones(2, 3, 4), torch.ones(2, 4, 2), out=out
        ),
    ],
)
def test_some_resize_out_without_a_word(call: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        out = torch.ones(1)
        assert call(out) is out and out.shape == (3, 2)


def test_a_dropout_that_whole_numbers_refuse_has_drawn_its_mask() -> None:
    torch.manual_seed(0)
    with pytest.raises(RuntimeError, match="result type Float can't be cast"):
        torch.native_dropout(torch.ones(8, dtype=torch.int16), 0.5, True)
    after = torch.rand(1)
    torch.manual_seed(0)
    torch.native_dropout(torch.ones(8), 0.5, True)
    assert torch.equal(after, torch.rand(1))


@pytest.mark.parametrize("named", [{}, {"copy": False}, {"dtype": torch.float64}])
def test_an_array_without_dimensions_is_copied_as_a_number(named: dict[str, Any]) -> None:
    alone, row = np.array(1.0), np.array([1.0])
    found = [torch.asarray(alone, **named), torch.asarray(row, **named), torch.as_tensor(alone)]
    alone[...] = row[...] = 2.0
    assert [t.item() for t in found] == [1.0, 2.0, 2.0]
