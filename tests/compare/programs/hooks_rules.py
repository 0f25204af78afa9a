"""What hooks may return, in what order all kinds run, what copies and pickles make of them."""

import copy
import functools
import pickle

import torch
from observation import outcome


def _leaf(*values: float) -> torch.Tensor:
    return torch.tensor(values, requires_grad=True)


def _run(register) -> None:
    x = _leaf(1.0, 1.0)
    y = x * 2
    register(y)
    outcome(y.sum().backward)
    print(x.grad)


def the_order_around_a_node() -> None:
    x, log = _leaf(1.0, 1.0), []
    y = x * 2
    y.retain_grad()
    y.register_hook(lambda g: (log.append("first"), g * 2)[1])
    y.register_hook(lambda g: log.append(("second", g.tolist())))
    y.grad_fn.register_prehook(lambda gs: log.append(("before", gs[0].tolist())))
    y.grad_fn.register_hook(lambda ins, outs: log.append(("after", ins[0].tolist(), len(ins))))
    y.sum().backward()
    print(log, y.grad)


def the_order_around_a_leaf() -> None:
    x, log = _leaf(1.0, 1.0), []
    node = x.view_as(x).grad_fn.next_functions[0][0]
    x.register_post_accumulate_grad_hook(lambda p: log.append(("done", p.grad.tolist())))
    node.register_hook(lambda ins, outs: log.append(("after", ins, outs[0].tolist())))
    node.register_prehook(lambda gs: (log.append(("before", gs[0].tolist())), (gs[0] * 3,))[1])
    x.register_hook(lambda g: (log.append(("tensor", g.tolist())), g * 2)[1])
    (x * 5).sum().backward()
    print(log, x.grad)
    log.clear()
    print(torch.autograd.grad((x * 5).sum(), x), log)
    log.clear()
    (x * 5).sum().backward(inputs=[x])
    print(log, x.grad)


def what_a_tensor_hook_may_return() -> None:
    for value in (
        1,
        "a",
        False,
        (torch.ones(2),),
        torch.ones(3),
        torch.ones(1, 2),
        torch.ones(2, dtype=torch.float64),
        torch.ones(2, dtype=torch.complex64),
        torch.ones(2, dtype=torch.bfloat16),
    ):
        _run(lambda y, value=value: y.register_hook(lambda g: value))


def how_a_hook_is_named_in_messages() -> None:
    def wrong(g):
        return torch.ones(3)

    class Callable:
        def __call__(self, g):
            return torch.ones(3)

    for hook in (wrong, Callable(), functools.partial(wrong), Callable().__call__):
        _run(lambda y, hook=hook: y.register_hook(hook))


def what_a_node_hook_may_return() -> None:
    one = torch.ones(2)
    for value in (1, one, (one,), (one * 9, None), (None, None), (None, one), [one, None], ()):
        _run(lambda y, value=value: y.grad_fn.register_hook(lambda ins, outs: value))


def what_a_node_prehook_may_return() -> None:
    one = torch.ones(2)
    for value in (1, one, (one * 7,), (one, None), (None,), (torch.ones(3),), [one], ()):
        _run(lambda y, value=value: y.grad_fn.register_prehook(lambda outs: value))


def hooks_of_an_unused_output_get_none() -> None:
    x, log = _leaf(1.0, 1.0), []
    a, b = (x * 2).split(1)
    a.register_hook(lambda g: log.append(("a", g)))
    b.register_hook(lambda g: log.append(("b", g)))
    a.grad_fn.register_prehook(lambda gs: log.append(("before", gs)))
    a.sum().backward()
    print(log)
    b.register_hook(lambda g: torch.ones(1))
    a, b = (x * 2).split(1)
    b.register_hook(lambda g: torch.ones(1))
    outcome(a.sum().backward)


def a_hook_may_remove_itself() -> None:
    log = []
    y = _leaf(1.0) * 2

    def once(g):
        log.append("once")
        handle.remove()

    handle = y.register_hook(once)
    y.register_hook(lambda g: log.append("always"))
    y.backward(retain_graph=True)
    y.backward()
    print(log)
    handle.remove()


