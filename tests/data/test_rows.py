"""Batches of a `TensorDataset`, which are read at once where nobody can tell the difference."""

from typing import Any

import pytest

import rushlight as torch
from rushlight.utils.data import DataLoader, Subset, TensorDataset, random_split
from rushlight.utils.data._utils import collate as collating
from rushlight.utils.data._utils.rows import rows_of

default = collating.default_collate


def dataset() -> Any:
    return TensorDataset(torch.arange(24.0).reshape(12, 2), torch.arange(12))


def by_items(data: Any, keys: list[int]) -> Any:
    return default([data[key] for key in keys])


@pytest.mark.parametrize("keys", [[3], [0, 11, 5, 5], [-1, 2]])
def test_the_rows_are_those_of_the_items(keys: list[int]) -> None:
    data = dataset()
    found = rows_of(data, keys, default)
    assert found is not None
    for a, b in zip(found, by_items(data, keys), strict=True):
        assert torch.equal(a, b)
        assert (a.dtype, a.shape, a.stride()) == (b.dtype, b.shape, b.stride())


def test_parts_of_parts_are_read_at_once() -> None:
    part = Subset(Subset(dataset(), [9, 7, 5, 3]), [3, 1])
    found = rows_of(part, [0, 1], default)
    assert found is not None
    assert found[1].tolist() == [3, 7]
    first, _ = random_split(dataset(), [8, 4])
    assert rows_of(first, [0, 7], default) is not None


def test_a_batch_shares_no_memory_with_the_dataset() -> None:
    data = dataset()
    found = rows_of(data, [0, 1], default)
    assert found is not None
    found[0].zero_()
    assert data.tensors[0][1].tolist() == [2.0, 3.0]


def test_a_loader_gives_the_same_as_item_by_item() -> None:
    data = dataset()
    for batch in DataLoader(data, batch_size=5, shuffle=True):
        assert type(batch) is list
        assert batch[0][:, 0].tolist() == (2.0 * batch[1]).tolist()


class Doubled(TensorDataset):
    def __getitem__(self, index: Any) -> Any:
        return tuple(2 * x for x in super().__getitem__(index))


def test_what_is_not_plain_is_put_together_item_by_item() -> None:
    data = dataset()
    assert rows_of(Doubled(*data.tensors), [1], default) is None
    assert rows_of(data, [1], list) is None
    assert rows_of(data, [torch.tensor(1)], default) is None
    assert rows_of(data, [True], default) is None
    assert rows_of(data, 1, default) is None
    assert rows_of(data, [], default) is None
    assert rows_of(data, [12], default) is None
    assert rows_of(TensorDataset(torch.ones(3, 2).T), [0], default) is None
    assert rows_of(TensorDataset(torch.ones(3, requires_grad=True)), [0], default) is None
    with torch.inference_mode():
        assert rows_of(data, [1], default) is None


def test_an_item_out_of_range_is_an_index_error() -> None:
    loader = DataLoader(dataset(), batch_sampler=[[0, 12]])
    with pytest.raises(IndexError):
        next(iter(loader))


def test_what_is_said_of_tensors_in_the_table_of_collate_is_done(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def negated(batch: Any, *, collate_fn_map: Any = None) -> Any:
        return -torch.stack(list(batch))

    monkeypatch.setitem(collating.default_collate_fn_map, torch.Tensor, negated)
    batch = next(iter(DataLoader(dataset(), batch_size=2)))
    assert batch[1].tolist() == [0, -1]


def test_another_way_to_read_items_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TensorDataset, "__getitem__", lambda self, index: torch.tensor(7))
    assert next(iter(DataLoader(dataset(), batch_size=2))).tolist() == [7, 7]
