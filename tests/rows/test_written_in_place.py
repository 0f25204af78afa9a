"""What a write in place leaves behind: nodes, versions, refusals; and what `out=` takes."""

from __future__ import annotations

from typing import Any

import pytest

import rushlight as torch


def test_a_comparison_in_place_passes_no_gradient_on() -> None:
    a = torch.tensor([1.0, 3.0], requires_grad=True)
    p = a * 2
    p.lt_(4)
    assert type(p.grad_fn).__name__ == "LtBackward0"
    p.sum().backward()
    assert a.grad.tolist() == [0.0, 0.0]
    q = a * 2
    q.eq_(q.detach())
    assert type(q.grad_fn).__name__ == "EqBackward1"


def test_logic_in_place_is_no_matter_of_gradients() -> None:
    a = torch.tensor([1.0, 0.0], requires_grad=True)
    a.logical_not_()
    assert a.tolist() == [0.0, 1.0] and a._version == 1 and a.is_leaf


def test_an_inverse_hyperbolic_function_in_place_has_no_derivative() -> None:
    a = torch.tensor([0.5], requires_grad=True)
    p = a * 1
    p.asinh_()
    with pytest.raises(NotImplementedError, match="inplace version of asinh"):
        p.sum().backward()


def test_the_bits_of_a_tensor_have_no_history() -> None:
    a = torch.ones(2, requires_grad=True)
    bits = a.view(torch.float32)
    assert not bits.requires_grad and not bits._is_view()
    bits.mul_(3)
    assert a.tolist() == [3.0, 3.0] and a._version == 1


def test_a_source_in_the_memory_that_is_written_is_refused() -> None:
    a = torch.arange(9.0).view(3, 3)
    rows = torch.arange(3)
    for write in (
        lambda: a.index_add_(0, rows, a),
        lambda: a.index_copy_(0, rows, a),
        lambda: a.scatter_(0, rows.view(1, 3), a),
        lambda: a.index_put_((rows,), a),
    ):
        with pytest.raises(RuntimeError, match="refer to a single memory location"):
            write()
    assert a.tolist() == torch.arange(9.0).view(3, 3).tolist() and a._version == 0


def test_resizing_keeps_the_elements_where_they_lie() -> None:
    a = torch.arange(6.0).view(2, 3)
    assert a.resize_(2, 3)._version == 0
    part = a[0, 1:]
    part.resize_(4)
    assert part.tolist() == [1.0, 2.0, 3.0, 4.0]
    assert a.t().resize_(6).tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]


def test_a_list_with_a_leaf_is_refused_before_anything_is_written() -> None:
    a = torch.ones(1, requires_grad=True)
    p = a * 1
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        torch._foreach_add_([p, a], 1)
    assert p.tolist() == [1.0]


def test_out_has_the_type_of_the_result_where_pytorch_says_so() -> None:
    whole = torch.tensor([3, 1])
    for call, words in (
        (lambda: torch.neg(whole, out=torch.empty(0)), "Found dtype Float but expected Long"),
        (lambda: torch.tril(whole[None], out=torch.empty(0)), "to have dtype long int, but got fl"),
        (lambda: torch.all(whole, out=torch.empty(0)), "all only supports bool tensor"),
    ):
        with pytest.raises(RuntimeError, match=words):
            call()
    assert torch.add(whole, 1, out=torch.empty(0)).tolist() == [4.0, 2.0]


def test_an_answer_without_a_gradient_may_go_to_out() -> None:
    a = torch.tensor([1.0, 3.0], requires_grad=True)
    assert torch.gt(a, 2, out=torch.empty(0, dtype=torch.bool)).tolist() == [False, True]
    with pytest.raises(RuntimeError, match="don't support automatic differentiation"):
        torch.cat([a, a], out=torch.empty(0))


def test_out_is_not_resized_where_it_is_an_operand() -> None:
    p = torch.ones(1)
    for run in (
        lambda: torch.add(p, torch.ones(3), out=p),
        lambda: torch.where(torch.ones(3) > 0, torch.ones(3), p, out=p),
        lambda: torch.gt(torch.ones(3), p, out=p),
    ):
        with pytest.raises(RuntimeError, match=r"shape \[1\] doesn't match the broadcast shape"):
            run()
    assert p.shape == (1,)


