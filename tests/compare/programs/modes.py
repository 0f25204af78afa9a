"""Grad mode and inference mode: contexts, decorators, generators, coroutines, threads."""

import asyncio
import inspect
import threading

import torch
from observation import outcome


def _leaf(*values: float) -> torch.Tensor:
    return torch.tensor(values, requires_grad=True)


def no_grad_stops_recording() -> None:
    x = _leaf(1.0)
    with torch.no_grad():
        y = x * 2
        print(y.requires_grad, y.grad_fn, y.is_leaf, torch.is_grad_enabled())
    print((x * 2).requires_grad, torch.is_grad_enabled())


def contexts_nest_and_restore() -> None:
    seen = [torch.is_grad_enabled()]
    with torch.no_grad():
        seen.append(torch.is_grad_enabled())
        with torch.enable_grad():
            seen.append(torch.is_grad_enabled())
            with torch.set_grad_enabled(False):
                seen.append(torch.is_grad_enabled())
            seen.append(torch.is_grad_enabled())
        seen.append(torch.is_grad_enabled())
    print(seen, torch.is_grad_enabled())


def a_context_restores_after_an_exception() -> None:
    for mode in (torch.no_grad, torch.inference_mode):
        try:
            with mode():
                raise ValueError("out")
        except ValueError:
            print(torch.is_grad_enabled(), torch.is_inference_mode_enabled())


def a_context_object_can_be_reused() -> None:
    mode = torch.no_grad()
    for _ in range(2):
        with mode:
            print(torch.is_grad_enabled())
        print(torch.is_grad_enabled())
    with mode:
        with mode:
            print(torch.is_grad_enabled())
        print(torch.is_grad_enabled())


def set_grad_enabled_works_as_a_function_at_once() -> None:
    torch.set_grad_enabled(False)
    print(torch.is_grad_enabled(), (_leaf(1.0) * 2).requires_grad)
    torch.set_grad_enabled(True)
    print(torch.is_grad_enabled())
    mode = torch.set_grad_enabled(False)
    with mode:
        print(torch.is_grad_enabled())
    print(torch.is_grad_enabled())


def no_grad_does_not_touch_factories() -> None:
    with torch.no_grad():
        x = torch.ones(2, requires_grad=True)
        p = torch.nn.Parameter(torch.ones(1))
        print(x.requires_grad, p.requires_grad, torch.zeros(1).requires_grad_().requires_grad)


def a_view_under_no_grad_of_a_leaf() -> None:
    x = _leaf(1.0, 2.0)
    with torch.no_grad():
        v = x[:1]
        w = x.detach()
    print(v.requires_grad, w.requires_grad, v.grad_fn)


def no_grad_decorates_a_function() -> None:
    @torch.no_grad()
    def f(x, *, k=2):
        "doubles"
        return x * k

    @torch.no_grad
    def g(x):
        return x * 3

    x = _leaf(1.0)
    print(f(x), f(x, k=5), g(x), f.__name__, f.__doc__, torch.is_grad_enabled())


def enable_grad_and_set_grad_enabled_decorate() -> None:
    @torch.enable_grad()
    def f(x):
        return x * 2

    x = _leaf(1.0)
    with torch.no_grad():
        print(f(x).requires_grad)
    before = torch.is_grad_enabled()

    @torch.set_grad_enabled(False)
    def g(x):
        return x * 2

    print(before, torch.is_grad_enabled(), g(x).requires_grad)


def a_decorated_function_may_recurse_and_raise() -> None:
    @torch.no_grad()
    def f(n):
        if n == 0:
            raise KeyError("deep")
        return f(n - 1)

    outcome(f, 3)
    print(torch.is_grad_enabled())


