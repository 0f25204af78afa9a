"""The protocol of torch.autograd.Function: misuse, naming, forward mode, odds and ends."""

import torch
from observation import outcome

Function = torch.autograd.Function


def _leaf(*values: float) -> torch.Tensor:
    return torch.tensor(values, requires_grad=True)


class _Cube(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * 3 * x**2


def misuse_of_the_class() -> None:
    outcome(Function)
    outcome(_Cube)
    outcome(lambda: _Cube()(_leaf(1.0)))

    class NoForward(Function):
        pass

    outcome(NoForward.apply, _leaf(1.0))

    class NoBackward(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

    y = NoBackward.apply(_leaf(1.0))
    outcome(y.backward)


def methods_that_are_not_static() -> None:
    class Bound(Function):
        def forward(self, x):
            return x * 2

        def backward(self, g):
            return g * 2

    outcome(lambda: Bound()(_leaf(1.0)))
    outcome(Bound.apply, _leaf(1.0))


def arguments_by_keyword_are_refused() -> None:
    outcome(_Cube.apply, x=_leaf(1.0))
    outcome(_Cube.apply)
    outcome(_Cube.apply, _leaf(1.0), 2)


def both_styles_at_once() -> None:
    class Mixed(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def setup_context(ctx, inputs, output):
            print("setup")

        @staticmethod
        def backward(ctx, g):
            return g

    outcome(Mixed.apply, _leaf(1.0))


def vjp_is_another_name_for_backward() -> None:
    class Named(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def vjp(ctx, g):
            return g * 7

    x = _leaf(1.0)
    Named.apply(x).backward()
    print(x.grad)

    class Twice(Named):
        @staticmethod
        def backward(ctx, g):
            return g

    outcome(lambda: Twice.apply(_leaf(1.0)).backward())


def a_jvp_of_the_users_own() -> None:
    class Square(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_forward(x)
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g * 2 * x

        @staticmethod
        def jvp(ctx, t):
            (x,) = ctx.saved_tensors
            print("jvp", t)
            return t * 2 * x

    fw = torch.autograd.forward_ad
    with fw.dual_level():
        out = Square.apply(fw.make_dual(torch.tensor([3.0]), torch.tensor([1.0])))
        print(fw.unpack_dual(out).tangent)
        outcome(_Cube.apply, fw.make_dual(torch.tensor([3.0]), torch.tensor([1.0])))


def nested_structures_are_not_looked_into() -> None:
    class Probe(Function):
        @staticmethod
        def forward(ctx, pair):
            print(ctx.needs_input_grad)
            return pair[0] * pair[1]

        @staticmethod
        def backward(ctx, g):
            return None

    y = Probe.apply((_leaf(1.0), _leaf(2.0)))
    print(y.requires_grad, y.grad_fn)


def no_input_needs_a_gradient() -> None:
    y = _Cube.apply(torch.ones(1))
    print(y, y.grad_fn, y.requires_grad)


def hooks_for_saved_tensors_apply() -> None:
    x = _leaf(2.0)
    with torch.autograd.graph.saved_tensors_hooks(
        lambda t: print("pack") or t, lambda t: print("unpack") or t
    ):
        y = _Cube.apply(x)
    y.backward()
    print(x.grad)


def mark_shared_storage_and_other_old_names() -> None:
    class Old(Function):
        @staticmethod
        def forward(ctx, x):
            outcome(ctx.mark_shared_storage, (x, x))
            return x * 1

        @staticmethod
        def backward(ctx, g):
            return g

    Old.apply(_leaf(1.0))


def clear_saved_tensors_on_access() -> None:
    class Probe(Function):
        clear_saved_tensors_on_access = True

        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 1

        @staticmethod
        def backward(ctx, g):
            print(len(ctx.saved_tensors))
            return g

    Probe.apply(_leaf(1.0)).backward()


def an_exception_in_forward_passes() -> None:
    class Bad(Function):
        @staticmethod
        def forward(ctx, x):
            raise ZeroDivisionError("in forward")

    outcome(Bad.apply, _leaf(1.0))


def gradcheck_accepts_and_rejects() -> None:
    class Wrong(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 3

    x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    print(
        torch.autograd.gradcheck(_Cube.apply, (x,)), torch.autograd.gradgradcheck(_Cube.apply, (x,))
    )
    print(torch.autograd.gradcheck(Wrong.apply, (x,), raise_exception=False))
    try:
        torch.autograd.gradcheck(Wrong.apply, (x,))
    except RuntimeError as error:
        print(type(error).__name__, str(error).splitlines()[0])
