"""Modules that hold modules: a chain, a list and a dictionary."""

from __future__ import annotations

import operator
import warnings
from collections import OrderedDict
from collections.abc import ItemsView, Iterable, Iterator, KeysView, Mapping, ValuesView
from itertools import chain, islice
from typing import Any, Self, TypeVar, cast, overload

from ..parameter import Parameter
from .module import Module, _addindent
from .parameter_container import ParameterDict, ParameterList

__all__ = [
    "Container",
    "ModuleDict",
    "ModuleList",
    "Parameter",
    "ParameterDict",
    "ParameterList",
    "Sequential",
]

Item = TypeVar("Item")


def _position(index: int, length: int) -> int:
    """`index` counted from the start. Raises: IndexError, as sequences do."""
    place = operator.index(index)
    if not -length <= place < length:
        raise IndexError(f"index {place} is out of range")
    return place % length


def _without(modules: Iterable[Module], idx: slice | int) -> list[Module]:
    left = list(modules)
    if isinstance(idx, slice):
        del left[idx]
    else:
        del left[_position(idx, len(left))]
    return left


def _without_numbers(names: list[str]) -> list[str]:
    """A sequence offers no "0", "1" … as attributes."""
    return [name for name in names if not name.isdigit()]


class Sequential(Module):
    """Modules called one after the other, each with what the one before returned.

    Takes the modules themselves (named "0", "1" …) or one `OrderedDict` of names.
    """

    def __init__(self, *args: object) -> None:
        super().__init__()
        if len(args) == 1 and isinstance(args[0], OrderedDict):
            for name, module in args[0].items():
                self.add_module(name, module)
        else:
            for place, module in enumerate(args):
                self.add_module(str(place), module)

    def forward(self, input: object) -> Any:
        for module in self._modules.values():
            input = module(input)
        return input

    def _get_item_by_idx(self, iterator: Iterable[Item], idx: int) -> Item:
        return next(islice(iterator, _position(idx, len(self)), None))

    def _name_at(self, index: int) -> str:
        return self._get_item_by_idx(self._modules, index)

    def _renumber(self, modules: Iterable[Module]) -> None:
        self._modules = {str(place): module for place, module in enumerate(modules)}

    @overload
    def __getitem__(self, idx: int) -> Module: ...
    @overload
    def __getitem__(self, idx: slice) -> Sequential: ...
    def __getitem__(self, idx: slice | int) -> Module | Sequential:
        if isinstance(idx, slice):
            return type(self)(OrderedDict(list(self._modules.items())[idx]))
        return cast(Module, self._modules[self._name_at(idx)])

    def __setitem__(self, idx: int, module: Module) -> None:
        setattr(self, self._name_at(idx), module)

    def __delitem__(self, idx: slice | int) -> None:
        self._renumber(_without(self._modules.values(), idx))

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Module]:
        return iter(self._modules.values())

    def __dir__(self) -> list[str]:
        return _without_numbers(super().__dir__())

    def __add__(self, other: Sequential) -> Sequential:
        if not isinstance(other, Sequential):
            raise ValueError(_only_sequential(other))
        return Sequential(*self, *other)

    def __iadd__(self, other: Sequential) -> Self:
        if not isinstance(other, Sequential):
            raise ValueError(_only_sequential(other))
        return self.extend(other)

    def _check_factor(self, other: int) -> None:
        if not isinstance(other, int):
            raise TypeError(f"unsupported operand type(s) for *: {type(self)} and {type(other)}")
        if other <= 0:
            raise ValueError(f"Non-positive multiplication factor {other} for {type(self)}")

    def __mul__(self, other: int) -> Sequential:
        self._check_factor(other)
        return Sequential(*chain.from_iterable([list(self)] * other))

    def __rmul__(self, other: int) -> Sequential:
        return self * other

    def __imul__(self, other: int) -> Self:
        self._check_factor(other)
        return self.extend(list(self) * (other - 1))

    def pop(self, key: int | slice) -> Module:
        """Takes a module (or with a slice several) out of the chain, and returns it."""
        taken = self[key]
        del self[key]
        return taken

    def append(self, module: Module) -> Self:
        """Adds a module at the end; returns the chain."""
        self.add_module(str(len(self)), module)
        return self

    def insert(self, index: int, module: Module) -> Self:
        """Adds a module before `index`; returns the chain."""
        if not isinstance(module, Module):
            raise AssertionError(f"module should be of type: {Module}")
        count = len(self)
        if not -count <= index <= count:
            raise IndexError(f"Index out of range: {index}")
        modules = list(self)
        modules.insert(index, module)
        self._renumber(modules)
        return self

    def extend(self, sequential: Iterable[Module]) -> Self:
        """Adds every module of an iterable at the end; returns the chain."""
        # A chain may be extended by itself: look once before it grows.
        for module in list(sequential):
            self.append(module)
        return self


def _only_sequential(other: object) -> str:
    return f"add operator supports only objects of Sequential class, but {type(other)} is given."


