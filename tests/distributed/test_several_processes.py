"""Several processes, started in every way: one MPI world, the same results, no hang."""

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import rushlight.multiprocessing as mp

pytestmark = pytest.mark.skipif(
    find_spec("mpi4py") is None, reason="several processes need the extra `mpi`"
)

HERE = Path(__file__).parent / "several"
COLLECT, LOSE = str(HERE / "collect.py"), str(HERE / "lose_a_rank.py")
PATH = os.pathsep.join(os.path.abspath(entry) for entry in sys.path if entry)
TORCHRUN = [sys.executable, "-m", "rushlight.distributed.run"]


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port: int = taken.getsockname()[1]
        return port


def environment(**more: object) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": PATH, **{k: str(v) for k, v in more.items()}}


@contextlib.contextmanager
def started(program: str, size: int, *arguments: str) -> Iterator[list[subprocess.Popen[str]]]:
    """Processes that were started one by one, as `env://` expects them."""
    port = free_port()
    processes = [
        subprocess.Popen(
            [sys.executable, program, *arguments], text=True, stdout=subprocess.PIPE,
            env=environment(RANK=rank, WORLD_SIZE=size, MASTER_ADDR="localhost", MASTER_PORT=port),
        )
        for rank in range(size)
    ]  # fmt: skip
    try:
        yield processes
    finally:
        for process in processes:
            process.kill()
            process.wait()
            if process.stdout is not None:
                process.stdout.close()


def said(text: str) -> list[dict[str, Any]]:
    """What the ranks have said, by rank."""
    lines = [line[line.index("{") :] for line in text.splitlines() if "{" in line]
    return sorted((json.loads(line) for line in lines), key=lambda seen: int(seen["rank"]))


def check(seen: list[dict[str, Any]], size: int) -> None:
    total = size * (size + 1) / 2
    assert [one["rank"] for one in seen] == list(range(size))
    for one in seen:
        assert one["size"] == size
        assert one["sum"] == [total * i for i in range(4)]
        assert one["in order"]
        assert one["a view"] == [0, total, total, 0]
        assert one["int16"] == 300 * total
        assert one["uneven"] == [[float(i)] * (i + 1) for i in range(size)]
        assert one["future"] == [size] * 5
        assert one["split"] == ([0] if one["rank"] == 0 else list(range(1, size)))
        assert one["mean gradient"] == pytest.approx([2 * total / size] * 3)


@pytest.mark.parametrize("size", [2, 3])
def test_processes_that_were_started_one_by_one_meet(size: int) -> None:
    before = set(Path("/dev/shm").glob("mpich_shm_*"))
    with started(COLLECT, size) as processes:
        texts = [process.communicate(timeout=60)[0] for process in processes]
    check(said("".join(texts)), size)
    assert set(Path("/dev/shm").glob("mpich_shm_*")) <= before


def test_the_launcher_starts_them(tmp_path: Path) -> None:
    done = subprocess.run(
        [*TORCHRUN, "--standalone", "--nproc_per_node=2", "--log-dir", str(tmp_path), "-t", "3",
         COLLECT, "--epochs", "3"],
        env=environment(), capture_output=True, text=True, timeout=90, check=True,
    )  # fmt: skip
    seen = said(done.stdout)
    check(seen, 2)
    assert seen[0]["arguments"] == ["--epochs", "3"]
    assert "[default0]:" in done.stdout and "[default1]:" in done.stdout
    (log,) = tmp_path.glob("*/attempt_0/1/stdout.log")
    check([seen[0], *said(log.read_text())], 2)


def test_launchers_on_two_hosts_meet() -> None:
    port = free_port()
    launchers = [
        subprocess.Popen(
            [*TORCHRUN, "--nnodes", "2", "--nproc-per-node", "1", "--node-rank", str(node),
             "--master-addr", "localhost", "--master-port", str(port), COLLECT],
            env=environment(), stdout=subprocess.PIPE, text=True,
        )
        for node in range(2)
    ]  # fmt: skip
    texts = [launcher.communicate(timeout=90)[0] for launcher in launchers]
    check(said("".join(texts)), 2)


def test_the_launcher_starts_all_anew(tmp_path: Path) -> None:
    script = tmp_path / "second_time.py"
    script.write_text(
        "import os, rushlight.distributed as dist\n"
        "dist.init_process_group('gloo')\n"
        "dist.barrier()\n"
        "assert os.environ['TORCHELASTIC_RESTART_COUNT'] == '1' or dist.get_rank() == 0\n"
        "dist.barrier()\n"
        "os.write(1, b'passed %d\\n' % dist.get_rank())\n"
    )
    launch = [*TORCHRUN, "--standalone", "--nproc-per-node", "2"]
    done = subprocess.run(
        [*launch, "--max-restarts", "1", str(script)],
        env=environment(), capture_output=True, text=True, timeout=90,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.split()) == ["0", "1", "passed", "passed"]
    failed = subprocess.run(
        [*launch, str(script)], env=environment(), capture_output=True, text=True, timeout=90
    )
    assert failed.returncode == 1
    assert "second_time.py FAILED" in failed.stderr
    assert "rank      : 1 (local_rank: 1)" in failed.stderr


def test_mpiexec_starts_them() -> None:
    launcher = Path(sys.executable).with_name("mpiexec")
    found = str(launcher) if launcher.exists() else shutil.which("mpiexec")
    if found is None:
        pytest.skip("there is no mpiexec")
    done = subprocess.run(
        [found, "-n", "2", sys.executable, COLLECT],
        env=environment(), capture_output=True, text=True, timeout=90, check=True,
    )  # fmt: skip
    check(said(done.stdout), 2)


@pytest.mark.parametrize("how", ["kill", "raise", "leave"])
def test_a_rank_that_ends_is_named(how: str) -> None:
    with started(LOSE, 3, how, "30") as processes:
        texts = [process.communicate(timeout=25)[0] for process in processes[:2]]
    for text in texts:
        assert "DistBackendError all_reduce: rank 2 (process_" in text
        assert ("has left the group" if how == "leave" else "has ended unexpectedly") in text


def test_a_rank_that_hangs_is_waited_for_until_the_timeout() -> None:
    with started(LOSE, 2, "stop", "2") as processes:
        text = processes[0].communicate(timeout=25)[0]
        processes[1].send_signal(signal.SIGCONT)
    assert (
        "RuntimeError Timed out waiting 2000ms for all_reduce to complete: rank 1 doesn't wait: it "
        "computes, hangs, or was stopped" in text
    )


def _fail(index: int) -> None:
    if index == 1:
        raise KeyError("lost")


def test_an_error_of_a_spawned_process_is_raised_with_its_trace() -> None:
    with pytest.raises(mp.ProcessRaisedException, match="KeyError: 'lost'") as caught:
        mp.start_processes(_fail, nprocs=2, start_method="fork")
    assert "-- Process 1 terminated with the following error:" in str(caught.value)
    assert caught.value.error_index == 1
