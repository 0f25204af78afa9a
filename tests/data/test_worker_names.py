"""What a run through a loader tells of itself under PyTorch's names, and what it refuses."""

import dataclasses
import pickle
from typing import Any

import pytest

import rushlight as torch
from rushlight.utils.data import (
    ConcatDataset,
    DataLoader,
    Dataset,
    default_collate,
    get_worker_info,
)
from rushlight.utils.data._utils.pin_memory import pin_memory


class Told(Dataset[str]):
    def __len__(self) -> int:
        return 2

    def __getitem__(self, index: int) -> str:
        info = get_worker_info()
        assert info is not None
        try:
            info.id = 7  # type: ignore[misc]
        except dataclasses.FrozenInstanceError as error:
            return f"{error}; {info}"
        return "written"


def test_a_worker_can_be_asked_and_not_told_who_it_is() -> None:
    (first, _) = DataLoader(Told(), num_workers=1, batch_size=None)
    assert first.startswith("cannot assign to field 'id'; WorkerInfo(id=0, num_workers=1, seed=")
    assert first.endswith(", rng=None, worker_method='multiprocessing')")


def test_a_timeout_without_workers_is_refused() -> None:
    with pytest.raises(AssertionError, match="_SingleProcessDataLoaderIter requires timeout == 0"):
        list(DataLoader([1, 2], timeout=1))


def test_a_run_cannot_be_pickled() -> None:
    with pytest.raises(NotImplementedError, match=r"cannot be pickled.*_SingleProcess"):
        pickle.dumps(iter(DataLoader([1, 2])))


def test_a_run_by_workers_counts_its_orders() -> None:
    run: Any = iter(DataLoader(list(range(8)), num_workers=2, prefetch_factor=1))
    assert run._tasks_outstanding == run._send_idx == 2 and run._rcvd_idx == 0
    next(run)
    assert (run._num_yielded, run._rcvd_idx, run._send_idx) == (1, 1, 3)
    assert run._workers_status == [True, True] and len(run._index_queues) == 2
    run._shutdown_workers()
    assert not any(worker.is_alive() for worker in run._workers)


def test_sparse_and_nested_tensors_make_no_batch() -> None:
    sparse = torch.eye(2).to_sparse()
    nested = torch.nested.nested_tensor([torch.ones(1), torch.ones(2)])
    for kind, item in (("sparse", sparse), ("nested", nested)):
        with pytest.raises(RuntimeError, match=f"Batches of {kind} tensors are not currently"):
            default_collate([item, item])


class Pinned:
    def pin_memory(self) -> str:
        return "pinned"


def test_what_can_be_pinned_in_containers_is() -> None:
    data: Any = {"a": [Pinned(), 1], "b": (Pinned(), "text"), "c": range(2)}
    assert pin_memory(data) == {"a": ["pinned", 1], "b": ("pinned", "text"), "c": [0, 1]}
    assert isinstance(data["a"][0], Pinned)  # a list of the caller's isn't written
    one = torch.ones(1)
    assert pin_memory([one])[0] is one  # there is no device to pin memory for


def test_an_old_spelling_is_warned_of_in_the_future_tense() -> None:
    with pytest.warns(FutureWarning, match="renamed to `cumulative_sizes`"):
        assert ConcatDataset([[1], [2, 3]]).cummulative_sizes == [1, 3]
