"""An interrupt ends all processes of a program within seconds, wherever they are."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.skipif(
        find_spec("mpi4py") is None, reason="several processes need the extra `mpi`"
    ),
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc"),
]  # fmt: skip

PROGRAM = str(Path(__file__).parent / "several" / "interrupted.py")
PATH = os.pathsep.join(os.path.abspath(entry) for entry in sys.path if entry)
RUN = [sys.executable, "-m", "rushlight.distributed.run", "--standalone", "--nproc-per-node", "3"]
slow = pytest.mark.slow


def members(session: int) -> Iterator[int]:
    """The processes of a session that still run."""
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, _, own = path.read_text().rpartition(")")[2].split()[:4]
        except OSError:  # it has ended since
            continue
        if int(own) == session and state != "Z":
            yield int(path.parent.name)


def until(true: object, seconds: float) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if true():  # type: ignore[operator]
            return True
        time.sleep(0.05)
    return False


def interrupt(
    tmp_path: Path,
    command: list[str],
    where: str,
    whom: str,
    how: signal.Signals,
    interrupts: signal.Handlers = signal.SIG_DFL,
) -> tuple[int, float]:
    """How a program of three ranks ends that is told to, and after how many seconds.

    A shell has what it runs in the background ignore interrupts, and the tests with it.
    """
    memory = set(os.listdir("/dev/shm"))
    arrived = tmp_path / "arrived"
    arrived.mkdir()
    process = subprocess.Popen(
        [*command[:-1], where, str(arrived), *command[-1:]] if command[-1].startswith("file:")
        else [*command, where, str(arrived)],
        env={**os.environ, "PYTHONPATH": PATH}, start_new_session=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        preexec_fn=lambda: signal.signal(signal.SIGINT, interrupts),
    )  # fmt: skip
    try:
        assert until(lambda: len(list(arrived.iterdir())) == 3, 90), "the ranks haven't come"
        time.sleep(0.5)  # they are in what they were to be in
        start = time.monotonic()
        if whom == "all":  # as a terminal does
            os.killpg(process.pid, how)
        else:
            process.send_signal(how)
        code = process.wait(30)
        assert until(lambda: not list(members(process.pid)), 10), list(members(process.pid))
        took = time.monotonic() - start
        left = lambda: {x for x in set(os.listdir("/dev/shm")) - memory if "mpich" in x}  # noqa: E731
        assert until(lambda: not left(), 5), left()
        return code, took
    finally:
        for number in members(process.pid):
            os.kill(number, signal.SIGKILL)
        process.wait()


@pytest.mark.parametrize(
    ("where", "whom"),
    [("collective", "all"), pytest.param("collective", "first", marks=slow),
     pytest.param("computing", "all", marks=slow), pytest.param("computing", "first", marks=slow),
     pytest.param("forming", "all", marks=slow), pytest.param("forming", "first", marks=slow)],
)  # fmt: skip
def test_an_interrupt_of_the_launcher_ends_all(tmp_path: Path, where: str, whom: str) -> None:
    code, took = interrupt(tmp_path, [*RUN, PROGRAM], where, whom, signal.SIGINT)
    assert code == 1  # as torchrun
    assert took < 15


@pytest.mark.parametrize(
    ("where", "whom"),
    [pytest.param("collective", "all", marks=slow), ("collective", "first"),
     pytest.param("computing", "all", marks=slow), pytest.param("computing", "first", marks=slow),
     pytest.param("forming", "all", marks=slow), pytest.param("forming", "first", marks=slow)],
)  # fmt: skip
def test_an_interrupt_of_a_program_ends_those_it_has_spawned(
    tmp_path: Path, where: str, whom: str
) -> None:
    command = [sys.executable, PROGRAM, f"file://{tmp_path}/store"]
    code, took = interrupt(tmp_path, command, where, whom, signal.SIGINT)
    assert code == -signal.SIGINT
    assert took < 20


@slow
@pytest.mark.parametrize(
    ("where", "interrupts"),
    [("collective", signal.SIG_DFL), ("computing", signal.SIG_DFL), ("forming", signal.SIG_DFL),
     ("computing", signal.SIG_IGN)],
)  # fmt: skip
def test_those_that_a_program_has_spawned_end_with_it(
    tmp_path: Path, where: str, interrupts: signal.Handlers
) -> None:
    command = [sys.executable, PROGRAM, f"file://{tmp_path}/store"]
    code, took = interrupt(tmp_path, command, where, "first", signal.SIGKILL, interrupts)
    assert code == -signal.SIGKILL
    assert took < 15
