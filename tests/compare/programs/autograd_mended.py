"""Corners of autograd that few programs reach: what runs leave, odd attributes, gradchecks."""

import gc
import warnings
import weakref
from itertools import product

import torch
from observation import outcome

fwAD = torch.autograd.forward_ad
Function = torch.autograd.Function
gradcheck = torch.autograd.gradcheck
once_differentiable = torch.autograd.function.once_differentiable


def _leaf(*values: float, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.tensor(values, dtype=dtype, requires_grad=True)


def _graph(node) -> str:
    if node is None:
        return "None"
    return f"{type(node).__name__}({', '.join(_graph(n) for n, _ in node.next_functions)})"


class _Double(Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g.to(torch.float64) * 2


class _Product(Function):
    @staticmethod
    def forward(ctx, x, factor, y):
        ctx.save_for_backward(x, y)
        return x * y * factor

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g * y, None, g * x


def the_graph_of_a_gradient_that_may_be_taken_once() -> None:
    x, y = _leaf(1.0, 2.0), _leaf(3.0, 4.0)
    start = torch.ones((), requires_grad=True)
    gx, gy = torch.autograd.grad(_Product.apply(x, 2, y).sum(), (x, y), start, create_graph=True)
    print(_graph(gx.grad_fn), _graph(gy.grad_fn))
    outcome(gx.sum().backward)


def hooks_entered_in_a_backward_end_with_it() -> None:
    def scope():
        def unpack(packed):
            context().__enter__()
            return packed

        entered = torch.autograd.graph.saved_tensors_hooks(lambda t: t, unpack)
        context = weakref.ref(entered)
        with entered:
            _leaf(1.0, 2.0).sin().sum().backward()
        return weakref.ref(unpack)

    gc.disable()
    print(scope()() is None, torch._C._autograd._top_saved_tensors_default_hooks(False))
    gc.enable()


def a_hook_that_switches_gradients_off() -> None:
    y = _leaf(1.0, 2.0) * 2
    y.register_hook(lambda g: torch.set_grad_enabled(False))
    outcome(y.sum().backward)
    print(torch.is_grad_enabled())


def a_post_hook_that_an_unpack_hook_registers() -> None:
    def unpack(packed):
        node = torch._C._current_autograd_node()
        node.register_hook(lambda ins, outs: print(len(ins), list(outs)))
        return packed

    with torch.autograd.graph.saved_tensors_hooks(lambda t: t, unpack):
        (_leaf(1.0, 2.0) ** 2).sum().backward()


def a_post_accumulate_hook_that_returns_something() -> None:
    x = _leaf(1.0, 2.0)
    x.register_post_accumulate_grad_hook(lambda p: p.grad)
    outcome(x.sum().backward)


def batches_of_integer_gradients() -> None:
    x = _leaf(1.0, 2.0)
    print(torch.autograd.grad(x.sum(), x, torch.arange(3), is_grads_batched=True))


def gradients_of_another_type() -> None:
    for wanted in (torch.float32, None, torch.float16):
        x = _leaf(1.0, 2.0)
        x.grad_dtype = wanted
        print(x.grad_dtype)
        _Double.apply(x).sum().backward()
        print(x.grad)
        (x * 3).sum().backward()
        print(x.grad)
    outcome(lambda: setattr(x, "grad_dtype", torch.float64))
    x.grad = None
    outcome(lambda: setattr(x, "grad", torch.ones(2)))
    outcome(lambda: setattr(x, "grad_dtype", 3))
    outcome(lambda: (x * 2).grad_dtype)


def attributes_that_cannot_go() -> None:
    x = _leaf(1.0, 2.0)
    for name in ("data", "requires_grad", "_grad_fn", "_backward_hooks", "grad_fn", "shape"):
        outcome(lambda name=name: delattr(x, name))
    outcome(lambda: setattr(x, "_grad_fn", 3))
    table: dict = {}
    x._backward_hooks = table
    print(x._backward_hooks is table)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        print(x.volatile)
        x.volatile = True
    print([str(w.message) for w in told])


def a_detached_tensor_still_says_that_it_keeps_its_gradient() -> None:
    y = _leaf(1.0, 2.0) * 2
    y.retain_grad()
    y.detach_()
    print(y.retains_grad, y.requires_grad)


def arrays_of_leaves_without_gradients() -> None:
    x = _leaf(1.0, 2.0)
    outcome(x.numpy)
    with torch.no_grad():
        print(x.numpy())


def how_many_hold_a_leaf() -> None:
    x = _leaf(1.0, 2.0)
    y = x * 2
    print(x._use_count())
    del y
    print(x._use_count())


def classes_that_count_as_nodes() -> None:
    node = torch.autograd.graph.Node
    print(issubclass(node, node), issubclass(torch._C._functions.DelayedError, node))
    print(isinstance(torch._C._functions.AccumulateGrad, node), isinstance(3, node))


def questions_about_a_run() -> None:
    y = _leaf(1.0, 2.0) * 2
    y.register_hook(lambda g: print(torch._C._autograd._get_current_graph_task_keep_graph()))
    y.sum().backward(retain_graph=True)
    y.sum().backward()
    outcome(lambda: torch._C._will_engine_execute_node(y))
    outcome(lambda: torch._C._autograd._unsafe_set_version_counter((y,), (-1,)))
    print(torch._C._is_view_replay_enabled(), torch.autograd.is_view_replay_enabled())


def a_tensor_saved_by_hand() -> None:
    seen = []
    x = _leaf(1.0, 2.0)
    pack = lambda t: (seen.append("pack"), t * 2)[1]  # noqa: E731
    unpack = lambda t: (seen.append("unpack"), t / 2)[1]  # noqa: E731
    with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
        saved = torch._C._autograd._make_saved_tensor(x, is_output=False)
    print(seen, saved.unpack().detach(), saved.unpack().detach(), seen)
    outcome(lambda: torch.autograd.SavedTensor())


def gradchecks_of_functions_with_hooks() -> None:
    def skewed(x):
        y = x.clone()
        y.register_hook(lambda g: g + 1e-2)
        return y

    def picky(x):
        def hook(g):
            if g is None:
                raise RuntimeError("no gradient")

        y = x.clone()
        y.register_hook(hook)
        return y

    x = _leaf(1.0, dtype=torch.float64)
    for fast, (f, atol) in product((True, False), ((skewed, 0.1), (picky, 1e-5))):
        outcome(lambda f=f, a=atol, m=fast: gradcheck(f, (x,), atol=a, fast_mode=m))


def gradchecks_of_outputs_that_change_shape_or_type() -> None:
    x = _leaf(1.0, dtype=torch.float64)
    for fast in (True, False):
        wider = lambda x: torch.cat([x, x]) if bool((x >= 1).all()) else x  # noqa: E731
        other = lambda x: x.float() if bool((x >= 1).all()) else x  # noqa: E731
        outcome(lambda f=wider, m=fast: gradcheck(f, (x,), fast_mode=m))
        outcome(lambda f=other, m=fast: gradcheck(f, (x,), fast_mode=m))


def gradchecks_in_forward_mode_make_every_input_dual() -> None:
    seen = []

    def f(x, y):
        if fwAD._current_level >= 0:
            seen.append(fwAD.unpack_dual(y).tangent is not None)
        return x + y, y

    x, y = _leaf(1.0, dtype=torch.float64), _leaf(2.0, dtype=torch.float64)
    print(gradcheck(f, (x, y), check_forward_ad=True, check_backward_ad=False,
                    check_undefined_grad=False))  # fmt: skip
    print(seen)


def gradchecks_in_batches_run_functions_of_the_old_style() -> None:
    calls = []

    class Copies(Function):
        @staticmethod
        def forward(ctx, x, y):
            return x.clone(), y.clone()

        @staticmethod
        def jvp(ctx, tx, ty):
            calls.append(1)
            return tx, ty

    x, y = _leaf(1.0, dtype=torch.float64), _leaf(2.0, dtype=torch.float64)
    print(gradcheck(Copies.apply, (x, y), check_forward_ad=True, check_backward_ad=False,
                    check_batched_forward_grad=True), len(calls))  # fmt: skip


def a_jvp_that_leaves_the_tangent_of_a_written_input() -> None:
    class Doubled(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return x.mul_(2)

        @staticmethod
        def jvp(ctx, t):
            return t

    with fwAD.dual_level():
        outcome(lambda: Doubled.apply(fwAD.make_dual(torch.ones(2), torch.ones(2))))


def pure_views_of_several_tensors() -> None:
    class Pair(Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx._is_pure_view = True
            return x.view_as(x), x + y

        @staticmethod
        def backward(ctx, gx, gy):
            return gx + gy, gy

    outcome(lambda: Pair.apply(_leaf(1.0), _leaf(2.0)))