def a_decorated_generator_switches_at_each_step() -> None:
    @torch.no_grad()
    def f():
        for k in range(3):
            got = yield (k, torch.is_grad_enabled())
            print("sent", got, torch.is_grad_enabled())
        return "end"

    g = f()
    print(next(g), torch.is_grad_enabled())
    print(g.send("a"), torch.is_grad_enabled())
    with torch.enable_grad():
        print(g.send("b"), torch.is_grad_enabled())
    try:
        next(g)
    except StopIteration as stop:
        print(stop.value)
    print(inspect.isgeneratorfunction(f), torch.is_grad_enabled())


def a_decorated_generator_can_be_closed_and_thrown_into() -> None:
    @torch.no_grad()
    def f():
        try:
            while True:
                try:
                    yield torch.is_grad_enabled()
                except KeyError:
                    print("caught", torch.is_grad_enabled())
        finally:
            print("closing", torch.is_grad_enabled())

    g = f()
    print(next(g))
    print(g.throw(KeyError("x")))
    g.close()
    print(torch.is_grad_enabled())


def a_plain_generator_leaks_its_mode() -> None:
    def f():
        with torch.no_grad():
            yield 1
            yield 2

    g = f()
    next(g)
    print(torch.is_grad_enabled())
    g.close()
    print(torch.is_grad_enabled())


def a_decorated_coroutine() -> None:
    @torch.no_grad()
    async def f():
        before = torch.is_grad_enabled()
        await asyncio.sleep(0)
        return before, torch.is_grad_enabled()

    print(asyncio.run(f()), torch.is_grad_enabled())


def a_decorated_class_warns_or_works() -> None:
    def make():
        @torch.no_grad()
        class Box:
            def __init__(self):
                self.mode = torch.is_grad_enabled()

        return Box().mode

    outcome(make)


def decorated_methods() -> None:
    class Box:
        @torch.no_grad()
        def method(self):
            return torch.is_grad_enabled()

        @staticmethod
        @torch.no_grad()
        def static():
            return torch.is_grad_enabled()

        @classmethod
        @torch.inference_mode()
        def of_class(cls):
            return torch.is_inference_mode_enabled()

    print(Box().method(), Box.static(), Box.of_class())


def tasks_of_asyncio_interleave() -> None:
    async def worker(name, log):
        with torch.no_grad():
            log.append((name, torch.is_grad_enabled()))
        await asyncio.sleep(0)
        log.append((name, torch.is_grad_enabled()))

    async def main():
        log = []
        await asyncio.gather(worker("a", log), worker("b", log))
        return log

    print(asyncio.run(main()))


def a_new_thread_starts_with_grad_enabled() -> None:
    seen = []
    with torch.no_grad():
        t = threading.Thread(target=lambda: seen.append(torch.is_grad_enabled()))
        t.start()
        t.join()
    with torch.inference_mode():
        t = threading.Thread(
            target=lambda: seen.append((torch.is_inference_mode_enabled(), torch.is_grad_enabled()))
        )
        t.start()
        t.join()
    print(seen)


def a_thread_does_not_change_its_parents_mode() -> None:
    def off():
        torch.set_grad_enabled(False)

    t = threading.Thread(target=off)
    t.start()
    t.join()
    print(torch.is_grad_enabled())


def inference_tensors_say_so() -> None:
    x = _leaf(1.0)
    with torch.inference_mode():
        y = x * 2
        z = torch.ones(2)
        v = x.view(1)
        print(torch.is_inference_mode_enabled(), torch.is_grad_enabled())
    print(y.is_inference(), z.is_inference(), v.is_inference(), x.is_inference())
    print(y.requires_grad, z.requires_grad, v.requires_grad, y.is_leaf, torch.is_inference(z))


def an_inference_tensor_has_no_version() -> None:
    with torch.inference_mode():
        z = torch.ones(2)
    outcome(lambda: z._version)


def an_inference_tensor_refuses_in_place_outside() -> None:
    with torch.inference_mode():
        z = torch.ones(2)
        z.add_(1)
    outcome(z.add_, 1)
    outcome(z.__setitem__, 0, 5.0)
    outcome(lambda: z.view(1, 2).mul_(2))
    print(z)


