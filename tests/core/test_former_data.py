"""Gradients for tensors that have been given other data since they were used."""

from __future__ import annotations

import pytest

import rushlight as torch


def leaf() -> torch.Tensor:
    return torch.tensor([1.0, 2.0, 3.0], requires_grad=True)


def test_a_gradient_is_spread_over_the_new_shape() -> None:
    a = leaf()
    y = a.clone().sum()
    a.data = torch.full((2, 3), 2.0)
    y.backward()
    assert a.grad.tolist() == [[1.0] * 3] * 2


def test_a_gradient_that_nobody_else_has_keeps_the_shape_it_was_expected_to_have() -> None:
    a = leaf()
    y = (a * 1).sum()
    a.data = torch.full((), 2.0)
    y.backward()
    assert a.grad.tolist() == [1.0] * 3


@pytest.mark.parametrize("shape", [(), (1,), (4,)])
def test_a_gradient_that_does_not_fit_is_refused(shape: tuple[int, ...]) -> None:
    a = leaf()
    y = a.clone()
    a.data = torch.full(shape, 2.0)
    with pytest.raises(RuntimeError, match=r"output with shape|The size of tensor a"):
        y.sum().backward()
    z = a.clone().sum()
    with pytest.raises(RuntimeError, match="Function CloneBackward0 returned an invalid gradient"):
        (y.sum() + z).backward()


def test_newer_edges_expect_the_former_shape_beside_older_ones() -> None:
    a = leaf()
    y = a * 1
    a.data = torch.full((2, 3), 2.0)
    (grad,) = torch.autograd.grad((a * y).sum(), a)
    assert grad.tolist() == [6.0, 8.0, 10.0]  # 2 * 2 for y, and y twice


def test_newer_edges_alone_expect_the_new_shape() -> None:
    a = leaf()
    a.clone()
    a.data = torch.full((2, 2), 2.0)
    a.sum().backward()
    assert a.grad.shape == (2, 2)


def test_another_type_makes_another_leaf() -> None:
    a = leaf()
    y = a.sum()
    a.data = torch.full((2,), 2.0, dtype=torch.float64)
    a.sum().backward()
    assert a.grad.dtype is torch.float64 and a.grad.shape == (2,)
    a.grad = None
    with pytest.raises(RuntimeError, match="size of tensor a"):
        y.backward()


def test_a_result_that_gets_other_data_expects_the_shape_it_was_made_with() -> None:
    y = leaf().round()
    y.data = torch.zeros(2, 2)
    with pytest.raises(RuntimeError, match="Function SumBackward0 returned an invalid gradient"):
        y.sum().backward()


def test_formulas_refuse_saved_values_that_do_not_fit() -> None:
    a = leaf()
    y = a * a
    a.data = torch.zeros(4)
    with pytest.raises(RuntimeError, match="The size of tensor a"):
        y.sum().backward()


@pytest.mark.parametrize("change", ["set_", "type"])
def test_a_leaf_that_has_become_another_one_is_unused_in_older_graphs(change: str) -> None:
    x = torch.rand(2, requires_grad=True)
    edge, out = torch.autograd.graph.get_gradient_edge(x), x.clone().sum()
    with torch.no_grad():
        if change == "set_":
            x.set_(torch.rand(2))
        else:
            x.data = torch.rand(2, dtype=torch.float64)
    with pytest.raises(RuntimeError, match="to not have been used in the graph"):
        torch.autograd.grad(out, x, retain_graph=True)
    out.backward(inputs=[x], retain_graph=True)
    assert x.grad is None
    assert torch.autograd.grad(out, edge, retain_graph=True)[0].tolist() == [1, 1]
    out.backward()
    assert x.grad.tolist() == [1, 1]
    assert torch.autograd.grad((x * 2).sum(), x)[0].tolist() == [2, 2]


def test_other_leaves_beside_one_that_is_renewed_are_told_apart_by_what_they_are():
    x = torch.ones(3, dtype=torch.float64, requires_grad=True)
    (x * 2).sum().backward()
    (x * x).sum()  # so that a graph has it
    older = x * 2
    x.data = torch.ones(4)
    other = torch.ones(2, 3, requires_grad=True)
    newer = (x * other.sum()).sum() + (other * 2).sum()
    assert torch.autograd.grad(newer, x)[0].tolist() == [6.0] * 4
    with pytest.raises(RuntimeError, match="not have been used in the graph"):
        torch.autograd.grad(older.sum(), x)


def test_of_several_renewed_leaves_those_used_since_have_gradients():
    x, y = (torch.ones(2, dtype=torch.float32, requires_grad=True) for _ in range(2))
    older = (y * y).sum()
    for t in (x, y):
        t.data = torch.ones(3, dtype=torch.float64)
    newer = (x * 3).sum() + older
    assert torch.autograd.grad(newer, [x, y], allow_unused=True)[1] is None
    found, other = torch.autograd.grad((x * y * 2).sum(), [x, y])
    assert found.tolist() == other.tolist() == [2.0, 2.0, 2.0]
