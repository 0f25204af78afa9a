"""Functions with a forward and a backward of the user's own."""

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


class _Scale(Function):
    @staticmethod
    def forward(x, k):
        return x * k

    @staticmethod
    def setup_context(ctx, inputs, output):
        print("setup", len(inputs), output.requires_grad)
        ctx.k = inputs[1]

    @staticmethod
    def backward(ctx, g):
        return g * ctx.k, None


def the_combined_style() -> None:
    x = _leaf(2.0)
    y = _Cube.apply(x)
    print(y, y.grad_fn)
    y.backward()
    print(x.grad)


def the_style_with_setup_context() -> None:
    x = _leaf(2.0)
    y = _Scale.apply(x, 5)
    print(y, y.grad_fn)
    y.backward()
    print(x.grad)


def a_function_is_differentiable_twice_when_its_backward_is() -> None:
    x = _leaf(2.0)
    (g,) = torch.autograd.grad(_Cube.apply(x), x, create_graph=True)
    print(g)
    print(torch.autograd.grad(g, x))


def once_differentiable_refuses_the_second_time() -> None:
    class Once(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        @torch.autograd.function.once_differentiable
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            print(torch.is_grad_enabled())
            return g * 3 * x**2

    x = _leaf(2.0)
    print(torch.autograd.grad(Once.apply(x), x))
    (g,) = torch.autograd.grad(Once.apply(x), x, create_graph=True)
    print(g)
    outcome(torch.autograd.grad, g, x)


def grad_mode_inside_forward_and_backward() -> None:
    class Probe(Function):
        @staticmethod
        def forward(ctx, x):
            print("forward", torch.is_grad_enabled(), x.requires_grad, (x * 2).requires_grad)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            print("backward", torch.is_grad_enabled())
            return g * 2

    x = _leaf(1.0)
    Probe.apply(x).backward()
    torch.autograd.grad(Probe.apply(x), x, create_graph=True)
    with torch.no_grad():
        print(Probe.apply(x))


def needs_input_grad_tells_what_is_wanted() -> None:
    class Probe(Function):
        @staticmethod
        def forward(ctx, x, y, k):
            print("forward", ctx.needs_input_grad)
            return x * y * k

        @staticmethod
        def backward(ctx, g):
            print("backward", ctx.needs_input_grad)
            return g, g, None

    x, y = _leaf(1.0), _leaf(2.0)
    Probe.apply(x, torch.ones(1), 3).backward()
    torch.autograd.grad(Probe.apply(x, y, 3), y)


def a_wrong_number_of_gradients() -> None:
    class Many(Function):
        @staticmethod
        def forward(ctx, x, *rest):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            return ctx.answer(g)

    x, y = _leaf(1.0), _leaf(1.0)
    for answer in (
        lambda g: (g, g),
        lambda g: (g, None),
        lambda g: (g, None, None),
        lambda g: (),
        lambda g: None,
        lambda g: 5,
        lambda g: [g],
        lambda g: ("g",),
        lambda g: (g,),
    ):
        Many.answer = None
        z = Many.apply(x)
        z.grad_fn.answer = answer
        outcome(z.backward)
    z = Many.apply(x, y)
    z.grad_fn.answer = lambda g: g
    outcome(z.backward)


def a_gradient_of_the_wrong_shape_or_dtype() -> None:
    class Odd(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            return ctx.value

    for value in (
        torch.ones(3),
        torch.ones(2, dtype=torch.float64),
        torch.ones(4, 2),
        torch.tensor(1.0),
        torch.ones(2, dtype=torch.complex64),
        torch.ones(2, dtype=torch.int64),
    ):
        x = _leaf(1.0, 2.0)
        z = Odd.apply(x)
        z.grad_fn.value = value
        outcome(z.sum().backward)
        print(x.grad)


def none_means_no_gradient() -> None:
    class Stop(Function):
        @staticmethod
        def forward(ctx, x, y):
            return x * y

        @staticmethod
        def backward(ctx, g):
            return g, None

    x, y = _leaf(1.0), _leaf(2.0)
    Stop.apply(x, y).backward()
    print(x.grad, y.grad)
    outcome(torch.autograd.grad, Stop.apply(x, y), y)
    outcome(torch.autograd.grad, Stop.apply(x, y), y, allow_unused=True)


def several_outputs() -> None:
    class Two(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2, x * 3, "text", 5, None

        @staticmethod
        def backward(ctx, *gs):
            print(gs)
            return gs[0] * 2 + gs[1] * 3

    x = _leaf(1.0)
    a, b, *rest = Two.apply(x)
    print(a, b, rest)
    (a * b).backward()
    print(x.grad)


def a_list_is_not_an_output() -> None:
    class Listed(Function):
        @staticmethod
        def forward(ctx, x):
            return [x * 2]

        @staticmethod
        def backward(ctx, g):
            return g

    out = outcome(Listed.apply, _leaf(1.0))
    print(type(out).__name__)


def mark_non_differentiable() -> None:
    class Sorted(Function):
        @staticmethod
        def forward(ctx, x):
            values, order = x.sort()
            other = x * 2
            ctx.mark_non_differentiable(order, other)
            ctx.save_for_backward(order)
            return values, order, other

        @staticmethod
        def backward(ctx, g, *rest):
            print(rest)
            (order,) = ctx.saved_tensors
            return torch.zeros_like(g).index_add(0, order, g)

    x = _leaf(3.0, 1.0, 2.0)
    values, order, other = Sorted.apply(x)
    print(values.requires_grad, order.requires_grad, other.requires_grad, other.grad_fn)
    (values * torch.tensor([1.0, 10.0, 100.0])).sum().backward()
    print(x.grad)


def set_materialize_grads_off_gives_none() -> None:
    class Two(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(False)
            return x * 2, x * 3

        @staticmethod
        def backward(ctx, a, b):
            print(a, b)
            return a * 2 if a is not None else b * 3

    x = _leaf(1.0)
    Two.apply(x)[0].backward()
    Two.apply(x)[1].backward()
    print(x.grad)


def mark_dirty_for_in_place_functions() -> None:
    class Double(Function):
        @staticmethod
        def forward(ctx, x):
            x.mul_(2)
            ctx.mark_dirty(x)
            return x

        @staticmethod
        def backward(ctx, g):
            return g * 2

    x = _leaf(1.0)
    y = x * 1
    z = Double.apply(y)
    print(z is y, y.grad_fn, y._version)
    y.backward()
    print(x.grad)
    outcome(Double.apply, x)


def an_unmarked_in_place_write() -> None:
    class Double(Function):
        @staticmethod
        def forward(ctx, x):
            x.mul_(2)
            return x

        @staticmethod
        def backward(ctx, g):
            return g * 2

    x = _leaf(1.0)
    y = x * 1
    z = Double.apply(y)
    print(z is y, y.grad_fn, z.grad_fn)
    z.backward()
    print(x.grad)


def mark_dirty_of_something_not_returned() -> None:
    class Bad(Function):
        @staticmethod
        def forward(ctx, x):
            x.mul_(2)
            ctx.mark_dirty(x)
            return x * 1

        @staticmethod
        def backward(ctx, g):
            return g

    outcome(Bad.apply, _leaf(1.0) * 1)


def an_input_returned_as_is_is_a_new_tensor() -> None:
    class Pass(Function):
        @staticmethod
        def forward(ctx, x):
            return x

        @staticmethod
        def backward(ctx, g):
            return g * 10

    x = _leaf(1.0)
    y = Pass.apply(x)
    print(y is x, y.grad_fn, y.data_ptr() == x.data_ptr(), y._is_view())
    y.backward()
    print(x.grad)


def a_view_of_an_input_as_output() -> None:
    class Top(Function):
        @staticmethod
        def forward(ctx, x):
            return x[:1]

        @staticmethod
        def backward(ctx, g):
            return torch.cat([g, g * 0])

    x = _leaf(1.0, 2.0)
    y = Top.apply(x)
    print(y, y._is_view())
    y.backward()
    print(x.grad)
    outcome(Top.apply(x * 1).mul_, 2)


def saving_tensors_checks_versions() -> None:
    x = _leaf(2.0)
    y = x * 1
    z = _Cube.apply(y)
    y.add_(1)
    outcome(z.backward)


def saved_tensors_are_freed() -> None:
    x = _leaf(2.0)
    z = _Cube.apply(x)
    print(z.grad_fn.saved_tensors[0] is x)
    z.backward()
    outcome(z.backward)
    outcome(lambda: z.grad_fn.saved_tensors)


def save_for_backward_takes_tensors_and_none() -> None:
    class Keep(Function):
        @staticmethod
        def forward(ctx, x, extra):
            ctx.save_for_backward(x, None, extra)
            return x * 1

        @staticmethod
        def backward(ctx, g):
            print(ctx.saved_tensors)
            return g, None

    Keep.apply(_leaf(1.0), torch.ones(2)).backward()
    outcome(Keep.apply, _leaf(1.0), 5)
    outcome(Keep.apply, _leaf(1.0), "text")


def saving_an_output() -> None:
    class Exp(Function):
        @staticmethod
        def forward(ctx, x):
            y = x.exp()
            ctx.save_for_backward(y)
            return y

        @staticmethod
        def backward(ctx, g):
            (y,) = ctx.saved_tensors
            print(y.grad_fn, y.requires_grad)
            return g * y

    x = _leaf(0.0)
    (g,) = torch.autograd.grad(Exp.apply(x), x, create_graph=True)
    print(g, torch.autograd.grad(g, x))


def saving_an_intermediate_loses_its_gradient() -> None:
    class Odd(Function):
        @staticmethod
        def forward(ctx, x):
            middle = x * 2
            ctx.save_for_backward(middle)
            return middle.exp()

        @staticmethod
        def backward(ctx, g):
            (middle,) = ctx.saved_tensors
            print(middle.requires_grad)
            return g * 2 * middle.exp()

    x = _leaf(0.0)
    (g,) = torch.autograd.grad(Odd.apply(x), x, create_graph=True)
    print(g, g.requires_grad)


def the_context_is_the_node() -> None:
    seen = []

    class Probe(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.note = "kept"
            seen.append(ctx)
            return x * 1

        @staticmethod
        def backward(ctx, g):
            seen.append(ctx)
            print(ctx.note)
            return g

    y = Probe.apply(_leaf(1.0))
    y.backward()
    print(seen[0] is y.grad_fn, seen[1] is y.grad_fn, y.grad_fn.note, type(seen[0]).__name__)
