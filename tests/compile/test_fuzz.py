"""Random programs: compiled, replayed and eager agree."""

from typing import Any

import pytest

import rushlight as torch

hypothesis = pytest.importorskip("hypothesis")
st = hypothesis.strategies

UNARY = ["tanh", "exp_small", "sigmoid", "relu", "neg", "square", "abs", "sqrt_abs", "t", "rows",
         "columns", "mean_row", "clone", "half", "softmax", "log_softmax",
         "layer_norm", "gelu", "silu", "cube"]  # fmt: skip
BINARY = [
    "add",
    "sub",
    "mul",
    "matmul",
    "maximum",
    "where",
    "div_safe",
    "add_",
    "cat",
    "stacked",
    "attend",
]


def apply_unary(name: str, x: Any) -> Any:
    if name == "exp_small":
        return (x * 0.1).clamp(-3, 3).exp()
    if name == "sqrt_abs":
        return (x.abs() + 0.1).sqrt()
    if name == "rows":
        return x - x.sum(-1, keepdim=True) * 0.1
    if name == "columns":
        return x * 0.5 + x.sum(0)
    if name == "mean_row":
        return x / (1 + x.square().mean(-1, keepdim=True))
    if name == "half":
        return torch.cat([x[:2] * 0.5, x[2:]])
    if name == "t":
        return x.t()
    if name == "cube":
        return (x * 0.3) ** 3
    if name == "layer_norm":
        return torch.nn.functional.layer_norm(x, x.shape[-1:])
    if name in ("softmax", "log_softmax"):
        return getattr(torch, name)(x, -1) * 0.5
    if name in ("gelu", "silu"):
        return getattr(torch.nn.functional, name)(x)
    return getattr(x, name)()


def apply_binary(name: str, x: Any, y: Any) -> Any:
    if name == "where":
        return torch.where(x > y, x, y * 0.5)
    if name == "div_safe":
        return x / (1 + y.abs())
    if name == "matmul":
        return x @ y * 0.2
    if name == "add_":
        return (x * 1.0).add_(y)
    if name == "cat":
        return torch.cat([x[:1], y[1:]])
    if name == "stacked":
        both = torch.stack([x, y]).mul(0.3)
        return torch.bmm(both, both.transpose(1, 2)).sum(0)
    if name == "attend":
        q, k = x[None, None], y[None, None]
        return torch.nn.functional.scaled_dot_product_attention(q, k, q, is_causal=True)[0, 0]
    return getattr(torch, name)(x, y)


steps = st.lists(
    st.tuples(st.sampled_from(UNARY + BINARY), st.integers(0, 5), st.integers(0, 5)),
    min_size=1, max_size=10,
)  # fmt: skip


@pytest.mark.slow
@hypothesis.example([("stacked", 0, 2), ("stacked", 0, 2)], 0, 4)  # views of a repeat's memory
@hypothesis.example([("maximum", 0, 2), ("t", 3, 0)], 0, 4)  # copies in another layout
@hypothesis.settings(max_examples=60, deadline=None)
@hypothesis.given(steps, st.integers(0, 1000), st.sampled_from([4, 19]))
def test_random_programs_give_what_eager_gives(plan: Any, seed: int, n: int) -> None:
    torch.manual_seed(seed)
    a, b = torch.randn(n, n), torch.randn(n, n)
    w = torch.randn(n, n, requires_grad=True)

    def step(a: Any, b: Any) -> Any:
        w.grad = None
        values = [a, b, w]
        for name, i, j in plan:
            x, y = values[i % len(values)], values[j % len(values)]
            values.append(apply_unary(name, x) if name in UNARY else apply_binary(name, x, y))
        loss = (values[-1] * w).mean()
        loss.backward()
        return loss.detach(), values[-1].detach()

    loss, last = step(a, b)
    assert w.grad is not None
    grad = w.grad
    for native in (False, True):
        compiled = torch.compile(step, options={"native": native})
        for _ in range(4):
            found, end = compiled(a, b)
        assert compiled.program is not None, compiled.explain()
        assert w.grad is not None
        pairs = ((found, loss), (end, last), (w.grad, grad))
        for x, y in pairs:
            if native:
                scale = float(y.abs().max()) + 1e-3
                assert float((x - y).abs().max()) <= 2e-5 * scale
            else:
                assert x.numpy().tobytes() == y.numpy().tobytes()
            assert x.stride() == y.stride() and x.shape == y.shape
