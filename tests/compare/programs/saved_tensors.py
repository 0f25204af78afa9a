"""Saved tensors: hooks that pack and unpack them, versions, identity, release."""

import gc
import weakref

import torch
from observation import near, outcome

graph = torch.autograd.graph


def _leaf(*values: float) -> torch.Tensor:
    return torch.tensor(values, requires_grad=True)


def _pair(tag: str = ""):
    def pack(t):
        print("pack" + tag, near(t))
        return t

    def unpack(t):
        print("unpack" + tag, near(t))
        return t

    return pack, unpack


def a_context_of_hooks_packs_on_save_and_unpacks_on_use() -> None:
    x, y = _leaf(2.0), _leaf(3.0)
    with graph.saved_tensors_hooks(*_pair()):
        z = x * y
    print("backward")
    z.backward()
    print(x.grad, y.grad)


def the_unpacked_value_is_what_the_formula_uses() -> None:
    x = _leaf(2.0)
    with graph.saved_tensors_hooks(lambda t: t * 4, lambda t: t):
        z = x * x
    z.backward()
    print(x.grad)


def a_pack_hook_may_return_anything() -> None:
    x = _leaf(2.0, 5.0)
    kept = {}

    def pack(t):
        kept[len(kept)] = t.detach().numpy().copy()
        return len(kept) - 1

    with graph.saved_tensors_hooks(pack, lambda k: torch.from_numpy(kept[k])):
        z = (x.exp() * x).sum()
    print(sorted(kept))
    z.backward()
    print(near(x.grad))


def an_unpack_hook_must_return_a_tensor() -> None:
    x = _leaf(2.0)
    with graph.saved_tensors_hooks(lambda t: t, lambda t: 5):
        z = x * x
    outcome(z.backward)
    with graph.saved_tensors_hooks(lambda t: t, lambda t: None):
        z = x.exp()
    outcome(z.backward)


def an_unpacked_tensor_of_another_shape_is_noticed() -> None:
    x = torch.ones(2, 2, requires_grad=True)
    with graph.saved_tensors_hooks(lambda t: t, lambda t: torch.ones(3, 3)):
        z = (x * x).sum()
    outcome(z.backward)


def contexts_nest_and_the_innermost_wins() -> None:
    x = _leaf(2.0)
    with graph.saved_tensors_hooks(*_pair(" outer")):
        a = x.exp()
        with graph.saved_tensors_hooks(*_pair(" inner")):
            b = x.sin()
        c = x.cos()
    d = x.tanh()
    (a + b + c + d).backward()
    print(near(x.grad))


def operations_inside_a_pack_hook_save_without_hooks() -> None:
    x = _leaf(2.0)
    depth = []

    def pack(t):
        depth.append(torch.is_grad_enabled())
        return t * 1.0

    with graph.saved_tensors_hooks(pack, lambda t: t):
        z = x * x
    z.backward()
    print(depth, x.grad)


def hooks_on_one_node_pack_at_once() -> None:
    x = _leaf(2.0, 3.0)
    y = x.pow(2)
    y.grad_fn._raw_saved_self.register_hooks(*_pair())
    print("registered")
    y.sum().backward()
    print(x.grad)


def hooks_on_one_node_may_be_registered_once() -> None:
    x = _leaf(2.0)
    y = x.pow(2)
    raw = y.grad_fn._raw_saved_self
    raw.register_hooks(lambda t: t, lambda t: t)
    outcome(raw.register_hooks, lambda t: t, lambda t: t)


def node_hooks_are_refused_where_context_hooks_are() -> None:
    x = _leaf(2.0)
    with graph.saved_tensors_hooks(lambda t: t, lambda t: t):
        y = x.pow(2)
    outcome(y.grad_fn._raw_saved_self.register_hooks, lambda t: t, lambda t: t)


def hooks_on_a_value_that_was_not_saved_are_refused() -> None:
    x = _leaf(2.0)
    y = x * torch.ones(1)
    outcome(y.grad_fn._raw_saved_self.register_hooks, lambda t: t, lambda t: t)


def register_hooks_wants_two_callables() -> None:
    x = _leaf(2.0)
    outcome(x.pow(2).grad_fn._raw_saved_self.register_hooks, lambda t: t)
    outcome(x.pow(2).grad_fn._raw_saved_self.register_hooks, 1, 2)
    outcome(x.pow(2).grad_fn._raw_saved_self.register_hooks, lambda: 1, lambda t: t)


