"""The systems that are compared, and the environment that each one's processes get."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ROOT / "src"
# What `make compiled` and `make bench` build.
COMPILED = ROOT / "build" / "compiled"
# The system that ratios are taken against and whose check values the others must meet.
REFERENCE = "torch"

THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "RUSHLIGHT_NUM_THREADS",
)


@dataclass(frozen=True)
class System:
    """One competitor: what to import, the dialect of its workloads, and how to start it."""

    name: str
    module: str
    dialect: str
    env: Mapping[str, str] = field(default_factory=dict)
    # What `module.__config__.compiled` must be: measuring the wrong core is worse than nothing.
    compiled: bool | None = None
    # Left out with a note, instead of reported as failing, when it is not there.
    optional: bool = False
    # Measured only when named.
    named: bool = False
    # What it compiles takes longer than all else together.
    slow: bool = False
    # Packages that its processes can't import, as if they weren't installed.
    without: tuple[str, ...] = ()
    # What must be importable beside `module`.
    needs: tuple[str, ...] = ()
    # The variable of the environment that may name another interpreter: one with this system in it.
    interpreter: str | None = None
    # The variable of the environment that names another checkout, built as this one is.
    checkout: str | None = None

    def python(self) -> str:
        """The interpreter that the system's processes run on."""
        named = os.environ.get(self.interpreter, "") if self.interpreter else ""
        return named or sys.executable

    def trees(self) -> list[Path]:
        """Where its package may lie, most wanted first."""
        if self.checkout is None:
            return [SOURCES] if self.compiled is False else [COMPILED, SOURCES]
        named = os.environ.get(self.checkout)
        return [Path(named).resolve() / "build" / "compiled"] if named else []


SYSTEMS: dict[str, System] = {
    system.name: system
    for system in (
        System("torch", "torch", "torch"),
        # What `pip install rushlight` gives: NumPy, the compiled core and its kernels.
        System(
            "rushlight-compiled",
            "rushlight",
            "torch",
            compiled=True,
            optional=True,
            without=("llvmlite",),
        ),
        # The same with the extra `jit`.
        System(
            "rushlight-jit", "rushlight", "torch", compiled=True, optional=True, needs=("llvmlite",)
        ),
        # Whole steps, recorded once and compiled.
        System("rushlight-step", "rushlight", "torch-step", optional=True, needs=("llvmlite",)),
        System("jax", "jax", "jax", optional=True, interpreter="BENCH_JAX_PYTHON"),
        System(
            "rushlight", "rushlight", "torch", {"RUSHLIGHT_PURE": "1"}, compiled=False, named=True
        ),
        # What a change has brought: `BENCH_BEFORE` names a checkout of what was there before.
        System(
            "rushlight-before",
            "rushlight",
            "torch",
            compiled=True,
            optional=True,
            named=True,
            without=("llvmlite",),
            checkout="BENCH_BEFORE",
        ),
        System("torch-compile", "torch", "torch-step", optional=True, named=True, slow=True),
        System("autograd", "autograd", "autograd", optional=True, named=True),
        System("numpy", "numpy", "numpy", named=True),
    )
}


class Absent(Exception):
    """The system is not what was asked for; the message says how."""


def load(system: System) -> Any:
    """The system's module, imported and checked to be the core that was asked for.

    Raises: Absent when it is a folder without a package in it, or not the core that was asked for.
    """
    for name in system.without:
        sys.modules[name] = None  # type: ignore[assignment]  # importing it fails from now on
    for name in system.needs:
        if importlib.util.find_spec(name) is None:
            raise Absent(f"{name} is not installed")
    module = importlib.import_module(system.module)
    if getattr(module, "__file__", None) is None:
        raise Absent(f"{system.module} is a folder without an __init__.py")
    if system.checkout is not None:
        inside = (Path(module.__file__).resolve().is_relative_to(tree) for tree in system.trees())
        if not any(inside):
            raise Absent(f"{system.checkout} names no checkout with a built core")
    if system.compiled is not None:
        # `__config__` may be a submodule that nothing has imported yet.
        config = getattr(module, "__config__", None)
        if config is None:
            try:
                config = importlib.import_module(f"{system.module}.__config__")
            except ModuleNotFoundError:
                config = None
        compiled = bool(getattr(config, "compiled", False))
        if compiled != system.compiled:
            got = "compiled" if compiled else "interpreted"
            raise Absent(f"the core of {system.module} is {got}, the other one was asked for")
    return module


def set_threads(module: Any, threads: int | None) -> None:
    """Tells a module that has PyTorch's switch; the others read the environment."""
    switch = getattr(module, "set_num_threads", None)
    if switch is not None and threads is not None:
        switch(threads)


def environment(system: System, threads: int | None, *, installed: bool) -> dict[str, str]:
    """The environment of a process of `system`, this checkout first.

    Without a number of threads each system has its own default.
    """
    ours = {"RUSHLIGHT_PURE", *THREAD_VARIABLES}
    env = {name: value for name, value in os.environ.items() if name not in ours}
    if threads is not None:
        env |= dict.fromkeys(THREAD_VARIABLES, str(threads))
    # Hashing decides the layout of dictionaries and sets: the same one for everybody.
    env |= {"PYTHONHASHSEED": "0", **system.env}
    if system.module == "jax":
        env["JAX_PLATFORMS"] = "cpu"
    if system.module == "jax" and threads is not None:
        # XLA's pool of threads is as large as the machine, whatever the variables above say.
        several = "true" if threads > 1 else "false"
        env |= {
            "NPROC": str(threads),
            "XLA_FLAGS": f"--xla_cpu_multi_thread_eigen={several}",
        }
    path = [str(ROOT)]
    if not installed or system.checkout is not None:
        path += [str(tree) for tree in system.trees() if (tree / "rushlight").is_dir()]
    env["PYTHONPATH"] = os.pathsep.join([*path, *filter(None, [env.get("PYTHONPATH")])])
    # Import time without cached bytecode would measure the compiler.
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    return env
