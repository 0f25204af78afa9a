"""Datasets, datasets made of others, and samplers."""

import warnings
from typing import Any

import pytest

import rushlight as rl
from rushlight.utils.data import (
    BatchSampler,
    ChainDataset,
    ConcatDataset,
    Dataset,
    DistributedSampler,
    IterableDataset,
    RandomSampler,
    SequentialSampler,
    StackDataset,
    SubsetRandomSampler,
    TensorDataset,
    WeightedRandomSampler,
    default_collate,
    default_convert,
    random_split,
)


class Counting(IterableDataset[int]):
    def __init__(self, count: int) -> None:
        self.count = count

    def __iter__(self):
        return iter(range(self.count))

    def __len__(self) -> int:
        return self.count


def test_a_concatenation_finds_the_dataset_of_an_index() -> None:
    both: Any = ConcatDataset([range(3), range(10, 14)])
    assert [both[i] for i in (0, 2, 3, 6, -1, -7)] == [0, 2, 10, 13, 13, 0]
    with pytest.raises(ValueError, match="absolute value of index"):
        both[-8]


def test_stacked_datasets_give_rows_by_position_or_name() -> None:
    assert StackDataset(range(3), range(3, 6))[1] == (1, 4)
    named = StackDataset(a=range(3), b=range(3, 6))
    assert named[2] == {"a": 2, "b": 5} == named.__getitems__([2])[0]
    with pytest.raises(ValueError, match="Size mismatch"):
        StackDataset(range(2), range(3))


def test_iterable_datasets_chain_with_a_plus() -> None:
    chain = Counting(2) + Counting(3)
    assert isinstance(chain, ChainDataset) and list(chain) == [0, 1, 0, 1, 2] and len(chain) == 5
    with pytest.raises(TypeError, match="abstract"):
        IterableDataset()  # type: ignore[abstract]


def test_a_split_shares_out_every_item_once() -> None:
    parts = random_split(range(11), [0.3, 0.3, 0.4], generator=rl.Generator().manual_seed(1))
    assert [len(part) for part in parts] == [4, 3, 4]
    assert sorted(item for part in parts for item in part) == list(range(11))
    again = random_split(range(11), [4, 3, 4], generator=rl.Generator().manual_seed(1))
    assert [part.indices for part in parts] == [part.indices for part in again]
    with pytest.raises(ValueError, match="Sum of input lengths"):
        random_split(range(3), [1, 1])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        random_split(range(1), [0.5, 0.5])
    assert "Length of split at index 1 is 0" in str(caught[0].message)


def test_random_samplers_give_each_key_once_and_follow_the_seed() -> None:
    rl.manual_seed(3)
    first = list(RandomSampler(range(40)))
    rl.manual_seed(3)
    assert list(RandomSampler(range(40))) == first != sorted(first) == list(range(40))
    assert sorted(SubsetRandomSampler([5, 7, 9])) == [5, 7, 9]
    assert len(list(RandomSampler(range(5), replacement=True, num_samples=70))) == 70
    twice = list(RandomSampler(range(5), num_samples=12))
    assert sorted(twice[:5]) == sorted(twice[5:10]) == list(range(5))


def test_weighted_samplers_never_draw_what_has_no_weight() -> None:
    assert set(WeightedRandomSampler([0.0, 1.0, 2.0, 0.0], 200)) == {1, 2}
    assert sorted(WeightedRandomSampler([1, 1, 1], 3, replacement=False)) == [0, 1, 2]


def test_batches_of_keys_may_drop_the_last() -> None:
    keys = SequentialSampler(range(7))
    assert list(BatchSampler(keys, 3, False)) == [[0, 1, 2], [3, 4, 5], [6]]
    assert list(BatchSampler(keys, 3, True)) == [[0, 1, 2], [3, 4, 5]]
    assert (len(BatchSampler(keys, 3, False)), len(BatchSampler(keys, 3, True))) == (3, 2)


@pytest.mark.parametrize("drop_last", [False, True])
def test_distributed_samplers_share_out_evenly(drop_last: bool) -> None:
    parts = []
    for rank in range(3):
        sampler = DistributedSampler(range(10), 3, rank, drop_last=drop_last)
        sampler.set_epoch(4)
        parts.append(list(sampler))
    assert {len(part) for part in parts} == {3 if drop_last else 4}
    assert len({key for part in parts for key in part}) == (9 if drop_last else 10)


def test_collating_stacks_tensors_inside_any_structure() -> None:
    rows = [{"x": rl.full((2,), float(i)), "y": (i, i / 2), "z": "ab", "l": [i]} for i in (1, 2)]
    batch = default_collate(rows)
    assert batch["x"].tolist() == [[1, 1], [2, 2]] and batch["z"] == ["ab", "ab"]
    assert batch["y"][0].dtype is rl.int64 and batch["y"][1].dtype is rl.float64
    assert batch["l"][0].tolist() == [1, 2]
    with pytest.raises(TypeError, match="found <class 'object'>"):
        default_collate([object()])
    with pytest.raises(RuntimeError, match="equal size"):
        default_collate([[1], [1, 2]])


def test_arrays_are_converted_and_text_left_alone() -> None:
    array = rl.ones(2).numpy()
    assert isinstance(default_convert({"a": array})["a"], rl.Tensor)
    assert default_convert(["x", b"y", 3]) == ["x", b"y", 3]
    assert default_collate([array, array]).shape == (2, 2)


def test_rows_of_tensors_are_tuples() -> None:
    rows = TensorDataset(rl.arange(4), rl.ones(4, 2))
    assert len(rows) == 4 and rows[2][0].item() == 2 and rows[1][1].shape == (2,)
    assert isinstance(rows + rows, ConcatDataset)
    with pytest.raises(AssertionError, match="Size mismatch"):
        TensorDataset(rl.ones(2), rl.ones(3))
    with pytest.raises(NotImplementedError):
        Dataset()[0]
