"""`DataLoader`: order, seeds, worker processes, their errors, and ends before the end."""

import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import rushlight as rl
from rushlight.utils.data import DataLoader, Dataset, IterableDataset, get_worker_info


class Squares(Dataset[Any]):
    def __init__(self, count: int = 10) -> None:
        self.count = count

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> Any:
        info = get_worker_info()
        return rl.tensor(index * index), -1 if info is None else info.id, rl.rand(()).item()


class Failing(Dataset[Any]):
    def __init__(self, error: BaseException | None) -> None:
        self.error = error

    def __len__(self) -> int:
        return 6

    def __getitem__(self, index: int) -> Any:
        if index == 3:
            if self.error is None:
                os._exit(1)
            raise self.error
        return index


class Sleeping(Dataset[Any]):
    def __len__(self) -> int:
        return 4

    def __getitem__(self, index: int) -> Any:
        time.sleep(20 if index else 0)
        return rl.zeros(300_000)


class Shares(IterableDataset[int]):
    def __iter__(self):
        info = get_worker_info()
        return iter(range(9) if info is None else range(info.id, 9, info.num_workers))


class Odd(Exception):
    def __init__(self, one: int, two: int) -> None:
        super().__init__(one, two)


def numbers(batches: Any) -> list[list[int]]:
    return [batch[0].tolist() for batch in batches]


def test_workers_do_not_change_the_order() -> None:
    orders = []
    for workers in (0, 1, 2):
        rl.manual_seed(5)
        loader = DataLoader(range(10), batch_size=3, shuffle=True, num_workers=workers)
        orders.append([[b.tolist() for b in loader], [b.tolist() for b in loader]])
        orders[-1].append(rl.rand(2).tolist())
    assert orders[0] == orders[1] == orders[2]
    assert orders[0][0] != orders[0][1]


def test_batches_go_round_the_workers_with_seeds_of_their_own() -> None:
    rl.manual_seed(0)
    rows = list(DataLoader(Squares(4), batch_size=None, num_workers=2))
    assert [row[1] for row in rows] == [0, 1, 0, 1]
    # What PyTorch's workers draw from the same seed.
    assert [round(row[2], 4) for row in rows] == [0.7821, 0.6938, 0.0536, 0.2980]


def test_persistent_workers_serve_several_epochs() -> None:
    loader = DataLoader(Squares(), batch_size=4, num_workers=1, persistent_workers=True)
    first = iter(loader)
    processes = first._workers
    assert numbers(first) == numbers(loader) == [[0, 1, 4, 9], [16, 25, 36, 49], [64, 81]]
    next(iter(loader))
    assert numbers(loader)[0] == [0, 1, 4, 9]
    assert loader._iterator._workers is processes
    loader._iterator.shut_down()


def test_iterable_datasets_are_shared_out_by_worker_info() -> None:
    assert [b.tolist() for b in DataLoader(Shares(), batch_size=4)] == [
        [0, 1, 2, 3], [4, 5, 6, 7], [8],
    ]  # fmt: skip
    found = [b.tolist() for b in DataLoader(Shares(), batch_size=2, num_workers=2)]
    assert found == [[0, 2], [1, 3], [4, 6], [5, 7], [8]]
    dropped = DataLoader(Shares(), batch_size=2, num_workers=2, drop_last=True)
    assert sum(len(b) for b in dropped) == 8


@pytest.mark.parametrize("error", [ValueError("no"), KeyError("k"), Odd(1, 2)])
def test_an_error_in_a_worker_comes_back_with_its_traceback(error: Exception) -> None:
    loader = DataLoader(Failing(error), num_workers=1)
    kind = RuntimeError if isinstance(error, Odd) else type(error)
    with pytest.raises(kind) as caught:
        list(loader)
    text = str(caught.value)
    assert f"Caught {type(error).__name__} in DataLoader worker process 0.\nOriginal Trace" in text
    assert "__getitem__" in text


