"""A short form of the attack by files: the whole one is `python -m tests.attack.files`."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow


@pytest.mark.skipif(sys.platform != "linux", reason="memory is measured through /proc")
def test_hostile_files_and_kills_break_no_promise() -> None:
    command = [sys.executable, "-m", "tests.attack.files", "--untimed", "--every", "15",
               "--count", "60", "--seed", "4", "--kills", "12"]  # fmt: skip
    done = subprocess.run(
        command, cwd=Path(__file__).parents[2], capture_output=True, text=True, timeout=600,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 broke a promise" in done.stdout
