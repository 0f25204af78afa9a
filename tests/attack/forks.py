"""Forks under busy threads: each child does what the threads do, and must end.

The threads draw numbers (large and small, from the default and from their own generators), run
backward over shared leaves, train small models, compile steps, fill the kernel cache, load modules
for the first time and wait for futures. A child that doesn't end in time is told with its stack,
and counts as hung.
"""

from __future__ import annotations

import argparse
import faulthandler
import importlib
import os
import random
import signal
import sys
import threading
import time
from collections.abc import Callable

import rushlight as torch
from rushlight._native.llvm import loader as engine, target
from rushlight._native.llvm.emit import I64, Module

#: Modules that nothing loads at import, dropped and loaded again while forks happen.
LAZY = ["rushlight.futures", "rushlight.quasirandom", "rushlight.hub", "rushlight._lobpcg",
        "rushlight.utils.flop_counter", "rushlight.nn.utils.prune"]  # fmt: skip

SHARED = torch.nn.Linear(32, 32)


def draw(step: int) -> None:
    """Draws from the default generator and from a new one."""
    torch.rand(10)
    torch.randn(200_000 if step % 5 == 0 else 300)
    torch.rand(1000, generator=torch.Generator().manual_seed(step))


def differentiate(step: int) -> None:
    """Runs backward into leaves that all threads share."""
    x = torch.ones(64, 32)
    loss = SHARED(x).sin().sum() + SHARED.weight.exp().sum()
    loss.backward()
    SHARED.weight.grad = None


def train(step: int) -> torch.Tensor:
    """Trains a small model of its own: all that goes by ufuncs' loops, and by BLAS."""
    values = torch.linspace(-1, 1, 64 * 64).sin()
    first, last = values.reshape(64, 64).clone(), values[:128].reshape(2, 64).clone()
    bias, x = values[:64].clone(), values[: 32 * 64].reshape(32, 64)
    params = [p.requires_grad_() for p in (first, bias, last)]
    optimizer = torch.optim.SGD(params, lr=0.1, momentum=0.9)
    for _ in range(3):
        hidden = torch.nn.functional.linear(x, first, bias).relu().sigmoid() @ last.T
        loss = torch.nn.functional.cross_entropy(hidden, torch.arange(32) % 2)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return first.detach()


def compile_step(step: int) -> None:
    """Compiles a function of its own."""
    factor = 1.0 + step

    def f(x: torch.Tensor) -> torch.Tensor:
        return (x * factor).tanh() + x

    compiled = torch.compile(f)
    for _ in range(4):
        compiled(torch.ones(300))


def compile_kernel(step: int) -> None:
    """Compiles machine code that no process has compiled before, and keeps it."""
    if not target.available():
        return
    module = Module()
    f = module.function("add", [("a", I64)], I64)
    f.ret(f.params[0] + random.randrange(1 << 60))
    engine.load(module)


def load_modules(step: int) -> None:
    """Loads a module anew."""
    name = LAZY[step % len(LAZY)]
    sys.modules.pop(name, None)
    importlib.import_module(name)


def wait(step: int) -> None:
    """Waits for a future."""
    futures = importlib.import_module("rushlight.futures")
    made = futures.Future()
    made.then(lambda f: f.value())
    made.set_result(step)
    made.wait()


WORK: dict[str, Callable[[int], object]] = {
    "draw": draw, "differentiate": differentiate, "train": train, "compile_step": compile_step,
    "compile_kernel": compile_kernel, "load_modules": load_modules, "wait": wait,
}  # fmt: skip

TRAINED = train(0)


def _expected_gradient() -> torch.Tensor:
    weight = SHARED.weight.detach().clone().requires_grad_()
    bias = SHARED.bias.detach().clone().requires_grad_()
    x = torch.ones(64, 32)
    (torch.nn.functional.linear(x, weight, bias).sin().sum() + weight.exp().sum()).backward()
    assert weight.grad is not None
    return weight.grad


def _in_child(limit: float) -> None:
    faulthandler.dump_traceback_later(limit - 1, exit=True)
    for step, work in enumerate(WORK.values()):
        work(step)
    SHARED.weight.grad = SHARED.bias.grad = None
    x = torch.ones(64, 32)
    (SHARED(x).sin().sum() + SHARED.weight.exp().sum()).backward()
    grad = SHARED.weight.grad
    assert grad is not None and torch.equal(grad, _expected_gradient()), "a wrong gradient"
    assert torch.equal(train(0), TRAINED), "other digits of a small model"
    # A stream is whole: it gives what one that stands where it stands gives.
    other = torch.Generator()
    other.set_state(torch.get_rng_state())
    ours = torch.rand(2000)
    assert torch.equal(ours, torch.rand(2000, generator=other)), "a stream that is half written"


def attack(count: int, seed: int = 0, limit: float = 20.0) -> tuple[int, int]:
    """Forks so often under busy threads; how many children failed, and how many hung."""
    random.seed(seed)
    stop = threading.Event()

    def busy(work: Callable[[int], object]) -> None:
        step = 0
        while not stop.is_set():
            step += 1
            work(step)

    threads = [threading.Thread(target=busy, args=(w,), daemon=True) for w in WORK.values()]
    for thread in threads:
        thread.start()
    failed = hung = 0
    try:
        for _ in range(count):
            time.sleep(random.random() * 0.01)
            child = os.fork()
            if child == 0:
                code = 1
                try:
                    _in_child(limit)
                    code = 0
                except BaseException:
                    import traceback

                    traceback.print_exc()
                finally:
                    os._exit(code)
            until = time.monotonic() + limit
            status = 0
            while True:
                done, status = os.waitpid(child, os.WNOHANG)
                if done:
                    break
                if time.monotonic() > until:
                    os.kill(child, signal.SIGKILL)
                    os.waitpid(child, 0)
                    hung += 1
                    status = 0
                    break
                time.sleep(0.001)
            failed += status != 0
    finally:
        stop.set()
        for thread in threads:
            thread.join(limit)
    return failed, hung


def main() -> int:
    """Runs the attack as often as told."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    start = time.monotonic()
    failed, hung = attack(given.count, given.seed)
    print(f"{given.count} forks in {time.monotonic() - start:.0f} s: {failed} failed, {hung} hung")
    return 1 if failed or hung else 0


if __name__ == "__main__":
    sys.exit(main())