def test_reading_goes_on_after_a_workers_error() -> None:
    batches = iter(DataLoader(Failing(ValueError()), num_workers=2))
    seen: list[Any] = []
    while True:
        try:
            seen.append(next(batches).item())
        except ValueError:
            seen.append("error")
        except StopIteration:
            break
    assert seen == [0, 1, 2, "error", 4, 5]


def test_a_worker_that_dies_is_noticed() -> None:
    with pytest.raises(RuntimeError, match=r"DataLoader worker \(pid\(s\) \d+\) exited unexp"):
        list(DataLoader(Failing(None), num_workers=1))


def test_a_timeout_says_so_and_a_loader_left_early_ends_its_workers() -> None:
    batches = iter(DataLoader(Sleeping(), num_workers=1, timeout=0.5))
    next(batches)
    start = time.monotonic()
    with pytest.raises(RuntimeError, match=r"DataLoader timed out after 0.5 seconds"):
        next(batches)
    processes = batches._workers
    assert time.monotonic() - start < 3
    batches.shut_down()
    assert not any(process.is_alive() for process in processes)


def test_a_loader_with_full_pipes_is_dropped_quickly() -> None:
    batches = iter(DataLoader(Large(), num_workers=2, prefetch_factor=4))
    next(batches)
    processes, start = batches._workers, time.monotonic()
    del batches
    assert time.monotonic() - start < 4
    assert not any(process.is_alive() for process in processes)


class Killed(Squares):
    def __getitem__(self, index: int) -> Any:
        os.kill(os.getpid(), signal.SIGKILL)


def test_a_worker_that_is_gone_is_told_with_how_it_ended() -> None:
    with pytest.raises(RuntimeError, match="exited unexpectedly") as caught:
        list(DataLoader(Killed(), num_workers=1))
    assert "is killed by signal: Killed. " in str(caught.value.__cause__)
    with pytest.raises(RuntimeError, match="exited unexpectedly") as caught:
        list(DataLoader(Failing(None), num_workers=1))
    assert "exited unexpectedly with exit code 1. " in str(caught.value.__cause__)


def test_workers_that_persist_end_with_their_loader() -> None:
    batches = iter(DataLoader(Squares(), num_workers=1, persistent_workers=True))
    (worker,) = batches._workers
    next(batches)
    assert worker.is_alive()
    del batches
    worker.join(5.0)
    assert worker.exitcode == 0


class Large(Dataset[Any]):
    def __init__(self, count: int = 50) -> None:
        self.count = count

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> Any:
        return rl.full((200_000,), float(index))


def broken(worker: int) -> None:
    raise LookupError(f"worker {worker}")


def test_worker_init_fn_runs_in_each_worker_and_its_error_comes_back() -> None:
    with pytest.raises(LookupError, match="worker 0"):
        list(DataLoader(Squares(), num_workers=1, worker_init_fn=broken))


