"""`torch._inductor`: the settings of PyTorch's compiler, which programs make and which do nothing.

`torch.compile` here is Rushlight's own; what only that compiler could give is an error.
"""

from __future__ import annotations

from typing import Any, NoReturn

from ..._base.error_notes import advise
from . import config

__all__ = [
    "aot_compile", "compile", "config", "cudagraph_mark_step_begin", "list_mode_options",
    "list_options",
]  # fmt: skip

_MODES: dict[str, dict[str, Any]] = {
    "default": {},
    "lite": {},
    "max-autotune": {"max_autotune": True, "triton.cudagraphs": True},
    "max-autotune-no-cudagraphs": {"max_autotune": True},
    "reduce-overhead": {"triton.cudagraphs": True},
}


def list_mode_options(mode: str | None = None, dynamic: bool | None = None) -> dict[str, Any]:
    """The settings that a mode of `torch.compile` stands for; of every mode without a name.

    Raises: RuntimeError, for a mode that there is not.
    """
    if mode is None:
        return dict(_MODES)
    if mode not in _MODES:
        raise RuntimeError(f"Unrecognized mode={mode}, should be one of: {', '.join(_MODES)}")
    return dict(_MODES[mode])


def list_options() -> list[str]:
    """The names of the settings."""
    return sorted(name for name in vars(config) if name[0] != "_" and name.islower())


def cudagraph_mark_step_begin() -> None:
    """Does nothing: no steps are recorded on a device."""


def _refuse(name: str) -> NoReturn:
    raise advise(
        RuntimeError(f"torch._inductor.{name}: PyTorch's compiler isn't here"),
        "call torch.compile on the function or module: Rushlight's own compiler then runs it",
    )


def compile(*args: Any, **kwargs: Any) -> NoReturn:
    """Raises RuntimeError: there are no graphs of PyTorch's to compile."""
    _refuse("compile")


def aot_compile(*args: Any, **kwargs: Any) -> NoReturn:
    """Raises RuntimeError: nothing is compiled ahead of time."""
    _refuse("aot_compile")
