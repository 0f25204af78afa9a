"""Nodes from outside: the abstract class, metadata, introspection of a run, special functions."""

import torch
from observation import outcome

G = torch.autograd.graph


def _leaf(*values: float) -> torch.Tensor:
    return torch.tensor(values, requires_grad=True)


def every_node_is_a_node() -> None:
    x = _leaf(1.0)
    y = x * 2

    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

    for node in (y.grad_fn, y.grad_fn.next_functions[0][0], Twice.apply(x).grad_fn):
        print(isinstance(node, G.Node), issubclass(type(node), G.Node))
    print(isinstance(x, G.Node), isinstance(None, G.Node), sorted(G.Node.__abstractmethods__))
    outcome(G.Node)
    outcome(type(y.grad_fn))


def a_node_tells_what_it_expects() -> None:
    x = torch.ones(2, 3, requires_grad=True)
    y = (x * 2).exp()
    for node in (y.grad_fn, y.sum().grad_fn, (x * 2).grad_fn.next_functions[0][0]):
        for m in node._input_metadata:
            print(type(m).__name__, m.shape, m.dtype, m.device, m.is_nested_tensor)
    parts = y.split([1, 1])
    print([m.shape for m in parts[0].grad_fn._input_metadata])
    below = y.grad_fn.next_functions[0][0]
    print(below.name(), [m.shape for m in below._input_metadata])


def a_node_called_with_one_input_gives_a_tensor() -> None:
    x, y = _leaf(1.0, 2.0), _leaf(3.0, 4.0)
    print(x.exp().grad_fn(torch.ones(2)).shape)
    print([g.shape for g in (x * y).grad_fn(torch.ones(2))])
    outcome(x.exp().grad_fn)
    outcome(x.exp().grad_fn, 1)


def the_hooks_of_a_tensor_are_registered_with_its_node() -> None:
    outcome(_leaf(1.0).exp().grad_fn._register_hook_dict, {})


def a_node_takes_no_attributes() -> None:
    node = _leaf(1.0).exp().grad_fn
    outcome(setattr, node, "note", 1)
    node.metadata["note"] = 1
    print(node.metadata)


def a_gradient_goes_nowhere_behind_an_undefined_one() -> None:
    x = _leaf(1.0, 2.0)
    y = torch._C._functions.UndefinedGrad()(x * 2)
    print(y.grad_fn.name(), y.grad_fn.next_functions[0][0].name())
    y.sum().backward()
    print(x.grad)


def an_error_is_delayed_until_backward() -> None:
    x = _leaf(1.0, 2.0)
    y = torch._C._functions.DelayedError("not this way", 1)(x * 2)
    print(y, type(y.grad_fn).__name__)
    outcome(y.sum().backward)


def a_run_can_be_asked_for_its_nodes() -> None:
    x = _leaf(1.0, 2.0)
    leaf_node = x.view_as(x).grad_fn.next_functions[0][0]
    other = _leaf(1.0).exp().grad_fn
    y = (x * 2).exp()

    def look(grad):
        print(torch._C._current_graph_task_id() >= 0, torch._C._current_autograd_node().name())
        print([n.name() for n in torch._C._current_graph_task_execution_order()])
        print(torch._C._will_engine_execute_node(leaf_node))
        print(torch._C._will_engine_execute_node(other))

    y.register_hook(look)
    outcome(y.backward, torch.ones(2))
    with torch.autograd.set_multithreading_enabled(False):
        y = (x * 2).exp()
        y.register_hook(look)
        y.backward(torch.ones(2))
    print(torch._C._current_graph_task_id(), torch._C._current_autograd_node())
    outcome(torch._C._will_engine_execute_node, other)
    outcome(torch._C._current_graph_task_execution_order)


def versions_can_be_counted_by_hand() -> None:
    x = torch.ones(2)
    G.increment_version(x)
    G.increment_version([x, x])
    print(x._version)
    outcome(G.increment_version, 5)
    outcome(G.increment_version, [5])
    with torch.inference_mode():
        frozen = torch.ones(1)
    outcome(G.increment_version, frozen)


def a_setting_about_streams_is_accepted() -> None:
    outcome(G.set_warn_on_accumulate_grad_stream_mismatch, False)


def names_that_programs_import() -> None:
    autograd = torch.autograd
    print(issubclass(autograd.function.InplaceFunction, autograd.Function))
    print(isinstance(torch.ones(1), autograd.Variable), callable(autograd.kineto_available))
    print(autograd.anomaly_mode.detect_anomaly is autograd.detect_anomaly)


def shapes_and_seeds_of_a_run() -> None:
    x = torch.ones(2, 3, requires_grad=True)
    print(torch.autograd._calculate_shape(x, torch.ones(4, 2, 3), True))
    print(torch.autograd._calculate_shape(x, x, False))
    print(torch.autograd._make_grads((x.sum(), x), (None, x.detach()), False))
    outcome(torch.autograd._make_grads, (x,), (None,), False)
    print(torch.autograd._tensor_or_tensors_to_tuple(None, 2))


def a_gradient_edge_as_a_root_is_checked() -> None:
    x = _leaf(1.0, 2.0)
    for seed in (None, torch.ones(3), torch.ones(2, dtype=torch.float64), 1.0):
        edge = G.get_gradient_edge((x * 2).exp())
        outcome(torch.autograd.grad, edge, x, seed)
    edge = G.get_gradient_edge((x * 2).sum())
    outcome(torch.autograd.grad, edge, x)
    edge = G.get_gradient_edge((x * 2).sum())
    torch.autograd.backward(edge)
    print(x.grad)


def a_gradient_edge_as_an_input() -> None:
    x = _leaf(1.0, 2.0)
    one, two = (x * 1).split(1)
    edge = G.get_gradient_edge(two)
    print(type(edge).__name__, edge._fields, edge.output_nr, edge.node.name())
    outcome(torch.autograd.grad, (one + two * 3).sum(), edge)
    outcome(torch.autograd.grad, x.sum(), edge)
    outcome(torch.autograd.grad, x.sum(), edge, allow_unused=True)
    outcome(torch.autograd.grad, x.sum(), edge, materialize_grads=True)
    outcome(G.get_gradient_edge, torch.ones(1))
    x.sum().backward(inputs=[G.get_gradient_edge(x)])
    print(x.grad)
