"""Parts of networks that have native forms: they run natively, and give the eager numbers."""

import random
from collections.abc import Callable
from typing import Any

import pytest

import rushlight as torch
from rushlight import nn
from rushlight._native.llvm import target
from rushlight.nn import functional as F

pytestmark = pytest.mark.skipif(not target.available(), reason="no native code: replayed")


def draw(*shape: int) -> Any:
    return torch.randn(*shape, dtype=torch.float64)


def agree(step: Callable[[], Any], leaves: list[Any], left: set[str] | None = None) -> None:
    """Results and gradients of a step are the eager ones; only `left` stays with Python."""

    def whole() -> list[Any]:
        for leaf in leaves:
            leaf.grad = None
        found = step()
        found.backward()
        return [found.detach(), *(leaf.grad for leaf in leaves)]

    expected = whole()
    run = torch.compile(whole)
    for _ in range(4):
        found = run()
    assert run.machine is not None, run.explain()
    assert {i.name for i in run.machine.plan.list_left()} == (left or set())
    for a, b in zip(expected, found, strict=True):
        assert float((a - b).abs().max()) <= 1e-11 * max(1.0, float(a.detach().abs().max()))


@pytest.mark.parametrize("kind", ["GRU", "RNN"])
@pytest.mark.parametrize(
    "options",
    [{}, {"bidirectional": True}, {"num_layers": 2}, {"bias": False}, {"batch_first": True}],
    ids=str,
)
def test_recurrent_layers_run_natively(kind: str, options: dict[str, Any]) -> None:
    torch.manual_seed(1)
    layer = getattr(nn, kind)(7, 12, **options).double()
    x = draw(3, 5, 7) if options.get("batch_first") else draw(5, 3, 7)
    x.requires_grad_()
    g = draw(*layer(x)[0].shape)

    def step() -> Any:
        y, h = layer(x)
        return (y * g).sum() + (h * h).sum()

    agree(step, [x, *layer.parameters()])


def test_a_recurrent_layer_with_relu_and_given_state_runs_natively() -> None:
    torch.manual_seed(2)
    layer = nn.RNN(7, 12, nonlinearity="relu").double()
    x, h = draw(5, 3, 7).requires_grad_(), draw(1, 3, 12).requires_grad_()
    agree(lambda: layer(x, h)[0].square().sum(), [x, h, *layer.parameters()])


@pytest.mark.parametrize("batch", [3, 8, 13])
@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
def test_steps_of_recurrent_layers_are_cut_among_threads_without_a_trace(
    kind: str, batch: int
) -> None:
    torch.manual_seed(1)
    layer = getattr(nn, kind)(24, 96, num_layers=2, bidirectional=kind != "LSTM")
    x = torch.randn(48, batch, 24, requires_grad=True)
    leaves = [x, *layer.parameters()]

    def step() -> list[Any]:
        for leaf in leaves:
            leaf.grad = None
        y, _ = layer(x)
        y.square().sum().backward()
        return [y.detach(), *(leaf.grad for leaf in leaves)]

    expected, threads = step(), torch.get_num_threads()
    found = []
    try:
        for count in (1, 2, 3, 5):
            torch.set_num_threads(count)
            run = torch.compile(lambda count=count: step())
            for _ in range(4):
                results = run()
            assert run.machine is not None, run.explain()
            found.append([r.clone() for r in results])
    finally:
        torch.set_num_threads(threads)
    for results in found:
        for a, b, c in zip(expected, results, found[0], strict=True):
            assert float((a - b).abs().max()) <= 1e-4 * max(1.0, float(a.abs().max()))
            assert torch.equal(b, c)


@pytest.mark.parametrize("shape", [(5, 6), (5, 6, 7), (3, 6, 4, 5), (2, 6, 3, 2, 2)], ids=str)
@pytest.mark.parametrize("affine", [True, False])
def test_a_batch_norm_in_evaluation_joins_what_is_around_it(
    shape: tuple[int, ...], affine: bool
) -> None:
    torch.manual_seed(1)
    norm = getattr(nn, f"BatchNorm{max(1, len(shape) - 2)}d")(6, affine=affine).double().eval()
    norm.running_mean.normal_()
    norm.running_var.uniform_(0.5, 2)

    def run(x: Any) -> Any:
        with torch.no_grad():
            return torch.relu(norm(2 * x)) + 1

    compiled, x = torch.compile(run), draw(*shape)
    for k in range(4):
        norm.running_mean.add_(k)  # read at each call
        assert torch.allclose(compiled(x), run(x), atol=1e-12, rtol=1e-12)
    assert compiled.machine is not None, compiled.explain()
    assert not compiled.machine.plan.list_left()
    assert sum(type(i).__name__ == "Kernel" for i in compiled.machine.plan.items) <= 3


