"""Every operator beside PyTorch's, at three sizes: `python -m benchmarks.operators`.

One process runs both, interleaved, and keeps the best of many rounds: machines are noisy. The
printed ratio is PyTorch's time over Rushlight's, so more than one is faster. `--slow` lists
only those below a half. With `--backward` each differentiable operator is also timed as training
runs it: recorded, and then backward from a gradient of ones; these columns end in `b`.
"""

from __future__ import annotations

import argparse
import importlib
import math
import re
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

SIZES = {"16": (4, 4), "1e4": (100, 100), "1e6": (1000, 1000)}

# Operators of one tensor, by where they live; the input is between the bounds.
UNARY = """
abs acos:-0.9:0.9 acosh:1.1:3 angle asin:-0.9:0.9 asinh atan atanh:-0.9:0.9 ceil clone cos cosh
deg2rad digamma:0.5:3 erf erfc erfinv:-0.9:0.9 exp exp2 expm1 floor frac i0 isfinite isinf isnan
isneginf isposinf isreal lgamma:0.5:3 log:0.1:3 log10:0.1:3 log1p:0.1:3 log2:0.1:3 logical_not
logit:0.1:0.9 nan_to_num neg positive rad2deg reciprocal:0.5:3 relu round rsqrt:0.1:3 sgn sigmoid
sign signbit sin sinc sinh sqrt:0.1:3 square tan tanh trunc
special.entr:0.1:2 special.erfcx special.i0e special.i1 special.i1e special.log_ndtr special.ndtr
special.ndtri:0.1:0.9 special.bessel_j0 special.bessel_j1
nn.functional.celu nn.functional.elu nn.functional.gelu nn.functional.hardshrink
nn.functional.hardsigmoid nn.functional.hardswish nn.functional.hardtanh nn.functional.leaky_relu
nn.functional.logsigmoid nn.functional.mish nn.functional.relu6 nn.functional.selu
nn.functional.silu nn.functional.softplus nn.functional.softshrink nn.functional.softsign
nn.functional.tanhshrink
sum mean prod amax amin argmax argmin max min std var all any count_nonzero logical_not median
nansum nanmean aminmax std_mean var_mean norm
t fliplr flipud triu tril diagonal ravel contiguous nonzero unique sort argsort msort trace
zeros_like ones_like empty_like rand_like randn_like
"""
# Operators of two tensors of one shape.
BINARY = """
add sub mul div maximum minimum fmax fmin pow:0.1:2 atan2 copysign eq ne lt le gt ge hypot
logaddexp logaddexp2 remainder:0.5:2 fmod:0.5:2 true_divide floor_divide:0.5:2 nextafter
logical_and logical_or logical_xor xlogy:0.1:2 heaviside float_power:0.1:2 ldexp isclose
nn.functional.mse_loss nn.functional.l1_loss nn.functional.smooth_l1_loss nn.functional.huber_loss
nn.functional.binary_cross_entropy:0.1:0.9 nn.functional.binary_cross_entropy_with_logits:0.1:0.9
nn.functional.kl_div:0.1:0.9 nn.functional.poisson_nll_loss nn.functional.soft_margin_loss
dist allclose equal
"""


