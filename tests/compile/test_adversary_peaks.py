"""How much memory compiled steps need, beside eager ones, and when they give it back."""

import contextlib
import gc
import json
import subprocess
import sys
import tracemalloc
import weakref
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import rushlight as torch
from rushlight import nn, optim

BOTH = pytest.mark.parametrize("native", [True, False], ids=["native", "replayed"])
OURS = ("rushlight._compile", "rushlight._core", "rushlight._tensor", "rushlight.nn", "numpy")
CHILD = """
import gc, json, sys
import rushlight as torch
from tests.compile.test_adversary_peaks import STEPS

def status(key):
    with open("/proc/self/status") as file:
        return next(int(x.split()[1]) for x in file if x.startswith(key + ":"))

def peak(call):
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")
    before = status("VmRSS")
    call()
    return status("VmHWM") - before

name, size = sys.argv[1], int(sys.argv[2])
found = {}
for mode in ("eager", "replayed", "native"):
    for n in (640, size):  # the first makes all that is made once
        step, make = STEPS[name](n)
        if mode != "eager":
            step = torch.compile(step, options={"native": mode == "native"})
        gc.collect()
        gc.disable()
        start = status("VmRSS")
        found[mode] = [peak(lambda: step(make())) for _ in range(6)]
        del step, make
        found[mode].append(status("VmRSS") - start)
        gc.enable()
print(json.dumps(found))
"""


def value(n: int) -> tuple[Any, Any]:
    def step(x: Any) -> Any:
        a = torch.sin(x)
        b = a * x
        return ((b + 1).tanh().exp() * b - a).sum()

    return step, lambda: torch.randn(n)


def value_and_gradient(n: int) -> tuple[Any, Any]:
    def step(x: Any) -> Any:
        a = torch.sin(x)
        b = a * x
        loss = ((b + 1).tanh().exp() * b - a).sum()
        return loss.detach(), torch.autograd.grad(loss, x)[0]

    return step, lambda: torch.randn(n, requires_grad=True)


def training(n: int) -> tuple[Any, Any]:
    w = torch.randn(n, requires_grad=True)
    rule = optim.SGD([w], lr=0.01, momentum=0.9)

    def step(x: Any) -> Any:
        rule.zero_grad()
        loss = (torch.tanh(w * x) - 1).square().mean()
        loss.backward()
        rule.step()
        return loss.detach()

    return step, lambda: torch.randn(n)


STEPS: dict[str, Callable[[int], tuple[Any, Any]]] = {
    "value": value, "value and gradient": value_and_gradient, "training": training,
}  # fmt: skip


