"""Forward and backward of layers and operations in sizes of real programs."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable
from itertools import count
from math import prod
from typing import Any

from benchmarks.registry import Job, workload
from benchmarks.workloads.data import labels
from benchmarks.workloads.row_operations import Prepared, gradients, leaf
from benchmarks.workloads.training import fill

Preparation = Callable[[Any], Prepared]


def classes(torch: Any, seed: int, high: int, *shape: int) -> Any:
    """Whole numbers below `high`."""
    return torch.tensor(labels(seed, prod(shape), high)).reshape(shape)


def group_norm(torch: Any) -> Prepared:
    x, weight, bias = leaf(torch, 1, 8, 64, 56, 56), leaf(torch, 2, 64), leaf(torch, 3, 64)
    return [x, weight, bias], lambda: torch.nn.functional.group_norm(x, 32, weight, bias)


def batch_norm(torch: Any) -> Prepared:
    x, weight, bias = leaf(torch, 1, 16, 64, 28, 28), leaf(torch, 2, 64), leaf(torch, 3, 64)
    norm = torch.nn.functional.batch_norm
    return [x, weight, bias], lambda: norm(x, None, None, weight, bias, training=True)


def segmentation(torch: Any) -> Prepared:
    x, target = leaf(torch, 1, 4, 21, 128, 128), classes(torch, 2, 21, 4, 128, 128)
    entropy = torch.nn.functional.cross_entropy
    return [x], lambda: entropy(x, target, ignore_index=0)


def nll(*shape: int) -> Preparation:
    def prepare(torch: Any) -> Prepared:
        x, target = leaf(torch, 1, *shape), classes(torch, 2, shape[1], shape[0], *shape[2:])
        return [x], lambda: torch.nn.functional.nll_loss(x, target)

    return prepare


def resample(mode: str, *shape: int) -> Preparation:
    """Twice as many places along each side."""

    def prepare(torch: Any) -> Prepared:
        x = leaf(torch, 1, *shape)
        double = torch.nn.functional.interpolate
        return [x], lambda: double(x, scale_factor=2, mode=mode, align_corners=False)

    return prepare


def gather(dim: int) -> Preparation:
    def prepare(torch: Any) -> Prepared:
        x, index = leaf(torch, 1, 2048, 256), classes(torch, 2, 256, 2048, 256)
        return [x], lambda: torch.gather(x, dim, index)

    return prepare


def embedding_bag(mode: str) -> Preparation:
    def prepare(torch: Any) -> Prepared:
        table, index = leaf(torch, 1, 10_000, 64), classes(torch, 2, 10_000, 512, 20)
        return [table], lambda: torch.nn.functional.embedding_bag(index, table, mode=mode)

    return prepare


def scatter_add(torch: Any) -> Prepared:
    """Messages along 10,000 edges added at 1,000 nodes."""
    source, index = leaf(torch, 1, 10_000, 64), classes(torch, 2, 1000, 10_000)
    places = index[:, None].expand(10_000, 64)
    return [source], lambda: torch.zeros(1000, 64).scatter_add(0, places, source)


def scatter_add_line(torch: Any) -> Prepared:
    source, index = leaf(torch, 1, 100_000), classes(torch, 2, 1000, 100_000)
    return [source], lambda: torch.zeros(1000).scatter_add(0, index, source)


def index_add(torch: Any) -> Prepared:
    source, index = leaf(torch, 1, 10_000, 64), classes(torch, 2, 1000, 10_000)
    return [source], lambda: torch.zeros(1000, 64).index_add(0, index, source)


def convolution(
    name: str, shape: tuple[int, ...], out: int, kernel: int, **options: Any
) -> Preparation:
    """One of PyTorch's convolutions with a bias."""

    def prepare(torch: Any) -> Prepared:
        channels, groups = shape[1], options.get("groups", 1)
        transposed = "transpose" in name
        first, second = (channels, out // groups) if transposed else (out, channels // groups)
        x, bias = leaf(torch, 1, *shape), leaf(torch, 3, out)
        weight = leaf(torch, 2, first, second, *[kernel] * (len(shape) - 2))
        function = getattr(torch.nn.functional, name)
        return [x, weight, bias], lambda: function(x, weight, bias, **options)

    return prepare


def recurrent(kind: str, hidden: int) -> Preparation:
    """A layer over 32 places, batch 32."""

    def prepare(torch: Any) -> Prepared:
        layer = getattr(torch.nn, kind)(hidden, hidden)
        parameters = list(layer.parameters())
        fill(torch, parameters, [leaf(torch, 20 + k, *p.shape).detach().numpy() * hidden**-0.5 / 2
                                 for k, p in enumerate(parameters)])  # fmt: skip
        x = leaf(torch, 13, 32, 32, hidden)
        return [x, *parameters], lambda: layer(x)[0]

    return prepare


LAYERS: dict[str, tuple[str, Preparation]] = {
    "group-norm": ("group norm of 64 planes of 56 x 56, batch 8", group_norm),
    "batch-norm": ("batch norm of 64 planes of 28 x 28, batch 16, in training", batch_norm),
    "segmentation": ("cross-entropy of 21 classes at 128 x 128 places, batch 4", segmentation),
    "nll-places": ("nll_loss of 21 classes at 128 x 128 places, batch 4", nll(4, 21, 128, 128)),
    "nll-rows": ("nll_loss of 1,000 classes, batch 512", nll(512, 1000)),
    "bicubic": ("three planes of 64 x 64 doubled", resample("bicubic", 4, 3, 64, 64)),
    "bicubic-deep": ("32 planes of 32 x 32 doubled", resample("bicubic", 8, 32, 32, 32)),
    "bilinear": ("32 planes of 32 x 32 doubled", resample("bilinear", 8, 32, 32, 32)),
    "linear": ("32 lines of 256 doubled", resample("linear", 16, 32, 256)),
    "trilinear": ("8 bodies of 16 x 16 x 16 doubled", resample("trilinear", 4, 8, 16, 16, 16)),
    "gather-rows": ("gather along rows of 256", gather(1)),
    "gather-columns": ("gather along columns of 2,048", gather(0)),
    "bag-sum": ("512 bags of 20 of 10,000 rows of 64, sums", embedding_bag("sum")),
    "bag-mean": ("512 bags of 20 of 10,000 rows of 64, means", embedding_bag("mean")),
    "scatter-add": ("10,000 rows of 64 added at 1,000 places", scatter_add),
    "scatter-add-line": ("100,000 numbers added at 1,000 places", scatter_add_line),
    "index-add": ("10,000 rows of 64 added at 1,000 places by index_add", index_add),
    "depthwise-7": (
        "96 planes of 28 x 28, each with its own 7 x 7, batch 8",
        convolution("conv2d", (8, 96, 28, 28), 96, 7, padding=3, groups=96),
    ),
    "transposed-2d": (
        "128 planes of 8 x 8 to 64 of 16 x 16, batch 16",
        convolution("conv_transpose2d", (16, 128, 8, 8), 64, 4, stride=2, padding=1),
    ),
    "transposed-1d": (
        "64 lines of 128 to 32 of 256, batch 16",
        convolution("conv_transpose1d", (16, 64, 128), 32, 4, stride=2, padding=1),
    ),
    "convolution-3d": (
        "16 bodies of 16 x 32 x 32 to 32, 3 x 3 x 3, batch 2",
        convolution("conv3d", (2, 16, 16, 32, 32), 32, 3, padding=1),
    ),
    **{
        f"{kind.lower()}-{hidden}": (f"{kind} of {hidden} over 32 places", recurrent(kind, hidden))
        for kind in ("GRU", "LSTM")
        for hidden in (32, 128, 512)
    },
}
for _word, (_about, _prepare) in LAYERS.items():
    workload(
        f"layers/{_word}", f"{_about}, forward and backward", unit="step", check_runs=1, rtol=1e-3
    )(gradients(_prepare))


def loading(torch: Any, *shape: int) -> Job:
    """An epoch in batches of 64 of 2,048 samples, by this process alone."""
    data = torch.utils.data
    x, y = leaf(torch, 1, 2048, *shape).detach(), classes(torch, 2, 10, 2048)
    loader = data.DataLoader(data.TensorDataset(x, y), batch_size=64, shuffle=True)
    seen = [0, 0.0]

    def run(n: int) -> None:
        for _ in range(n):
            seen[:] = 0, 0.0
            for a, b in loader:
                seen[0] += len(a) + len(b)

    return Job(run, lambda: [seen[0]])


@workload("loader/rows", "2,048 rows of 20 in shuffled batches of 64", unit="epoch")
def rows(torch: Any) -> Job:
    return loading(torch, 20)


@workload("loader/pictures", "2,048 pictures of 3 x 32 x 32 in shuffled batches", unit="epoch")
def pictures(torch: Any) -> Job:
    return loading(torch, 3, 32, 32)


class _File:
    """A file that goes with its last reference."""

    def __init__(self, folder: str, number: int) -> None:
        self.name = os.path.join(folder, str(number))

    def __del__(self) -> None:
        with contextlib.suppress(OSError):
            os.remove(self.name)


@workload("hooks/files", "a perceptron whose saved tensors are written to files", unit="step")
def files(torch: Any) -> Job:
    nn = torch.nn
    model = nn.Sequential(nn.Linear(40, 60), nn.Tanh(), nn.Linear(60, 2))
    leaves = list(model.parameters())
    fill(torch, leaves, [leaf(torch, k, *p.shape).detach().numpy() * 0.1
                         for k, p in enumerate(leaves)])  # fmt: skip
    x = leaf(torch, 9, 50, 40).detach()
    folder, numbers = tempfile.TemporaryDirectory(), count()
    kept: list[Any] = []

    def pack(tensor: Any) -> _File:
        file = _File(folder.name, next(numbers))
        torch.save(tensor, file.name)
        return file

    def run(n: int) -> None:
        for _ in range(n):
            with torch.autograd.graph.saved_tensors_hooks(pack, lambda f: torch.load(f.name)):
                loss = model(x).pow(2).mean()
            kept[:] = torch.autograd.grad(loss, leaves)

    return Job(run, lambda: [g.square().sum().item() for g in kept])