def test_a_batch_norm_in_evaluation_whose_gradients_are_asked_for_stays_whole() -> None:
    norm = nn.BatchNorm2d(6).double().eval()
    norm.running_mean.normal_()
    x = draw(3, 6, 4, 5).requires_grad_()
    agree(lambda: norm(x).square().sum(), [x, *norm.parameters()],
          {"native_batch_norm", "batch_norm_backward"})  # fmt: skip


MASKS: dict[str, Callable[[], Any]] = {
    "of bools": lambda: draw(9, 11) > -1,
    "for each batch": lambda: draw(2, 1, 1, 11) > -1,
    "for each head": lambda: draw(2, 3, 9, 11) > -1,
    "with a row of nothing": lambda: torch.arange(9)[:, None].expand(9, 11) != 4,
    "added": lambda: draw(9, 11),
    "added for each head": lambda: draw(1, 3, 9, 11),
    "added, of infinities": lambda: torch.where(draw(9, 11) > -1, 0.0, -torch.inf).double(),
}


ATTENTION = {"_scaled_dot_product_flash_attention_for_cpu", "attention_backward"}


@pytest.mark.parametrize("kind", MASKS)
def test_masked_attention_runs_natively(kind: str) -> None:
    torch.manual_seed(3)
    mask = MASKS[kind]()
    leaves = [draw(2, 3, n, 16).requires_grad_() for n in (9, 11, 11)]
    g = draw(2, 3, 9, 16)
    # Its products are NumPy's where vectors are narrower than 64 bytes.
    left = ATTENTION if target.machine().width < 64 else None
    agree(lambda: (F.scaled_dot_product_attention(*leaves, attn_mask=mask) * g).sum(), leaves, left)


LOSSES: dict[str, Callable[[Any, Any], Any]] = {
    "mse": F.mse_loss, "mse summed": lambda x, t: F.mse_loss(x, t, reduction="sum"),
    "l1": F.l1_loss, "smooth l1": lambda x, t: F.smooth_l1_loss(x, t, beta=0.7),
    "huber": lambda x, t: F.huber_loss(x, t, delta=0.6),
    "huber by element": lambda x, t: F.huber_loss(x, t, reduction="none").sum(),
    "logits": lambda x, t: F.binary_cross_entropy_with_logits(x, t.sigmoid()),
    "soft margin": lambda x, t: F.soft_margin_loss(x, t.sign()),
    "kl": lambda x, t: F.kl_div(F.log_softmax(x, 1), t.softmax(1), reduction="batchmean"),
    "poisson": lambda x, t: F.poisson_nll_loss(x, t.abs()),
}  # fmt: skip


@pytest.mark.parametrize("kind", LOSSES)
def test_losses_run_natively(kind: str) -> None:
    torch.manual_seed(4)
    x, t = draw(6, 10).requires_grad_(), draw(6, 10)
    agree(lambda: LOSSES[kind](x, t), [x])


@pytest.mark.parametrize("options", [{}, {"label_smoothing": 0.1}, {"reduction": "sum"}], ids=str)
def test_losses_of_classes_run_natively(options: dict[str, Any]) -> None:
    torch.manual_seed(5)
    x, t = draw(6, 10).requires_grad_(), torch.randint(0, 10, (6,))
    agree(lambda: F.cross_entropy(x, t, **options), [x])
    if "label_smoothing" not in options:
        agree(lambda: F.nll_loss(F.log_softmax(x, 1), t, **options), [x])


