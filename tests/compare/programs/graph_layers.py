"""The graph behind operations that may be recorded as one node: what a walk over it shows."""

import torch
from observation import near, outcome

F = torch.nn.functional


def _leaf(*shape: int) -> torch.Tensor:
    count = 1
    for n in shape:
        count *= n
    return (torch.arange(1.0, count + 1).reshape(shape) / 8).requires_grad_()


def _walk(node) -> str:
    if node is None:
        return "None"
    return f"{type(node).__name__}({', '.join(_walk(n) for n, _ in node.next_functions)})"


def _before_and_after(y, *leaves) -> None:
    print(_walk(y.grad_fn))
    y.sum().backward()
    print([near(leaf.grad) for leaf in leaves])
    print(_walk(y.grad_fn))


def a_linear_layer_on_rows() -> None:
    x, w, b = _leaf(2, 3), _leaf(4, 3), _leaf(4)
    _before_and_after(F.linear(x, w, b), x, w, b)
    x, w = _leaf(2, 3), _leaf(4, 3)
    _before_and_after(F.linear(x, w), x, w)


def a_linear_layer_on_a_stack() -> None:
    x, w, b = _leaf(2, 2, 3), _leaf(4, 3), _leaf(4)
    _before_and_after(F.linear(x, w, b), x, w, b)
    x, w = _leaf(2, 2, 3), _leaf(4, 3)
    _before_and_after(F.linear(x, w), x, w)


def a_linear_layer_of_which_only_some_needs_a_gradient() -> None:
    x, w, b = _leaf(2, 3), _leaf(4, 3), _leaf(4)
    _before_and_after(F.linear(x.detach(), w, b), w, b)
    _before_and_after(F.linear(x, w.detach(), b), x)
    _before_and_after(F.linear(x * 2, w.detach(), b.detach()), x)
    _before_and_after(F.linear(x.detach(), w.detach(), b), b)


def a_walk_before_backward_changes_no_gradient() -> None:
    for look in (False, True):
        x, w, b = _leaf(2, 2, 3), _leaf(4, 3), _leaf(4)
        y = F.linear(x * 2, w, b).tanh()
        if look:
            _walk(y.grad_fn)
        y.sum().backward()
        print(near(x.grad, 3), near(w.grad, 3), near(b.grad, 3))


def a_second_backward_after_a_look_is_refused_too() -> None:
    x, w = _leaf(2, 3), _leaf(4, 3)
    y = F.linear(x, w).sum()
    y.backward()
    _walk(y.grad_fn)
    outcome(y.backward)


def the_saved_matrices_of_a_linear_layer() -> None:
    x, w, b = _leaf(2, 3), _leaf(4, 3), _leaf(4)
    node = F.linear(x, w, b).grad_fn
    print(node._saved_mat1 is x, node._saved_mat2.shape, node._saved_mat2.grad_fn.name())
    print(node._saved_alpha, node._saved_beta)
    print(node._saved_mat1_sym_sizes, node._saved_mat2_sym_strides)


def a_hook_on_a_linear_layer_sees_the_gradients_of_its_matrices() -> None:
    x, w, b = _leaf(2, 3), _leaf(4, 3), _leaf(4)
    y = F.linear(x, w, b)
    y.grad_fn.register_hook(
        lambda ins, outs: print([tuple(g.shape) for g in ins], [tuple(g.shape) for g in outs])
    )
    y.sum().backward()


def hooks_on_every_node_of_a_network_run_in_order() -> None:
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU(), torch.nn.Linear(4, 2))
    loss = F.cross_entropy(net(torch.ones(2, 3)), torch.tensor([0, 1]))
    found, stack = [], [loss.grad_fn]
    while stack:
        node = stack.pop()
        if node is not None and node not in found:
            found.append(node)
            stack.extend(n for n, _ in node.next_functions)
    order = []
    for node in found:
        node.register_hook(lambda ins, outs, node=node: order.append(node.name()))
    loss.backward()
    print(order)


def a_cross_entropy() -> None:
    x, target = _leaf(3, 4), torch.tensor([1, 0, 3])
    for reduction in ("mean", "sum", "none"):
        y = F.cross_entropy(x * 2, target, reduction=reduction)
        print(_walk(y.grad_fn))
        print(near(y.grad_fn._saved_self), y.grad_fn._saved_reduction)
        y.sum().backward()
        print(near(x.grad), _walk(y.grad_fn))


def products_of_stacks() -> None:
    a, b = _leaf(2, 2, 3), _leaf(2, 3, 2)
    _before_and_after(a @ b, a, b)
    a, b = _leaf(2, 2, 3), _leaf(3, 2)
    _before_and_after(a @ b, a, b)


def hooks_on_saved_tensors_see_the_steps_of_a_layer() -> None:
    def pack(t):
        print(tuple(t.shape), None if t.grad_fn is None else t.grad_fn.name())
        return t

    x, w, b = _leaf(2, 3), _leaf(4, 3), _leaf(4)
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        y = F.linear(x, w, b)
        y = torch.log_softmax(y, 1)
    y.sum().backward()
    print(near(x.grad))


def the_gradient_of_one_leaf_through_layers_that_were_looked_at() -> None:
    x, w = _leaf(2, 3), _leaf(4, 3)
    hidden = F.linear(x, w).tanh()
    loss = (hidden * hidden).sum()
    _walk(loss.grad_fn)
    (g,) = torch.autograd.grad(loss, x, create_graph=True)
    print(near(g, 3), g.requires_grad)
    (h,) = torch.autograd.grad(g.sum(), w)
    print(near(h, 3))


def numbers_are_saved_whatever_needs_a_gradient() -> None:
    x, c = _leaf(3), torch.ones(3)
    print(torch.add(x, c, alpha=3).grad_fn._saved_alpha)
    print(torch.sub(x, c, alpha=2).grad_fn._saved_alpha)
    print(torch.addcmul(x, c, c, value=5).grad_fn._saved_value)


def whole_numbers_are_shown_without_sign() -> None:
    x = _leaf(3, 3)
    print(x.diagonal(-1).grad_fn._saved_offset, torch.tril(x, -1).grad_fn._saved_diagonal)
    print(torch.roll(x, (-1,), (0,)).grad_fn._saved_shifts)
    print(x.sum(-1).grad_fn._saved_dim, (x**-2).grad_fn._saved_exponent)


def inverses_name_what_they_save() -> None:
    a = (torch.eye(2) * 2).requires_grad_()
    print(near(torch.linalg.inv(a).grad_fn._saved_inverse))
    print(near(torch.linalg.cholesky(a).grad_fn._saved_L))
    print(near(torch.matrix_exp(a).grad_fn._saved_self))


def indices_are_saved_as_a_tuple() -> None:
    x = _leaf(3)
    node = x[torch.tensor([0, 2])].grad_fn
    print(node._saved_indices, type(node._raw_saved_indices).__name__)
    node._raw_saved_indices[0].register_hooks(lambda t: t, lambda t: t)
    node(torch.ones(2))
