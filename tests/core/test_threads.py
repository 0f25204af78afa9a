"""Threads: shared leaves, shared graphs, large arrays whose addition lets other threads run."""

import threading
from collections.abc import Callable

import rushlight as torch


def run(*targets: Callable[[], object]) -> None:
    failures: list[BaseException] = []

    def guarded(target: Callable[[], object]) -> None:
        try:
            target()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=guarded, args=(t,)) for t in targets]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


def test_sixteen_threads_accumulate_large_gradients_into_one_leaf_without_losing_any() -> None:
    # NumPy lets go of the interpreter lock while it adds 200,000 elements.
    x = torch.zeros(200_000, requires_grad=True)
    start = threading.Barrier(16)

    def work(k: int) -> None:
        start.wait()
        for _ in range(4):
            (x * float(k)).sum().backward()

    run(*[lambda k=k: work(k) for k in range(16)])
    assert (x.grad == 4.0 * sum(range(16))).all().item()


def test_the_first_gradient_is_not_lost_when_two_threads_bring_it() -> None:
    for _ in range(20):
        x = torch.zeros(50_000, requires_grad=True)
        start = threading.Barrier(4)

        def work(x: torch.Tensor = x, start: threading.Barrier = start) -> None:
            start.wait()
            x.sum().backward()  # an expanded gradient: copied, not stolen

        run(*[work] * 4)
        assert (x.grad == 4.0).all().item()


def test_threads_run_one_retained_graph_at_once() -> None:
    x = torch.ones(20_000, requires_grad=True)
    y = x
    for _ in range(20):
        y = y * 1.5
    y = y.sum()
    results: list[torch.Tensor] = []
    start = threading.Barrier(8)

    def work() -> None:
        start.wait()
        for _ in range(3):
            results.append(torch.autograd.grad(y, x, retain_graph=True)[0])

    run(*[work] * 8)
    assert len(results) == 24
    assert all((r == results[0]).all().item() for r in results)


def test_backwards_of_separate_graphs_dont_mix() -> None:
    found: dict[int, list[float]] = {}
    start = threading.Barrier(8)

    def work(k: int) -> None:
        start.wait()
        for _ in range(50):
            x = torch.full((3,), float(k), requires_grad=True)
            (x * x * x).sum().backward()
            found[k] = x.grad.tolist()

    run(*[lambda k=k: work(k) for k in range(8)])
    assert found == {k: [3.0 * k * k] * 3 for k in range(8)}


def test_an_exception_stays_in_the_thread_that_called_backward() -> None:
    x = torch.ones(2, requires_grad=True)
    caught: list[str] = []

    def bad() -> None:
        try:
            (x * 2).backward()
        except RuntimeError as error:
            caught.append(str(error))

    run(bad, lambda: (x * 3).sum().backward())
    assert caught == ["grad can be implicitly created only for scalar outputs"]
    assert x.grad.tolist() == [3.0, 3.0]


def test_hooks_run_in_the_thread_that_calls_backward() -> None:
    x = torch.ones(2, requires_grad=True)
    y = (x * 2).sum()
    names: list[str] = []
    y.register_hook(lambda g: names.append(threading.current_thread().name))
    thread = threading.Thread(target=y.backward, name="caller")
    thread.start()
    thread.join()
    assert names == ["caller"]


def test_hooks_for_saved_tensors_are_those_of_the_thread() -> None:
    packed: list[int] = []
    x = torch.ones(1, requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: packed.append(1) or t, lambda t: t):
        run(lambda: x.exp())
        assert packed == []
        x.exp()
    assert packed == [1]


def test_a_multi_grad_hook_keeps_the_runs_of_threads_apart() -> None:
    a = torch.ones(1, requires_grad=True)
    b = torch.ones(1, requires_grad=True)
    seen: list[float] = []
    torch.autograd.graph.register_multi_grad_hook(
        (a, b), lambda gs: seen.append(gs[0].item() * 100 + gs[1].item())
    )
    run(*[lambda k=k: (a * float(k) + b * float(k + 1)).backward() for k in range(8)])
    assert sorted(seen) == [k * 100.0 + k + 1 for k in range(8)]


def test_a_thread_that_profiles_sees_only_its_own_operations() -> None:
    from rushlight.autograd.profiler import profile

    x = torch.ones(100, requires_grad=True)
    start = threading.Barrier(4)
    found: dict[int, int] = {}

    def work(k: int) -> None:
        start.wait()
        with profile() as p:
            for _ in range(10 + k):
                x.exp()
        found[k] = sum(event.name == "aten::exp" for event in p.function_events)

    run(*[lambda k=k: work(k) for k in range(4)])
    assert found == {k: 10 + k for k in range(4)}


def test_checkpoints_of_several_threads_over_one_leaf() -> None:
    from rushlight.utils.checkpoint import checkpoint

    x = torch.full((1000,), 0.5, requires_grad=True)
    y = torch.full((1000,), 0.5, requires_grad=True)
    (y.exp().sin()).sum().backward()
    start = threading.Barrier(8)

    def work(reentrant: bool) -> None:
        start.wait()
        for _ in range(5):
            out = checkpoint(lambda t: t.exp().sin(), x, use_reentrant=reentrant)
            out.sum().backward()

    run(*[lambda k=k: work(k % 2 == 0) for k in range(8)])
    assert torch.allclose(x.grad, y.grad * 40)


def test_dispatch_modes_of_several_threads_dont_mix() -> None:
    from rushlight.utils._python_dispatch import TorchDispatchMode

    class Count(TorchDispatchMode):
        def __init__(self) -> None:
            super().__init__()
            self.n = 0

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            self.n += func is torch.ops.aten.mul.Tensor
            return func(*args, **(kwargs or {}))

    start = threading.Barrier(6)
    found: dict[int, int] = {}

    def work(k: int) -> None:
        x = torch.ones(3)
        start.wait()
        with Count() as count:
            for _ in range(20 + k):
                x * 2
        found[k] = count.n

    run(*[lambda k=k: work(k) for k in range(6)])
    assert found == {k: 20 + k for k in range(6)}
