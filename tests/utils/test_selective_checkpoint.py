"""Selective checkpoints: what is kept isn't computed again, and goes when it has been used."""

import functools
import gc
import weakref
from typing import Any

import pytest

import rushlight as torch
from rushlight.utils.checkpoint import (
    CheckpointError,
    CheckpointPolicy,
    GraphExecGroup,
    checkpoint,
    create_selective_checkpoint_contexts,
)

aten = torch.ops.aten


def leaf() -> torch.Tensor:
    return torch.tensor([[0.5, -1.0], [2.0, 1.0]], requires_grad=True)


def f(x: torch.Tensor) -> torch.Tensor:
    return (torch.mm(x, x).sigmoid() * 2).exp()


def selected(policy: Any, x: torch.Tensor) -> torch.Tensor:
    contexts = functools.partial(create_selective_checkpoint_contexts, policy)
    out: torch.Tensor = checkpoint(f, x, use_reentrant=False, context_fn=contexts)
    return out


@pytest.mark.parametrize("policy", list(CheckpointPolicy))
def test_the_gradient_doesnt_depend_on_the_policy(policy: CheckpointPolicy) -> None:
    x, y = leaf(), leaf()
    selected(lambda c, op, *a, **k: policy, x).sum().backward()
    f(y).sum().backward()
    assert (x.grad == y.grad).all().item()


def test_kept_results_go_with_the_backward_that_uses_them() -> None:
    kept: list[weakref.ref[Any]] = []

    def policy(context: Any, op: Any, *args: Any, **kwargs: Any) -> bool:
        if op is aten.mm.default:
            kept.append(weakref.ref(context.op_output._raw))
            return True
        return False

    gc.disable()
    try:
        y = selected(policy, leaf()).sum()
        assert kept[0]() is not None
        y.backward()
        del y
        assert kept[0]() is None
    finally:
        gc.enable()


def test_a_second_backward_is_refused() -> None:
    y = selected([aten.mm.default], leaf()).sum()
    y.backward(retain_graph=True)
    with pytest.raises(RuntimeError, match="Trying to backward an extra time"):
        y.backward()


def test_debug_says_which_operations_ran() -> None:
    runs: list[int] = []

    def fewer(x: torch.Tensor) -> torch.Tensor:
        runs.append(1)
        return x.sin().cos().exp() if len(runs) == 1 else x.sin().cos()

    y = checkpoint(fewer, leaf(), use_reentrant=False, debug=True)
    with pytest.raises(CheckpointError) as caught:
        y.sum().backward()
    text = str(caught.value)
    assert "$3: f32[2, 2] = torch._ops.aten.exp.default($2)   (3 of 3 in original)" in text
    assert "test_selective_checkpoint.py" in text
    assert "Number of tensors saved during recomputation: 2." in text


def test_a_group_shares_a_rerun() -> None:
    runs: list[int] = []

    def two(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        runs.append(1)
        return x.sin().exp(), x.cos().exp()

    with GraphExecGroup():
        a, b = checkpoint(two, leaf(), use_reentrant=False)
        a.sum().backward(retain_graph=True)
        b.sum().backward()
    assert len(runs) == 2
