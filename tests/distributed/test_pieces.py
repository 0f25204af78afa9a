"""Tensors of which some ranks have nothing."""

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(
    find_spec("mpi4py") is None, reason="several processes need the extra `mpi`"
)
PIECES = str(Path(__file__).parent / "several" / "pieces.py")
PATH = os.pathsep.join(os.path.abspath(entry) for entry in sys.path if entry)


def test_ranks_that_have_nothing_have_the_extremes_and_norms_of_the_whole() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "rushlight.distributed.run", "--standalone",
         "--nproc-per-node", "3", PIECES],
        env={**os.environ, "PYTHONPATH": PATH}, capture_output=True, text=True, timeout=90,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(lines) == 3
    for values in lines:
        assert values[:4] == [2, -3, 2, -3]
        assert values[4:] == pytest.approx([3, 2, 2, 5, 13**0.5, 35 ** (1 / 3), 13**0.5])
