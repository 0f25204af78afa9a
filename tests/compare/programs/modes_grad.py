"""Grad mode as a context, a decorator, across generators, coroutines, tasks and threads."""

import asyncio
import threading

import torch
from observation import each, outcome


def _leaf(*values: float) -> torch.Tensor:
    return torch.tensor(values, requires_grad=True)


def contexts_that_end_out_of_order() -> None:
    a, b = torch.no_grad(), torch.enable_grad()
    a.__enter__()
    b.__enter__()
    a.__exit__(None, None, None)
    print(torch.is_grad_enabled())
    b.__exit__(None, None, None)
    print(torch.is_grad_enabled())
    torch.set_grad_enabled(True)


def one_context_entered_twice() -> None:
    c = torch.no_grad()
    with c:
        with c:
            print(torch.is_grad_enabled())
        print(torch.is_grad_enabled())
    print(torch.is_grad_enabled())
    s = torch.set_grad_enabled(False)
    with s, s:
        print(torch.is_grad_enabled())
    print(torch.is_grad_enabled())


def what_contexts_say_of_themselves() -> None:
    for c in (torch.no_grad(), torch.enable_grad(), torch.inference_mode(), torch.inference_mode(False)):
        print(type(c).__name__, sorted(k for k in vars(c) if not k.startswith("_")))
        print(type(c.clone()).__name__, c.__enter__(), c.__exit__(None, None, None))
    s = torch.set_grad_enabled(False)
    print(s, s.mode, s.prev, torch.is_grad_enabled(), type(s.clone()).__name__)
    torch.set_grad_enabled(True)
    with torch.no_grad() as n, torch.enable_grad() as e, torch.inference_mode() as i:
        print(n, e, i)


def arguments_of_modes() -> None:
    each(
        no_grad=lambda: torch.no_grad(1), none=lambda: torch.set_grad_enabled(None), text=lambda: torch.set_grad_enabled("x"),
        missing=lambda: torch.set_grad_enabled(), number=lambda: torch.set_grad_enabled(0),
        inference=lambda: torch.inference_mode(5), inference_none=lambda: torch.inference_mode(None),
        enable=lambda: torch.enable_grad(3), mode=lambda: torch.inference_mode(mode=True).mode,
        threads=lambda: torch.autograd.set_multithreading_enabled(),
    )  # fmt: skip
    torch.set_grad_enabled(True)


def decorated_functions_keep_their_names() -> None:
    @torch.no_grad()
    def first(a: int, *, b: int = 2) -> int:
        """Says so."""
        return a + b + int(torch.is_grad_enabled())

    @torch.no_grad
    def second(a):
        return torch.is_grad_enabled()

    @torch.enable_grad
    def third():
        return torch.is_grad_enabled()

    print(first.__name__, first.__doc__, first.__annotations__, first(1, b=3), second(0), first.__wrapped__(1))
    with torch.no_grad():
        print(third())
    print((torch.no_grad()(lambda: torch.is_grad_enabled()))())


def decorated_methods_of_all_kinds() -> None:
    class Thing:
        @torch.no_grad()
        def method(self):
            return torch.is_grad_enabled()

        @staticmethod
        @torch.no_grad()
        def static():
            return torch.is_grad_enabled()

        @classmethod
        @torch.no_grad()
        def klass(cls):
            return cls.__name__, torch.is_grad_enabled()

        @property
        @torch.no_grad()
        def prop(self):
            return torch.is_grad_enabled()

        @torch.no_grad()
        def __call__(self):
            return torch.is_grad_enabled()

    t = Thing()
    print(t.method(), t.static(), Thing.klass(), t.prop, t(), torch.is_grad_enabled())


def decorated_classes_warn() -> None:
    for decorate in (torch.no_grad(), torch.no_grad, torch.inference_mode(), torch.enable_grad, torch.set_grad_enabled(True)):
        @decorate
        class Thing:
            def __init__(self):
                self.made = torch.is_grad_enabled()

            def run(self):
                return torch.is_grad_enabled()

        t = Thing()
        print(type(t).__name__, t.made, t.run())


def set_grad_enabled_as_a_decorator() -> None:
    @torch.set_grad_enabled(False)
    def f():
        return torch.is_grad_enabled()

    print(torch.is_grad_enabled(), f(), torch.is_grad_enabled())

    @torch.set_grad_enabled(mode=True)
    def g():
        return torch.is_grad_enabled()

    with torch.no_grad():
        print(g(), torch.is_grad_enabled())


def decorated_generators_send_and_return() -> None:
    @torch.no_grad()
    def run(x):
        got = yield x * 2
        print("got", got, torch.is_grad_enabled())
        try:
            got = yield torch.is_grad_enabled()
        except ValueError as error:
            print("caught", error, torch.is_grad_enabled())
            got = yield "after"
        with torch.enable_grad():
            yield torch.is_grad_enabled()
            yield (x * 2).requires_grad
        return got

    def outer(x):
        result = yield from run(x)
        print("result", result)

    g = outer(_leaf(1.0))
    print(next(g).requires_grad, torch.is_grad_enabled())
    print(g.send("a"), torch.is_grad_enabled())
    print(g.throw(ValueError("v")), torch.is_grad_enabled())
    print(next(g), torch.is_grad_enabled())
    print(next(g), torch.is_grad_enabled())
    outcome(lambda: next(g))
    print(torch.is_grad_enabled())


