"""Modules compiled alone: a forward and a backward program, joined by one node."""

from typing import Any

import pytest

import rushlight as torch
from rushlight import nn, optim
from rushlight.nn import functional as F


def network() -> nn.Module:
    torch.manual_seed(1)
    return nn.Sequential(
        nn.Linear(5, 8), nn.Tanh(), nn.LayerNorm(8), nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 3)
    )


def test_a_compiled_module_trains_like_an_eager_one() -> None:
    def train(model: Any, parameters: Any) -> list[float]:
        optimizer = optim.SGD(parameters, lr=0.2)
        torch.manual_seed(2)
        x, y = torch.randn(7, 5), torch.randint(0, 3, (7,))
        losses = []
        for _ in range(40):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    eager, inner = network(), network()
    expected = train(eager, eager.parameters())
    compiled = torch.compile(inner)
    found = train(compiled, inner.parameters())
    assert compiled.program is not None, compiled.explain()
    assert found == pytest.approx(expected, rel=1e-4)
    replayed = network()
    again = torch.compile(replayed, options={"native": False})
    assert train(again, replayed.parameters()) == expected
    assert again.program is not None


def test_gradients_go_to_arguments_through_their_history() -> None:
    def function(a: Any, b: Any) -> Any:
        return (a * b).sum(-1).tanh(), a.exp()

    compiled = torch.compile(function)
    for k in range(5):
        a, b = torch.randn(4, 3, requires_grad=True), torch.randn(3, requires_grad=True)
        grads = []
        for f in (function, compiled):
            one, two = f(a * 2, b)
            total = one.sum() * 2 + (two * two).mean()
            grads.append(torch.autograd.grad(total, [a, b]))
        for g, h in zip(*grads):
            assert torch.allclose(g, h, rtol=1e-5, atol=1e-6), k
    assert compiled.program is not None, compiled.explain()


def test_an_output_that_isnt_used_gets_a_gradient_of_zero() -> None:
    w = torch.ones(3, requires_grad=True)
    compiled = torch.compile(lambda x: ((w * x).sum(), (w * w).sum()))
    x = torch.tensor([1.0, 2.0, 3.0])
    for _ in range(4):
        w.grad = None
        first, _ = compiled(x)
        first.backward()
        assert w.grad is not None and w.grad.tolist() == [1.0, 2.0, 3.0]
    assert compiled.program is not None, compiled.explain()


def test_a_second_backward_needs_the_graph_to_be_kept() -> None:
    w = torch.ones(3, requires_grad=True)
    compiled = torch.compile(lambda x: (w * x).sum())
    x = torch.ones(3)
    for _ in range(4):
        out = compiled(x)
    out.backward(retain_graph=True)
    out.backward()
    assert w.grad is not None and w.grad.tolist() == [2.0, 2.0, 2.0]
    with pytest.raises(RuntimeError, match="second time"):
        out.backward()


def test_double_backward_through_a_compiled_function_is_refused_in_pytorchs_words() -> None:
    w = torch.ones(3, requires_grad=True)
    compiled = torch.compile(lambda x: (w**3 * x).sum())
    x = torch.ones(3)
    for _ in range(4):
        out = compiled(x)
    with pytest.raises(RuntimeError, match="double backward"):
        torch.autograd.grad(out, w, create_graph=True)


def test_writing_what_a_compiled_call_has_read_is_found_at_backward() -> None:
    w = torch.ones(3, requires_grad=True)
    compiled = torch.compile(lambda x: (w * w * x).sum())
    x = torch.ones(3)
    for _ in range(4):
        out = compiled(x)
    with torch.no_grad():
        w.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        out.backward()


def test_the_wrapper_has_the_names_that_pytorchs_has() -> None:
    model = network()
    compiled = torch.compile(model)
    assert next(iter(compiled.state_dict())) == "_orig_mod.0.weight"
    assert compiled._orig_mod is model
    assert [p is q for p, q in zip(compiled.parameters(), model.parameters())] == [True] * 8
    compiled.eval()
    assert not model.training and not model[1].training
    compiled.load_state_dict(compiled.state_dict())


def test_a_compiled_module_within_a_compiled_step() -> None:
    model = network()
    inner = torch.compile(model)
    optimizer = optim.SGD(model.parameters(), lr=0.1)

    def step(x: Any, y: Any) -> Any:
        optimizer.zero_grad()
        loss = F.cross_entropy(inner(x), y)
        loss.backward()
        optimizer.step()
        return loss.item()

    x, y = torch.randn(7, 5), torch.randint(0, 3, (7,))
    compiled = torch.compile(step)
    losses = [compiled(x, y) for _ in range(12)]
    assert losses[-1] < losses[0]


def test_a_compiled_module_tells_how_it_is_compiled() -> None:
    compiled = torch.compile(torch.nn.Linear(2, 2), backend="eager", fullgraph=True)
    assert compiled.dynamo_ctx.fullgraph and not compiled.dynamo_ctx.export
    assert compiled.dynamo_ctx(lambda x: x + 1)(torch.ones(2)).tolist() == [2.0, 2.0]
    assert "dynamo_ctx" not in compiled.state_dict()
