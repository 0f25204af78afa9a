"""Hooks on tensors, nodes and groups of tensors: when they run, what they may replace, how they leave."""

import torch
from observation import outcome


def _leaf(*values: float) -> torch.Tensor:
    return torch.tensor(values, requires_grad=True)


def a_tensor_hook_sees_the_gradient() -> None:
    x = _leaf(1.0, 2.0)
    y = x * 3
    y.register_hook(lambda g: print("y", g))
    x.register_hook(lambda g: print("x", g))
    y.sum().backward()
    print(x.grad)


def a_tensor_hook_may_replace_the_gradient() -> None:
    x = _leaf(1.0, 2.0)
    y = x * 3
    y.register_hook(lambda g: g * 10)
    x.register_hook(lambda g: g + 1)
    y.sum().backward()
    print(x.grad)


def hooks_of_one_tensor_run_in_order_of_registration() -> None:
    x = _leaf(1.0)
    x.register_hook(lambda g: g + 1)
    x.register_hook(lambda g: g * 10)
    x.register_hook(lambda g: print("last", g))
    (x * 1).backward()
    print(x.grad)


def a_leaf_hook_sees_the_new_gradient_not_the_sum() -> None:
    x = _leaf(1.0)
    x.register_hook(lambda g: print("hook", g, x.grad))
    for k in (1, 2):
        (x * k).backward()
        print(x.grad)


def a_leaf_hook_runs_once_for_a_leaf_used_twice() -> None:
    x = _leaf(1.0)
    x.register_hook(lambda g: print("hook", g))
    (x * 2 + x * 3).backward()


def a_hook_can_be_removed() -> None:
    x = _leaf(1.0)
    handle = x.register_hook(lambda g: g * 100)
    (x * 1).backward()
    handle.remove()
    (x * 1).backward()
    print(x.grad, type(handle).__name__)
    handle.remove()
    with x.register_hook(lambda g: g * 7):
        (x * 1).backward()
    (x * 1).backward()
    print(x.grad)


def a_hook_on_a_tensor_without_gradient_is_refused() -> None:
    outcome(torch.ones(1).register_hook, lambda g: g)
    outcome(torch.ones(1).register_post_accumulate_grad_hook, lambda t: None)


def a_hook_must_return_a_fitting_tensor() -> None:
    for value in (torch.ones(3), 1.0, "g", torch.ones(2, dtype=torch.float64), torch.ones(2, 1)):
        x = _leaf(1.0, 2.0)
        x.register_hook(lambda g, value=value: value)
        outcome((x * 1).sum().backward)
        print(x.grad)


def an_intermediate_hook_must_keep_the_shape() -> None:
    x = _leaf(1.0, 2.0)
    y = x * 2
    y.register_hook(lambda g: g.sum())
    outcome(y.sum().backward)
    print(x.grad)


def a_raising_hook_stops_the_backward() -> None:
    x = _leaf(1.0)

    def refuse(g):
        raise RuntimeError("refused by the hook")

    h = x.register_hook(refuse)
    outcome((x * 1).backward)
    print(x.grad)
    h.remove()
    (x * 1).backward()
    print(x.grad)


def a_hook_may_change_the_gradient_in_place() -> None:
    x, y = _leaf(1.0), _leaf(1.0)
    z = x + y
    z.register_hook(lambda g: g.mul_(5))
    z.backward()
    print(x.grad, y.grad)


def hooks_also_run_for_autograd_grad() -> None:
    x = _leaf(1.0)
    x.register_hook(lambda g: g * 10)
    y = x * 2
    y.register_hook(lambda g: g * 3)
    print(torch.autograd.grad(y, x), x.grad)
    y = x * 2
    y.register_hook(lambda g: g * 3)
    print(torch.autograd.grad(y, y))


def a_hook_on_an_unused_tensor_does_not_run() -> None:
    x = _leaf(1.0)
    y = x * 2
    y.register_hook(lambda g: print("never"))
    (x * 3).backward()
    print(x.grad)


def a_post_accumulate_hook_sees_the_finished_gradient() -> None:
    x = _leaf(1.0)
    h = x.register_post_accumulate_grad_hook(lambda t: print("post", t is x, t.grad))
    x.register_hook(lambda g: print("tensor hook", g))
    (x * 2).backward()
    (x * 2).backward()
    h.remove()
    (x * 2).backward()
    print(x.grad)


