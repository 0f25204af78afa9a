"""Sparse gradients of several ranks, where PyTorch's gloo gives an error or ends the process."""

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import rushlight as torch
import rushlight.distributed as dist

SEVERAL = pytest.mark.skipif(
    find_spec("mpi4py") is None, reason="several processes need the extra `mpi`"
)
ROWS = str(Path(__file__).parent / "several" / "rows.py")
PATH = os.pathsep.join(os.path.abspath(entry) for entry in sys.path if entry)


@pytest.fixture(scope="module")
def seen() -> list[dict[str, Any]]:
    done = subprocess.run(
        [sys.executable, "-m", "rushlight.distributed.run", "--standalone",
         "--nproc-per-node", "2", ROWS],
        env={**os.environ, "PYTHONPATH": PATH}, capture_output=True, text=True, timeout=90,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return sorted(map(json.loads, done.stdout.splitlines()), key=lambda one: int(one["rank"]))


@SEVERAL
def test_a_table_that_one_rank_has_not_read_has_the_others_rows(seen: list[dict[str, Any]]) -> None:
    for one in seen:
        assert one["both"] == [[[0, 1, 5]], [[0.5, 0.5], [0.5, 0.5], [1.0, 1.0]]]
        assert one["one"] == [[[1, 5]], [[0.5, 0.5], [0.5, 0.5]]]
        assert one["none"] is None


@SEVERAL
def test_sparse_tensors_that_differ_are_refused_on_all_ranks(seen: list[dict[str, Any]]) -> None:
    for one in seen:
        assert one["shapes"] == one["types"] == "Sparse dimensions do not match"
        assert one["dense"] == "none"  # the rows that aren't zero are sent


@SEVERAL
def test_sparse_tensors_of_16_bits_are_summed(seen: list[dict[str, Any]]) -> None:
    assert all(one["halves"] == [1.0, 2.0, 0.0, 0.0, 0.0] for one in seen)


def test_one_rank_merges_the_places_that_stand_twice(tmp_path: Path) -> None:
    store = dist.FileStore(str(tmp_path / "store"), 1)
    dist.init_process_group("gloo", store=store, rank=0, world_size=1)
    try:
        x = torch.sparse_coo_tensor([[1, 1]], [2.0, 3.0], (5,))
        dist.all_reduce(x)
        assert x.is_coalesced() and x.values().tolist() == [5.0]
        with pytest.raises(RuntimeError, match=r"only works with ReduceOp\.SUM"):
            dist.all_reduce(x, dist.ReduceOp.AVG)
    finally:
        dist.destroy_process_group()
