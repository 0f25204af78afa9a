"""`rushlight.compile`, and modules whose calls are compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..nn.modules.module import Module
from .step import STANCE, CompiledStep

__all__ = ["OptimizedModule", "compile", "reset"]

_steps: list[Any] = []


def compile(
    model: Callable[..., Any] | None = None,
    *,
    fullgraph: bool = False,
    dynamic: bool | None = None,
    backend: Any = None,
    mode: str | None = None,
    options: dict[str, Any] | None = None,
    disable: bool = False,
) -> Any:
    """The function or module with its calls recorded, then replayed; usable as a decorator.

    The first calls run eagerly while each operation on arrays is noted: forward, backward, writes
    in place, the optimizer's update. When two recordings agree, further calls run the recorded
    program, without a graph and without dispatch. All that the program depends on (shapes, types,
    modes, training flags, parameters, globals and attributes that are read) is checked at each
    call; a call that doesn't fit is recorded anew. What can't be recorded runs eagerly, and
    `explain()` of the result says why and where.

    Where llvmlite is installed, most of a program runs as machine code: elementwise work and
    reductions fused into kernels, matrix products by BLAS, in memory that is planned beforehand.
    Its results differ from eager ones in the last digits; `options={"native": False}` replays the
    program through NumPy instead, which gives the same digits.

    `fullgraph` raises RuntimeError where a step can't be compiled; `disable` gives the function
    back. `dynamic`, `backend`, `mode` and further options are accepted without effect.
    """
    if model is None:

        def decorated(function: Any) -> Any:
            return compile(function, fullgraph=fullgraph, dynamic=dynamic, backend=backend,
                           mode=mode, options=options, disable=disable)  # fmt: skip

        return decorated
    if mode is not None and options is not None:
        raise RuntimeError(
            "Either mode or options can be specified, but both can't be specified at the same time."
        )
    if not callable(model):
        raise RuntimeError(f"torch.compile() expects a callable, got {type(model).__name__}")
    if disable or getattr(model, "_compile_disabled", False):
        return model
    native = bool((options or {}).get("native", True))
    if isinstance(model, OptimizedModule | CompiledStep):
        return model
    if isinstance(model, Module):
        return OptimizedModule(model, fullgraph, native)
    step = CompiledStep(model, fullgraph=fullgraph, native=native)
    _steps.append(step)
    return step


class OptimizedModule(Module):
    """A module whose calls are compiled; its parameters are those of `_orig_mod`."""

    _orig_mod: Module

    def __init__(self, module: Module, fullgraph: bool = False, native: bool = True) -> None:
        super().__init__()
        self._orig_mod = module
        self.__dict__["_step"] = CompiledStep(module, fullgraph=fullgraph, native=native)
        self.training = module.training
        _steps.append(self._step)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.__dict__["_step"](*args, **kwargs)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the module gives."""
        return self.__dict__["_step"](*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        if name == "_orig_mod":
            return self._modules["_orig_mod"]
        return getattr(self._modules["_orig_mod"], name)

    def __setattr__(self, name: str, value: Any) -> None:
        inner = self.__dict__.get("_modules", {}).get("_orig_mod")
        if inner is None or name in ("_orig_mod", "_step"):
            super().__setattr__(name, value)
        else:
            if name == "training":
                self.__dict__[name] = value
            setattr(inner, name, value)

    def __delattr__(self, name: str) -> None:
        delattr(self._orig_mod, name)

    def train(self, mode: bool = True) -> Any:
        """Switches the module within to training mode, or out of it."""
        super().train(mode)
        return self

    @property
    def program(self) -> Any:
        """The program that was compiled last."""
        return self.__dict__["_step"].program

    def explain(self) -> str:
        """Whether calls are compiled, and if not, why."""
        text: str = self.__dict__["_step"].explain()
        return text


def reset() -> None:
    """Forgets every program that has been compiled."""
    for step in _steps:
        step.reset()


def stance(off: bool) -> None:
    """Switches compiling off for the process, or on again."""
    STANCE.off = off