def a_pack_hook_must_not_write_in_place() -> None:
    x = _leaf(2.0)

    def use():
        with graph.saved_tensors_hooks(lambda t: t.mul_(2), lambda t: t):
            return x * x

    outcome(use)
    y = x * 1

    def use_intermediate():
        with graph.saved_tensors_hooks(lambda t: t.mul_(2), lambda t: t):
            return y * y

    outcome(use_intermediate)
    z = y.pow(2)
    outcome(z.grad_fn._raw_saved_self.register_hooks, lambda t: t.add_(1), lambda t: t)


def a_pack_hook_that_raises_stops_the_operation() -> None:
    x = _leaf(2.0)

    def pack(t):
        raise OSError("disk full")

    def use():
        with graph.saved_tensors_hooks(pack, lambda t: t):
            return x * x

    outcome(use)
    print((x * x).grad_fn)


def saved_tensor_hooks_can_be_disabled() -> None:
    x = _leaf(2.0)

    def use():
        with graph.disable_saved_tensors_hooks("not in this house"):
            with graph.saved_tensors_hooks(lambda t: t, lambda t: t):
                return x * x

    outcome(use)

    def inside():
        with graph.saved_tensors_hooks(lambda t: t, lambda t: t):
            with graph.disable_saved_tensors_hooks("not here either"):
                return x * x

    outcome(inside)
    with graph.disable_saved_tensors_hooks("no"):
        z = x * x
    z.backward()
    print(x.grad)


def save_on_cpu_gives_the_same_gradients() -> None:
    x = torch.randn(3, requires_grad=True)
    with graph.save_on_cpu():
        z = (x.exp() * x.sin()).sum()
    z.backward()
    print(near(x.grad))
    outcome(lambda: z.grad_fn._raw_saved_self)


def a_saved_leaf_is_itself() -> None:
    x = _leaf(2.0)
    y = x.pow(2)
    print(y.grad_fn._saved_self is x)
    z = y.pow(2)
    print(z.grad_fn._saved_self is y, z.grad_fn._saved_self is z.grad_fn._saved_self)
    e = x.exp()
    print(e.grad_fn._saved_result is e)


def saved_values_with_hooks_are_new_objects() -> None:
    x = _leaf(2.0)
    with graph.saved_tensors_hooks(lambda t: t.detach(), lambda t: t):
        y = x.pow(2)
    s = y.grad_fn._saved_self
    print(s is x, s.equal(x), s.requires_grad, s.is_leaf)


def a_write_to_a_saved_input_is_found_at_backward() -> None:
    x = torch.ones(3, requires_grad=True)
    y = x * 1
    z = y * y
    y.add_(1)
    outcome(z.sum().backward)


def a_write_to_a_saved_leaf_is_found_at_backward() -> None:
    x = torch.ones(3, requires_grad=True)
    z = x * x
    with torch.no_grad():
        x.add_(1)
        x.mul_(2)
    outcome(z.sum().backward)


def a_write_to_a_saved_output_is_found_at_backward() -> None:
    for name in ("exp", "sigmoid", "tanh", "sqrt", "relu"):
        x = torch.ones(2, 3, requires_grad=True)
        y = getattr(x, name)()
        y.mul_(2)
        outcome(y.sum().backward)
    m = torch.ones(2, 3, requires_grad=True).softmax(1)
    m.add_(1)
    outcome(m.sum().backward)


def a_write_to_a_value_that_was_not_saved_is_harmless() -> None:
    x = torch.ones(3, requires_grad=True)
    y = x * 2
    z = y + 1
    y.mul_(7)
    z.sum().backward()
    print(x.grad)


def a_write_through_a_view_is_found_too() -> None:
    x = torch.ones(3, requires_grad=True)
    y = x * 1
    z = y * y
    y[0] = 5
    outcome(z.sum().backward)
    c = torch.ones(3)
    z = x * c
    c.view(3, 1).add_(1)
    outcome(z.sum().backward)


def a_write_through_data_is_not_found() -> None:
    x = torch.ones(3, requires_grad=True)
    z = (x * x).sum()
    x.data.mul_(5)
    z.backward()
    print(x.grad)


