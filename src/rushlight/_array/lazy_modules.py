"""Modules of raw functions that are loaded when something of them is first used.

    raw = later("nn.pooling")

stands in for the module `_array.nn.pooling`. While the table is being declared its attributes are
`Function`s, which know where they will be found; from then on they are the module's own.

Note [Raw modules load late]
A program uses a few dozen operations, and most of the arithmetic behind the others lies in modules
that nothing else needs: loading them all takes a quarter of `import rushlight`. A row that settles
gets the function itself, so calls are what they would be.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from .._base.annotations import AnyCallable

_PACKAGE: Final = __name__.rpartition(".")[0]


class _State:
    __slots__ = ("declaring",)

    def __init__(self) -> None:
        self.declaring = True


_STATE: Final = _State()


def declared() -> None:
    """Says that the table is whole: what is asked for from now on is loaded."""
    _STATE.declaring = False


class Function:
    """A function of a module that may not be loaded yet; a call loads it."""

    __slots__ = ("module", "name")

    def __init__(self, module: str, name: str) -> None:
        self.module = module
        self.name = name

    def found(self) -> Any:
        """The function itself."""
        return getattr(import_module(f"{_PACKAGE}.{self.module}"), self.name)

    def __call__(self, *args: object, **kwargs: object) -> Any:
        return self.found()(*args, **kwargs)


def attribute(module: str, name: str) -> AnyCallable:
    """What a module has under a name; a `Function` while the table is being declared."""
    if _STATE.declaring:
        return Function(module, name)
    return getattr(import_module(f"{_PACKAGE}.{module}"), name)


class _Loaded:
    """What stood in for a module, with all that the module has."""


class _Module(_Loaded):
    """Stands in for a module of this package.

    Once that is loaded it has no `__getattr__` any more, which costs every look at an attribute.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        if name[:2] == "__":
            raise AttributeError(f"module {self._name!r} has no attribute {name!r}")
        if _STATE.declaring:
            return Function(self._name, name)
        module = import_module(f"{_PACKAGE}.{self._name}")
        self.__dict__.update(vars(module))
        self.__class__ = _Loaded  # type: ignore[assignment]
        return getattr(module, name)


def later(name: str) -> _Module:
    """What stands in for the module `_array.<name>`."""
    return _Module(name)
