"""Rushlight and PyTorch imported in one process: their tensors don't mix, and both say so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import rushlight

torch: Any = pytest.importorskip("torch")

MIXED = {
    "a + b": lambda a, b: a + b,
    "b + a": lambda a, b: b + a,
    "a += b": lambda a, b: a.__iadd__(b),
    "a @ b": lambda a, b: a @ b,
    "a == b": lambda a, b: a == b,
    "a ** b": lambda a, b: a**b,
    "mul": rushlight.mul,
    "torch.mul": lambda a, b: torch.mul(a, b),
    "torch.add of one": lambda a, b: torch.add(a, 1),
    "torch's softmax": lambda a, b: torch.nn.functional.softmax(a, 0),
    "cat": lambda a, b: rushlight.cat([a, b]),
    "where": lambda a, b: rushlight.where(a > 0, a, b),
    "copy_": lambda a, b: a.copy_(b),
    "a[0] = b": lambda a, b: a.__setitem__(0, b),
    "Linear": lambda a, b: rushlight.nn.Linear(2, 2)(b),
    "torch's Linear": lambda a, b: torch.nn.Linear(2, 2)(a),
    "equal": lambda a, b: a.equal(b),
    "einsum": lambda a, b: rushlight.einsum("ij,jk", a, b),
    "view_as": lambda a, b: a.view_as(b),
    "type_as": lambda a, b: a.type_as(b),
    "split": lambda a, b: rushlight.split(b, 1),
    "Parameter": lambda a, b: rushlight.nn.Parameter(b),
    "a[b]": lambda a, b: a[b.long()],
    "a[b, 0]": lambda a, b: a[b.long(), 0],
    "a[b] = 1": lambda a, b: a.__setitem__(b.bool(), 1),
    "mse_loss": lambda a, b: rushlight.nn.functional.mse_loss(a, b),
    "torch's function under vmap": lambda a, b: rushlight.vmap(torch.sin)(a),
    "attention": lambda a, b: rushlight.nn.MultiheadAttention(2, 1)(b, b, b),
    "a bias": lambda a, b: rushlight.nn.functional.linear(a, a, b),
    "a bias of two dimensions": lambda a, b: rushlight.nn.functional.linear(a.unsqueeze(0), a, b),
}


@pytest.mark.parametrize("name", MIXED)
def test_tensors_of_both_dont_mix(name: str) -> None:
    with pytest.raises(TypeError) as caught:
        MIXED[name](rushlight.ones(2, 2), torch.ones(2, 2))
    assert caught.value.__context__ is None or not isinstance(
        caught.value.__context__, RecursionError
    )


def test_the_error_says_what_to_do() -> None:
    with pytest.raises(TypeError, match=r"not torch.Tensor of PyTorch \(`tensor\(\)` copies it\)"):
        rushlight.ones(2) + torch.ones(2)


@pytest.mark.parametrize(
    "call, kind",
    [
        (lambda: rushlight.ones(2, dtype=torch.float64), "dtype"),
        (lambda: rushlight.ones(2).to(torch.float64), "dtype"),
        (lambda: rushlight.ones(2, device=torch.device("cpu")), "device"),
        (lambda: rushlight.ones(2).to(torch.device("cpu")), "device"),
        (lambda: rushlight.rand(2, generator=torch.Generator()), "Generator"),
    ],
)
def test_types_devices_and_generators_of_pytorch_are_named_so(
    call: Callable[[], object], kind: str
) -> None:
    with pytest.raises(TypeError, match=f"torch.{kind} of PyTorch"):
        call()


@pytest.mark.parametrize(
    "dtype", ["float32", "float64", "bfloat16", "float16", "int64", "bool", "complex64", "uint8"]
)
def test_a_tensor_of_pytorch_is_copied(dtype: str) -> None:
    theirs = torch.tensor([[0, 1, 2], [3, 0, 5]]).to(getattr(torch, dtype))
    like = rushlight.ones(1, dtype=getattr(rushlight, dtype))
    for copy in (rushlight.tensor, rushlight.as_tensor, like.new_tensor):
        ours = copy(theirs.t())
        assert type(ours) is rushlight.Tensor
        assert ours.tolist() == theirs.t().tolist()
    wide = rushlight.complex128 if theirs.is_complex() else rushlight.float64
    copied = rushlight.tensor(theirs, dtype=wide)
    assert copied.dtype == wide
    assert rushlight.tensor(theirs).dtype == getattr(rushlight, dtype)
    theirs.zero_()
    assert copied.count_nonzero() == 4


def test_a_tensor_with_a_history_or_a_conjugate_bit_is_copied() -> None:
    wanted = torch.ones(2, requires_grad=True) * 2
    assert rushlight.tensor(wanted).tolist() == [2.0, 2.0]
    assert rushlight.tensor(torch.tensor([1 + 2j]).conj()).tolist() == [1 - 2j]


def test_a_class_with_rules_of_its_own_is_still_asked() -> None:
    class Own:
        @classmethod
        def __torch_function__(
            cls, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> str:
            return str(func.__name__)

    assert rushlight.add(rushlight.ones(2), Own()) == "add"
    assert rushlight.ones(2) + Own() == "add"
