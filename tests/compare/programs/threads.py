"""Threads: graphs of their own, shared leaves, shared graphs, modes, errors."""

import threading

import torch
from observation import near


def _run(*targets) -> None:
    threads = [threading.Thread(target=t) for t in targets]
    for t in threads:
        t.start()
    for t in threads:
        t.join()


def each_thread_has_a_graph_of_its_own() -> None:
    results = [None] * 8

    def work(k):
        x = torch.full((3,), float(k), requires_grad=True)
        (x**2).sum().backward()
        results[k] = near(x.grad)

    _run(*[lambda k=k: work(k) for k in range(8)])
    print(results)


def a_shared_leaf_accumulates_everything() -> None:
    x = torch.ones(3, requires_grad=True)
    _run(*[lambda k=k: (x * k).sum().backward() for k in range(16)])
    print(x.grad)


def a_shared_graph_with_retain_graph() -> None:
    x = torch.ones(3, requires_grad=True)
    y = x.exp().sum()
    _run(*[lambda: y.backward(retain_graph=True) for _ in range(6)])
    print(near(x.grad))


def grad_in_several_threads_over_one_graph() -> None:
    x = torch.tensor([2.0], requires_grad=True)
    y = x**3
    results = []
    _run(
        *[
            lambda: results.append(near(torch.autograd.grad(y, x, retain_graph=True)))
            for _ in range(6)
        ]
    )
    print(results)


def a_forward_here_and_a_backward_there() -> None:
    x = torch.ones(2, requires_grad=True)
    y = (x * x).sum()
    _run(y.backward)
    print(x.grad)


def an_exception_stays_in_its_thread() -> None:
    caught = []
    x = torch.ones(2, requires_grad=True)

    def bad():
        try:
            (x * 2).backward()
        except RuntimeError as error:
            caught.append(str(error))

    _run(bad, lambda: (x * 3).sum().backward())
    print(caught, x.grad)


def hooks_run_in_the_thread_that_calls_backward() -> None:
    x = torch.ones(2, requires_grad=True)
    names = []
    y = (x * 2).sum()
    y.register_hook(lambda g: names.append(threading.current_thread().name == "other"))
    t = threading.Thread(target=y.backward, name="other")
    t.start()
    t.join()
    print(names)


def modes_are_per_thread() -> None:
    seen = {}
    barrier = threading.Barrier(2)

    def off():
        with torch.no_grad():
            barrier.wait()
            seen["off"] = torch.is_grad_enabled()
            barrier.wait()

    def on():
        barrier.wait()
        seen["on"] = torch.is_grad_enabled()
        barrier.wait()

    _run(off, on)
    print(sorted(seen.items()))


def saved_tensor_hooks_are_per_thread() -> None:
    packed = []
    x = torch.ones(1, requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: packed.append(1) or t, lambda t: t):
        _run(lambda: x.exp())
        print(len(packed))
        x.exp()
        print(len(packed))


def anomaly_mode_is_shared_by_threads() -> None:
    seen = []
    with torch.autograd.set_detect_anomaly(True):
        _run(lambda: seen.append(torch.is_anomaly_enabled()))
    print(seen)


def the_default_dtype_is_shared_by_threads() -> None:
    torch.set_default_dtype(torch.float64)
    seen = []
    _run(lambda: seen.append(torch.ones(1).dtype))
    print(seen)


def nested_backward_inside_a_thread() -> None:
    results = []

    def work():
        x = torch.ones(1, requires_grad=True)
        y = x * 2

        def inner(g):
            z = torch.ones(1, requires_grad=True)
            (z * 3).backward()
            return g * z.grad

        y.register_hook(inner)
        y.backward()
        results.append(x.grad.item())

    _run(work, work, work)
    print(results)


def threads_and_number_of_threads() -> None:
    print(isinstance(torch.get_num_threads(), int))
    torch.set_num_threads(1)
    print(torch.get_num_threads())
