"""Some processes train by compiled steps that hold DistributedDataParallel, and by plain ones.

Each rank prints a line of JSON: by case, whether both ways gave the same bits, how the replicas lie
apart, and what `explain()` says. With `fault` as argument a class out of range ends rank 1.
"""

import json
import os
import sys
import threading
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import rushlight as torch
import rushlight.distributed as dist
from rushlight import nn

DDP = nn.parallel.DistributedDataParallel
cross_entropy = nn.functional.cross_entropy
Case = Callable[[Callable[[Any], Any]], tuple[list[Any], Any, Any]]


def network(norm: bool = True, first: Any = None) -> Any:
    torch.manual_seed(0)
    layers = [first or nn.Linear(8, 9)] + ([nn.BatchNorm1d(9)] if norm else [])
    return nn.Sequential(*layers, nn.Tanh(), nn.Linear(9, 3))


def batch(rows: int = 4) -> tuple[Any, Any]:
    return torch.randn(rows, 8), torch.randint(0, 3, (rows,))


def training(model: Any, compiler: Callable[[Any], Any], kind: str = "Adam") -> Any:
    options: dict[str, Any] = {"lr": 0.01} if kind == "Adam" else {"lr": 0.1, "momentum": 0.9}
    optimizer = getattr(torch.optim, kind)(model.parameters(), **options)

    def step(x: Any, y: Any) -> Any:
        optimizer.zero_grad()
        loss = cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    return compiler(step)


def plain(compiler: Callable[[Any], Any]) -> tuple[list[Any], Any, Any]:
    model = DDP(network(norm=False), bucket_cap_mb=0.0001)
    step = training(model, compiler)
    return [step(*batch()).item() for _ in range(8)], model, step


def other_shapes(compiler: Callable[[Any], Any]) -> tuple[list[Any], Any, Any]:
    """Rank 1 records anew where rank 0 runs its program."""
    model = DDP(network())
    step = training(model, compiler, "SGD")
    rows = [4 if dist.get_rank() == 0 or i % 5 else 3 + i // 5 for i in range(16)]
    return [step(*batch(n)).item() for n in rows], model, step


def branches(compiler: Callable[[Any], Any]) -> tuple[list[Any], Any, Any]:
    """Each rank on its own path; rank 0's buffers have come before a run is abandoned."""
    model = DDP(network())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def step(x: Any, y: Any) -> Any:
        optimizer.zero_grad()
        loss = cross_entropy(model(x), y)
        if loss.item() > 1.1:
            loss = loss * 2
        loss.backward()
        optimizer.step()
        return loss

    run = compiler(step)
    return [run(*batch()).item() for _ in range(24)], model, run


def late_branch(compiler: Callable[[Any], Any]) -> tuple[list[Any], Any, Any]:
    model = DDP(network())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def step(x: Any, y: Any) -> Any:
        optimizer.zero_grad()
        loss = cross_entropy(model(x), y)
        loss.backward()
        norm = sum((p.grad * p.grad).sum() for p in model.parameters())
        if norm.item() < 0.3:
            optimizer.step()
        return loss

    run = compiler(step)
    return [run(*batch()).item() for _ in range(8)], model, run


def refused_values(compiler: Callable[[Any], Any]) -> tuple[list[Any], Any, Any]:
    """A class out of range, on both ranks: nobody's buffers are sent twice."""
    model = DDP(network())
    step = training(model, compiler)
    seen: list[Any] = []
    for i in range(12):
        x, y = batch()
        if i in (7, 9):
            y[1] = 5
        try:
            seen.append(step(x, y).item())
        except IndexError as error:
            seen.append(str(error))
    return seen, model, step


def accumulated(compiler: Callable[[Any], Any]) -> tuple[list[Any], Any, Any]:
    model = DDP(network())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def add(x: Any, y: Any) -> Any:
        loss = cross_entropy(model(x), y)
        loss.backward()
        return loss

    run, seen = compiler(add), []
    for i in range(15):
        if i % 3 == 2:
            seen.append(run(*batch()).item())
            optimizer.step()
            optimizer.zero_grad()
        else:
            with model.no_sync():
                seen.append(run(*batch()).item())
    return seen, model, run


def accumulated_inside(compiler: Callable[[Any], Any]) -> tuple[list[Any], Any, Any]:
    model = DDP(network(norm=False))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def step(x: Any, y: Any) -> Any:
        optimizer.zero_grad()
        with model.no_sync():
            cross_entropy(model(x), y).backward()
        loss = cross_entropy(model(x * 2), y)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 0.1)
        optimizer.step()
        return loss

    run = compiler(step)
    return [run(*batch()).item() for _ in range(8)], model, run


def two_models(compiler: Callable[[Any], Any]) -> tuple[list[Any], Any, Any]:
    maker, judge = DDP(network()), DDP(nn.Linear(3, 1))
    optimizers = [torch.optim.SGD(m.parameters(), lr=0.1) for m in (maker, judge)]

    def step(x: Any) -> Any:
        made = maker(x)
        optimizers[1].zero_grad()
        first = judge(made.detach()).mean() - judge(x[:, :3]).mean()
        first.backward()
        optimizers[1].step()
        optimizers[0].zero_grad()
        second = -judge(made).mean()
        second.backward()
        optimizers[0].step()
        return first + second

    run = compiler(step)
    return [run(batch()[0]).item() for _ in range(8)], nn.ModuleList([maker, judge]), run


