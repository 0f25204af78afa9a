"""A short form of the attack by faults of ranks: the whole is `python -m tests.attack.ranks`."""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        find_spec("mpi4py") is None or sys.platform != "linux",
        reason="several processes need the extra `mpi`; what is left is looked for in /proc",
    ),
]


@pytest.mark.parametrize("when", [[], ["--forming"]])
def test_faults_of_a_rank_are_told_and_lose_nothing(when: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.attack.ranks", "--count", "4", "--seed", "3", *when],
        cwd=Path(__file__).parents[2], capture_output=True, text=True, timeout=600, check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout == "4 faults, 0 broke a promise\n"
