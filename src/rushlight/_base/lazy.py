"""Names that a module has but loads only when they are first asked for.

    __getattr__ = lazy(__name__, {"gradcheck": "gradcheck:gradcheck", "functional": "functional"})

gives a package the submodule `functional` and the function `gradcheck` of its submodule of that
name, neither of them loaded before somebody asks.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .annotations import AnyCallable


class _Package(ModuleType):
    """A package with functions that are called as their submodules.

    Importing a submodule binds it in its package, over a function of its name. PyTorch loads all at
    once and binds the function last; here the package sets it in the submodule's place.
    """

    def __setattr__(self, name: str, value: object) -> None:
        submodule = f"{self.__name__}.{name}"
        if value is sys.modules.get(submodule) and name in getattr(value, "__dict__", ()):
            value = getattr(value, name)
        super().__setattr__(name, value)


def listed(module: Mapping[str, Any]) -> Callable[[], list[str]]:
    """The `__dir__` of a module: what is in its `__all__`, and what Python gives every module."""
    return lambda: sorted({*module["__all__"], *(name for name in module if name[:2] == "__")})


def lazy(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """The `__getattr__` of a package.

    Args:
        package: the package's name.
        homes: for each name the submodule that it is, or `submodule:attribute`; a place that begins
            with dots is relative to the package.
    """

    if any(home == f"{name}:{name}" for name, home in homes.items()):
        sys.modules[package].__class__ = _Package

    def __getattr__(name: str) -> AnyCallable | ModuleType:
        home = homes.get(name)
        if home is None:
            raise AttributeError(f"module '{package}' has no attribute '{name}'")
        place, _, attribute = home.partition(":")
        found: Any = importlib.import_module(place if place[0] == "." else f".{place}", package)
        if attribute:
            found = getattr(found, attribute)
        setattr(sys.modules[package], name, found)
        return found

    return __getattr__