def module_alone(compiler: Callable[[Any], Any]) -> tuple[list[Any], Any, Any]:
    """The module is compiled, its backward runs outside."""
    model = DDP(network())
    run = compiler(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    seen = []
    for _ in range(8):
        x, y = batch()
        loss = cross_entropy(run(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        seen.append(loss.item())
    return seen, model, run


def within(compiler: Callable[[Any], Any]) -> tuple[list[Any], Any, Any]:
    """What is compiled lies within DistributedDataParallel."""
    inner = compiler(network(norm=False))
    model = DDP(inner)
    step = training(model, lambda function: function)
    return [step(*batch()).item() for _ in range(8)], model, inner


def changes(compiler: Callable[[Any], Any]) -> tuple[list[Any], Any, Any]:
    """Everything that a program depends on is changed after it was made."""
    model = DDP(network())
    step = training(model, compiler, "SGD")
    first = next(model.parameters())
    seen: list[float] = []

    def stop_synchronizing() -> None:
        model.require_backward_grad_sync = False

    def synchronize_again() -> None:
        model.require_backward_grad_sync = True
        for p in model.parameters():
            dist.broadcast(p.data, 0)

    def sum_up(state: Any, bucket: Any) -> Any:
        work = dist.all_reduce(bucket.buffer().div_(dist.get_world_size()), async_op=True)
        assert work is not None
        return work.get_future()

    norm = model.module[1]
    at: dict[int, Callable[[], object]] = {
        5: model.eval,
        8: model.train,
        11: lambda: setattr(norm, "running_mean", norm.running_mean + dist.get_rank()),
        14: stop_synchronizing,
        18: synchronize_again,
        20: lambda: setattr(model, "broadcast_buffers", False),
        23: lambda: setattr(first, "data", first.data.clone()),
        26: lambda: first.register_post_accumulate_grad_hook(lambda p: seen.append(1.0)),
        28: lambda: model.register_comm_hook(None, sum_up),
    }
    losses = []
    for i in range(31):
        at.get(i, int)()
        losses.append(step(*batch()).item())
    return losses + seen, model, step


def unused(compiler: Callable[[Any], Any]) -> tuple[list[Any], Any, Any]:
    torch.manual_seed(0)

    class Halves(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.a, self.b = nn.Linear(8, 3), nn.Linear(8, 3)

        def forward(self, x: Any, both: bool) -> Any:
            return self.a(x) + self.b(x) if both else self.a(x)

    model = DDP(Halves())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def step(x: Any, both: bool) -> Any:
        optimizer.zero_grad()
        loss = model(x, both).pow(2).mean()
        loss.backward()
        optimizer.step()
        return loss

    run, seen = compiler(step), []
    for i in range(8):
        try:
            seen.append(run(batch()[0], i != 6).item())
        except RuntimeError as error:
            seen.append(str(error))
    return seen, None, run


def two_threads(compiler: Callable[[Any], Any]) -> tuple[list[Any], Any, Any]:
    """Each thread of a rank waits for a thread of the other one."""
    groups = [dist.new_group() for _ in range(2)]
    found: dict[int, Any] = {}
    made: Any = [DDP(network(norm=False), process_group=group) for group in groups]

    def work(k: int) -> None:
        step = training(made[k], compiler, "SGD")
        seen = []
        for i in range(20):
            if (dist.get_rank() + k) % 2:
                time.sleep(0.003)
            seen.append(step(torch.ones(4, 8) * (i % 3 + k), torch.tensor([0, 1, 2, 0])).item())
        found[k] = seen, step

    threads = [threading.Thread(target=work, args=(k,)) for k in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [found[0][0], found[1][0]], nn.ModuleList(made), found[0][1]


CASES: list[Case] = [
    plain, other_shapes, branches, late_branch, refused_values, accumulated, accumulated_inside,
    two_models, module_alone, within, changes, unused, two_threads,
]  # fmt: skip


def replayed(function: Any) -> Any:
    return torch.compile(function, options={"native": False})


def tried(case: Case) -> dict[str, Any]:
    found = {}
    compilers = {"eager": lambda function: function, "replayed": replayed, "native": torch.compile}
    for name, compiler in compilers.items():
        torch.manual_seed(5 + dist.get_rank())
        seen, model, step = case(compiler)
        state = [] if model is None else [p.detach().flatten().tolist() for p in model.parameters()]
        told: list[Any] = [None] * dist.get_world_size()
        dist.all_gather_object(told, state)
        found[name] = {
            "seen": seen,
            "state": state,
            "alike": all(one == told[0] for one in told),
            "said": "" if name == "eager" else step.explain(),
        }
    return {
        "same": all(found["eager"][k] == found["replayed"][k] for k in ("seen", "state")),
        "alike": all(one["alike"] for one in found.values()),
        "said": [found["replayed"]["said"], found["native"]["said"]],
        "native": found["native"]["seen"],
        "eager": found["eager"]["seen"],
    }


def fail_on_one_rank() -> None:
    model = DDP(network())
    step = training(model, torch.compile)
    for i in range(100):
        x, y = batch()
        if i == 20 and dist.get_rank() == 1:
            y[0] = 7
        step(x, y)


dist.init_process_group("gloo", timeout=timedelta(seconds=60))
torch.manual_seed(5 + dist.get_rank())
if "fault" in sys.argv:
    start = time.monotonic()
    try:
        fail_on_one_rank()
    except (RuntimeError, IndexError) as error:
        took = time.monotonic() - start
        line = {"rank": dist.get_rank(), "error": f"{type(error).__name__}: {error}", "took": took}
        os.write(1, f"{json.dumps(line)}\n".encode())
        os._exit(3)
lines = {case.__name__: tried(case) for case in CASES}
os.write(1, f"{json.dumps({'rank': dist.get_rank(), **lines})}\n".encode())
dist.destroy_process_group()
