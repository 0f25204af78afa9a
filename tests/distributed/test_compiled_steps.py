"""Compiled steps that hold DistributedDataParallel: the bits of eager ones, on every rank."""

import json
import os
import socket
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.skipif(
    find_spec("mpi4py") is None, reason="several processes need the extra `mpi`"
)

PROGRAM = str(Path(__file__).parent / "several" / "compiled.py")
PATH = os.pathsep.join(os.path.abspath(entry) for entry in sys.path if entry)
EAGER = {
    "late_branch": "it branches on a value after gradients have gone to other processes",
    "unused": "a parameter of DistributedDataParallel has got no gradient",
}


def ranks(*arguments: str, size: int = 2, ends: int = 0) -> list[dict[str, Any]]:
    """What some ranks say, which end with a code."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    told = {"PYTHONPATH": PATH, "OMP_NUM_THREADS": "1", "WORLD_SIZE": str(size),
            "MASTER_ADDR": "localhost", "MASTER_PORT": port}  # fmt: skip
    processes = [
        subprocess.Popen(
            [sys.executable, PROGRAM, *arguments], env={**os.environ, **told, "RANK": str(rank)},
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for rank in range(size)
    ]  # fmt: skip
    seen = []
    try:
        for process in processes:
            out, errors = process.communicate(timeout=400)
            assert process.returncode == ends, errors
            seen.append(json.loads(next(x for x in out.splitlines() if x.startswith("{"))))
    finally:
        for process in processes:
            process.kill()
            process.wait()
    return seen


@pytest.fixture(scope="module", params=[2, pytest.param(3, marks=pytest.mark.slow)])
def seen(request: pytest.FixtureRequest) -> list[dict[str, Any]]:
    return ranks(size=request.param)


@pytest.mark.parametrize(
    "case",
    ["plain", "other_shapes", "branches", "late_branch", "refused_values", "accumulated",
     "accumulated_inside", "two_models", "module_alone", "within", "changes", "unused",
     "two_threads"],
)  # fmt: skip
def test_a_compiled_step_gives_the_bits_of_an_eager_one(
    seen: list[dict[str, Any]], case: str
) -> None:
    for rank, every in enumerate(seen):
        one = every[case]
        assert one["same"], f"rank {rank}: {one}"
        assert one["alike"] or case == "changes", f"rank {rank}: {one}"
        for text in one["said"]:
            if case in EAGER:
                assert EAGER[case] in text
            if case != "late_branch":
                assert " compiled\n" in text, text
        for a, b in zip(one["native"], one["eager"]):
            assert a == (b if isinstance(b, str) else pytest.approx(b, rel=1e-3))


def test_messages_stay_with_python_and_the_rest_is_native(seen: list[dict[str, Any]]) -> None:
    from rushlight._native.llvm import target

    if not target.compiles():
        pytest.skip("machine code needs llvmlite")
    text = seen[0]["plain"]["said"][1]
    assert "all_reduce, wait, mean, Adam.step" in text
    assert "native but for" in text


def test_a_rank_that_fails_in_a_compiled_step_ends_the_others() -> None:
    first, second = ranks("fault", ends=3)
    assert "IndexError: Target 7 is out of bounds" in second["error"]
    assert first["error"].startswith("DistBackendError: ")
    assert "rank 1 (process_" in first["error"]
    assert first["took"] < 60