def an_inference_tensor_is_not_saved_for_backward() -> None:
    with torch.inference_mode():
        z = torch.ones(2)
    x = _leaf(1.0, 2.0)
    outcome(lambda: x * z)
    outcome(lambda: (x + z).sum().backward())
    print(x.grad)
    outcome(lambda: (x * z.clone()).sum().backward())
    print(x.grad)


def an_inference_tensor_outside_inference_mode() -> None:
    with torch.inference_mode():
        z = torch.ones(2)
    print(
        (z + 1).is_inference(),
        z.view(1, 2).is_inference(),
        z.clone().is_inference(),
        z.detach().is_inference(),
    )
    outcome(z.requires_grad_)
    outcome(setattr, z, "requires_grad", True)


def requires_grad_inside_inference_mode() -> None:
    with torch.inference_mode():
        outcome(lambda: torch.ones(1, requires_grad=True).requires_grad)
        z = torch.ones(2)
        outcome(lambda: z.requires_grad_().requires_grad)
        y = z * 2
        print(y.requires_grad, y.grad_fn)
        outcome(y.sum().backward)


def normal_tensors_may_be_written_inside_inference_mode() -> None:
    x = torch.ones(2)
    with torch.inference_mode():
        x.add_(1)
        v = x[:1]
        v.mul_(5)
        print(v.is_inference(), x._version)
    print(x, x._version)
    p = _leaf(1.0)
    with torch.inference_mode():
        outcome(p.add_, 1)
    print(p)


def inference_mode_can_be_switched_off_inside() -> None:
    x = _leaf(1.0)
    with torch.inference_mode():
        with torch.inference_mode(False):
            y = x * 2
            print(torch.is_inference_mode_enabled(), y.requires_grad, y.is_inference())
        with torch.enable_grad():
            z = x * 2
            print(z.requires_grad, z.is_inference())
    with torch.inference_mode(mode=False):
        print((x * 2).requires_grad)


def inference_mode_decorates() -> None:
    @torch.inference_mode()
    def f(x):
        return x * 2

    @torch.inference_mode
    def g(x):
        return x * 2

    @torch.inference_mode(False)
    def h(x):
        return x * 2

    x = _leaf(1.0)
    print(f(x).is_inference(), g(x).is_inference(), h(x).is_inference(), h(x).requires_grad)


def modes_print() -> None:
    print(type(torch.no_grad()).__name__, type(torch.inference_mode()).__name__)
    print(torch.set_grad_enabled(True).mode, torch.inference_mode(True).mode)
    outcome(torch.no_grad, 5)
    outcome(torch.set_grad_enabled)


def backward_works_under_no_grad() -> None:
    x = _leaf(3.0)
    y = x * x
    with torch.no_grad():
        y.backward(retain_graph=True)
        print(x.grad)
        print(torch.autograd.grad(y, x, create_graph=True))


def freezing_parameters() -> None:
    net = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 1))
    net[0].requires_grad_(False)
    net(torch.ones(1, 2)).sum().backward()
    print([p.grad is None for p in net.parameters()], [p.requires_grad for p in net.parameters()])
    net[0].weight.requires_grad = True
    out = net(torch.ones(1, 2))
    print(out.grad_fn.next_functions)


def anomaly_and_checks_can_be_asked() -> None:
    print(torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled())
    with torch.autograd.detect_anomaly(check_nan=False):
        print(torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled())
    with torch.autograd.set_detect_anomaly(True):
        print(torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled())
    print(torch.is_anomaly_enabled())


def multithreading_can_be_asked_and_set() -> None:
    print(torch.autograd.is_multithreading_enabled())
    with torch.autograd.set_multithreading_enabled(False):
        print(torch.autograd.is_multithreading_enabled())
    print(torch.autograd.is_multithreading_enabled())