def _special(torch: Any, F: Any, x: Any, y: Any, i: Any, m: Any) -> dict[str, Callable[[], Any]]:
    """Calls with further arguments; `i` are indices along the first dimension, `m` is a mask."""
    n = x.shape[0]
    v, w = x[0], x[:, 0]
    small = x[:100, :100].detach()
    definite = small @ small.t() + torch.eye(small.shape[0])
    return {
        "sum.dim": lambda: x.sum(1),
        "mean.dim": lambda: x.mean(0),
        "max.dim": lambda: x.max(1),
        "amax.dim": lambda: x.amax(1),
        "argmax.dim": lambda: x.argmax(1),
        "var.dim": lambda: x.var(1),
        "norm.dim": lambda: torch.linalg.vector_norm(x, 2, 1),
        "logsumexp": lambda: x.logsumexp(1),
        "softmax": lambda: x.softmax(1),
        "log_softmax": lambda: x.log_softmax(1),
        "cumsum": lambda: x.cumsum(1),
        "cumprod": lambda: x.cumprod(1),
        "cummax": lambda: x.cummax(1),
        "logcumsumexp": lambda: x.logcumsumexp(1),
        "topk": lambda: x.topk(2, 1),
        "kthvalue": lambda: x.kthvalue(2, 1),
        "sort.dim": lambda: x.sort(0),
        "median.dim": lambda: x.median(1),
        "quantile": lambda: torch.quantile(w, 0.3),
        "clamp": lambda: x.clamp(-0.5, 0.5),
        "lerp": lambda: torch.lerp(x, y, 0.3),
        "where": lambda: torch.where(m, x, y),
        "masked_fill": lambda: x.masked_fill(m, 0.0),
        "masked_select": lambda: x.masked_select(m),
        "addcmul": lambda: torch.addcmul(x, x, y, value=0.5),
        "addcdiv": lambda: torch.addcdiv(x, x, y, value=0.5),
        "add.number": lambda: x + 1.5,
        "mul.number": lambda: 2.0 * x,
        "pow.2": lambda: x**2,
        "pow.0.5": lambda: y**0.5,
        "rsub": lambda: 1 - x,
        "broadcast add": lambda: x + v,
        "broadcast mul": lambda: x * w[:, None],
        "index_select": lambda: x.index_select(0, i),
        "gather": lambda: x.gather(0, i[:, None]),
        "take_along_dim": lambda: x.take_along_dim(i[:, None], 0),
        "scatter_add": lambda: x.scatter_add(0, i[:, None], y),
        "index_add": lambda: x.index_add(0, i, y),
        "getitem.slice": lambda: x[1:, ::2],
        "getitem.int": lambda: x[1],
        "getitem.index": lambda: x[i],
        "getitem.mask": lambda: x[m],
        "cat": lambda: torch.cat([x, y]),
        "stack": lambda: torch.stack([x, y]),
        "split": lambda: x.split(2),
        "chunk": lambda: x.chunk(2),
        "unbind": lambda: x.unbind(0) if n <= 100 else x.chunk(4),
        "reshape": lambda: x.reshape(-1),
        "view": lambda: x.view(-1),
        "permute": lambda: x.permute(1, 0),
        "transpose copy": lambda: x.t().contiguous(),
        "expand": lambda: v.expand(n, -1),
        "repeat": lambda: x.repeat(2, 1),
        "repeat_interleave": lambda: x.repeat_interleave(2, 0),
        "roll": lambda: x.roll(1, 0),
        "flip": lambda: x.flip(0),
        "rot90": lambda: x.rot90(),
        "unsqueeze": lambda: x.unsqueeze(0),
        "squeeze": lambda: x.squeeze(),
        "to.double": lambda: x.double(),
        "to.int": lambda: x.int(),
        "matmul": lambda: x @ y,
        "mv": lambda: x @ v,
        "addmm": lambda: torch.addmm(x, x, y),
        "outer": lambda: torch.outer(w[:1000], v),
        "einsum": lambda: torch.einsum("ij,ij->i", x, y),
        "linear": lambda: F.linear(x, y, v),
        "layer_norm": lambda: F.layer_norm(x, (x.shape[1],), v, v),
        "rms_norm": lambda: F.rms_norm(x, (x.shape[1],), v),
        "batch_norm": lambda: F.batch_norm(x, None, None, v, v, True),
        "group_norm": lambda: F.group_norm(x, 2, v, v),
        "normalize": lambda: F.normalize(x),
        "cross_entropy": lambda: F.cross_entropy(x, i % x.shape[1]),
        "nll_loss": lambda: F.nll_loss(x, i % x.shape[1]),
        "cosine_similarity": lambda: F.cosine_similarity(x, y),
        "embedding": lambda: F.embedding(i, x),
        "one_hot": lambda: F.one_hot(i),
        "dropout": lambda: F.dropout(x, 0.5, True),
        "pad": lambda: F.pad(x, (1, 1)),
        "glu": lambda: F.glu(x, 1),
        "prelu": lambda: F.prelu(x, v[:1]),
        "diff": lambda: x.diff(),
        "cdist": lambda: torch.cdist(x[:100], y[:100]),
        "histc": lambda: x.histc(10),
        "bincount": lambda: i.bincount(),
        "searchsorted": lambda: torch.searchsorted(v.sort()[0], x),
        "bucketize": lambda: torch.bucketize(x, v.sort()[0]),
        "zeros": lambda: torch.zeros(x.shape),
        "full": lambda: torch.full(x.shape, 1.5),
        "arange": lambda: torch.arange(x.numel()),
        "linspace": lambda: torch.linspace(0, 1, x.numel()),
        "rand": lambda: torch.rand(x.shape),
        "randn": lambda: torch.randn(x.shape),
        "randperm": lambda: torch.randperm(x.numel()),
        "eye": lambda: torch.eye(n),
        "add_": lambda: x.add_(0.0),
        "mul_": lambda: x.mul_(1.0),
        "copy_": lambda: x.copy_(x),
        "zero_": lambda: y.mul_(1.0),
        "item": lambda: x[0, 0].item(),
        "fft": lambda: torch.fft.rfft(x),
        "conv2d": lambda: F.conv2d(x[None, None], y[None, None, :3, :3]),
        "max_pool2d": lambda: F.max_pool2d(x[None, None], 2),
        "avg_pool2d": lambda: F.avg_pool2d(x[None, None], 2),
        "interpolate": lambda: F.interpolate(x[None, None], scale_factor=2),
        "attention": lambda: F.scaled_dot_product_attention(x[None], y[None], x[None]),
        "det": lambda: torch.linalg.det(x[:100, :100]),
        "inv": lambda: torch.linalg.inv(x[:100, :100]),
        "solve": lambda: torch.linalg.solve(x[:100, :100], y[:100, :100]),
        "cholesky": lambda: torch.linalg.cholesky_ex(definite),
        "qr": lambda: torch.linalg.qr(x[:100, :100]),
        "svdvals": lambda: torch.linalg.svdvals(x[:100, :100]),
        "eigvalsh": lambda: torch.linalg.eigvalsh(x[:100, :100]),
    }  # fmt: skip


