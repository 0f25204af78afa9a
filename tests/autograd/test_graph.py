"""The graph as users see it: nodes, edges, leaves' ends, groups of hooks."""

import gc
import weakref

import pytest

import rushlight as torch

graph = torch.autograd.graph


def leaf(*values: float) -> torch.Tensor:
    return torch.tensor(values, requires_grad=True)


def test_a_node_tells_its_name_its_edges_and_its_age() -> None:
    x, y = leaf(1.0), leaf(2.0)
    z = x * y + x
    node = z.grad_fn
    assert node.name() == type(node).__name__ == "AddBackward0"
    (product, nr), (end, _) = node.next_functions
    assert product.name() == "MulBackward0" and nr == 0 and end.variable is x
    assert node._sequence_nr() > product._sequence_nr()
    assert isinstance(node, graph.Node) and isinstance(end, graph.Node)
    assert not isinstance(x, graph.Node)


def test_an_operand_without_gradient_gives_an_empty_edge() -> None:
    x = leaf(1.0)
    assert (torch.ones(1) * x).grad_fn.next_functions[0] == (None, 0)


def test_a_leafs_end_is_one_object_while_somebody_holds_it() -> None:
    x = leaf(1.0)
    end = (x * 2).grad_fn.next_functions[0][0]
    assert end is (x * 3).grad_fn.next_functions[0][0]
    assert end.name() == "torch::autograd::AccumulateGrad" and end.next_functions == ()
    alive = weakref.ref(end)
    del end
    gc.collect()
    assert alive() is None


def test_a_node_keeps_the_graph_alive_without_its_tensor() -> None:
    x = leaf(0.0)
    node = (x.exp() * 3).grad_fn
    assert node.next_functions[0][0]._saved_result.item() == 1.0


def test_metadata_belongs_to_the_node() -> None:
    y = leaf(1.0) * 2
    y.grad_fn.metadata["note"] = 5
    assert (y + 1).grad_fn.next_functions[0][0].metadata == {"note": 5}


def test_a_node_can_be_called_with_gradients_of_its_outputs() -> None:
    x, y = leaf(2.0), leaf(3.0)
    a, b = (x * y).grad_fn(torch.ones(1))
    assert (a.item(), b.item()) == (3.0, 2.0) and a.requires_grad
    with pytest.raises(TypeError, match="expected 1 arguments, got 0 instead"):
        (x * y).grad_fn()


def test_nodes_cant_be_made_by_hand() -> None:
    with pytest.raises(TypeError, match="cannot create 'MulBackward0' instances"):
        type((leaf(1.0) * 2).grad_fn)()


def test_gradient_edges_are_inputs_and_outputs() -> None:
    x = leaf(2.0)
    y = x * x
    middle, end = graph.get_gradient_edge(y), graph.get_gradient_edge(x)
    z = y * 3
    assert [g.item() for g in torch.autograd.grad(z, [middle, end], retain_graph=True)] == [
        3.0,
        12.0,
    ]
    del y, z
    (g,) = torch.autograd.grad(middle, x, torch.ones(1), retain_graph=True)
    assert g.item() == 4.0
    torch.autograd.backward(middle, torch.ones(1))
    assert x.grad.item() == 4.0
    with pytest.raises(RuntimeError, match="not possible to get the gradient edge"):
        graph.get_gradient_edge(torch.ones(1))


def test_an_edge_to_one_of_several_outputs_has_its_number() -> None:
    x = leaf(1.0, 2.0)
    a, b = x.unbind()
    edge = graph.get_gradient_edge(b)
    assert edge.output_nr == 1
    (g,) = torch.autograd.grad(a * b, [edge])
    assert g.item() == 1.0


def test_a_multi_grad_hook_runs_once_with_all_gradients() -> None:
    x, y, z = leaf(1.0), leaf(2.0), leaf(3.0)
    seen: list[list[float | None]] = []
    handle = graph.register_multi_grad_hook(
        (x, y, z), lambda gs: seen.append([None if g is None else g.item() for g in gs])
    )
    (x * y).backward()
    (x * y * z).backward()
    handle.remove()
    (x * y * z).backward()
    assert seen == [[2.0, 1.0, None], [6.0, 3.0, 2.0]]


def test_a_multi_grad_hook_in_mode_any_runs_with_the_first() -> None:
    x = leaf(1.0)
    a, b = x * 2, x * 3
    seen: list[float] = []
    graph.register_multi_grad_hook((a, b), lambda g: seen.append(g.item()), mode="any")
    (a + b * 5).backward(retain_graph=True)
    assert seen == [5.0]
    with pytest.raises(ValueError, match="Expects mode to be one of"):
        graph.register_multi_grad_hook((a,), print, mode="some")


def test_increment_version_makes_saved_values_stale() -> None:
    y = leaf(2.0) * 1
    z = y * y
    graph.increment_version(y)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.backward()


