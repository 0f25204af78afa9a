"""What runs natively in a compiled step gives what the eager step gives, in float64 and float32."""

from collections.abc import Callable
from typing import Any

import pytest

import rushlight as torch
from rushlight import nn
from rushlight._native.llvm import target
from rushlight.nn import functional as F

pytestmark = pytest.mark.skipif(not target.available(), reason="no native code: replayed")

Loss = Callable[..., Any]
Case = tuple[Loss, list[Any]]  # a loss, and what it is a function of


def draw(*shape: int) -> Any:
    return torch.randn(*shape, dtype=torch.float64)


def whole(high: int, *shape: int) -> Any:
    return torch.randint(0, high, shape)


def heads(causal: bool) -> Loss:
    def loss(q: Any, k: Any, v: Any, g: Any) -> Any:
        return (F.scaled_dot_product_attention(q, k, v, is_causal=causal) * g).sum()

    return loss


def packed_heads(x: Any, g: Any) -> Any:
    q, k, v = (part.view(2, 9, 3, 16).transpose(1, 2) for part in x.split(48, dim=2))
    y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    return (y.transpose(1, 2).reshape(2, 9, 48) * g).sum()


def pooled(k: int, stride: int) -> Loss:
    return lambda x, g: (F.max_pool2d(x, k, stride) * g).sum()


def standardised(x: Any, g: Any) -> Any:
    mean = x.mean(-1, keepdim=True)
    d = x - mean
    return (d * torch.rsqrt((d * d).mean(-1, keepdim=True) + 1e-5) * g).sum()


CASES: dict[str, Callable[[], Case]] = {
    "layer norm": lambda: (
        lambda x, w, b, g: (F.layer_norm(x, (24,), w, b) * g).sum(),
        [draw(3, 5, 24), draw(24), draw(24), draw(3, 5, 24)],
    ),
    "layer norm of long rows": lambda: (
        lambda x, w, g: (F.layer_norm(x, (700,), w) * g).sum(),
        [draw(4, 700), draw(700), draw(4, 700)],
    ),
    "layer norm without weights": lambda: (
        lambda x, g: (F.layer_norm(x, (24,)) * g).sum(), [draw(7, 24), draw(7, 24)]
    ),
    "softmax": lambda: (
        lambda x, g: (torch.softmax(x, -1) * g).sum(), [draw(2, 5, 33), draw(2, 5, 33)]
    ),
    "log_softmax": lambda: (
        lambda x, g: (F.log_softmax(x * 3, 1) * g).sum(), [draw(6, 17), draw(6, 17)]
    ),
    "gelu": lambda: (lambda x, g: (F.gelu(x) * g).sum(), [draw(6, 17), draw(6, 17)]),
    "gelu by tanh": lambda: (
        lambda x, g: (F.gelu(x, approximate="tanh") * g).sum(), [draw(6, 17), draw(6, 17)]
    ),
    "silu": lambda: (lambda x, g: (F.silu(x) * g).sum(), [draw(6, 17), draw(6, 17)]),
    "rows standardised": lambda: (standardised, [draw(6, 17), draw(6, 17)]),
    "a row's sum": lambda: (lambda x, g: (x.exp().sum(-1) * g).sum(), [draw(6, 17), draw(6)]),
    "a sum over the batch": lambda: (
        lambda x, p, g: ((x + p) * g).sum(), [draw(4, 6, 8), draw(6, 8), draw(4, 6, 8)]
    ),
    "powers": lambda: (lambda x, g: ((x**2 + x**3) * g).sum(), [draw(6, 17), draw(6, 17)]),
    "stacked products": lambda: (
        lambda x, y, g: (torch.matmul(x, y) * g).sum(),
        [draw(2, 3, 9, 16), draw(2, 3, 16, 12), draw(2, 3, 9, 12)],
    ),
    "stacked products of transposed": lambda: (
        lambda x, y, g: (torch.bmm(x, y.transpose(1, 2)) * g).sum(),
        [draw(5, 9, 16), draw(5, 12, 16), draw(5, 9, 12)],
    ),
    "attention": lambda: (
        heads(False), [draw(2, 3, 10, 16), draw(2, 3, 13, 16), draw(2, 3, 13, 16),
                       draw(2, 3, 10, 16)],
    ),
    "causal attention": lambda: (heads(True), [draw(2, 3, 11, 16) for _ in range(4)]),
    "causal attention in blocks": lambda: (heads(True), [draw(2, 2, 150, 16) for _ in range(4)]),
    "causal attention of packed heads": lambda: (packed_heads, [draw(2, 9, 144), draw(2, 9, 48)]),
    "pooling by pairs": lambda: (pooled(2, 2), [draw(2, 3, 11, 70), draw(2, 3, 5, 35)]),
    "pooling of overlapping windows": lambda: (pooled(3, 2), [draw(2, 3, 9, 9), draw(2, 3, 4, 4)]),
    "joined": lambda: (
        lambda x, y, g: (torch.cat([x, y.transpose(0, 1)], 1) * g).sum(),
        [draw(4, 3), draw(5, 4), draw(4, 8)],
    ),
    "a last place": lambda: (lambda x, g: (x.tanh()[-1] * g).sum(), [draw(4, 3, 8), draw(3, 8)]),
}  # fmt: skip