def calls(module: Any, arrays: Any, recorded: bool = False) -> dict[str, Callable[[], Any]]:
    """Every timed call of one side, over tensors with the values of `arrays`.

    With `recorded` the tensors of floats require grad.
    """
    F = importlib.import_module(f"{module.__name__}.nn.functional")
    for name in ("linalg", "special"):
        importlib.import_module(f"{module.__name__}.{name}")
    uniform, other, index, mask = (module.from_numpy(a.copy()) for a in arrays)
    made: dict[str, Callable[[], Any]] = {}
    for text in UNARY.split():
        name, low, high = (*text.split(":"), "-2", "2")[:3]
        function = _find(module, name)
        if function is not None:
            x = uniform * (float(high) - float(low)) + float(low)
            made[name] = _bind(function, _leaf(x, recorded))
    for text in BINARY.split():
        name, low, high = (*text.split(":"), "-2", "2")[:3]
        function = _find(module, name)
        if function is not None:
            scale, shift = float(high) - float(low), float(low)
            x, y = uniform * scale + shift, other * scale + shift
            made[name] = _bind(function, _leaf(x, recorded), _leaf(y, recorded))
    x, y = _leaf(uniform * 4 - 2, recorded), _leaf(other + 0.5, recorded)
    made.update(_special(module, F, x, y, index, mask))
    return made


def _leaf(x: Any, recorded: bool) -> Any:
    return x.detach().requires_grad_() if recorded else x


def trained(module: Any, call: Callable[[], Any]) -> Callable[[], Any] | None:
    """The call followed by its backward; None where its result has no gradient."""
    result = call()
    if isinstance(result, (tuple, list)):
        result = next((r for r in result if getattr(r, "requires_grad", False)), None)
    if not getattr(result, "requires_grad", False) or result.grad_fn is None:
        return None
    g = module.ones_like(result.detach())
    result.backward(g)

    def run() -> None:
        made = call()
        if isinstance(made, (tuple, list)):
            made = next(m for m in made if m.requires_grad)
        made.backward(g)

    return run


def _find(module: Any, name: str) -> Any:
    found = module
    for part in name.split("."):
        found = getattr(found, part, None)
        if found is None:
            return getattr(module.Tensor, name, None)
    return found