PARTS: dict[str, Callable[[Any, Any], Any]] = {
    "logsumexp": lambda x, y: torch.logsumexp(x, -1).square().sum(),
    "maxima and places": lambda x, y: sum(part.sum() for part in x.max(1)),
    "minima": lambda x, y: (x.amin(-1, keepdim=True) * y).sum(),
    "sums of the middle": lambda x, y: (torch.stack([x, y]).sum(1) ** 2).sum(),
    "sums of two dimensions": lambda x, y: (torch.stack([x, y]).mean((1, 2)) ** 3).sum(),
    "norms": lambda x, y: torch.linalg.vector_norm(x) + x.norm(dim=1).sum() + x.norm(1),
    "variance": lambda x, y: (x.var(1) * y.std(1)).sum() + x.var(),
    "sums so far": lambda x, y: (x.cumsum(1) * y.cumsum(0)).sum(),
    "a slice": lambda x, y: (x[:, 2:5].exp() * y[:, 1:4]).sum(),
    "a column": lambda x, y: (x * y[:, 3:4]).sum(),
    "a transposed sum": lambda x, y: (
        (x.view(2, 3, 10).transpose(0, 1) * y.view(3, 2, 10)).exp().sum()
    ),
    "rows repeated in the middle": lambda x, y: (x.view(2, 3, 10) + y[:2, None]).tanh().sum(),
    "padded": lambda x, y: F.pad(x, (1, 2, 0, 1)).square().sum() + F.pad(y, (-1, 2)).sum(),
    "flipped": lambda x, y: (x.flip(0, 1) * y).sum(),
    "repeated": lambda x, y: (x.detach().repeat(2, 1) * torch.cat([y, y])).sum(),
    "masked": lambda x, y: x.masked_fill(y > 0, -torch.inf).softmax(-1).square().sum(),
    "where": lambda x, y: torch.where(x > y, x, y * 2).sum(),
    "clamped": lambda x, y: (x.clamp(-0.5, 0.5) * y.clamp(min=0)).sum(),
    "activations": lambda x, y: sum(
        f(x).sum() for f in (F.elu, F.softplus, F.hardtanh, F.hardswish, F.logsigmoid, F.mish,
                             F.selu, F.leaky_relu, F.hardsigmoid, F.softsign, F.relu6)
    ),
    "powers": lambda x, y: (x.abs() ** 1.7 + (y * y + 1) ** -0.5 + x.abs().pow(y)).sum(),
}  # fmt: skip


@pytest.mark.parametrize("kind", PARTS)
def test_parts_run_natively(kind: str) -> None:
    torch.manual_seed(6)
    x, y = draw(6, 10).requires_grad_(), draw(6, 10).requires_grad_()
    agree(lambda: PARTS[kind](x, y) + (x * y).sum(), [x, y])


def test_rows_are_gathered_and_added_natively() -> None:
    torch.manual_seed(7)
    x = draw(9, 4).requires_grad_()
    index, other = torch.randint(0, 9, (20,)), torch.randint(0, 9, (20,))
    columns = torch.randint(0, 4, (9, 4))

    def step() -> Any:
        y = torch.zeros(9, 4, dtype=torch.float64).index_add(0, other, x[index])
        y = y.scatter_add(1, columns, x)
        return (y.gather(1, columns) * torch.index_select(x, 0, other)[:9]).sum()

    agree(step, [x])


def test_an_index_outside_raises_as_in_eager_before_anything_is_written() -> None:
    x, total = draw(9, 4), torch.zeros(4, dtype=torch.float64)

    def step(index: Any) -> None:
        total.add_(x[index].sum(0))

    run = torch.compile(step)
    for _ in range(4):
        run(torch.tensor([1, 2, 3]))
    before = total.clone()
    with pytest.raises(IndexError):
        run(torch.tensor([1, 9, 3]))
    assert torch.equal(total, before)
    run(torch.tensor([-1, 2, 3]))  # counted from the end: NumPy does it
    assert float((total - before - x[torch.tensor([8, 2, 3])].sum(0)).abs().max()) < 1e-12


OPTIMIZERS: dict[str, Callable[[Any], Any]] = {
    "SGD by Nesterov": lambda p: torch.optim.SGD(p, 0.05, momentum=0.9, nesterov=True),
    "SGD by Nesterov, decayed": lambda p: torch.optim.SGD(
        p, 0.05, momentum=0.9, nesterov=True, weight_decay=0.01),
    "Adam, AMSGrad": lambda p: torch.optim.Adam(p, 0.01, amsgrad=True),
    "Adam, AMSGrad, decayed": lambda p: torch.optim.Adam(p, 0.01, amsgrad=True, weight_decay=0.1),
    "AdamW, AMSGrad": lambda p: torch.optim.AdamW(p, 0.01, amsgrad=True),
    "RMSprop": lambda p: torch.optim.RMSprop(p, 0.01),
    "RMSprop, moving": lambda p: torch.optim.RMSprop(p, 0.01, momentum=0.9, weight_decay=0.01),
    "RMSprop, centred": lambda p: torch.optim.RMSprop(p, 0.01, centered=True),
    "RMSprop, both": lambda p: torch.optim.RMSprop(p, 0.01, centered=True, momentum=0.5),
    "Adagrad": lambda p: torch.optim.Adagrad(p, 0.05, weight_decay=0.01),
    "Adadelta": lambda p: torch.optim.Adadelta(p, 0.5),
    "Adamax": lambda p: torch.optim.Adamax(p, 0.01, weight_decay=0.01),
}  # fmt: skip