def trained(loss: Loss, values: list[Any], compiled: bool, steps: int = 5) -> tuple[Any, Any]:
    leaves = [v.clone().requires_grad_(v.is_floating_point()) for v in values]

    def step() -> Any:
        for leaf in leaves:
            leaf.grad = None
        found = loss(*leaves)
        found.backward()
        return found

    run = torch.compile(step) if compiled else step
    for _ in range(steps):
        found = run()
    return [found.detach(), *(leaf.grad for leaf in leaves if leaf.requires_grad)], run


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=["float64", "float32"])
@pytest.mark.parametrize("name", CASES)
def test_a_part_of_a_network_runs_natively_and_gives_the_eager_numbers(
    name: str, dtype: Any
) -> None:
    torch.manual_seed(3)
    loss, values = CASES[name]()
    values = [v.to(dtype) if v.is_floating_point() else v for v in values]
    expected, _ = trained(loss, values, False)
    found, step = trained(loss, values, True)
    machine = step.variants[0].machine
    assert machine is not None, step.explain()
    forms = {i.name for i in machine.plan.list_left()} - {"broadcast_to", "mul"}
    native = {"softmax", "native_layer_norm", "gelu", "cat", "lstm"}
    if target.machine().width >= 64:  # stacks of products are NumPy's where vectors are narrower
        native.add("_matmul")
    assert not forms & native, forms
    for a, b in zip(expected, found, strict=True):
        bound = (1e-11 if dtype is torch.float64 else 2e-4) * max(1.0, float(a.abs().max()))
        assert float((a - b).abs().max()) <= bound


@pytest.mark.parametrize("started", [False, True], ids=["from zeros", "from given states"])
def test_an_lstm_runs_natively(started: bool) -> None:
    torch.manual_seed(4)
    layer = nn.LSTM(7, 24).double()
    x = draw(5, 3, 7).requires_grad_()
    states = [draw(1, 3, 24).requires_grad_() for _ in range(2)] if started else []
    leaves = [x, *states, *layer.parameters()]

    def step() -> Any:
        for leaf in leaves:
            leaf.grad = None
        y, (h, c) = layer(x, tuple(states)) if started else layer(x)
        loss = (y * y).sum() + h.sum() + (c * c).sum()
        loss.backward()
        return loss

    expected = [step(), *(leaf.grad.clone() for leaf in leaves)]
    run = torch.compile(step)
    for _ in range(4):
        found = run()
    assert run.variants, run.explain()
    assert not {"_lstm_layer", "lstm_backward"} & {
        i.name for i in run.variants[0].machine.plan.list_left()
    }
    for a, b in zip(expected, [found, *(leaf.grad for leaf in leaves)], strict=True):
        assert float((a - b).detach().abs().max()) <= 1e-11 * max(
            1.0, float(a.detach().abs().max())
        )


def test_an_embedding_is_looked_up_and_differentiated_natively() -> None:
    torch.manual_seed(5)
    table = draw(11, 16).requires_grad_()

    def step(index: Any) -> Any:
        table.grad = None
        loss = (F.embedding(index, table) ** 2).sum()
        loss.backward()
        return loss

    run = torch.compile(step)
    for _ in range(3):
        run(whole(11, 4, 6))
    index = whole(11, 4, 6)
    expected, g = step(index), table.grad.clone()
    found = run(index)
    assert not {"embedding", "embedding_gradient"} & {
        i.name for i in run.variants[0].machine.plan.list_left()
    }
    assert (
        abs(float((expected - found).detach())) <= 1e-11
        and float((g - table.grad).abs().max()) <= 1e-11
    )


@pytest.mark.parametrize("wrong", [11, -1])
def test_an_index_out_of_range_raises_before_anything_has_happened(wrong: int) -> None:
    table = draw(11, 16).requires_grad_()
    optimizer = torch.optim.SGD([table], lr=0.1)
    count = torch.zeros(1)

    def step(index: Any) -> Any:
        count.add_(1)
        optimizer.zero_grad()
        loss = (F.embedding(index, table) ** 2).sum()
        loss.backward()
        optimizer.step()
        return loss

    run = torch.compile(step)
    for _ in range(4):
        run(whole(11, 4, 6))
    before, kept = float(count), table.detach().clone()
    index = whole(11, 4, 6)
    index[2, 3] = wrong
    with pytest.raises(IndexError):
        run(index)
    assert float(count) == before + 1  # as an eager step, which counts and then fails
    assert torch.equal(table.detach(), kept)


def test_explain_names_the_calls_that_stay_with_python() -> None:
    x = draw(6, 6)

    def step() -> Any:
        return (torch.linalg.inv(x) * 2).tanh() @ x

    run = torch.compile(step)
    for _ in range(3):
        run()
    assert "native but for" in run.explain()
    assert "inv" in run.explain()


def test_a_variant_does_not_keep_the_arguments_alive() -> None:
    import gc
    import weakref

    run = torch.compile(lambda x: (x * 2).tanh())
    seen = []
    for _ in range(6):  # recorded, compiled, and run by the quick way
        x = draw(4, 4)
        seen.append(weakref.ref(x))
        run(x)
    assert run.program is not None
    del x
    gc.collect()
    assert not any(gone() is not None for gone in seen)


def test_a_mask_that_no_kernel_takes_is_still_a_mask() -> None:
    x = draw(4, 6)
    narrow = draw(6)

    def step() -> Any:
        leaf = x.clone().requires_grad_()
        (leaf * torch.where(narrow > 0, narrow, 0.0)).relu().sum().backward()
        return leaf.grad

    run = torch.compile(step)
    expected = step()
    for _ in range(4):
        found = run()
    assert torch.equal(expected != 0, found != 0)
    assert float((expected - found).abs().max()) <= 1e-12
