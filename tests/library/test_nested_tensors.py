"""`torch.nested`: tensors of tensors of different sizes, and their gradients."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

import rushlight as torch
from rushlight import nested
from rushlight.nn import functional as F

FIRST = torch.arange(6.0).reshape(3, 2) / 3
SECOND = torch.arange(4.0).reshape(2, 2) - 1.5


def both(**options: Any) -> Any:
    return nested.nested_tensor([FIRST, SECOND], **options)


def lists(t: Any) -> list[Any]:
    return [part.tolist() for part in t.unbind()]


def test_parts_come_back_and_sizes_are_told() -> None:
    t = both()
    assert t.is_nested and t.layout is torch.strided and t.dim() == 3 and t.numel() == 10
    assert lists(t) == [FIRST.tolist(), SECOND.tolist()]
    assert (t.size(0), t.size(2)) == (2, 2)
    with pytest.raises(RuntimeError, match="dimension 1 is irregular"):
        t.size(1)
    with pytest.raises(RuntimeError, match="doesn't support sizes"):
        t.shape  # noqa: B018
    assert t._nested_tensor_size().tolist() == [[3, 2], [2, 2]]


def test_a_jagged_tensor_has_a_size_with_a_symbol() -> None:
    t = both(layout=torch.jagged)
    assert isinstance(t.shape[1], torch.SymInt) and (t.shape[0], t.shape[2]) == (2, 2)
    assert (t * 2).shape == t.shape != both(layout=torch.jagged).shape
    assert t.offsets().tolist() == [0, 3, 5]


def test_a_nested_tensor_is_a_leaf_and_its_gradient_nested() -> None:
    t = both(requires_grad=True)
    (t * t).backward(both())
    assert t.is_leaf and lists(t.grad) == lists(t.detach() * t.detach() * 2)
    given = torch.autograd.grad(t.clone(), t, both())[0]
    assert given.is_nested and lists(given) == lists(t)


def test_gradients_flow_to_the_parts() -> None:
    a, b = FIRST.clone().requires_grad_(), SECOND.clone().requires_grad_()
    t = nested.as_nested_tensor([a, b])
    padded = F.linear(t, torch.ones(3, 2)).softmax(-1).to_padded_tensor(5.0)
    assert padded.shape == (2, 3, 3) and padded[1, 2].tolist() == [5.0] * 3
    (t * t).sum(-1, keepdim=True).to_padded_tensor(0.0).sum().backward()
    assert a.grad.equal(2 * FIRST) and b.grad.equal(2 * SECOND)


def test_a_hook_sees_and_gives_nested_gradients() -> None:
    t = both(requires_grad=True)
    u = t * 1
    u.register_hook(lambda g: g * 3)
    u.backward(both())
    assert lists(t.grad) == lists(both() * 3)


def test_a_gradient_of_other_sizes_is_refused() -> None:
    t = both(requires_grad=True).clone()
    with pytest.raises(RuntimeError, match="Mismatch in shape"):
        t.backward(nested.nested_tensor([SECOND, FIRST]))
    with pytest.raises(RuntimeError, match="only for scalar outputs"):
        t.backward()


def test_sums_keep_what_they_read() -> None:
    t = both(requires_grad=True).clone()
    sums = t.sum(-1, keepdim=True)
    assert lists(sums) == [FIRST.sum(-1, True).tolist(), SECOND.sum(-1, True).tolist()]
    t.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        sums.backward(nested.nested_tensor([torch.ones(3, 1), torch.ones(2, 1)]))


def test_sums_of_strided_tensors_are_those_of_the_last_dimension() -> None:
    with pytest.raises(RuntimeError, match="keepdim=True"):
        both().sum(-1)
    with pytest.raises(RuntimeError, match="across the last dimension"):
        both().sum(1, keepdim=True)
    assert both(layout=torch.jagged).sum(1).tolist() == [[2.0, 3.0], [-1.0, 1.0]]


def test_operands_must_have_parts_of_the_same_sizes() -> None:
    with pytest.raises(RuntimeError, match="nested self and non-nested other"):
        both() + torch.ones(2, 1, 2)
    with pytest.raises(RuntimeError, match="whose parts have other sizes"):
        both() + nested.nested_tensor([SECOND, FIRST])
    with pytest.raises(RuntimeError, match="sizes that aren't known to be the same"):
        both(layout=torch.jagged) + both(layout=torch.jagged)


def test_what_isnt_here_names_the_operation() -> None:
    with pytest.raises(NotImplementedError, match="aten::fft_fft"):
        torch.fft.fft(both())


def test_products_and_parts() -> None:
    t = both()
    assert lists(t @ t.transpose(1, 2)) == [(p @ p.T).tolist() for p in (FIRST, SECOND)]
    assert t[1].equal(SECOND) and len(t) == 2
    left, right = t.chunk(2, -1)
    assert lists(torch.cat([left, right], -1)) == lists(t)


def test_same_sizes() -> None:
    assert both().is_same_size(both())
    assert not both().is_same_size(nested.nested_tensor([SECOND, FIRST]))
    for one, other in ((both(), FIRST), (FIRST, both())):
        with pytest.raises(RuntimeError, match="both self and other to be nested"):
            one.is_same_size(other)


def test_parts_of_different_dimensions_are_refused() -> None:
    with pytest.raises(RuntimeError, match="must have the same dimension"):
        nested.nested_tensor([torch.ones(2), torch.ones(2, 2)])
    with pytest.raises(RuntimeError, match="single ragged dimension"):
        nested.nested_tensor([torch.ones(2, 3), torch.ones(2, 2)], layout=torch.jagged)
    with pytest.raises(TypeError, match="Only lists"):
        nested.nested_tensor(torch.ones(2))


def test_jagged_tensors_are_made_of_values_and_of_parts_of_rows() -> None:
    values = torch.arange(6.0).reshape(3, 2).requires_grad_()
    t = nested.nested_tensor_from_jagged(values, torch.tensor([0, 1, 3]))
    assert lists(t) == [[[0.0, 1.0]], [[2.0, 3.0], [4.0, 5.0]]]
    t.sum().backward()
    assert values.grad.equal(torch.ones(3, 2))
    with pytest.raises(RuntimeError, match="don't fill the values"):
        nested.nested_tensor_from_jagged(values, torch.tensor([0, 1, 2]))
    rows = torch.arange(10).reshape(2, 5)
    starts, lengths = torch.tensor([0, 1]), torch.tensor([2, 3])
    narrow = nested.narrow(rows, 1, starts, lengths, layout=torch.jagged)
    assert lists(narrow) == [[0, 1], [6, 7, 8]]
    assert lists(nested.masked_select(rows, rows % 4 == 0)) == [[0, 4], [8]]


def test_a_node_knows_that_its_output_is_nested() -> None:
    t = both(layout=torch.jagged, requires_grad=True)
    (told,) = t.clone().grad_fn._input_metadata
    assert told.is_nested_tensor and not told.is_cpp_nested_tensor
    assert tuple(told.shape) == tuple(t.shape) and told.dtype == t.dtype
    (told,) = both(requires_grad=True).clone().grad_fn._input_metadata
    assert told.is_cpp_nested_tensor
    (told,) = FIRST.clone().requires_grad_().clone().grad_fn._input_metadata
    assert not told.is_nested_tensor


def test_copies_pickles_and_texts() -> None:
    t = both(requires_grad=True)
    for made in (copy.deepcopy(t), pickle.loads(pickle.dumps(t))):
        assert lists(made) == lists(t) and made.requires_grad and made is not t
    assert repr(nested.nested_tensor([1.0, 2.0])) == (
        "nested_tensor([\n  tensor(1.),\n  tensor(2.)\n])"
    )
    shown = repr(both(layout=torch.jagged))
    assert "offsets=tensor([0, 3, 5]), contiguous=True" in shown
