"""Modes below autograd see operators of the table, may answer for them, and leave no trace."""

from typing import Any

import pytest

import rushlight as torch
from rushlight._table import ROWS
from rushlight.utils._python_dispatch import (
    BaseTorchDispatchMode,
    TorchDispatchMode,
    _disable_current_modes,
    _get_current_dispatch_mode_stack,
)
from rushlight.utils.flop_counter import FlopCounterMode, register_flop_formula

aten = torch.ops.aten


class Log(TorchDispatchMode):
    """Notes the names of operators."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        if not types:
            self.names.append(str(func))
        return func(*args, **(kwargs or {}))


def leaf() -> torch.Tensor:
    return torch.tensor([[0.5, -1.0], [2.0, 1.0]], requires_grad=True)


def test_operators_are_seen_once_by_name() -> None:
    x = leaf()
    with Log() as log:
        (x * 2 + x).exp().sum()
    assert log.names == [
        "aten.mul.Tensor",
        "aten.add.Tensor",
        "aten.exp.default",
        "aten.sum.default",
    ]


def test_backward_is_seen_and_gives_the_same_gradients_in_the_same_tensors() -> None:
    x = leaf()
    (x.exp() * x).sum().backward()
    held, plain = x.grad, x.grad.clone()
    with Log() as log:
        (x.exp() * x).sum().backward()
    assert x.grad is held
    assert (held == plain * 2).all().item()
    assert log.names.count("aten.mul.Tensor") >= 3
    assert not x.grad.requires_grad


def test_nothing_is_seen_after_the_mode_and_the_fast_path_is_back() -> None:
    with Log() as log:
        pass
    leaf().exp()
    assert log.names == []
    assert not torch._core.mode.current().slow
    assert _get_current_dispatch_mode_stack() == []


def test_a_forward_by_parts_has_the_gradients_of_the_whole() -> None:
    net = torch.nn.Linear(2, 3)
    x, y = leaf(), leaf()
    net(x).sum().backward()
    with BaseTorchDispatchMode():
        out = net(y)
    out.sum().backward()
    assert torch.allclose(x.grad, y.grad)


def test_modes_can_be_switched_off_for_a_while() -> None:
    with Log() as log, _disable_current_modes():
        leaf().exp()
    assert log.names == []


def test_an_operator_is_one_object() -> None:
    assert aten.mul.Tensor is aten.mul.Tensor
    assert {aten.mul.Tensor: 1}[aten.mul.Tensor] == 1
    assert repr(aten.mul.Tensor) == "<OpOverload(op='aten.mul', overload='Tensor')>"
    assert aten.mul.Tensor.overloadpacket is aten.mul
    with pytest.raises(AttributeError, match="has no overload name 'other'"):
        _ = aten.mul.other
    with pytest.raises(
        AttributeError, match="'_OpNamespace' 'aten' object has no attribute 'nope'"
    ):
        _ = aten.nope


@pytest.mark.parametrize("name", sorted(ROWS))
def test_every_row_has_an_operator(name: str) -> None:
    from rushlight._table.names import aten as _aten

    for row in ROWS[name]:
        found = _aten.find_overload(name.replace(".", "_"), row.schema.overload or "default")
        assert str(found).startswith("aten.")


def test_a_result_that_is_an_argument_keeps_the_argument_a_leaf() -> None:
    class Same(TorchDispatchMode):
        def __torch_dispatch__(
            self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
        ) -> Any:
            return args[0]

    x = leaf()
    with Same():
        y = x.exp()
    assert x.is_leaf and y is not x and y.grad_fn.name() == "ExpBackward0"


def test_counting_covers_forward_and_backward() -> None:
    net = torch.nn.Linear(4, 8)
    with FlopCounterMode(display=False) as counter:
        net(torch.ones(3, 4)).sum().backward()
    assert counter.get_total_flops() == 2 * (2 * 3 * 4 * 8)
    assert "Global" in counter.get_table()


def test_a_formula_is_registered_once_for_a_packet() -> None:
    with pytest.raises(RuntimeError, match="duplicate registrations"):
        register_flop_formula(aten.mm)(lambda *a, **k: 0)
    with pytest.raises(ValueError, match="expected each target to be OpOverloadPacket"):
        register_flop_formula(aten.mm.default)(lambda *a, **k: 0)


def test_overloads_without_a_row_are_called_as_their_methods_are():
    aten, x = torch.ops.aten, torch.arange(6.0).view(2, 3)
    assert aten.to.dtype(x, torch.float64).dtype is torch.float64
    assert aten.to.dtype_layout(x, dtype=torch.int32).dtype is torch.int32
    assert aten.sym_size.int(x, 1) == 3
    assert aten.repeat_interleave.self_int(x, 2).shape == (12,)
    assert torch.equal(aten.slice_copy.Tensor(x, 1, 1, 3), x[:, 1:3])
    assert str(aten._pin_memory.default._schema) == "aten::_pin_memory(Tensor self) -> Tensor"
    with pytest.raises(RuntimeError, match="not so"):
        aten._assert_async.msg(torch.tensor(False), "not so")


def test_a_mode_sees_a_registered_operator_and_not_what_it_is_made_of() -> None:
    @torch.library.custom_op("modes_see::twice", mutates_args=())
    def twice(x: torch.Tensor) -> torch.Tensor:
        return x.sin() + x.sin()

    twice.register_autograd(lambda ctx, g: g)
    seen: list[str] = []

    class Watch(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            seen.append(str(func))
            return func(*args, **(kwargs or {}))

    for x in (torch.ones(2), torch.ones(2, requires_grad=True)):
        with Watch():
            y = twice(x)
        assert y.requires_grad == x.requires_grad
    assert seen == ["modes_see.twice.default"] * 2
    assert isinstance(torch.ops.modes_see.twice.default, torch._ops.OpOverload)


def test_a_mode_sees_the_memory_format_of_copies() -> None:
    x = torch.arange(24.0).reshape(2, 3, 2, 2).permute(3, 2, 1, 0)
    seen: list[Any] = []

    class Formats(TorchDispatchMode):
        def __torch_dispatch__(
            self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
        ) -> Any:
            seen.append((str(func), (kwargs or {}).get("memory_format")))
            return func(*args, **(kwargs or {}))

    calls = [
        lambda: x.contiguous(),
        lambda: x.contiguous(memory_format=torch.channels_last),
        lambda: x.clone(memory_format=torch.contiguous_format),
        lambda: x.reshape(-1),
        lambda: x.to(torch.float64, memory_format=torch.channels_last),
        lambda: x.double(memory_format=torch.contiguous_format),
    ]
    for call in calls:
        plain = call()
        with Formats():
            watched = call()
        assert watched.stride() == plain.stride()
        assert watched.equal(plain)
    contiguous, last = torch.contiguous_format, torch.channels_last
    assert seen == [
        ("aten.clone.default", contiguous),
        ("aten.clone.default", last),
        ("aten.clone.default", contiguous),
        ("aten.clone.default", contiguous),
        ("aten._unsafe_view.default", None),
        ("aten._to_copy.default", last),
        ("aten._to_copy.default", contiguous),
    ]
