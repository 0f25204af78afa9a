"""Ranks that do different things are told so, and the check of a world prints its figures."""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(
    find_spec("mpi4py") is None, reason="several processes need the extra `mpi`"
)

PROGRAM = str(Path(__file__).parent / "several" / "mismatch.py")
PATH = os.pathsep.join(os.path.abspath(entry) for entry in sys.path if entry)


def run(*arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", *arguments], env={**os.environ, "PYTHONPATH": PATH},
        capture_output=True, text=True, timeout=90,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_in_detail_an_error_says_which_rank_did_what() -> None:
    told = run("rushlight.distributed.run", "--standalone", "--nproc-per-node", "2", PROGRAM)
    lines = [line for line in told.splitlines() if line.startswith("0:")]
    assert len(lines) == 10
    assert (
        "of a torch.float32 of shape (2,), but Rank 1 is running collective: all_reduce"
        in (lines[0])
    )
    assert "of a torch.float64 of shape (2,)" in lines[1]
    assert "broadcast" in lines[2] and "Rank 1 is running collective: barrier" in lines[2]
    for line, shapes in zip(lines[3:7], [("(4,)", "(6,)"), *[("(2,)", "(3,)")] * 3]):
        assert all(f"of a torch.float32 of shape {shape}" in line for shape in shapes)
    assert "of torch.float32, but" in lines[7] and "of torch.float64" in lines[7]
    for line, sent in zip(lines[8:], (3, 5)):
        assert line.endswith(
            f"of the group):; rank 0 sends {sent} elements of torch.float32, of shape ({sent},) to "
            f"rank 1, which expects 2 elements of torch.float32, of shape (2,)"
        )


def test_the_check_says_who_is_where() -> None:
    told = run("rushlight.distributed.check", "--nproc-per-node", "2")
    assert told.startswith("2 ranks, formed in ")
    assert "all_reduce    time of one" in told
    assert "to change:" in told