def test_out_of_order_loading_gives_every_batch_once() -> None:
    loader = DataLoader(Squares(), batch_size=2, num_workers=2, in_order=False)
    assert sorted(n for batch in numbers(loader) for n in batch) == [i * i for i in range(10)]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_workers": -1}, "num_workers option should be non-negative"),
        ({"prefetch_factor": 2}, "could only be specified in multiprocessing"),
        ({"persistent_workers": True}, "needs num_workers > 0"),
        ({"shuffle": True, "sampler": [0]}, "mutually exclusive with shuffle"),
        ({"batch_size": None, "drop_last": True}, "disables auto-batching"),
        ({"batch_size": 2, "batch_sampler": [[0]]}, "mutually exclusive with batch_size"),
        ({"multiprocessing_context": "fork"}, "can only be used with multi-process loading"),
    ],
)
def test_options_that_exclude_one_another_are_refused(options: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        DataLoader(Squares(), **options)


PROGRAM = """
import torch
from torch.utils.data import DataLoader, Dataset

class Names(Dataset):
    def __len__(self):
        return 2
    def __getitem__(self, index):
        return "rushlight" in torch.__file__

if __name__ == "__main__":
    print(list(DataLoader(Names(), batch_size=None, num_workers=1,
                          multiprocessing_context="spawn")))
"""


@pytest.mark.skipif(
    "spawn" not in multiprocessing.get_all_start_methods(), reason="processes can't be spawned"
)
def test_spawned_workers_import_rushlight_as_torch_where_the_parent_does(tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    script.write_text(PROGRAM)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    done = subprocess.run([sys.executable, "-m", "rushlight", str(script)], env=environment,
                          capture_output=True, text=True, timeout=60, check=False)  # fmt: skip
    assert done.stdout.strip() == "[True, True]", done.stderr


class Pictures(Dataset[Any]):
    """Large rows of several kinds: what goes through shared memory."""

    def __len__(self) -> int:
        return 6

    def __getitem__(self, index: int) -> Any:
        row = rl.full((3, 200, 100), float(index))
        return {"whole": row, "turned": row.permute(2, 0, 1), "half": row.bfloat16(),
                "small": rl.tensor([index]), "text": str(index)}  # fmt: skip


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("batch_size", [None, 2])
def test_large_batches_from_workers_are_what_they_are_here(
    workers: int, batch_size: int | None
) -> None:
    here = list(DataLoader(Pictures(), batch_size=batch_size))
    there = list(DataLoader(Pictures(), batch_size=batch_size, num_workers=workers))
    for ours, theirs in zip(here, there, strict=True):
        assert ours.keys() == theirs.keys() and ours["text"] == theirs["text"]
        for key in ("whole", "turned", "half", "small"):
            assert theirs[key].equal(ours[key]) and theirs[key].dtype is ours[key].dtype
            assert theirs[key].stride() == ours[key].stride()
            theirs[key].add_(1)  # a batch is its owner's to write to


def test_a_row_of_a_large_tensor_is_sent_without_the_rest() -> None:
    rows = rl.arange(2_000_000.0).reshape(2000, 1000)
    found = list(DataLoader(rows, batch_size=None, sampler=[3, 1999], num_workers=1))
    assert [row.tolist() for row in found] == [rows[3].tolist(), rows[1999].tolist()]
    assert all(row.untyped_storage().nbytes() == 4000 for row in found)


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="open files can't be counted")
def test_batches_that_are_kept_do_not_use_up_the_open_files() -> None:
    loader = DataLoader(Large(600), batch_size=None, num_workers=1)
    before = len(os.listdir("/proc/self/fd"))
    kept = [batch[:2] for batch in loader]
    used = len(os.listdir("/proc/self/fd")) - before
    assert len(kept) == 600 and used <= 260
    assert [int(batch[0]) for batch in kept[::100]] == [0, 100, 200, 300, 400, 500]
    del kept
    assert len(os.listdir("/proc/self/fd")) - before < 10


@pytest.mark.skipif(
    "spawn" not in multiprocessing.get_all_start_methods(), reason="processes can't be spawned"
)
def test_what_cannot_be_sent_to_a_process_is_refused_with_a_word_on_why() -> None:
    loader: DataLoader[Any] = DataLoader(
        rl.arange(4), num_workers=1, collate_fn=lambda rows: rows, multiprocessing_context="spawn"
    )  # fmt: skip
    with (
        pytest.warns(UserWarning, match="Got pickle error when attempting to start a worker"),
        pytest.raises((AttributeError, pickle.PicklingError)),
    ):
        next(iter(loader))


def test_workers_that_are_asked_for_nothing_ahead_are_refused() -> None:
    loader = rl.utils.data.DataLoader([1, 2, 3], num_workers=1, prefetch_factor=0)
    with pytest.raises(AssertionError, match="prefetch_factor must be greater than 0"):
        iter(loader)