def test_the_type_of_out_is_looked_at_before_places_and_kernels() -> None:
    none, first = torch.empty(0, dtype=torch.int64), torch.tensor([0])
    for run, words in (
        (lambda: torch.take(none, first, out=torch.empty(0)), r"take\(\): self and out expected"),
        (lambda: torch.index_select(none, 0, first, out=torch.empty(0)), "same scalar type"),
        (lambda: torch.gather(none, 0, first[None], out=torch.empty(0)), "have dtype long int"),
        (lambda: torch.erf(first * 1j, out=torch.empty(0)), "ComplexFloat can't be cast"),
        (lambda: torch.abs(first, out=torch.empty(0)), "Found dtype Float but expected Long"),
        (lambda: torch.argmax(first, out=torch.empty(0)), "to have dtype long int"),
        (lambda: torch.nonzero(first, out=torch.empty(0)), "Expected out tensor to have scalar"),
        (lambda: torch.searchsorted(first, 1, out=torch.empty(0)), "output tensor's dtype is wron"),
        (lambda: torch.t_copy(first, out=torch.empty(0)), "to have dtype long int"),
    ):
        with pytest.raises(RuntimeError, match=words):
            run()
    with pytest.raises(IndexError, match="Dimension out of range"):
        torch.index_select(none, 5, first, out=torch.empty(0))
    assert torch.abs(torch.tensor([3 + 4j]), out=torch.empty(0, dtype=torch.float64)).item() == 5.0


def test_a_product_with_out_is_named_as_it_was_called() -> None:
    a = torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match=r"^matmul\(\): functions with out"):
        torch.matmul(a, a, out=torch.empty(0))
    with pytest.raises(RuntimeError, match="result dtype Float does not match input dtype Long"):
        torch.matmul(torch.tensor([1]), torch.tensor([1.0]), out=torch.empty(0))


def test_a_window_is_written_into_a_copy_of_all_memory() -> None:
    base = torch.arange(6.0)
    found = base[2:3].as_strided_scatter(torch.tensor([8.0, 9.0]), (2,), (1,), 1)
    assert found.tolist() == [9.0] and found.storage_offset() == 2
    column = base.view(2, 3)[:, 0]
    assert column.as_strided_scatter(torch.tensor([8.0, 9.0]), (2,), (1,)).tolist() == [8.0, 3.0]
    assert column.as_strided_scatter(torch.tensor([8.0]), (1,), (1,)).stride() == (3,)
    assert base.tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]


@pytest.mark.parametrize("part", [slice(None), slice(1, 4), slice(None, None, 2)])
def test_the_gradient_of_a_window_leaves_out_what_is_not_shown(part: slice) -> None:
    x = torch.arange(6.0, dtype=torch.float64, requires_grad=True)
    y = torch.ones(2, dtype=torch.float64, requires_grad=True)
    f = lambda a, b: (a * 1)[part].as_strided_scatter(b, (2,), (1,)) ** 2  # noqa: E731
    assert torch.autograd.gradcheck(f, (x, y))


def test_a_value_that_is_spread_is_a_view_in_the_graph() -> None:
    a = torch.ones(3, requires_grad=True)
    t = torch.zeros(2, 3)
    t[...] = a
    spread = t.grad_fn.next_functions[1][0]
    assert spread.name() == "ExpandBackward0"
    assert spread.next_functions[0][0].name() == "ViewBackward0"


def test_an_empty_operand_is_no_out_that_grows() -> None:
    z = torch.empty(0)
    with pytest.raises(RuntimeError, match="some elements of the input tensor"):
        torch.cat([z, torch.ones(4)], out=z)
    with pytest.raises(RuntimeError, match="some elements of the input tensor"):
        torch.index_select(z, 0, torch.tensor([0]), out=z)
    assert torch.cat([z, z], out=z).shape == (0,)


def test_an_out_of_arange_keeps_its_shape_where_its_size_fits() -> None:
    out = torch.empty(1, 3)
    assert torch.arange(3, out=out) is out and out.tolist() == [[0.0, 1.0, 2.0]]
    with pytest.warns(UserWarning, match=r"out tensor of shape \[1, 3\] is 3 which does not match"):
        torch.arange(2, out=out)
    assert out.tolist() == [0.0, 1.0]


def test_asarray_warns_of_a_view_of_what_requires_grad() -> None:
    a = torch.ones(3, requires_grad=True)
    with torch.no_grad():
        part = a[1:]
    with pytest.warns(UserWarning, match="unspecified requires_grad"):
        assert torch.asarray(part).requires_grad


def test_a_leaf_has_no_edge_in_inference_mode() -> None:
    a = torch.ones(3, requires_grad=True)
    with torch.inference_mode(), pytest.raises(AttributeError, match="next_functions"):
        torch.autograd.graph.get_gradient_edge(a)
    with torch.inference_mode(), pytest.raises(AttributeError, match="next_functions"):
        torch.autograd.graph.register_multi_grad_hook([a], print)


