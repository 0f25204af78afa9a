"""`torch.export`: names that programs import. No graphs are captured: asking is an error."""

from __future__ import annotations

from typing import Any, NoReturn

from ..._base.error_notes import advise

__all__ = [
    "Dim", "ExportedProgram", "dims", "draft_export", "export", "load", "register_dataclass",
    "save", "unflatten",
]  # fmt: skip


def _refuse(what: str) -> NoReturn:
    raise advise(
        RuntimeError(f"{what} needs a graph of the program, and Rushlight captures none"),
        "keep the model's state_dict() and export it from PyTorch",
    )


class Dim:
    """The name of a size that may vary, with its bounds."""

    AUTO, DYNAMIC, STATIC = "AUTO", "DYNAMIC", "STATIC"

    def __init__(self, name: str, *, min: int | None = None, max: int | None = None) -> None:
        self.__name__ = name
        self.min = min
        self.max = max


def dims(*names: str, min: int | None = None, max: int | None = None) -> tuple[Dim, ...]:
    """Several names of sizes."""
    return tuple(Dim(name, min=min, max=max) for name in names)


class ExportedProgram:
    """What `export` gives in PyTorch: here for annotations and `isinstance`."""


def register_dataclass(cls: Any, *, serialized_type_name: str | None = None) -> None:
    """Does nothing: no graph takes the class."""


def export(mod: Any, args: Any, kwargs: Any = None, **options: Any) -> ExportedProgram:
    """Raises RuntimeError: there is no graph."""
    _refuse("torch.export.export")


def draft_export(mod: Any, args: Any, kwargs: Any = None, **options: Any) -> ExportedProgram:
    """Raises RuntimeError: there is no graph."""
    _refuse("torch.export.draft_export")


def save(ep: Any, f: Any, **options: Any) -> None:
    """Raises RuntimeError: there is no graph."""
    _refuse("torch.export.save")


def load(f: Any, **options: Any) -> ExportedProgram:
    """Raises RuntimeError: there is no graph."""
    _refuse("torch.export.load")


def unflatten(module: Any, flat_args_adapter: Any = None) -> Any:
    """Raises RuntimeError: there is no graph."""
    _refuse("torch.export.unflatten")
