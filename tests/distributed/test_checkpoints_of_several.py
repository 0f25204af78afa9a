"""Checkpoints that several ranks write: read by others, and kept where writing fails."""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import rushlight as torch
import rushlight.distributed.checkpoint as dcp

pytestmark = pytest.mark.skipif(
    find_spec("mpi4py") is None, reason="several processes need the extra `mpi`"
)

PROGRAM = str(Path(__file__).parent / "several" / "checkpoint.py")
PATH = os.pathsep.join(os.path.abspath(entry) for entry in sys.path if entry)


def run(what: str, folder: Path, size: int) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-m", "rushlight.distributed.run", "--standalone", "--nproc-per-node",
         str(size), PROGRAM, what, str(folder)],
        env={**os.environ, "PYTHONPATH": PATH}, capture_output=True, text=True, timeout=90,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return sorted(line for line in done.stdout.splitlines() if line)


def test_other_numbers_of_ranks_read_what_all_have_written(tmp_path: Path) -> None:
    run("write", tmp_path, 3)
    assert run("read", tmp_path, 2) == ["0 1 True", "1 1 True"]
    alone: dict[str, object] = {"w": torch.zeros(7, 5), "epoch": 0}
    with pytest.warns(UserWarning, match="in a single process"):
        dcp.load(alone, checkpoint_id=tmp_path)
    assert alone["epoch"] == 1
    assert torch.equal(alone["w"], torch.arange(35.0).reshape(7, 5))  # type: ignore[arg-type]


def test_a_rank_that_fails_leaves_the_former_checkpoint(tmp_path: Path) -> None:
    run("write", tmp_path, 2)
    before = sorted(path.name for path in tmp_path.iterdir())
    told = run("fail", tmp_path, 2)
    assert told == [f"{rank} [1] OSError: [Errno 28] No space left on device" for rank in (0, 1)]
    assert sorted(path.name for path in tmp_path.iterdir()) == before
    assert run("read", tmp_path, 2) == ["0 1 True", "1 1 True"]


def test_an_exception_after_the_index_is_in_its_place_leaves_the_checkpoint(tmp_path: Path) -> None:
    told = run("disturb", tmp_path, 2)
    assert told == [f"{rank} [0] ArithmeticError: too late" for rank in (0, 1)]
    assert run("read", tmp_path, 2) == ["0 1 True", "1 1 True"]


def test_what_a_lost_run_has_half_written_goes_with_the_next_checkpoint(tmp_path: Path) -> None:
    left = ("__1_0123.distcp", ".__0_0123.distcp.89ab", ".rushlight.pt.0123")
    for name in left:
        (tmp_path / name).write_bytes(b"half of it")
    run("write", tmp_path, 2)
    assert {path.name for path in tmp_path.iterdir()}.isdisjoint(left)
    assert run("read", tmp_path, 2) == ["0 1 True", "1 1 True"]