def test_one_number_is_not_copied_into_itself() -> None:
    p = torch.tensor(2.5)
    with pytest.raises(RuntimeError, match="some elements of the input tensor"):
        p.index_copy_(-1, torch.tensor([0]), p)


def test_memory_that_a_view_got_later_is_shared() -> None:
    c = torch.arange(6.0).view(2, 3)
    c.data = torch.ones(3, 3)
    assert c.share_memory_().is_shared() and c.tolist() == [[1.0] * 3] * 3


def test_an_out_of_another_size_is_laid_out_like_the_result() -> None:
    turned = torch.rand(3, 2).t()
    out = torch.empty(0)
    assert torch.add(turned, turned, out=out).stride() == (1, 2)
    wide = torch.rand(2, 3, 4).permute(2, 0, 1)
    assert torch.sin(wide, out=torch.empty(0)).stride() == (1, 12, 4)
    assert torch.cumsum(turned, 0, out=torch.empty(0)).stride() == (3, 1)


@pytest.mark.parametrize("name", ["scatter_", "scatter_add_", "index_add_", "index_copy_"])
def test_a_column_is_not_its_own_source(name: str) -> None:
    column = torch.ones(2, 3)[:, 1:2]
    places = torch.zeros(1, 1, dtype=torch.int64)
    with pytest.raises(RuntimeError, match="single memory location"):
        getattr(column, name)(1, places if "scatter" in name else places[0], column)
    assert column.tolist() == [[1.0], [1.0]]


@pytest.mark.parametrize("name", ["cat", "stack", "hstack", "vstack", "dstack", "column_stack"])
def test_what_is_joined_is_not_written_over(name: str) -> None:
    x = torch.ones(2)
    with pytest.raises(RuntimeError, match="single memory location"):
        getattr(torch, name)([x, x], out=x)
    assert x.tolist() == [1.0, 1.0]


@pytest.mark.parametrize("name", ["sum", "cumsum", "prod", "nansum", "mean"])
def test_a_result_that_would_be_recorded_is_refused_before_its_dimension(name: str) -> None:
    x = torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="support automatic differentiation"):
        getattr(torch, name)(x, 3, out=torch.zeros(2))


def test_a_view_made_without_recording_is_refused_as_what_is_written() -> None:
    x = torch.ones(2, 2, requires_grad=True)
    with torch.no_grad():
        view = x.diagonal()
    x.detach().add_(1)
    with pytest.raises(RuntimeError, match="in no_grad mode and is being modified inplace"):
        view += view


def test_places_that_lie_in_what_is_written_are_refused() -> None:
    places, mask, y = torch.tensor([2, 1, 0]), torch.ones(4, dtype=torch.bool), torch.ones(4)
    for call in (
        lambda: places.index_fill_(0, places, 0),
        lambda: places.index_put_((places,), places.clone()),
        lambda: mask[1:].masked_fill_(mask[:-1], False),
    ):
        with pytest.raises(RuntimeError, match="some elements of the input tensor and the written"):
            call()
    assert places.tolist() == [2, 1, 0]
    assert y.masked_fill_(mask, y[0]).tolist() == [1.0] * 4


def test_a_number_takes_the_last_of_several_copies() -> None:
    source = torch.tensor([2.0, 3.0])
    assert torch.tensor(1.0).index_copy(0, torch.tensor([0, 0]), source).item() == 3
    target = torch.tensor(1.0)
    target.index_copy_(0, torch.tensor([0, 0]), source)
    assert target.item() == 3


@pytest.mark.parametrize("place", ["scatter_reduce", "index_reduce"])
@pytest.mark.parametrize("include", [True, False])
def test_zeros_that_meet_in_a_product_have_second_gradients(place: str, include: bool) -> None:
    index = torch.tensor([0, 0, 0, 1, 1, 2, 2, 2])
    start = torch.tensor([2.0, 3.0, 4.0, 5.0], dtype=torch.float64)
    values = torch.tensor([0.0, 0.0, 7.0, 0.0, 2.0, 0.0, 0.0, 0.0], dtype=torch.float64)

    def placed(x: Any) -> Any:
        return getattr(start, place)(0, index, x, "prod", include_self=include)

    def by_hand(x: Any) -> Any:
        first = start if include else torch.ones_like(start)
        parts = [first[k] * x[index == k].prod() for k in range(3)]
        return torch.stack([*parts, start[3]])

    for function in (torch.func.jacrev, torch.func.hessian):
        found = function(lambda x: placed(x).sum())(values)
        assert found.equal(function(lambda x: by_hand(x).sum())(values))
