"""The table: every operation, declared once, by family of mathematics.

Importing this package names the public functions that can be built from rows, and hands the core
its namespaces.

Note [Rows are loaded late]
The table lies in some 80 modules, of which a program needs a few. So what asks for a row, a
function or a method loads the module that declares it. `homes` says which one that is; it is
written from the modules, and a test compares them. Loading happens under `LOCK`, so the body of a
module of rows mustn't wait for that: another thread may have it and wait for the module.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Final, TypeVar

from .._array import numpy_namespace as numpy_ns
from .._array.types import ignore_float_errors
from .._base.lazy import Pending, Space, load_declaring
from .._core.engine import WORLDS
from .._core.mode import on_first_use
from . import homes
from .calls.composite_checks import guard
from .calls.dispatch import inplace_function, public_function, variant
from .calls.signature_kinds import kind_of
from .modes.autocast_functions import CAST_NAMES, casting, make_casting_method
from .modes.vmap_variants import aware
from .rows import tensor_namespace as _traced
from .rows.composite import COMPOSITES, ENTRIES, METHODS, composite
from .rows.node_classes import NUMBERS
from .rows.row import DECLARED, ROWS, TABLE, Row

if TYPE_CHECKING:
    from .._base.annotations import AnyCallable

K = TypeVar("K")

#: The folders that hold rows. What else is in this package makes functions of rows.
FAMILIES: Final = ("elementwise", "linalg", "nn", "random", "reduce", "shape")
#: The rows that the core itself calls.
_FIRST: Final = ("elementwise.complexes", "random.generator", "shape.create", "shape.exchange",
                 "shape.index")  # fmt: skip

PUBLIC: Final[Pending[tuple[str, str]]] = Pending()  # (namespace, name) -> function
TENSOR_METHODS: Final[Pending[str]] = Pending()  # name -> function of (self, …), in-place included


def _rows_of(short: str, shown: Callable[[Row], bool]) -> list[Row]:
    """The rows of the operation that is shown as `short`; none where it isn't shown so."""
    for name in (short, f"linalg_{short}"):
        if name in ROWS and any(map(shown, ROWS[name])):
            found: list[Row] = ROWS[name]
            return found
    return []


def _function(key: tuple[str, str]) -> AnyCallable:
    """The public function of a namespace and a name."""
    namespace, short = key
    kind = kind_of(namespace, short)
    if key in COMPOSITES:
        return casting(key, aware(short, guard(kind, short, COMPOSITES[key])))
    rows = _rows_of(short, lambda row: row.public and namespace in row.namespace)
    own = rows[0].op.function
    if kind and kind != kind_of(rows[0].namespace[0], short):
        own = variant(rows[0].name, rows, kind)
    return casting(key, aware(short, own))


def _method(short: str) -> AnyCallable:
    """The method called `short`, which may be an operation in place."""
    if short in METHODS:
        return _composite_method(short)
    rows = _rows_of(short, lambda row: row.method)
    if rows:
        return aware(short, variant(rows[0].name, rows, "method"))
    rows = _rows_of(short[:-1], lambda row: row.inplace)
    return inplace_function(rows[0].name, [row for row in rows if row.inplace], "method")


def _composite_method(name: str) -> Any:
    if name in CAST_NAMES:  # the public function comes first, which the method may be
        for namespace in ("", "linalg"):
            PUBLIC.get((namespace, name))
    return make_casting_method(name, aware(name, guard("method", name, METHODS[name])))


def _homes(lists: Mapping[str, str]) -> dict[str, str]:
    """The module of each name, of the names of each module."""
    return {name: module for module, names in lists.items() for name in names.split()}


def _key(name: str) -> tuple[str, str]:
    namespace, _, short = name.rpartition(".")
    return namespace, short


@cache
def _first_names() -> list[tuple[str, str]]:
    """The first name that each module declares, and the module."""
    return [(names.partition(" ")[0], module) for module, names in homes.ROWS.items()]


def _forget_halves() -> None:
    """Drops the rows of modules that couldn't be loaded to their end, which will declare them anew.

    That happens without memory, or in a child process whose parent was loading them.
    """
    for first, module in _first_names():
        if first in DECLARED and f"{__name__}.{module}" not in sys.modules:
            for name in homes.ROWS[module].split():
                for row in DECLARED.pop(name, ()):
                    NUMBERS.pop(row.node.rstrip("0123456789"), None)


def _load_first(have: dict[K, Any], homes: Mapping[K, str]) -> Callable[[K], object]:
    """What finds the value of a name after loading the module that puts it into `have`."""

    def find(name: K) -> object:
        _forget_halves()
        load_declaring(f"_table.{homes[name]}")
        return dict.__getitem__(have, name)

    return find


def _build() -> None:
    TABLE.function_of = public_function
    rows, methods = _homes(homes.ROWS), _homes(homes.COMPOSITE_METHODS)
    composites = {_key(name): module for name, module in _homes(homes.COMPOSITES).items()}
    ROWS.all_later(rows, _load_first(DECLARED, rows))
    COMPOSITES.all_later(composites, _load_first(COMPOSITES, composites))
    METHODS.all_later(methods, _load_first(METHODS, methods))
    PUBLIC.all_later([*map(_key, homes.FUNCTIONS.split()), *composites], _function)
    TENSOR_METHODS.all_later([*homes.METHODS.split(), *methods], _method)
    for module in _FIRST:
        load_declaring(f"_table.{module}")
    _traced.connect(PUBLIC, TENSOR_METHODS, ENTRIES)
    WORLDS.raw = numpy_ns
    WORLDS.traced = _traced
    on_first_use.append(ignore_float_errors)


_build()


def namespace(name: str) -> Space:
    """The public functions of a namespace, for the module that shows them."""
    return Space(PUBLIC, name)


@cache
def aten() -> Any:
    """`torch.ops.aten`, made when it is first asked for."""
    from .names.aten_forms import ATEN

    for key in PUBLIC:
        ATEN.public.later(key[1], partial(PUBLIC.__getitem__, key))
    return ATEN


__all__ = ["PUBLIC", "ROWS", "TENSOR_METHODS", "Row", "aten", "composite", "namespace"]
