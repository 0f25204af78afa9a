"""What processes leave in shared memory is removed by their launcher, and nothing else is."""

import os
import secrets
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path("/dev/shm")
PATH = os.pathsep.join(os.path.abspath(entry) for entry in sys.path if entry)

#: Ends as a rank does that MPI aborts while it starts: its file is there, with its name.
ABORTED = """
import mmap, os, sys, time

path = sys.argv[1] + "_" + os.environ["RANK"]
with open(path, "w+b") as file:
    file.truncate(4096)
    held = mmap.mmap(file.fileno(), 4096)
time.sleep(2)
os._exit(1)
"""


@pytest.mark.skipif(not FOLDER.is_dir(), reason="no folder of shared memory")
def test_files_of_ranks_that_were_aborted_go_and_others_stay(tmp_path: Path) -> None:
    script = tmp_path / "aborted.py"
    script.write_text(ABORTED)
    start = FOLDER / f"mpich_shm_{secrets.token_hex(6)}"
    another = FOLDER / f"{start.name}_of_another"
    another.write_bytes(b"held by somebody else")
    try:
        done = subprocess.run(
            [sys.executable, "-m", "rushlight.distributed.run", "--standalone",
             "--nproc-per-node", "2", str(script), str(start)],
            env={**os.environ, "PYTHONPATH": PATH}, capture_output=True, text=True, timeout=90,
        )  # fmt: skip
        assert done.returncode == 1, done.stderr
        assert [path.name for path in FOLDER.glob(f"{start.name}*")] == [another.name]
    finally:
        for path in FOLDER.glob(f"{start.name}*"):
            path.unlink()