def a_post_accumulate_hook_may_free_the_gradient() -> None:
    x = _leaf(4.0)

    def step(t):
        with torch.no_grad():
            t.sub_(t.grad)
        t.grad = None

    x.register_post_accumulate_grad_hook(step)
    (x * 2).backward()
    (x * x).backward()
    print(x, x.grad)


def a_post_accumulate_hook_must_return_nothing() -> None:
    x = _leaf(4.0)
    x.register_post_accumulate_grad_hook(lambda t: t)
    outcome((x * 2).backward)
    y = _leaf(1.0) * 2
    outcome(y.register_post_accumulate_grad_hook, lambda t: None)


def a_post_accumulate_hook_is_not_run_by_grad() -> None:
    x = _leaf(4.0)
    x.register_post_accumulate_grad_hook(lambda t: print("post", t.grad))
    print(torch.autograd.grad(x * 2, x))


def a_node_hook_sees_input_and_output_gradients() -> None:
    x, y = _leaf(2.0), _leaf(3.0)
    z = x * y
    z.grad_fn.register_hook(lambda gi, go: print("node", gi, go))
    z.backward()
    w = x * 5
    w.grad_fn.register_hook(lambda gi, go: print("node", gi, go))
    w.backward()


def a_node_hook_may_replace_the_input_gradients() -> None:
    x, y = _leaf(2.0), _leaf(3.0)
    z = x * y
    z.grad_fn.register_hook(lambda gi, go: (gi[0] * 10, gi[1]))
    z.backward()
    print(x.grad, y.grad)


def a_node_hook_must_return_as_many_gradients() -> None:
    x, y = _leaf(2.0), _leaf(3.0)
    for value in ((torch.ones(1),), torch.ones(1), 5, [torch.ones(1), torch.ones(1)]):
        z = x * y
        z.grad_fn.register_hook(lambda gi, go, value=value: value)
        outcome(z.backward)


def a_node_prehook_sees_and_replaces_the_output_gradients() -> None:
    x = _leaf(2.0)
    z = x * 3
    z.grad_fn.register_prehook(lambda go: print("pre", go))
    z.grad_fn.register_prehook(lambda go: (go[0] * 10,))
    z.grad_fn.register_hook(lambda gi, go: print("post", gi, go))
    z.backward()
    print(x.grad)


def a_node_prehook_must_return_a_tuple() -> None:
    x = _leaf(2.0)
    for value in (torch.ones(1), 5, (torch.ones(1), torch.ones(1)), ("g",)):
        z = x * 3
        z.grad_fn.register_prehook(lambda go, value=value: value)
        outcome(z.backward)


def the_order_of_all_hooks_around_a_node() -> None:
    x = _leaf(2.0)
    y = x * 3
    order = []
    y.grad_fn.register_hook(lambda gi, go: order.append("node post"))
    y.retain_grad()
    y.register_hook(lambda g: order.append("tensor"))
    y.grad_fn.register_prehook(lambda go: order.append("node pre"))
    x.register_hook(lambda g: order.append("leaf tensor"))
    x.register_post_accumulate_grad_hook(lambda t: order.append("leaf post accumulate"))
    node = y.grad_fn.next_functions[0][0]
    node.register_prehook(lambda go: order.append("accumulate pre"))
    node.register_hook(lambda gi, go: order.append("accumulate post"))
    y.backward()
    print(order)


def hooks_on_the_accumulate_node() -> None:
    x = _leaf(2.0)
    y = x * 3
    node = y.grad_fn.next_functions[0][0]
    node.register_prehook(lambda go: print("pre", go, x.grad))
    node.register_hook(lambda gi, go: print("post", gi, go, x.grad))
    y.backward()
    y = x * 4
    y.backward()


def node_hooks_can_be_removed() -> None:
    x = _leaf(2.0)
    y = x * 3
    a = y.grad_fn.register_hook(lambda gi, go: print("post"))
    b = y.grad_fn.register_prehook(lambda go: print("pre"))
    y.backward(retain_graph=True)
    a.remove()
    y.backward(retain_graph=True)
    b.remove()
    y.backward()
    print(x.grad)


