"""How gradients arrive: identity, layout, memory, what is checked, what callbacks may do."""

import gc
import weakref

import torch
from observation import near, outcome


def _leaf(*values: float) -> torch.Tensor:
    return torch.tensor(values, requires_grad=True)


def a_gradient_that_passes_unchanged_is_the_tensor_given() -> None:
    x, seed = _leaf(1.0, 2.0), torch.ones(2)
    print(torch.autograd.grad(x, x, seed)[0] is seed)
    a, b = _leaf(1.0, 2.0), _leaf(1.0, 2.0)
    (g,) = torch.autograd.grad(a + b, a, seed)
    print(g is seed, g.data_ptr() == seed.data_ptr())


def gradients_of_a_sum_do_not_share_memory() -> None:
    a, b, seed = _leaf(1.0, 2.0), _leaf(1.0, 2.0), torch.ones(2)
    (a + b).backward(seed)
    a.grad.zero_()
    print(b.grad, seed)


def the_layout_of_a_gradient_follows_dense_leaves_only() -> None:
    for x in (
        torch.ones(3, 4).t(),
        torch.ones(2, 3).expand(4, 2, 3),
        torch.ones(2, 3, 4).permute(2, 0, 1),
        torch.ones(4, 6)[:, ::2],
        torch.ones(8)[::2],
    ):
        x = x.detach().requires_grad_()
        (x * 2).sum().backward()
        print(x.shape, x.grad.stride())


def an_expanded_grad_field_cannot_be_added_to() -> None:
    x = _leaf(1.0, 2.0)
    x.grad = torch.ones(1).expand(2)
    outcome((x * 2).sum().backward)
    print(x.grad)


def adding_to_a_gradient_that_requires_grad() -> None:
    x = _leaf(1.0, 2.0)
    x.grad = torch.ones(2, requires_grad=True)
    (x * 2).sum().backward()
    print(x.grad, x.grad.is_leaf)


def the_warning_about_cycles_comes_once() -> None:
    x = _leaf(1.0)
    for _ in range(3):
        (x * x).backward(create_graph=True)
    print(x.grad.requires_grad)


def a_leaf_that_stopped_requiring_grad_gets_none() -> None:
    x = _leaf(1.0, 2.0)
    y = (x * 2).sum()
    x.requires_grad_(False)
    y.backward()
    print(x.grad)
    x = _leaf(1.0, 2.0)
    y = (x * 2).sum()
    x.requires_grad_(False).requires_grad_(True)
    y.backward()
    print(x.grad)


def callbacks_queue_callbacks() -> None:
    engine, log = torch.autograd.Variable._execution_engine, []
    x = _leaf(1.0)
    y = x * 2

    def hook(grad):
        engine.queue_callback(lambda: log.append(("one", x.grad is not None)))
        engine.queue_callback(lambda: engine.queue_callback(lambda: log.append("three")))

    y.register_hook(hook)
    y.backward()
    print(log)
    outcome(engine.queue_callback, print)


def a_callback_that_raises_leaves_the_engine_usable() -> None:
    engine = torch.autograd.Variable._execution_engine
    x = _leaf(1.0)
    y = x * 2
    y.register_hook(lambda g: engine.queue_callback(lambda: 1 / 0))
    outcome(y.backward)
    (x * 3).backward()
    print(x.grad)


def a_callback_belongs_to_the_innermost_run() -> None:
    engine, log = torch.autograd.Variable._execution_engine, []
    x = _leaf(1.0)

    def nested(grad):
        with torch.enable_grad():
            z = _leaf(1.0)
            w = z * 2
            w.register_hook(lambda g: engine.queue_callback(lambda: log.append("inner")))
            w.backward()
            log.append("outer goes on")

    y = x * 2
    y.register_hook(nested)
    y.backward()
    print(log)


def the_engine_can_be_called_by_its_old_name() -> None:
    x = _leaf(2.0)
    run = torch.autograd.Variable._execution_engine.run_backward
    y = x * x
    run((y,), (torch.ones(1),), False, False, (), allow_unreachable=True, accumulate_grad=True)
    print(x.grad)


def nesting_sixty_runs() -> None:
    class Nested(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, depth):
            ctx.depth = depth
            ctx.save_for_backward(x)
            return x * 1

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            if ctx.depth == 60:
                return g * 2, None
            with torch.enable_grad():
                z = x.detach().requires_grad_()
                Nested.apply(z, ctx.depth + 1).sum().backward()
                return z.grad, None

    x = _leaf(1.0, 2.0)
    Nested.apply(x, 0).sum().backward()
    print(x.grad)


def saved_tensors_go_as_the_engine_passes() -> None:
    x = _leaf(1.0, 2.0)
    a = x + 1
    seen = weakref.ref(a)
    b = (a**2).sum()
    del a
    print(seen() is not None)
    b.backward()
    print(seen() is None)


def a_graph_is_freed_by_counting_references() -> None:
    gc.disable()
    x = _leaf(1.0, 2.0)
    a = x * 3
    seen = weakref.ref(a)
    b = a.exp()
    c = weakref.ref(b)
    d = (a * b).sum()
    del a, b
    print(seen() is not None)
    del d
    print(seen(), c())
    gc.enable()


def a_hook_that_holds_its_node_is_garbage() -> None:
    class Marker:
        pass

    marker = Marker()
    seen = weakref.ref(marker)
    y = _leaf(1.0) * 2
    node = y.grad_fn

    def hook(grad, held=(node, marker)):
        return None

    y.register_hook(hook)
    y.backward()
    del y, node, marker, hook
    gc.collect()
    print(seen())


def a_long_chain_is_freed_without_recursion() -> None:
    x = y = _leaf(1.0)
    for _ in range(20000):
        y = y + 1
    del y
    print(x)


def undefined_gradients_stay_undefined() -> None:
    class Nothing(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return None

    x = _leaf(1.0)
    Nothing.apply(x).backward()
    print(x.grad)
    Nothing.apply(x**2).sum().backward()
    print(x.grad)
    outcome(torch.autograd.grad, Nothing.apply(x), x, allow_unused=True)
    outcome(torch.autograd.grad, Nothing.apply(x), x)


def several_roots_with_and_without_seeds() -> None:
    x = _leaf(1.0, 2.0)
    outcome(torch.autograd.grad, [x.sum(), x.prod()], [x], [None, torch.tensor(2.0)])
    outcome(torch.autograd.grad, [x.sum(), x * 2], [x], [None, None])
    outcome(torch.autograd.grad, [], [x])
    outcome(torch.autograd.grad, [x.sum(), torch.ones(())], [x])
    outcome(torch.autograd.backward, [])
    outcome(torch.autograd.backward, 5)


def the_messages_name_types_as_cxx_does() -> None:
    for dtype in (torch.float16, torch.bfloat16, torch.float64, torch.complex64):
        x = torch.ones(2, dtype=dtype, requires_grad=True)
        a = x * 2
        b = (a * a).sum()
        a.mul_(2)
        outcome(b.backward, torch.ones((), dtype=dtype))


def near_values_of_a_batch_of_seeds() -> None:
    x = _leaf(1.0, 2.0, 3.0)
    y = x * x
    (g,) = torch.autograd.grad(y, x, torch.eye(3), is_grads_batched=True)
    print(near(g))