@pytest.mark.skipif(sys.platform != "linux", reason="the peak is read from /proc")
@pytest.mark.parametrize("name", STEPS)
def test_a_step_needs_no_more_memory_than_an_eager_one(name: str) -> None:
    size = 10_000_000  # arrays that nobody keeps for the next one
    result = subprocess.run(
        [sys.executable, "-c", CHILD, name, str(size)], capture_output=True, text=True,
        cwd=Path(__file__).parents[2], timeout=300, check=False,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    found = json.loads(result.stdout)
    slack = 4 * size // 1024 // 2  # half of one array, in kB
    eager, later = max(found["eager"][:-1]), max(found["eager"][3:-1])
    for mode in ("replayed", "native"):
        assert max(found[mode][:3]) <= 1.2 * eager, found
        assert max(found[mode][3:-1]) <= later + slack, found
        assert found[mode][-1] <= max(found["eager"][-1], 0) + slack, found


LAYERS: dict[str, Callable[[Any, Any], Any]] = {
    "square": lambda w, x: (torch.tanh(w * x) - 1).square(),
    "sqrt": lambda w, x: (w * x).sqrt(),
    "sigmoid": lambda w, x: torch.sigmoid(w * x),
    "reciprocal": lambda w, x: torch.reciprocal(w * x),
    "rsqrt": lambda w, x: torch.rsqrt(w * x),
    "quotient": lambda w, x: (w * x) / (w + x),
    "divisor": lambda w, x: x / w,
    "exp": lambda w, x: (-w * x).exp(),
    "log1p": lambda w, x: (w * x).log1p(),
    "cube": lambda w, x: (w * x) ** 3,
    "gelu": lambda w, x: nn.functional.gelu(w * x),
    "silu": lambda w, x: nn.functional.silu(w + x),
    "clamp": lambda w, x: (w * x).clamp(0.5, 0.7),
    "where": lambda w, x: torch.where(w > x, w * x, w),
    "addcmul": lambda w, x: torch.addcmul(w, w, x),
    "lerp": lambda w, x: torch.lerp(w, x, w),
    "waves": lambda w, x: (w * x).sin() * (w * x).cos(),
    "smooth_l1": lambda w, x: nn.functional.smooth_l1_loss(w, x, reduction="none"),
    "mse": lambda w, x: nn.functional.mse_loss(w * 2, x, reduction="none"),
    "bce": lambda w, x: nn.functional.binary_cross_entropy_with_logits(w, x, reduction="none"),
    "norm": lambda w, x: (w * x).norm() * w,
    "softmax": lambda w, x: (w * x).view(500, -1).softmax(1) * 2,
    "logsumexp": lambda w, x: (w * x).view(500, -1).logsumexp(1),
    "layer_norm": lambda w, x: nn.functional.layer_norm((w * x).view(500, -1), (600,)),
    "cumsum": lambda w, x: (w * x).cumsum(0),
    "prod": lambda w, x: (w * x).view(-1, 3).prod(1),
}


@pytest.mark.parametrize("name", LAYERS)
def test_recording_needs_little_more_than_the_eager_call(name: str) -> None:
    size, layer = 300_000, LAYERS[name]

    def made() -> Callable[[Any], Any]:
        w = torch.rand(size).add_(0.5).requires_grad_()
        rule = optim.SGD([w], lr=1e-3, momentum=0.9)

        def step(x: Any) -> Any:
            rule.zero_grad()
            loss = layer(w, x).mean()
            loss.backward()
            rule.step()
            return loss.detach()

        return step

    def peaks(step: Any) -> float:
        found = []
        gc.collect()
        gc.disable()
        try:
            for _ in range(3):
                before = tracemalloc.get_traced_memory()[0]
                tracemalloc.reset_peak()
                step(torch.rand(size) + 0.5)
                found.append(tracemalloc.get_traced_memory()[1] - before)
        finally:
            gc.enable()
        return max(found)

    warm, compiled = torch.rand(size), torch.compile(made())
    for _ in range(3):  # what is made once
        compiled(warm)
    made()(warm)
    tracemalloc.start()
    try:
        eager = peaks(made())
        program = 1 << 20  # what is written while it is compiled
        assert peaks(torch.compile(made())) <= 1.2 * eager + program
    finally:
        tracemalloc.stop()


def branching(w: Any) -> Any:
    return lambda x: x * w if x.sum() > 0 else x - 1


def refused(w: Any) -> Any:
    return lambda x: x[x > 0] * 2


def raising(w: Any) -> Any:
    def step(x: Any) -> Any:
        y = x.exp()
        raise ValueError(str(y.shape))

    return step


def alive(w: Any) -> Any:
    return lambda x: (x * w).exp()


def used_up(w: Any) -> Any:
    def step(x: Any) -> Any:
        loss = (x * w).exp().sum()
        loss.backward()
        return loss

    return step


def listing(w: Any) -> Any:
    seen: list[Any] = []

    def step(x: Any) -> Any:
        seen.append((x * 2).sum().item())
        return x * 1

    return step


def of_a_module(w: Any) -> Any:
    return nn.Sequential(nn.Linear(50, 20), nn.ReLU(), nn.LayerNorm(20))


def of_an_optimizer(w: Any) -> Any:
    return training(50)[0]


@BOTH
@pytest.mark.parametrize(
    "make",
    [branching, refused, raising, alive, used_up, listing, of_a_module, of_an_optimizer],
    ids=lambda make: make.__name__,
)
def test_nothing_of_a_step_waits_for_the_garbage_collector(make: Any, native: bool) -> None:
    def run() -> list[Any]:
        torch.manual_seed(0)
        compiled = torch.compile(make(torch.randn(50, requires_grad=True)),
                                 options={"native": native})  # fmt: skip
        held = []
        for _ in range(6):
            x = torch.randn(50)
            held.append(weakref.ref(x._raw))
            with contextlib.suppress(ValueError):
                compiled(x)
            del x
            assert held[-1]() is None  # not even the recording of this call keeps its argument
        return [weakref.ref(getattr(compiled, "_step", compiled))]

    run()
    gc.collect()
    gc.disable()
    try:
        held = run()
        assert held[0]() is None
        gc.set_debug(gc.DEBUG_SAVEALL)
        gc.collect()
        kinds = Counter(f"{type(x).__module__}.{type(x).__name__}" for x in gc.garbage)
        # New machine code, of which little is ever emitted, leaves cycles of the emitter's own.
        assert not [x for x in kinds if x.startswith(OURS)], kinds
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()