def walk(node: object) -> str:
    """The graph behind a node as text."""
    if node is None:
        return "None"
    return f"{type(node).__name__}({', '.join(walk(n) for n, _ in node.next_functions)})"


def test_a_layer_is_taken_apart_when_somebody_looks() -> None:
    x, w, b = torch.ones(2, 3), torch.ones(4, 3), torch.ones(4)
    for t in (x, w, b):
        t.requires_grad_()
    y = torch.nn.functional.linear(x, w, b)
    node = y.grad_fn
    shown = "AddmmBackward0(AccumulateGrad(), AccumulateGrad(), TBackward0(AccumulateGrad()))"
    assert walk(node) == shown and y.grad_fn is node
    assert node._saved_mat2.shape == (3, 4)
    y.sum().backward()
    assert w.grad.tolist() == [[2.0] * 3] * 4 and b.grad.tolist() == [2.0] * 4
    with pytest.raises(RuntimeError, match="second time"):
        y.sum().backward()


def test_a_freed_layer_still_shows_its_parts() -> None:
    x, w = torch.ones(2, 3, requires_grad=True), torch.ones(4, 3, requires_grad=True)
    y = torch.nn.functional.linear(x, w)
    y.sum().backward()
    assert walk(y.grad_fn) == "MmBackward0(AccumulateGrad(), TBackward0(AccumulateGrad()))"
    with pytest.raises(RuntimeError, match="second time"):
        y.sum().backward()


def test_a_layer_stays_whole_during_a_backward() -> None:
    x, w = torch.ones(2, 3, requires_grad=True), torch.ones(4, 3, requires_grad=True)
    y = torch.nn.functional.linear(x, w)
    seen: list[str] = []
    y.register_hook(lambda g: seen.append(walk(y.grad_fn)))
    y.sum().backward()
    assert seen == ["MmBackward0(AccumulateGrad(), AccumulateGrad(), None)"]
    assert x.grad.tolist() == [[4.0] * 3] * 2


def test_a_layer_whose_input_was_written_stays_whole() -> None:
    x, w = torch.ones(2, 3), torch.ones(4, 3, requires_grad=True)
    y = torch.nn.functional.linear(x, w)
    x.add_(1)
    assert "TBackward0" not in walk(y.grad_fn)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_parts_are_older_than_what_reads_them_and_younger_than_what_they_read() -> None:
    x = torch.ones(5, 2, 3, requires_grad=True)
    w = torch.ones(4, 3, requires_grad=True)
    h = x * 2
    loss = torch.nn.functional.linear(h, w * 1, torch.ones(4, requires_grad=True)).sum()
    stack, seen = [loss.grad_fn], set()
    while stack:
        node = stack.pop()
        for child, _ in node.next_functions:
            if child is not None and child.name() != "torch::autograd::AccumulateGrad":
                assert child.seq < node.seq
                seen.add(child.name())
                stack.append(child)
    assert {"TBackward0", "AddmmBackward0", "ViewBackward0", "MulBackward0"} <= seen


def test_a_gradient_edge_knows_the_shape_of_its_output() -> None:
    x = leaf(1.0, 2.0)
    edge = graph.get_gradient_edge((x * 2).sum())
    assert torch.autograd.grad(edge, x)[0].tolist() == [2.0, 2.0]
    edge = graph.get_gradient_edge(x * 2)
    with pytest.raises(RuntimeError, match="Mismatch in shape"):
        torch.autograd.grad(edge, x, torch.ones(3))
    with pytest.raises(RuntimeError, match="materialize_grads cannot be used"):
        torch.autograd.grad(x.sum(), edge, materialize_grads=True)


def test_a_node_tells_the_shapes_it_expects() -> None:
    y = (torch.ones(2, 3, requires_grad=True) * 2).exp()
    (only,) = y.grad_fn._input_metadata
    assert only.shape == [2, 3] and only.dtype is torch.float32
    (below,) = y.grad_fn.next_functions[0][0]._input_metadata
    assert below.shape == [2, 3]


def test_special_functions_stop_gradients_or_raise() -> None:
    x = leaf(1.0)
    torch._C._functions.UndefinedGrad()(x * 2).backward()
    assert x.grad is None
    with pytest.raises(RuntimeError, match="later"):
        torch._C._functions.DelayedError("later", 1)(x * 2).backward()


def test_a_run_can_be_asked_for_what_it_runs() -> None:
    x = leaf(1.0)
    seen = []

    def look(grad: object) -> None:
        seen.append(torch._C._current_autograd_node().name())
        seen.extend(n.name() for n in torch._C._current_graph_task_execution_order())

    y = x.exp()
    y.register_hook(look)
    with torch.autograd.set_multithreading_enabled(False):
        y.backward()
    assert seen == ["ExpBackward0", "ExpBackward0", "torch::autograd::AccumulateGrad"]
    assert torch._C._current_graph_task_id() == -1
    with pytest.raises(RuntimeError, match="only be called during the backward pass"):
        torch._C._current_graph_task_execution_order()


