"""Where classes and functions say that they come from: PyTorch's places, once `torch` is Rushlight.

A plain pickle holds a class by its module's name, so what is pickled under the alias opens in a
process with PyTorch, and programs that ask `type(x).__module__` find what they know. Without the
alias they say `rushlight…`: a pickle must find them again, and `torch` may be PyTorch there.
"""

from __future__ import annotations

import copyreg
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any, Final

from ..._base.memory_format import layout
from ..._base.own_packages import OWN_PACKAGES
from ..._tensor import copies
from ...serialization.names import get_layout, has_known_place, torch_name
from ..finder import Alias, PublicNames
from ..names import home_of
from . import plain_pickles
from .missing import explain_missing_names

__all__ = ["install"]

_OURS: Final = __name__.partition(".")[0]
_PREFIX: Final = _OURS + "."
_KINDS: Final = (type, FunctionType, BuiltinFunctionType)
_finder: Final = PublicNames()


class _SaysTorch:
    """Finds the package's modules as ever, and has what they define say `torch`."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The spec of a module of the package."""
        if not fullname.startswith(_PREFIX):
            return None
        spec = _finder.find_spec(fullname, path) or PathFinder.find_spec(fullname, path)
        loader: Any = None if spec is None else spec.loader
        if loader is None or isinstance(loader, Alias):
            return spec
        run = loader.exec_module

        def exec_module(module: ModuleType) -> None:
            run(module)
            say_torch(module)

        loader.exec_module = exec_module
        return spec


def say_torch(module: ModuleType) -> None:
    """Has the classes and functions of a module say where PyTorch has them."""
    name = module.__name__
    place = name[len(_PREFIX) :]
    public = not place or home_of(place) is not None
    if public and place:
        # Who asks for a class's source or annotations looks its module up.
        alias = f"torch.{place}"
        if sys.modules.setdefault(alias, module) is module:
            explain_missing_names(module, alias)
    for value in list(vars(module).values()):
        if not isinstance(value, _KINDS):
            continue
        said = getattr(value, "__module__", None)
        if not isinstance(said, str) or not (said == _OURS or said.startswith(_PREFIX)):
            continue
        if said == name:
            known = public
        else:
            known = said == _OURS or home_of(said[len(_PREFIX) :]) is not None
        own = value.__qualname__
        if known or has_known_place(said, own):
            _say(value, *torch_name(said, own), said)


def _say(value: Any, module: str, name: str, said: str) -> None:
    line = vars(value).get("__firstlineno__")  # goes when the module is said, from Python 3.13 on
    try:
        value.__module__ = module
        if line is not None:
            value.__firstlineno__ = line
        if value.__qualname__ != name:
            value.__name__ = value.__qualname__ = name
    except (AttributeError, TypeError):
        return  # a class of C
    if module != "torch" + said[len(_OURS) :] and "." not in name:
        # PyTorch has it elsewhere, and so a pickle looks for it there.
        place = home_of(module[len("torch.") :]) or ""
        home = sys.modules.get(_PREFIX + place if place else _OURS)
        if home is not None:
            vars(home).setdefault(name, value)


def install() -> None:
    """Does so for all modules that are loaded, and for those that will be."""
    OWN_PACKAGES.add("torch")
    finder: Any = _SaysTorch()
    sys.meta_path.insert(0, finder)
    for name, module in list(sys.modules.items()):
        if name == _OURS or name.startswith(_PREFIX):
            say_torch(module)
    copyreg.pickle(layout, lambda kind: (get_layout, (repr(kind),)))
    copies.PICKLED.update(tensor=plain_pickles.reduce_tensor, storage=plain_pickles.reduce_storage)
