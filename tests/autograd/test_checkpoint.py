"""Checkpoints: the same gradients, fewer saved tensors, and what changes in between is found."""

import weakref

import pytest

import rushlight as torch
from rushlight.utils.checkpoint import (
    CheckpointError,
    checkpoint,
    checkpoint_sequential,
    set_checkpoint_early_stop,
)

hooks = torch.autograd.graph.saved_tensors_hooks


def leaf() -> torch.Tensor:
    return torch.tensor([0.5, -1.0, 2.0], requires_grad=True)


def f(t: torch.Tensor) -> torch.Tensor:
    return (t.exp() * t).exp()


@pytest.mark.parametrize("reentrant", [False, True])
def test_the_gradient_is_the_same_to_the_bit(reentrant: bool) -> None:
    x, y = leaf(), leaf()
    f(x).sum().backward()
    checkpoint(f, y, use_reentrant=reentrant).sum().backward()
    assert y.grad.tolist() == x.grad.tolist()


def test_only_the_input_is_saved() -> None:
    packed: list[int] = []
    x = leaf()
    with hooks(lambda t: packed.append(1) or t, lambda t: t):
        f(x)
        assert len(packed) == 4
        packed.clear()
        checkpoint(f, x, use_reentrant=False)
        assert len(packed) == 1


def test_intermediate_values_go_with_the_forward() -> None:
    alive: list[weakref.ref[torch.Tensor]] = []

    def noted(t: torch.Tensor) -> torch.Tensor:
        middle = t * t
        alive.append(weakref.ref(middle))
        return middle * middle

    y = checkpoint(noted, leaf(), use_reentrant=False)
    assert alive[0]() is None
    y.sum().backward()
    assert alive[1]() is None


def test_a_rerun_stops_when_everything_is_there() -> None:
    steps: list[int] = []

    def stepping(t: torch.Tensor) -> torch.Tensor:
        steps.append(1)
        a = t.exp()
        steps.append(2)
        b = a.sin()
        steps.append(3)
        return b * 3

    y = checkpoint(stepping, leaf(), use_reentrant=False)
    steps.clear()
    y.sum().backward()
    assert steps == [1, 2]
    with set_checkpoint_early_stop(False):
        y = checkpoint(stepping, leaf(), use_reentrant=False)
    steps.clear()
    y.sum().backward()
    assert steps == [1, 2, 3]


def test_each_backward_over_a_kept_graph_reruns() -> None:
    runs: list[int] = []

    def counted(t: torch.Tensor) -> torch.Tensor:
        runs.append(1)
        return f(t)

    x = leaf()
    y = checkpoint(counted, x, use_reentrant=False).sum()
    y.backward(retain_graph=True)
    first = x.grad.tolist()
    y.backward()
    assert len(runs) == 3 and x.grad.tolist() == [2 * g for g in first]
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        y.backward()


def test_checkpoints_nest() -> None:
    x, y = leaf(), leaf()
    f(f(x) * 0.01).sum().backward()
    inner = lambda t: checkpoint(f, t, use_reentrant=False)  # noqa: E731
    checkpoint(lambda t: inner(inner(t) * 0.01), y, use_reentrant=False).sum().backward()
    assert y.grad.tolist() == x.grad.tolist()


def test_a_recorded_backward_goes_through() -> None:
    x = leaf()
    y = checkpoint(lambda t: t * t * t, x, use_reentrant=False).sum()
    (g,) = torch.autograd.grad(y, x, create_graph=True)
    (h,) = torch.autograd.grad(g.sum(), x)
    assert h.tolist() == [6 * v for v in x.tolist()]


def test_random_numbers_are_repeated_and_the_stream_goes_on() -> None:
    def noisy(t: torch.Tensor) -> torch.Tensor:
        return t * torch.rand(3)

    for reentrant in (False, True):
        x = torch.ones(3, requires_grad=True)
        torch.manual_seed(7)
        y = checkpoint(noisy, x, use_reentrant=reentrant)
        y.sum().backward()
        after = torch.rand(1).item()
        assert x.grad.tolist() == y.tolist()
        torch.manual_seed(7)
        torch.rand(3)
        assert torch.rand(1).item() == after


def test_a_function_that_does_something_else_is_found() -> None:
    calls: list[int] = []

    def fewer(t: torch.Tensor) -> torch.Tensor:
        calls.append(1)
        return t.exp().sin() if len(calls) == 1 else t.exp()

    y = checkpoint(fewer, leaf(), use_reentrant=False)
    with pytest.raises(CheckpointError, match="A different number of tensors was saved"):
        y.sum().backward()
    calls.clear()

    def wider(t: torch.Tensor) -> torch.Tensor:
        calls.append(1)
        return (t if len(calls) == 1 else t * torch.ones(2, 1)).exp().sin()

    y = checkpoint(wider, leaf(), use_reentrant=False)
    with pytest.raises(
        CheckpointError, match="have different metadata than during the forward pass"
    ):
        y.sum().backward()


def test_keyword_arguments_and_other_values_pass_through() -> None:
    x = leaf()

    def scaled(t: torch.Tensor, *, factor: float, note: str) -> tuple[torch.Tensor, str]:
        return t * t * factor, note

    y, note = checkpoint(scaled, x, use_reentrant=False, factor=2.0, note="here")
    y.sum().backward()
    assert note == "here" and x.grad.tolist() == [4 * v for v in x.tolist()]
    with pytest.raises(ValueError, match="Unexpected keyword arguments: factor"):
        checkpoint(scaled, x, use_reentrant=True, factor=2.0)


def test_the_reentrant_kind_refuses_grad_and_warns_without_gradients() -> None:
    x = leaf()
    y = checkpoint(f, x, use_reentrant=True).sum()
    with pytest.raises(
        RuntimeError, match=r"torch\.utils\.checkpoint is incompatible with \.grad\(\)"
    ):
        torch.autograd.grad(y, x)
    with pytest.warns(UserWarning, match="None of the inputs have requires_grad=True"):
        checkpoint(f, x.detach(), use_reentrant=True)
    with pytest.warns(UserWarning, match="use_reentrant parameter should be passed explicitly"):
        checkpoint(f, x)


def test_a_chain_in_segments_gives_the_same_gradient() -> None:
    chain = [lambda t: t * 1.5, torch.sin, torch.exp, lambda t: t * t]
    x, y = leaf(), leaf()
    out = x
    for step in chain:
        out = step(out)
    out.sum().backward()
    checkpoint_sequential(chain, 2, y, use_reentrant=False).sum().backward()
    assert y.grad.tolist() == x.grad.tolist()


def test_what_needs_no_gradient_is_saved_as_it_is() -> None:
    seen = []

    class Keeping(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.save_for_backward(y)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            seen.extend(ctx.saved_tensors)
            return g * 2, None

    a, b = torch.tensor(1.0, requires_grad=True), torch.tensor(1.0)
    torch.utils.checkpoint.checkpoint(Keeping.apply, a, b, use_reentrant=False).backward()
    assert seen[0] is b