def test_a_node_called_by_hand_gives_what_its_formulas_give() -> None:
    x = torch.ones(2, 1, requires_grad=True)
    y = x * torch.ones(2, 3, dtype=torch.float64)
    (g, _) = y.grad_fn(torch.ones_like(y))
    assert g.shape == (2, 3) and g.dtype is torch.float64
    (values, _) = torch.ones(2, 3, requires_grad=True).max(0)
    assert values.grad_fn(torch.ones(3)).shape == (2, 3)


def test_nodes_know_of_outputs_that_have_gradients() -> None:
    x = torch.rand(3, 3, requires_grad=True)
    for values, *_ in (x.max(0), x.sort(), torch.unique(x, return_counts=True)):
        node = values.grad_fn
        assert [m.dtype for m in node._input_metadata] == [torch.float32]
    heard = []
    values = x.max(0).values
    values.grad_fn.register_prehook(lambda grads: heard.append(len(grads)))
    values.grad_fn.register_hook(lambda grads, outs: heard.append(len(outs)))
    values.sum().backward()
    assert heard == [1, 1]
    assert x.grad.sum() == 3
    assert x.max(0).values.grad_fn(torch.ones(3)).sum() == 3


def test_a_node_without_derivative_refuses_even_where_nobody_wants_any() -> None:
    y = torch.floor_divide(torch.rand(3, requires_grad=True), 2)
    with pytest.raises(RuntimeError, match="derivative for aten::floor_divide is not implemented"):
        y.sum().backward(inputs=[y])
    assert torch.autograd.grad(y.sum(), y)[0].tolist() == [1, 1, 1]


def test_a_view_made_without_recording_has_no_node_to_wait_for() -> None:
    x = torch.rand(2, 2, requires_grad=True)
    with torch.no_grad():
        view = x.view(4)
    with pytest.raises(AssertionError, match="Expected gradient function to be set"):
        torch.autograd.graph.register_multi_grad_hook([view, x], lambda grads: None)


def test_a_saved_result_shares_the_version_of_the_result() -> None:
    b = torch.rand(2, requires_grad=True).exp()
    saved = b.grad_fn._saved_result
    with torch.no_grad():
        b += 1
    assert saved._version == b._version == 1


def test_a_tensor_that_is_saved_often_is_copied_once() -> None:
    with torch.autograd.graph.allow_mutation_on_saved_tensors() as context:
        a = torch.randn(2, 3, requires_grad=True).clone()
        b, c, view = a**2, a**2, a[0] ** 2
        a.sin_()
        assert len(context.cloned) == 2  # the whole and the part
        del b, c, view
        assert not context.cloned


def test_a_node_of_a_list_that_is_called_gives_a_gradient_for_each_item() -> None:
    x = leaf(1.0, 2.0)
    for join in (torch.cat, torch.stack, torch.hstack, torch.dstack):
        y = join([x, torch.zeros(2)])
        one, other = y.grad_fn(torch.ones_like(y))
        assert one.shape == other.shape


def test_a_layer_on_a_vector_shows_the_product_of_a_row() -> None:
    x, w = leaf(1.0, 2.0), torch.ones(3, 2, requires_grad=True)
    y = torch.nn.functional.linear(x, w)
    assert y.grad_fn.name() == "SqueezeBackward4"
    ((product, _),) = y.grad_fn.next_functions
    assert [node.name() for node, _ in product.next_functions] == [
        "UnsqueezeBackward0", "TBackward0",
    ]  # fmt: skip
    y.sum().backward()
    assert x.grad.tolist() == [3.0, 3.0] and w.grad.tolist() == [[1.0, 2.0]] * 3


def test_a_layer_whose_weight_has_another_type_by_now_stays_whole() -> None:
    x, w = torch.ones(2, 2, requires_grad=True), torch.ones(2, 2, requires_grad=True)
    y = torch.nn.functional.linear(x, w, torch.ones(2))
    w.data = torch.zeros(2, 3, dtype=torch.float64)
    assert len(y.grad_fn.next_functions) == 3


def test_vectors_of_a_grid_are_views_wherever_they_lie() -> None:
    x = torch.ones(3, 4, requires_grad=True)
    for grid in torch.meshgrid(x[:, 0], x[0], indexing="ij"):
        assert grid.grad_fn.next_functions[0][0].name() == "ViewBackward0"


def test_nodes_say_that_they_require_grad() -> None:
    x = torch.ones(2, requires_grad=True)
    node = (x * 2).grad_fn
    assert node is not None and node.requires_grad
    assert node.next_functions[0][0].requires_grad
