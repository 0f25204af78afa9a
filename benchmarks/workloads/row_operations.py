"""Forward and backward of the operations between a transformer's products, and optimizer sweeps.

Two sizes: S is a batch of 12 by 64 places of 128 features and 4 heads, L one of 8 by 256 places of
384 features and 6 heads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.registry import Job, workload
from benchmarks.workloads.data import labels, uniform

AIM = {"rushlight": 1.0, "rushlight-compiled": 1.6}


@dataclass(frozen=True)
class Size:
    """Batch, places, features, heads, classes."""

    batch: int
    places: int
    features: int
    heads: int
    classes: int = 65

    @property
    def rows(self) -> int:
        return self.batch * self.places


SIZES = {"S": Size(12, 64, 128, 4), "L": Size(8, 256, 384, 6)}

# Leaves, and the function of them whose value and gradients are wanted.
Prepared = tuple[list[Any], Callable[[], Any]]
Preparation = Callable[[Any, Size], Prepared]


def leaf(torch: Any, seed: int, *shape: int) -> Any:
    """A leaf with numbers between -2 and 2."""
    return torch.tensor(2 * uniform(seed, *shape)).requires_grad_()


def layer_norm(torch: Any, size: Size) -> Prepared:
    x = leaf(torch, 1, size.batch, size.places, size.features)
    weight, bias = leaf(torch, 2, size.features), leaf(torch, 3, size.features)
    norm = torch.nn.functional.layer_norm
    return [x, weight, bias], lambda: norm(x, (size.features,), weight, bias)


def softmax(torch: Any, size: Size) -> Prepared:
    x = leaf(torch, 4, size.batch, size.heads, size.places, size.places)
    return [x], lambda: torch.softmax(x, -1)


def cross_entropy(torch: Any, size: Size) -> Prepared:
    x = leaf(torch, 5, size.rows, size.classes)
    target = torch.tensor(labels(6, size.rows, size.classes))
    return [x], lambda: torch.nn.functional.cross_entropy(x, target)


def gelu(torch: Any, size: Size) -> Prepared:
    x = leaf(torch, 7, size.batch, size.places, 4 * size.features)
    return [x], lambda: torch.nn.functional.gelu(x)


def gelu_tanh(torch: Any, size: Size) -> Prepared:
    x = leaf(torch, 7, size.batch, size.places, 4 * size.features)
    return [x], lambda: torch.nn.functional.gelu(x, approximate="tanh")


def silu(torch: Any, size: Size) -> Prepared:
    x = leaf(torch, 7, size.batch, size.places, 4 * size.features)
    return [x], lambda: torch.nn.functional.silu(x)


def attention(torch: Any, size: Size) -> Prepared:
    shape = (size.batch, size.heads, size.places, size.features // size.heads)
    q, k, v = (leaf(torch, seed, *shape) for seed in (8, 9, 10))
    attend = torch.nn.functional.scaled_dot_product_attention
    return [q, k, v], lambda: attend(q, k, v, is_causal=True)


def embedding(torch: Any, size: Size) -> Prepared:
    table = leaf(torch, 11, size.classes, size.features)
    index = torch.tensor(labels(12, size.rows, size.classes))
    return [table], lambda: torch.nn.functional.embedding(index, table)


def lstm(torch: Any, size: Size) -> Prepared:
    layer = torch.nn.LSTM(size.features, size.features)
    parameters = list(layer.parameters())
    with torch.no_grad():
        for seed, p in enumerate(parameters):
            p.copy_(torch.tensor(0.1 * uniform(20 + seed, *p.shape)))
    x = leaf(torch, 13, 32, size.batch, size.features)
    return [x, *parameters], lambda: layer(x)[0]


def sized(prepare: Preparation, size: Size) -> Callable[[Any], Prepared]:
    """The preparation for one size."""
    return lambda torch: prepare(torch, size)


def gradients(prepare: Callable[[Any], Prepared]) -> Callable[[Any], Job]:
    """A maker of the value and all gradients of a function."""

    def make(torch: Any) -> Job:
        leaves, function = prepare(torch)
        kept: list[Any] = [None, None]
        seed = torch.ones_like(function().detach())

        def run(n: int) -> None:
            for _ in range(n):
                y = function()
                kept[:] = y, torch.autograd.grad(y, leaves, seed)

        def value() -> Sequence[float]:
            return [t.detach().square().sum().item() for t in (kept[0], *kept[1])]

        return Job(run, value)

    return make


OPERATIONS: dict[str, tuple[str, Preparation]] = {
    "layer-norm": ("layer norm", layer_norm),
    "softmax": ("softmax of attention scores", softmax),
    "cross-entropy": ("cross-entropy of 65 classes", cross_entropy),
    "gelu": ("exact GELU of four times the features", gelu),
    "gelu-tanh": ("GELU by tanh of four times the features", gelu_tanh),
    "silu": ("SiLU of four times the features", silu),
    "attention": ("causal attention", attention),
    "embedding": ("a look-up in a table of 65 rows", embedding),
    "lstm": ("an LSTM layer over 32 steps", lstm),
}
for _word, (_about, _prepare) in OPERATIONS.items():
    for _letter, _size in SIZES.items():
        workload(
            f"rows/{_word}-{_letter}",
            f"{_about}, forward and backward, size {_letter}",
            unit="step",
            rtol=1e-3,
            aim=AIM,
            long=_letter == "L",
        )(gradients(sized(_prepare, _size)))


def stepping(name: str, size: Size, **options: Any) -> Callable[[Any], Job]:
    """A maker of optimizer steps on the weights of a transformer's block."""

    def make(torch: Any) -> Job:
        c = size.features
        shapes = [(3 * c, c), (c, c), (4 * c, c), (c, 4 * c)]
        weights = [leaf(torch, 30 + k, *shape) for k, shape in enumerate(shapes)]
        for k, w in enumerate(weights):
            w.grad = leaf(torch, 40 + k, *w.shape).detach()
        optimizer = getattr(torch.optim, name)(weights, lr=1e-3, **options)

        def run(n: int) -> None:
            for _ in range(n):
                optimizer.step()

        return Job(run, lambda: [w.detach().square().sum().item() for w in weights])

    return make


for _letter, _size in SIZES.items():
    for _name, _options in (("Adam", {}), ("AdamW", {}), ("SGD", {"momentum": 0.9})):
        workload(
            f"rows/{_name.lower()}-{_letter}",
            f"a step of {_name} on the weights of a transformer's block, size {_letter}",
            unit="step",
            restart=True,
            rtol=1e-4,
            aim=AIM,
            long=_letter == "L",
        )(stepping(_name, _size, **_options))
