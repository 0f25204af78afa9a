"""The same programs of two to four processes on PyTorch (gloo) and on Rushlight (MPI)."""

import functools
import json
import os
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.compare.several.names import CASES, names_for

pytestmark = pytest.mark.skipif(
    find_spec("mpi4py") is None or find_spec("torch") is None,
    reason="the comparison needs torch and the extra `mpi`",
)

RUN = Path(__file__).parent / "several" / "run.py"
CLOSE = 1e-6
#: For all programs of a size. A crowded machine has needed 210 of them for those of three ranks; a
#: hang is found by the ranks themselves, and says where.
SECONDS = 1800


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Callable[[int], dict[str, Any]]:
    """By library, what each rank of a world of a size saw of each program."""
    folder = tmp_path_factory.mktemp("several")
    path = os.pathsep.join(os.path.abspath(entry) for entry in sys.path if entry)

    @functools.cache
    def attempted(size: int) -> dict[str, Any] | Exception:
        """The same for every test of a size: a second attempt would meet the store of the first."""
        out = {}
        for library in ("torch", "rushlight"):
            method, output = f"file://{folder}/{library}{size}.store", folder / f"{library}{size}"
            try:
                subprocess.run(
                    [sys.executable, "-W", "ignore", RUN, library, str(size), method, output,
                     *names_for(size)],
                    timeout=SECONDS, check=True, env={**os.environ, "PYTHONPATH": path},
                )  # fmt: skip
            except subprocess.SubprocessError as error:
                return error
            ranks = range(size)
            out[library] = [json.loads(Path(f"{output}.{rank}").read_text()) for rank in ranks]
        return out

    def run(size: int) -> dict[str, Any]:
        found = attempted(size)
        if isinstance(found, Exception):
            pytest.fail(f"the programs of {size} ranks didn't end: {found}")
        return found

    return run


def same(a: Any, b: Any) -> bool:
    """Whether two values are the same but for the last digits of floats."""
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, float) and isinstance(b, float):
        return a == b or abs(a - b) <= CLOSE * max(abs(a), abs(b), 1) or (a != a and b != b)
    return bool(a == b)


@pytest.mark.parametrize(("size", "name"), CASES)
def test_every_rank_sees_what_it_sees_on_pytorch(
    seen: Callable[[int], dict[str, Any]], size: int, name: str
) -> None:
    by_library = seen(size)
    for rank, (theirs, ours) in enumerate(zip(by_library["torch"], by_library["rushlight"])):
        assert same(theirs[name], ours[name]), f"rank {rank}:\n{theirs[name]}\n{ours[name]}"