def decorated_generators_end_early() -> None:
    seen = []

    @torch.no_grad()
    def run():
        try:
            yield 1
            yield 2
        finally:
            seen.append(torch.is_grad_enabled())

    g = run()
    next(g)
    g.close()
    h = run()
    next(h)
    del h
    print(seen, torch.is_grad_enabled())

    @torch.no_grad()
    def failing():
        yield 1
        raise KeyError("k")

    k = failing()
    next(k)
    outcome(lambda: next(k))
    print(torch.is_grad_enabled())


def generators_that_suspend_inside_a_mode() -> None:
    def run():
        with torch.no_grad():
            yield torch.is_grad_enabled()
            yield torch.is_grad_enabled()
        yield torch.is_grad_enabled()

    a, b = run(), run()
    print(next(a), torch.is_grad_enabled(), next(b), torch.is_grad_enabled())
    print(next(a), next(a), torch.is_grad_enabled())
    print(next(b), next(b), torch.is_grad_enabled())
    torch.set_grad_enabled(True)


def coroutines_and_modes() -> None:
    @torch.no_grad()
    async def decorated():
        before = torch.is_grad_enabled()
        await asyncio.sleep(0)
        return before, torch.is_grad_enabled()

    async def inner():
        with torch.no_grad():
            before = torch.is_grad_enabled()
            await asyncio.sleep(0)
            return before, torch.is_grad_enabled()

    async def outer():
        return await decorated(), await inner(), torch.is_grad_enabled()

    print(asyncio.run(outer()), torch.is_grad_enabled())


def asynchronous_generators_and_modes() -> None:
    @torch.no_grad()
    async def decorated():
        yield torch.is_grad_enabled()
        yield torch.is_grad_enabled()

    async def outer():
        return [v async for v in decorated()], torch.is_grad_enabled()

    outcome(lambda: asyncio.run(outer()))
    print(torch.is_grad_enabled())


def threads_have_modes_of_their_own() -> None:
    seen = {}

    def work(name):
        seen[name] = (torch.is_grad_enabled(), torch.is_inference_mode_enabled(), (_leaf(1.0) * 2).requires_grad)
        torch.set_grad_enabled(False)

    for name, mode in {"plain": torch.enable_grad(), "no_grad": torch.no_grad(), "inference": torch.inference_mode()}.items():
        with mode:
            t = threading.Thread(target=work, args=(name,))
            t.start()
            t.join()
            print(name, seen[name], torch.is_grad_enabled())
    print(torch.is_grad_enabled())


def multithreading_as_a_context_and_a_function() -> None:
    from torch.autograd import is_multithreading_enabled as asked
    from torch.autograd import set_multithreading_enabled

    print(asked())
    with set_multithreading_enabled(False):
        print(asked())
        with set_multithreading_enabled(True):
            print(asked())
        print(asked())
    print(asked())
    set_multithreading_enabled(False)
    print(asked())
    set_multithreading_enabled(True)

    @set_multithreading_enabled(False)
    def f():
        return asked()

    print(asked(), f(), asked())
    set_multithreading_enabled(True)


def hooks_and_backward_see_modes() -> None:
    x = _leaf(1.0)
    y = x * x
    y.register_hook(lambda g: print("hook", torch.is_grad_enabled(), torch.is_inference_mode_enabled()))
    x.register_hook(lambda g: print("leaf", torch.is_grad_enabled()))
    y.backward(retain_graph=True)
    with torch.no_grad():
        y.backward(retain_graph=True)
        torch.autograd.grad(y, x, create_graph=True)
    print(torch.is_grad_enabled())


def functions_in_no_grad_make_no_node() -> None:
    x = _leaf(1.0, 2.0)
    with torch.no_grad():
        y = x * 2
        y.requires_grad_()
        z = x.view(2)
        print(y.is_leaf, y.requires_grad, z.requires_grad, z.is_leaf, x.detach().requires_grad)
        w = torch.ones(2, requires_grad=True)
        print(w.requires_grad, torch.nn.Parameter(torch.ones(1)).requires_grad, x.clone().requires_grad)
        x.add_(1)
        x[0] = 5.0
        x.mul_(x)
    print(x, x._version, x.is_leaf)
    (y * 3).sum().backward()
    print(y.grad, x.grad)


def the_mode_of_forward_gradients() -> None:
    fw = torch.autograd.forward_ad

    with fw.dual_level():
        d = fw.make_dual(torch.ones(1), torch.ones(1))
        with fw._set_fwd_grad_enabled(False):
            print(fw.unpack_dual(d * 2).tangent)
        print(fw.unpack_dual(d * 2).tangent)
        with torch.no_grad():
            print(fw.unpack_dual(d * 2).tangent)
        with torch.inference_mode():
            outcome(lambda: fw.unpack_dual(d * 2).tangent)