class ModuleList(Module):
    """A list of modules whose parameters count as the owner's; it has no `forward`."""

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self += modules

    def _renumber(self, modules: Iterable[Module]) -> None:
        self._modules = {str(place): module for place, module in enumerate(modules)}

    @overload
    def __getitem__(self, idx: int) -> Module: ...
    @overload
    def __getitem__(self, idx: slice) -> ModuleList: ...
    def __getitem__(self, idx: int | slice) -> Module | ModuleList:
        if isinstance(idx, slice):
            return type(self)(list(self._modules.values())[idx])
        return cast(Module, self._modules[self._get_abs_string_index(idx)])

    def _get_abs_string_index(self, idx: int) -> str:
        return str(_position(idx, len(self)))

    def __setitem__(self, idx: int, module: Module) -> None:
        setattr(self, self._get_abs_string_index(idx), module)

    def __delitem__(self, idx: int | slice) -> None:
        self._renumber(_without(self._modules.values(), idx))

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Module]:
        return iter(self._modules.values())

    def __dir__(self) -> list[str]:
        return _without_numbers(super().__dir__())

    def __add__(self, other: Iterable[Module]) -> ModuleList:
        return ModuleList(chain(self, other))

    def __iadd__(self, modules: Iterable[Module]) -> Self:
        return self.extend(modules)

    def append(self, module: Module) -> Self:
        """Adds a module at the end; returns the list."""
        self.add_module(str(len(self)), module)
        return self

    def insert(self, index: int, module: Module) -> None:
        """Adds a module before `index`."""
        modules = list(self)
        modules.insert(index, module)
        self._renumber(modules)

    def extend(self, modules: Iterable[Module]) -> Self:
        """Adds every module of an iterable at the end; returns the list."""
        if not isinstance(modules, Iterable):
            raise TypeError(
                "ModuleList.extend should be called with an iterable, but got "
                + type(modules).__name__
            )
        for module in list(modules):
            self.append(module)
        return self

    def pop(self, key: int | slice) -> Module:
        """Takes a module (or with a slice several) out of the list, and returns it."""
        taken = self[key]
        del self[key]
        return taken

    def __repr__(self) -> str:
        """As any module, with runs of children that print alike folded into one line."""
        runs: list[tuple[int, int, str]] = []
        for place, module in enumerate(self):
            text = repr(module)
            if runs and runs[-1][2] == text:
                runs[-1] = (runs[-1][0], place, text)
            else:
                runs.append((place, place, text))
        if not runs:
            return self._get_name() + "()"
        lines = [
            _addindent(
                f"({first}): {text}"
                if first == last
                else f"({first}-{last}): {last - first + 1} x {text}",
                2,
            )
            for first, last, text in runs
        ]
        return f"{self._get_name()}(\n  " + "\n  ".join(lines) + "\n)"


class ModuleDict(Module):
    """A dictionary of modules whose parameters count as the owner's; it has no `forward`."""

    def __init__(self, modules: Mapping[str, Module] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key: str) -> Module:
        return cast(Module, self._modules[key])

    def __setitem__(self, key: str, module: Module) -> None:
        self.add_module(key, module)

    def __delitem__(self, key: str) -> None:
        del self._modules[key]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __contains__(self, key: object) -> bool:
        return key in self._modules

    def clear(self) -> None:
        """Removes every module."""
        self._modules.clear()

    def pop(self, key: str) -> Module:
        """Takes the module of that name out of the dictionary, and returns it."""
        taken = self[key]
        del self[key]
        return taken

    def keys(self) -> KeysView[str]:
        """The names, as a view."""
        return self._modules.keys()

    def items(self) -> ItemsView[str, Module]:
        """The names with their modules, as a view."""
        return self._modules.items()

    def values(self) -> ValuesView[Module]:
        """The modules, as a view."""
        return self._modules.values()

    def update(self, modules: Mapping[str, Module]) -> None:
        """Adds the modules of a mapping, or of an iterable of pairs."""
        for name, module in _pairs(modules, "ModuleDict", "ModuleDict"):
            self[name] = module


def _pairs(source: object, caller: str, owner: str) -> Iterator[tuple[str, Any]]:
    """Names and values from a mapping or an iterable of pairs, with the errors of `update`."""
    from_mapping = isinstance(source, (Mapping, ModuleDict))
    if not isinstance(source, Iterable):
        raise TypeError(
            f"{caller}.update should be called with an iterable of key/value pairs, but got "
            + type(source).__name__
        )
    if from_mapping:
        yield from list(source.items())  # type: ignore[attr-defined]
        return
    for place, pair in enumerate(source):
        if not isinstance(pair, Iterable):
            raise TypeError(
                f"{owner} update sequence element #{place} should be Iterable; "
                f"is{type(pair).__name__}"
            )
        parts = list(pair)
        if len(parts) != 2:
            raise ValueError(
                f"{owner} update sequence element #{place} has length {len(parts)}; 2 is required"
            )
        yield parts[0], parts[1]


class Container(Module):
    """Modules under names, as a `Module` has them; warns, because `Module` does it."""

    def __new__(cls, *args: object, **kwargs: object) -> Container:
        # Here, and not in `__init__`: copies and pickles warn too.
        warnings.warn(
            "`nn.Container` is deprecated. "
            "All of its functionality is now implemented in `nn.Module`. Subclass that instead.",
            FutureWarning,
            stacklevel=2,
        )
        return super().__new__(cls)

    def __init__(self, **kwargs: object) -> None:
        super().__init__()
        for name, module in kwargs.items():
            self.add_module(name, module)