def a_hook_registered_in_a_hook_runs_next_time() -> None:
    log = []
    y = _leaf(1.0) * 2

    def first(g):
        log.append("first")
        if len(log) == 1:
            y.register_hook(lambda g: log.append("second"))

    y.register_hook(first)
    y.backward(retain_graph=True)
    print(log)
    y.backward()
    print(log)


def a_handle_is_a_context() -> None:
    y = _leaf(1.0) * 2
    with y.register_hook(lambda g: print("inside")) as handle:
        y.backward(retain_graph=True)
        print(type(handle).__name__)
    y.backward()


def copies_of_a_tensor_have_no_hooks() -> None:
    x = _leaf(1.0)
    x.register_hook(lambda g: print("ran"))
    deep = copy.deepcopy(x)
    (deep * 2).backward()
    print(deep.grad)
    shallow = copy.copy(x)
    (shallow * 2).backward()


def _named_hook(g):
    return None


def a_pickle_leaves_hooks_out_and_warns() -> None:
    x = _leaf(1.0)
    x.register_hook(_named_hook)
    again = pickle.loads(pickle.dumps(x))
    (again * 2).backward()
    print(again.grad)


def a_hook_can_be_marked_as_left_out() -> None:
    @torch.utils.hooks.unserializable_hook
    def marked(g):
        return None

    x = _leaf(1.0)
    x.register_hook(marked)
    print(pickle.loads(pickle.dumps(x)).requires_grad)


def retained_gradients() -> None:
    x = _leaf(1.0, 1.0)
    y = x * 2
    print(y.retains_grad, x.retains_grad)
    y.retain_grad()
    y.retain_grad()
    y.sum().backward(retain_graph=True)
    first = y.grad
    y.sum().backward(retain_graph=True)
    print(y.retains_grad, y.grad, first is y.grad, first)
    z = y * 3
    z.retain_grad()
    z.sum().backward(inputs=[z])
    print(z.grad)
    w = x * x
    w.retain_grad()
    (w * w).sum().backward(create_graph=True)
    print(w.grad.requires_grad, w.grad.grad_fn.name())


def retain_grad_and_writes_in_place() -> None:
    x = _leaf(1.0, 1.0)
    y = x * 2
    y.retain_grad()
    y.register_hook(lambda g: print("old", g))
    y.mul_(3)
    y.register_hook(lambda g: print("new", g))
    print(y.retains_grad)
    y.sum().backward()
    print(y.grad, x.grad)


def errors_of_hooks_leave_the_engine_usable() -> None:
    x = _leaf(1.0)
    y = x * 2

    def wrong(g):
        raise KeyError("wrong")

    handle = y.register_hook(wrong)
    outcome(y.backward, retain_graph=True)
    print(x.grad)
    handle.remove()
    y.backward()
    print(x.grad)


def hooks_on_groups_of_tensors() -> None:
    register = torch.autograd.graph.register_multi_grad_hook
    a, b, log = _leaf(1.0, 1.0), _leaf(2.0, 2.0), []
    c = a * b
    d = (c * 2).sum()
    handle = register(
        [a, b, c], lambda gs: log.append([None if g is None else g.tolist() for g in gs])
    )
    d.backward(retain_graph=True)
    d.backward(inputs=[a], retain_graph=True)
    outcome(torch.autograd.grad, d, [b], retain_graph=True)
    handle.remove()
    d.backward(retain_graph=True)
    print(log)
    log.clear()
    with register([a, b, c], lambda g: log.append(g.tolist()), mode="any"):
        d.backward(retain_graph=True)
    d.backward()
    print(log)
    outcome(register, [a], print, mode="some")
    outcome(register, [torch.ones(1)], print)


def hooks_see_grad_mode() -> None:
    x, log = _leaf(1.0), []
    y = x * 2
    y.register_hook(lambda g: log.append((torch.is_grad_enabled(), g.requires_grad)))
    y.grad_fn.register_hook(lambda ins, outs: log.append(torch.is_grad_enabled()))
    x.register_post_accumulate_grad_hook(lambda p: log.append(torch.is_grad_enabled()))
    y.backward(retain_graph=True)
    y.backward(create_graph=True)
    print(log)
