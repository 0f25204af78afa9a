"""Embedding tables, bags of rows, one-hot vectors."""

from __future__ import annotations

import pytest

import rushlight as torch
from rushlight.nn import functional as F


def _table() -> torch.Tensor:
    return torch.arange(12.0).reshape(4, 3).requires_grad_()


def test_embedding_reads_rows_in_the_shape_of_the_indices() -> None:
    out = F.embedding(torch.tensor([[0, 3], [1, 1]]), _table())
    assert out.shape == (2, 2, 3)
    assert out[0, 1].tolist() == [9.0, 10.0, 11.0]
    assert type(out.grad_fn).__name__ == "EmbeddingBackward0"


def test_rows_read_twice_get_both_gradients_and_unread_ones_none() -> None:
    w = _table()
    F.embedding(torch.tensor([1, 1, 2]), w).sum().backward()
    assert w.grad is not None
    assert w.grad[:, 0].tolist() == [0.0, 2.0, 1.0, 0.0]


def test_the_padding_row_gets_no_gradient() -> None:
    w = _table()
    F.embedding(torch.tensor([1, 3, 3]), w, padding_idx=-1).sum().backward()
    assert w.grad is not None and w.grad[:, 0].tolist() == [0.0, 1.0, 0.0, 0.0]


def test_scaling_by_frequency_averages_repeated_rows() -> None:
    w = _table()
    F.embedding(torch.tensor([1, 1, 2]), w, scale_grad_by_freq=True).sum().backward()
    assert w.grad is not None and w.grad[:, 0].tolist() == [0.0, 1.0, 1.0, 0.0]


def test_max_norm_shrinks_the_rows_that_are_read_in_place() -> None:
    w = torch.tensor([[3.0, 4.0], [0.3, 0.4], [6.0, 8.0]])
    F.embedding(torch.tensor([0, 1]), w, max_norm=1.0)
    assert w[0].tolist() == pytest.approx([0.6, 0.8])
    assert w[1].tolist() == pytest.approx([0.3, 0.4])
    assert w[2].tolist() == [6.0, 8.0]
    assert w._version == 1


@pytest.mark.parametrize("index", [4, -1])
def test_an_index_that_is_no_row_is_refused(index: int) -> None:
    with pytest.raises(IndexError, match="index out of range in self"):
        F.embedding(torch.tensor([index]), _table())


def test_sparse_gradients_have_the_rows_that_were_read() -> None:
    w = torch.zeros(4, 3, requires_grad=True)
    F.embedding(torch.tensor([2]), w, sparse=True).sum().backward()
    assert w.grad.is_sparse and w.grad._indices().tolist() == [[2]]


def test_the_recorded_gradient_is_the_kernels() -> None:
    w = torch.randn(4, 3, dtype=torch.float64, requires_grad=True)
    out = F.embedding(torch.tensor([0, 3, 3, 1]), w, padding_idx=1).pow(3).sum()
    (plain,) = torch.autograd.grad(out, w, retain_graph=True)
    (recorded,) = torch.autograd.grad(out, w, create_graph=True)
    assert torch.allclose(plain, recorded)
    (again,) = torch.autograd.grad(recorded.sum(), w)
    assert torch.allclose(again[0], 6 * w[0]) and again[1].tolist() == [0.0, 0.0, 0.0]


def test_bags_are_summed_averaged_or_maximised() -> None:
    w = _table()
    i, offsets = torch.tensor([0, 1, 3, 2]), torch.tensor([0, 2, 2])
    assert F.embedding_bag(i, w, offsets, mode="sum")[:, 0].tolist() == [3.0, 0.0, 15.0]
    assert F.embedding_bag(i, w, offsets, mode="mean")[:, 0].tolist() == [1.5, 0.0, 7.5]
    assert F.embedding_bag(i, w, offsets, mode="max")[:, 0].tolist() == [3.0, 0.0, 9.0]


def test_weights_of_single_indices_scale_and_get_gradients() -> None:
    w = torch.ones(3, 2)
    s = torch.tensor([0.5, 2.0], requires_grad=True)
    out = F.embedding_bag(
        torch.tensor([0, 1]), w, torch.tensor([0]), mode="sum", per_sample_weights=s
    )
    assert out.tolist() == [[2.5, 2.5]]
    out.sum().backward()
    assert s.grad is not None and s.grad.tolist() == [2.0, 2.0]


def test_one_hot_puts_a_one_at_each_index() -> None:
    assert F.one_hot(torch.tensor([0, 2])).tolist() == [[1, 0, 0], [0, 0, 1]]
    with pytest.raises(RuntimeError, match="Class values must be smaller than num_classes"):
        F.one_hot(torch.tensor([3]), 2)


BAGS = torch.nn.functional.embedding_bag


@pytest.mark.parametrize(
    ("mode", "dtype", "padding", "text"),
    [
        ("sum", torch.float32, None, "Index 1 of input takes value 12 which is not in the valid"),
        ("sum", torch.float64, None, "Expected idx >= 0 && idx < num_embeddings but found idx"),
        ("mean", torch.float32, 0, "Expected idx >= 0 && idx < num_embeddings but found idx to"),
        ("max", torch.float32, None, "Expected idx >= 0 && idx < num_embeddings but found idx"),
    ],
)
def test_words_for_an_index_outside_depend_on_the_way(mode, dtype, padding, text):
    with pytest.raises(RuntimeError, match=text):
        BAGS(
            torch.tensor([[1, 12]]), torch.ones(10, 2, dtype=dtype), mode=mode, padding_idx=padding
        )


def test_the_last_bag_takes_what_is_left_except_in_one_pass():
    table, index = torch.arange(20.0).reshape(10, 2), torch.tensor([1, 2, 3, 4])
    offsets = torch.tensor([0, 3, 3])
    options = {"mode": "sum", "include_last_offset": True}
    assert BAGS(index, table, offsets, **options).tolist() == [[12.0, 15.0], [0.0, 0.0]]
    for rest in ({"padding_idx": 8}, {}):
        table = table if rest else table.double()
        found = BAGS(index, table, offsets, **options, **rest)
        assert found.tolist() == [[12.0, 15.0], [8.0, 9.0]]


def test_weights_of_indices_have_the_type_of_the_table():
    with pytest.raises(RuntimeError, match="to have the same type as tensor for argument #1 'per"):
        BAGS(
            torch.tensor([[1, 2]]),
            torch.ones(5, 2),
            mode="sum",
            per_sample_weights=torch.ones(1, 2, dtype=torch.float64),
        )


def test_the_operator_of_bags_takes_no_padding_as_minus_one():
    table = torch.arange(6.0).reshape(3, 2).requires_grad_()
    args = table, torch.tensor([0, 2]), torch.tensor([0])
    for f in (torch._embedding_bag, torch._embedding_bag_forward_only):
        assert f(*args)[0].tolist() == [[4.0, 6.0]]
    assert not torch._embedding_bag_forward_only(*args)[0].requires_grad


@pytest.mark.parametrize("mode", ["sum", "mean"])
def test_the_gradient_of_bags_asks_only_for_the_shape_of_their_table(mode: str) -> None:
    table = torch.ones(4, 3, requires_grad=True)
    bags = torch.nn.functional.embedding_bag(torch.tensor([[0, 1]]), table, mode=mode)
    with torch.no_grad():
        table.mul_(2)
    bags.sum().backward()
    assert table.grad[:, 0].tolist() == [1.0 if mode == "sum" else 0.5] * 2 + [0.0] * 2
