"""Errors for what Rushlight lacks: what, where it was asked for, and the nearest name there is."""

from __future__ import annotations

import difflib
import importlib
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from opcode import opmap
from types import ModuleType
from typing import Any, Final

from ..._base.error_notes import place
from ..._base.version import __version__

__all__ = [
    "MissingAttribute",
    "MissingImports",
    "explain_missing_names",
    "lacking",
    "refuse_from_import",
]

_OURS: Final = __name__.partition(".")[0]
_IMPORT_NAME: Final = opmap["IMPORT_NAME"]  # the instruction of an import statement


def lacking(what: str, where: str | None, nearest: str | None = None) -> str:
    """The text of an error for something that isn't there."""
    text = f"{what} (Rushlight {__version__} does not have it"
    if where:
        text += f"; asked for at {where}"
    if nearest:
        text += f"; the nearest name is {nearest}"
    return text + ")"


def nearest_to(name: str, module: ModuleType) -> str | None:
    """The public name in a module that is most like `name`."""
    names = [n for n in dir(module) if n.startswith("_") == name.startswith("_")]
    found = difflib.get_close_matches(name, names, 1)
    return found[0] if found else None


class MissingAttribute(AttributeError):
    """An AttributeError whose text is put together when it is read: programs probe for names."""

    def __init__(self, torch_name: str, name: str, module: ModuleType) -> None:
        super().__init__(name=name, obj=module)
        self._asked = torch_name, place(), module

    def __str__(self) -> str:
        torch_name, where, module = self._asked
        near = nearest_to(self.name or "", module)
        what = f"module '{torch_name}' has no attribute '{self.name}'"
        return lacking(what, where, f"{torch_name}.{near}" if near else None)

    def __reduce__(self) -> Any:
        return AttributeError, (str(self),)


# What a traceback shows is the class that programs know.
MissingAttribute.__name__ = MissingAttribute.__qualname__ = "AttributeError"
MissingAttribute.__module__ = "builtins"


def explain_missing_names(module: ModuleType, torch_name: str) -> None:
    """Makes the AttributeError for a name that the module lacks speak of torch and of Rushlight."""
    own = module.__dict__.get("__getattr__")
    if getattr(own, "__module__", None) == __name__:
        return  # it does so already

    def __getattr__(name: str) -> object:
        if own is not None:
            try:
                return own(name)
            except AttributeError as error:
                # Only the plain "there is no such name" is reworded.
                if error.__cause__ is not None or getattr(error, "name", None) not in (None, name):
                    raise
        raise MissingAttribute(torch_name, name, module)

    module.__dict__["__getattr__"] = __getattr__


class MissingImports(MetaPathFinder):
    """Comes last, and explains `from torch.x import name` where nothing has that name."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Never finds anything.

        Raises:
            ImportError: where a `from … import` statement looks for the name.
        """
        if fullname.startswith(_OURS + "."):
            refuse_from_import(fullname)
        return None


def refuse_from_import(fullname: str) -> None:
    """Explains a `from … import` of a name that a package lacks; passes all other imports.

    Raises:
        ImportError: for such an import.
    """
    if not _is_from_import():
        return
    parent, _, name = fullname.rpartition(".")
    _, _, rest = parent.partition(".")
    module = importlib.import_module(f"{_OURS}.{rest}" if rest else _OURS)
    torch_name = f"torch.{rest}" if rest else "torch"
    near = nearest_to(name, module)
    what = f"cannot import name '{name}' from '{torch_name}'"
    raise ImportError(
        lacking(what, place(), f"{torch_name}.{near}" if near else None),
        name=torch_name,
        path=getattr(module, "__file__", None),
    )


def _is_from_import() -> bool:
    # `__import__("torch.nn", fromlist=["x"])`, which gets the module without the name, is none.
    frame: Any = sys._getframe(3)
    found = False
    while frame is not None and frame.f_code.co_filename == "<frozen importlib._bootstrap>":
        found = found or frame.f_code.co_name == "_handle_fromlist"
        frame = frame.f_back
    return found and frame is not None and frame.f_code.co_code[frame.f_lasti] == _IMPORT_NAME


def is_imported() -> bool:
    """Whether the finder that asks is looked at for an import, not by `importlib.util.find_spec`.

    Only an import may end in an error that explains; who asks for a spec is told there is none.
    """
    frame: Any = sys._getframe(2)
    while frame is not None and frame.f_code.co_filename == "<frozen importlib._bootstrap>":
        if frame.f_code.co_name == "_find_and_load_unlocked":
            return True
        frame = frame.f_back
    return False
