"""Threads: modes belong to one thread; leaves, hooks and graphs are shared."""

import importlib
import os
import threading

import torch
from observation import near

# By the name of the module that stands for torch: submodules are loaded once.
_autograd = importlib.import_module(f"{torch.__name__}.autograd")
profiler = _autograd.profiler
_python_dispatch = importlib.import_module(f"{torch.__name__}.utils._python_dispatch")
TorchDispatchMode = _python_dispatch.TorchDispatchMode


def _run(*targets) -> None:
    threads = [threading.Thread(target=target) for target in targets]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _leaf() -> torch.Tensor:
    return torch.ones(3, requires_grad=True)


def switches_belong_to_a_thread() -> None:
    def look() -> None:
        print(torch.is_grad_enabled(), torch.is_inference_mode_enabled())

    with torch.no_grad():
        _run(look)
    with torch.inference_mode():
        _run(look)


def anomaly_mode_is_for_all_threads() -> None:
    with torch.autograd.set_detect_anomaly(True):
        _run(lambda: print(torch.is_anomaly_enabled()))
    _run(lambda: print(torch.is_anomaly_enabled()))


def dispatch_modes_belong_to_a_thread() -> None:
    seen = []

    class Log(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            seen.append(str(func))
            return func(*args, **(kwargs or {}))

    x = torch.ones(1)
    with Log():
        _run(lambda: x.exp())
        x.sin()
    print(seen)


def profiles_belong_to_a_thread() -> None:
    x = torch.ones(1)
    with profiler.profile() as p:
        _run(lambda: x.exp())
        x.sin()
    print([e.name for e in p.function_events if e.name in ("aten::exp", "aten::sin")])


def gradients_of_threads_add_up() -> None:
    x = _leaf()

    def work() -> None:
        for _ in range(50):
            (x * 2).sum().backward()

    _run(*[work] * 8)
    print(near(x.grad))


def hooks_run_where_backward_was_called() -> None:
    x = _leaf()
    names = []
    x.register_hook(lambda g: names.append(threading.current_thread().name))
    thread = threading.Thread(target=lambda: (x * 2).sum().backward(), name="caller")
    thread.start()
    thread.join()
    print(names)


def a_graph_freed_by_one_thread_is_freed_for_all() -> None:
    y = _leaf().exp().sum()
    y.backward()
    found = []

    def again() -> None:
        try:
            y.backward()
        except RuntimeError as error:
            found.append(str(error).split(" (")[0])

    _run(again)
    print(found)


def backward_inside_backward_in_several_threads() -> None:
    class Nested(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            with torch.enable_grad():
                v = ctx.saved_tensors[0].detach().requires_grad_()
                (v**2).sum().backward()
            return g * v.grad

    x = _leaf()

    def work() -> None:
        for _ in range(5):
            Nested.apply(x).sum().backward()

    _run(*[work] * 4)
    print(near(x.grad))


def hogwild_updates() -> None:
    p = torch.zeros(100, requires_grad=True)

    def train() -> None:
        for _ in range(20):
            (g,) = torch.autograd.grad(((p - 1) ** 2).sum(), p)
            with torch.no_grad():
                p.sub_(0.01 * g)

    _run(*[train] * 4)
    print(bool((p > 0.5).all()), p._version)


def an_exception_stays_in_its_thread() -> None:
    class Fail(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            raise ValueError("inside")

    found = []

    def work() -> None:
        try:
            Fail.apply(_leaf()).sum().backward()
        except ValueError as error:
            found.append(str(error))

    _run(work)
    print(found)


def a_fork_after_backward() -> None:
    x = _leaf()
    (x * 2).sum().backward()
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            (x * 2).sum().backward()
            told = b"ran " + str(x.grad.tolist()).encode()
        except RuntimeError as error:
            told = str(error).encode()
        os.write(writer, told)
        os._exit(0)
    os.waitpid(child, 0)
    print(os.read(reader, 1000).decode())


def multithreading_can_be_switched() -> None:
    x = _leaf()
    with torch.autograd.set_multithreading_enabled(False):
        print(torch.autograd.is_multithreading_enabled())
        (x * 2).sum().backward()
    print(torch.autograd.is_multithreading_enabled(), near(x.grad))