def a_write_through_detach_is_found() -> None:
    x = torch.ones(3, requires_grad=True)
    z = (x * x).sum()
    x.detach().mul_(5)
    outcome(z.backward)


def reading_a_saved_value_checks_its_version() -> None:
    y = torch.ones(2, requires_grad=True) * 1
    z = y.pow(2)
    y.add_(1)
    outcome(lambda: z.grad_fn._saved_self)


def the_gradient_of_a_stale_graph_can_be_fixed_by_cloning() -> None:
    x = torch.ones(2, requires_grad=True)
    y = x * 1
    z = (y.clone() * y.clone()).sum()
    y.add_(1)
    z.backward()
    print(x.grad)


def saved_tensors_are_released_by_backward() -> None:
    x = torch.ones(3, requires_grad=True)
    y = x * 1
    z = y.exp().sum()
    alive = weakref.ref(y)
    kept = []
    with graph.saved_tensors_hooks(lambda t: kept.append(1) or _Box(t), lambda b: b.t):
        w = (x * x).sum()
    print(len(kept), _Box.count)
    w.backward()
    print(_Box.count)
    del y
    gc.collect()
    print(alive() is None, z.item() > 0)


class _Box:
    count = 0

    def __init__(self, t):
        self.t = t
        _Box.count += 1

    def __del__(self):
        _Box.count -= 1


def packed_values_are_dropped_with_the_graph() -> None:
    x = torch.ones(3, requires_grad=True)
    with graph.saved_tensors_hooks(_Box, lambda b: b.t):
        y = (x.sin() * x).sum()
    print(_Box.count)
    del y
    gc.collect()
    print(_Box.count)


def unpack_runs_once_for_each_backward() -> None:
    x = _leaf(2.0)
    with graph.saved_tensors_hooks(*_pair()):
        z = x.exp()
    z.backward(retain_graph=True)
    z.backward()
    outcome(z.backward)
    print(near(x.grad))


def the_context_of_hooks_ends_with_an_exception() -> None:
    x = _leaf(2.0)
    try:
        with graph.saved_tensors_hooks(*_pair()):
            raise ValueError("left early")
    except ValueError as error:
        print(error)
    (x * x).backward()
    print(x.grad)


def only_what_the_gradient_needs_is_saved() -> None:
    x, c = _leaf(2.0), torch.ones(1)
    w = torch.randn(2, 2, requires_grad=True)
    packed = []
    with graph.saved_tensors_hooks(lambda t: packed.append(tuple(t.shape)) or t, lambda t: t):
        for label, action in (
            ("add", lambda: x + c),
            ("mul by constant", lambda: x * c),
            ("mul", lambda: x * x),
            ("relu", lambda: w.relu()),
            ("matmul", lambda: w @ torch.ones(2, 5)),
            ("sum", lambda: w.sum()),
            ("div", lambda: x / c),
            ("constant div", lambda: c / x),
            ("linear", lambda: torch.nn.functional.linear(torch.ones(3, 2), w)),
            ("softmax", lambda: w.softmax(0)),
            ("where", lambda: torch.where(w > 0, w, 0.0)),
            ("max", lambda: w.max(1)),
            ("cat", lambda: torch.cat([w, w])),
            ("mse", lambda: torch.nn.functional.mse_loss(w, torch.zeros(2, 2))),
        ):
            packed.clear()
            action()
            print(label, packed)


def hooks_see_integers_and_masks_as_well() -> None:
    w = torch.randn(2, 3, requires_grad=True)
    seen = []
    with graph.saved_tensors_hooks(lambda t: seen.append(t.dtype) or t, lambda t: t):
        w.gather(1, torch.tensor([[0], [1]]))
        w.masked_fill(w > 0, 0.0)
        w.sort(1)
    print(seen)


def double_backward_packs_the_gradients_graph() -> None:
    x = _leaf(2.0)
    packed = []
    with graph.saved_tensors_hooks(lambda t: packed.append(near(t)) or t, lambda t: t):
        y = x**3
        (g,) = torch.autograd.grad(y, x, create_graph=True)
    print(packed[0], len(packed) > 1, g)
    print(torch.autograd.grad(g, x))