@pytest.mark.parametrize("kind", OPTIMIZERS)
def test_optimizers_sweep_natively_and_stay_with_the_eager_ones(kind: str) -> None:
    def trained(compiled: bool) -> Any:
        torch.manual_seed(8)
        model = nn.Linear(6, 5).double()
        optimizer = OPTIMIZERS[kind](model.parameters())
        x = draw(8, 6)

        def step() -> None:
            optimizer.zero_grad()
            model(x).square().mean().backward()
            optimizer.step()

        run = torch.compile(step) if compiled else step
        for n in range(30):
            if n == 20:
                for group in optimizer.param_groups:
                    group["lr"] *= 0.5
                    group["eps"] = 1e-6
            run()
        if compiled:
            assert run.machine is not None and not run.machine.plan.list_left(), run.explain()
            assert len(run.variants) == 1
        states = [s for state in optimizer.state.values() for s in state.values()]
        return [*model.parameters(), *(s for s in states if isinstance(s, torch.Tensor))]

    for a, b in zip(trained(False), trained(True), strict=True):
        assert float((a - b).detach().abs().max()) <= 1e-10 * max(
            1.0, float(a.detach().abs().max())
        )


def test_gradients_are_clipped_natively() -> None:
    def trained(compiled: bool) -> Any:
        torch.manual_seed(9)
        model = nn.Sequential(nn.Linear(6, 5), nn.Tanh(), nn.Linear(5, 2)).double()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
        x = draw(8, 6) * 4

        def step() -> None:
            optimizer.zero_grad()
            model(x).square().sum().backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()

        run = torch.compile(step) if compiled else step
        for _ in range(20):
            run()
        if compiled:
            assert run.machine is not None and not run.machine.plan.list_left(), run.explain()
        return list(model.parameters())

    for a, b in zip(trained(False), trained(True), strict=True):
        assert float((a - b).detach().abs().max()) <= 1e-11 * max(
            1.0, float(a.detach().abs().max())
        )


@pytest.mark.parametrize("affine", [True, False])
def test_a_batch_norm_of_rows_runs_natively_and_keeps_its_statistics(affine: bool) -> None:
    def trained(compiled: bool) -> list[Any]:
        torch.manual_seed(10)
        norm = nn.BatchNorm1d(6, affine=affine).double()
        model = nn.Sequential(nn.Linear(5, 6).double(), norm, nn.ReLU())
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        x, g = draw(8, 5), draw(8, 6)

        def step() -> Any:
            optimizer.zero_grad()
            loss = (model(x) * g).sum()
            loss.backward()
            optimizer.step()
            return loss.detach()

        run = torch.compile(step) if compiled else step
        for _ in range(12):
            loss = run()
        if compiled:
            assert run.machine is not None and not run.machine.plan.list_left(), run.explain()
        versions = torch.tensor([float(norm.running_mean._version)])
        return [loss, *model.parameters(), *norm.buffers(), versions]

    for a, b in zip(trained(False), trained(True), strict=True):
        assert float((a - b).detach().abs().max()) <= 1e-11


@pytest.mark.parametrize("seed", range(12))
def test_one_matrix_that_meets_many_is_multiplied_by_all_at_once(seed: int) -> None:
    draws = random.Random(seed)
    lead = [draws.choice([1, 2, 3, 5]) for _ in range(3)]
    m, k, n = (draws.choice([1, 1, 2, 7, 16, 33]) for _ in range(3))

    def operand(rows: int, columns: int) -> Any:
        own = [d if draws.random() < 0.6 else 1 for d in lead]
        if draws.random() < 0.3:
            return draw(*own, columns, rows).transpose(-1, -2)
        return draw(*own, rows, columns)

    a, b = operand(m, k).requires_grad_(), operand(k, n).requires_grad_()
    agree(lambda: (torch.tanh(a) @ (b * 2)).tanh().sum(), [a, b])
    run = torch.compile(lambda a, b: a @ b)
    for _ in range(4):
        found = run(a.detach(), b.detach())
    assert found.stride() == (a @ b).stride()


def test_few_long_rows_are_summed_up_in_few_parts() -> None:
    x = draw(16, 20_000).requires_grad_()
    agree(lambda: (x * 2).sum(0).tanh().sum(), [x])
    y = draw(7, 3, 33_333).float()
    run = torch.compile(lambda y: (y * y).sum(0))
    for _ in range(4):
        found = run(y)
    assert torch.allclose(found, (y * y).sum(0), rtol=1e-5)


def test_sums_over_repeats_are_native() -> None:
    x, y = draw(3, 4).requires_grad_(), draw(5).requires_grad_()
    weight = draw(2, 3, 12)
    agree(lambda: (x.repeat(2, 1, 3) * weight).sum() + (y.repeat(4) ** 2).sum(), [x, y])