def retain_grad_keeps_the_gradient_of_an_intermediate() -> None:
    x = _leaf(1.0, 2.0)
    y = x * 2
    print(y.retains_grad, x.retains_grad)
    y.retain_grad()
    y.retain_grad()
    print(y.retains_grad)
    (y * y).sum().backward()
    print(y.grad, x.grad)
    y = x * 2
    y.retain_grad()
    (y * y).sum().backward(retain_graph=True)
    (y * 3).sum().backward()
    print(y.grad)


def retain_grad_sees_what_hooks_have_made_of_it() -> None:
    x = _leaf(1.0)
    y = x * 2
    y.retain_grad()
    y.register_hook(lambda g: g * 10)
    (y * 1).backward()
    print(y.grad, x.grad)


def retain_grad_needs_a_gradient() -> None:
    outcome(torch.ones(1).retain_grad)
    x = _leaf(1.0)
    outcome(x.retain_grad)
    print(x.retains_grad)
    outcome(setattr, x, "retains_grad", True)


def retain_grad_follows_an_in_place_change() -> None:
    x = _leaf(1.0)
    y = x * 2
    y.retain_grad()
    y.mul_(5)
    y.backward()
    print(y.grad, x.grad)


def a_hook_before_an_in_place_change_stays_with_the_old_value() -> None:
    x = _leaf(1.0)
    y = x * 2
    y.register_hook(lambda g: print("before", g))
    y.mul_(5)
    y.register_hook(lambda g: print("after", g))
    y.backward()


def a_multi_grad_hook_runs_once_with_all_gradients() -> None:
    x, y, z = _leaf(1.0), _leaf(2.0), _leaf(3.0)
    handle = torch.autograd.graph.register_multi_grad_hook((x, y, z), lambda gs: print(gs))
    (x * y).backward()
    (x * y * z).backward()
    handle.remove()
    (x * y * z).backward()
    print(x.grad)


def a_multi_grad_hook_in_mode_any_runs_with_the_first() -> None:
    x = _leaf(1.0)
    a = x * 2
    b = x * 3
    torch.autograd.graph.register_multi_grad_hook((a, b), lambda g: print(g), mode="any")
    (a + b * 5).backward()
    outcome(torch.autograd.graph.register_multi_grad_hook, (a, b), print, mode="some")


def a_hook_with_create_graph_is_part_of_the_graph() -> None:
    x = torch.tensor(2.0, requires_grad=True)
    y = x**3
    x.register_hook(lambda g: g * x)
    (g,) = torch.autograd.grad(y, x, create_graph=True)
    print(g)
    print(torch.autograd.grad(g, x))


def hooks_survive_on_copies_of_the_handle_only() -> None:
    import copy

    x = _leaf(1.0)
    x.register_hook(lambda g: g * 10)
    twin = copy.deepcopy(x)
    (twin * 1).backward()
    print(twin.grad)
    print(x._backward_hooks is not None, twin._backward_hooks)


def a_module_backward_hook_sees_the_gradients() -> None:
    m = torch.nn.Linear(2, 1, bias=False)
    with torch.no_grad():
        m.weight.fill_(2.0)
    m.register_full_backward_hook(lambda mod, gi, go: print("post", gi, go))
    m.register_full_backward_pre_hook(lambda mod, go: print("pre", go))
    x = torch.ones(1, 2, requires_grad=True)
    m(x).backward()
    print(x.grad)
    m(torch.ones(1, 2)).backward()


def a_module_backward_hook_may_replace_the_gradients() -> None:
    m = torch.nn.Linear(2, 1)
    with torch.no_grad():
        m.weight.fill_(2.0)
    m.register_full_backward_pre_hook(lambda mod, go: (go[0] * 10,))
    m.register_full_backward_hook(lambda mod, gi, go: (gi[0] + 1,))
    x = torch.ones(1, 2, requires_grad=True)
    m(x).backward()
    print(x.grad, m.weight.grad)


def clipping_inside_a_hook() -> None:
    w = torch.tensor([3.0, -4.0], requires_grad=True)
    w.register_hook(lambda g: torch.clamp(g, -1, 1))
    (w**2).sum().backward()
    print(w.grad)