def _bind(function: Any, *args: Any) -> Callable[[], Any]:
    return lambda: function(*args)


def _shortest(call: Callable[[], Any]) -> float:
    """The least time of three calls, of which one may load something."""
    times = []
    for _ in range(3):
        started = time.perf_counter()
        call()
        times.append(time.perf_counter() - started)
    return min(times)


def best(f: Callable[[], Any], g: Callable[[], Any], budget: float) -> tuple[float, float]:
    """The best times of two calls in seconds, taken in turns until `budget` seconds are over."""
    f(), g()
    one = max(_shortest(f), _shortest(g))
    number = max(1, min(1000, int(5e-4 / max(one, 1e-7))))
    first = second = math.inf
    deadline = time.perf_counter() + budget
    rounds = 0
    while rounds < 5 or (time.perf_counter() < deadline and rounds < 100):
        for which, call in ((0, f), (1, g)):
            started = time.perf_counter()
            for _ in range(number):
                call()
            took = (time.perf_counter() - started) / number
            if which:
                second = min(second, took)
            else:
                first = min(first, took)
        rounds += 1
    return first, second


def note(
    ratios: dict[str, dict[str, float]],
    name: str,
    column: str,
    theirs: Callable[[], Any],
    ours: Callable[[], Any],
    budget: float,
) -> None:
    """Times one operator on both sides and notes the ratio, or prints why it can't be."""
    try:
        a, b = best(theirs, ours, budget)
    except Exception as error:
        print(f"{name:40} {column:>4}  {type(error).__name__}: {str(error)[:80]}")
    else:
        ratios.setdefault(name, {})[column] = a / b


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.operators")
    parser.add_argument("--only", metavar="REGEX")
    parser.add_argument("--sizes", default="16,1e4,1e6")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--budget", type=float, default=0.06, help="seconds per operator and size")
    parser.add_argument("--backward", action="store_true", help="also time recorded calls")
    parser.add_argument("--slow", action="store_true", help="list only ratios below 0.5")
    options = parser.parse_args()
    import numpy as np
    import torch

    import rushlight

    torch.set_num_threads(options.threads)
    rushlight.set_num_threads(options.threads)
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    generator = np.random.default_rng(0)
    ratios: dict[str, dict[str, float]] = {}
    for size in options.sizes.split(","):
        shape = SIZES[size]
        arrays = (
            generator.random(shape, np.float32),
            generator.random(shape, np.float32),
            generator.integers(0, shape[0], shape[0]),
            generator.random(shape) < 0.5,
        )
        with torch.no_grad(), rushlight.no_grad():
            theirs, ours = calls(torch, arrays), calls(rushlight, arrays)
            for name in theirs:
                if name in ours and re.search(options.only or "", name):
                    print(f"\r{size} {name:40}", end="", file=sys.stderr)
                    note(ratios, name, size, theirs[name], ours[name], options.budget)
        if not options.backward:
            continue
        theirs, ours = calls(torch, arrays, True), calls(rushlight, arrays, True)
        for name in theirs:
            if name in ours and name[-1] != "_" and re.search(options.only or "", name):
                print(f"\r{size}b {name:40}", end="", file=sys.stderr)
                try:
                    pair = trained(torch, theirs[name]), trained(rushlight, ours[name])
                except Exception:
                    continue  # one of the two has no gradient here
                if pair[0] is not None and pair[1] is not None:
                    note(ratios, name, f"{size}b", pair[0], pair[1], options.budget)
    print(file=sys.stderr)
    sizes = options.sizes.split(",")
    if options.backward:
        sizes = [column for size in sizes for column in (size, f"{size}b")]
    print(f"{'':40}" + "".join(f"{s:>8}" for s in sizes))
    for name, row in ratios.items():
        if not options.slow or min(row.values()) < 0.5:
            cells = "".join(f"{row[s]:8.2f}" if s in row else f"{'-':>8}" for s in sizes)
            print(f"{name:40}{cells}")
    cells = ""
    for s in sizes:
        logs = [math.log(row[s]) for row in ratios.values() if s in row]
        cells += f"{math.exp(sum(logs) / max(len(logs), 1)):8.2f}"
    print(f"{'geometric mean':40}{cells}")


if __name__ == "__main__":
    main()
