"""Extension modules for small arrays: those of the package, else such as are built here."""

import importlib.util
import subprocess
import sysconfig
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rushlight._native import ufunc_loops


def module(name: str, folder: Path) -> Any:
    """An extension module of `ufunc_loops`, built in `folder` where the package has none.

    Without a C compiler and headers the test is skipped: nothing of this is then ever run.
    """
    found = ufunc_loops._module(name)
    if found is not None:
        return found
    source = Path(ufunc_loops.__file__).with_name(f"{name}.c")
    made = folder / f"{name}{sysconfig.get_config_var('EXT_SUFFIX')}"
    compiler = (sysconfig.get_config_var("CC") or "cc").split()[0]
    headers = [f"-I{sysconfig.get_paths()['include']}", f"-I{np.get_include()}"]
    flags = ["-O1", "-ffp-contract=off", "-shared", "-fPIC"]
    try:
        subprocess.run(
            [compiler, *flags, *headers, str(source), "-lm", "-o", str(made)],
            check=True, capture_output=True,
        )  # fmt: skip
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("no C compiler with Python's headers")
    spec = importlib.util.spec_from_file_location(f"{ufunc_loops.__name__}.{name}", made)
    assert spec is not None and spec.loader is not None
    built = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(built)
    return built


@contextmanager
def placed(name: str, folders: pytest.TempPathFactory) -> Iterator[Any]:
    """An extension module of `ufunc_loops`, in its place meanwhile."""
    found = module(name, folders.mktemp(name))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ufunc_loops, name.upper(), found)
        yield found


def same(a: Any, b: Any) -> bool:
    """Whether arrays have one type, layout and the same digits, signs of zeros too."""
    a, b = np.asarray(a), np.asarray(b)
    if (a.dtype, a.shape, a.strides) != (b.dtype, b.shape, b.strides):
        return False
    if a.dtype.kind not in "f":
        return bool((a == b).all())
    equal = (a == b) & (np.signbit(a) == np.signbit(b))
    return bool((equal | (np.isnan(a) & np.isnan(b))).all())


class Plain:
    """Counts the calls of a function that small arrays shouldn't reach."""

    def __init__(self, function: Any) -> None:
        self.function = function
        self.calls = 0

    def __call__(self, *args: object) -> Any:
        self.calls += 1
        return self.function(*args)


def run_at_once(run: Callable[[int], None]) -> None:
    """Calls a function with 0 to 3, each on a thread of its own, and waits for all."""
    threads = [threading.Thread(target=run, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
