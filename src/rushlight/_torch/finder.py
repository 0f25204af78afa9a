"""Modules under the names that programs import them by: `rushlight.fft` lies in `_torch/fft.py`.

A module is loaded once, from its place in the package, and is known by its public name: its
`__name__`, and so the `__module__` of its classes, say `rushlight.fft`. Every name that it can be
imported by gives the same object. See `names` for the table.
"""

from __future__ import annotations

import _imp
import importlib
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from types import CodeType, ModuleType
from typing import Any, Final

from .names import home_of, public_name

__all__ = ["Alias", "PublicNames", "alias_of", "install"]

_OURS: Final = __name__.partition(".")[0]
_PREFIX: Final = _OURS + "."


# The classes of `importlib.abc` aren't bases here: that module loads thirty others, for 9 ms.


class Alias:
    """Loads a module that is there under another name: the import of it has been done."""

    def __init__(self, module: ModuleType) -> None:
        self.module = module
        self.spec = module.__spec__

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return self.module

    def exec_module(self, module: ModuleType) -> None:
        # The import system has just labelled the module with the alias's spec; it has its own.
        module.__spec__ = self.spec

    def _own(self) -> Any:
        loader: Any = self.spec.loader if self.spec is not None else None
        if not hasattr(loader, "get_source"):
            raise ImportError(f"there is no source of {self.module.__name__}")
        return loader

    def get_source(self, fullname: str) -> str | None:
        """The source of the module (what `python -m torch.x` and `inspect` read)."""
        return self._own().get_source(self.spec.name if self.spec else fullname)

    def get_code(self, fullname: str) -> CodeType | None:
        """The code of the module."""
        return self._own().get_code(self.spec.name if self.spec else fullname)

    def is_package(self, fullname: str) -> bool:
        """Whether the module has submodules."""
        return hasattr(self.module, "__path__")


def alias_of(fullname: str, module: ModuleType) -> ModuleSpec:
    """The spec by which `import fullname` gives a module that is there already."""
    alias = Alias(module)
    loader: Any = alias  # it has what a loader has, but not its class
    spec = ModuleSpec(fullname, loader, is_package=alias.is_package(fullname))
    if alias.spec is not None:
        spec.origin, spec.has_location = alias.spec.origin, alias.spec.has_location
        if spec.submodule_search_locations is not None:
            spec.submodule_search_locations = alias.spec.submodule_search_locations
    return spec


class _UnderPublicName:
    """Loads a module from its place and gives it the name by which programs know it."""

    def __init__(self, place: str, name: str, loader: Any) -> None:
        self.place = place
        self.name = name
        self.loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self.loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        code = self.loader.get_code(self.place)
        module.__name__ = self.name
        # Who imports it by its public name meanwhile gets this module too.
        sys.modules.setdefault(self.name, module)
        try:
            exec(code, module.__dict__)
        except BaseException:
            if sys.modules.get(self.name) is module:
                del sys.modules[self.name]
            raise

    def get_source(self, fullname: str) -> str | None:
        """The source of the module, under whichever of its names."""
        return self.loader.get_source(self.place)

    def get_code(self, fullname: str) -> CodeType | None:
        """The code of the module, under whichever of its names."""
        return self.loader.get_code(self.place)

    def is_package(self, fullname: str) -> bool:
        """Whether the module has submodules."""
        return bool(self.loader.is_package(self.place))

    def get_filename(self, fullname: str) -> str:
        """The file of the module."""
        return str(self.loader.get_filename(self.place))


class PublicNames:
    """Finds `rushlight.x` where the table says that it lies."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The spec of a public module, or of one in its place that has a public name."""
        if not fullname.startswith(_PREFIX):
            return None
        place = fullname[len(_PREFIX) :]
        if (name := public_name(place)) is not None:
            spec = PathFinder.find_spec(fullname, path)
            if spec is not None and spec.loader is not None:
                loader: Any = _UnderPublicName(fullname, f"{_OURS}.{name}", spec.loader)
                spec.loader = loader
            return spec
        home = home_of(place)
        if home is None or home == place:
            return None
        try:
            module = _import_without_the_lock(f"{_OURS}.{home}")
        except ModuleNotFoundError as error:
            if error.name is None or not f"{_OURS}.{home}.".startswith(error.name + "."):
                raise  # something that the module itself needs is missing
            return None
        # Loading it has entered this name; the import system, which now does so itself, would take
        # an entry that appears meanwhile for another module to be loaded.
        sys.modules.pop(fullname, None)
        return alias_of(fullname, module)


def _import_without_the_lock(name: str) -> ModuleType:
    """A module, imported while others can import.

    Finders are asked with the lock held that all imports need. A module that this one needs may
    just be loading in another thread, and would wait for that lock, and this thread for the module.
    """
    try:
        _imp.release_lock()
    except RuntimeError:  # it isn't this thread's: somebody has asked the finder himself
        return importlib.import_module(name)
    try:
        return importlib.import_module(name)
    finally:
        _imp.acquire_lock()


def install() -> None:
    """Has imports find modules by their public names; once for the process."""
    if not any(isinstance(finder, PublicNames) for finder in sys.meta_path):
        finder: Any = PublicNames()
        sys.meta_path.insert(0, finder)
