"""The table: every operation, declared once, by family of mathematics.

Importing this package declares all rows, names the public functions that can be built from them
and hands the core its namespaces.
"""

from __future__ import annotations

import importlib
import os
import sys
from functools import partial
from typing import Any, Final

from .._array import later, numpy_ns
from .._array.types import ignore_float_errors
from .._core.engine import WORLDS
from .._core.mode import on_first_use
from . import _explain, _traced
from ._composite import COMPOSITES, METHODS, composite
from ._dispatch import inplace_function, public_function, variant
from ._guard import guard
from ._kinds import kind_of
from ._pending import Pending, Space
from ._row import ROWS, TABLE, Row
from ._under_vmap import aware


def _families() -> list[str]:
    """The modules of the table: those beside this one without an underscore."""
    try:
        found = {name.partition(".")[0] for name in os.listdir(__path__[0])}
    except OSError:  # the package isn't in a folder, but in an archive
        import pkgutil

        found = {module.name for module in pkgutil.iter_modules(__path__)}
    return sorted(name for name in found if name and name[0] != "_")


for _family in _families():
    importlib.import_module(f"{__name__}.{_family}")
later.declared()

PUBLIC: Final[Pending[tuple[str, str]]] = Pending()  # (namespace, name) -> function
TENSOR_METHODS: Final[Pending[str]] = Pending()  # name -> function of (self, …), in-place included


def _function(namespace: str, short: str, rows: list[Row]) -> Any:
    kind = kind_of(namespace, short)
    own = rows[0].op.function
    if kind and kind != kind_of(rows[0].namespace[0], short):
        own = variant(rows[0].name, rows, kind)
    return aware(short, own)


def _method(short: str, rows: list[Row]) -> Any:
    return aware(short, variant(rows[0].name, rows, "method"))


def _inplace(name: str, rows: list[Row]) -> Any:
    return inplace_function(name, [row for row in rows if row.inplace], "method")


def _build() -> None:
    TABLE.function_of = public_function
    for name, rows in ROWS.items():
        short = name.rpartition(".")[2].removeprefix("linalg_")
        if any(type(row) is Row for row in rows):  # settled before the table was whole
            public_function(name, rows)
        for row in rows:
            if row.public:
                for namespace in row.namespace:
                    PUBLIC.later((namespace, short), partial(_function, namespace, short, rows))
        if any(row.method for row in rows):
            TENSOR_METHODS.later(short, partial(_method, short, rows))
        if any(row.inplace for row in rows):
            TENSOR_METHODS.later(short + "_", partial(_inplace, name, rows))
    for key, function in COMPOSITES.items():
        PUBLIC[key] = aware(key[1], guard(kind_of(*key), key[1], function))
    for name, function in METHODS.items():
        TENSOR_METHODS[name] = aware(name, guard("method", name, function))
    _traced.connect(PUBLIC, TENSOR_METHODS)
    WORLDS.raw = numpy_ns
    WORLDS.traced = _traced
    on_first_use.append(ignore_float_errors)
    importlib.import_module(f"{__name__}._apart")


_build()


def namespace(name: str) -> Space:
    """The public functions of a namespace, for the module that shows them."""
    return Space(PUBLIC, name)


def __getattr__(name: str) -> Any:
    """`torch.ops.aten` and the namespaces of registered operators, made when first asked for."""
    if name == "aten":
        from ._aten_forms import ATEN

        for key in PUBLIC:
            ATEN.public.later(key[1], partial(PUBLIC.__getitem__, key))
        globals()["aten"] = ATEN
        return ATEN
    if name != "_registered" and f"{__name__}._registered" in sys.modules:
        registered = globals()["_registered"].NAMESPACES
        if name in registered:
            return registered[name]
    if name[0] == "_" or name in _families():
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    from . import _registered

    if name in ("load_library", "import_module"):
        return getattr(_registered, name)
    return _registered.LOADED if name == "loaded_libraries" else _registered.namespace_of(name)


__all__ = ["PUBLIC", "ROWS", "TENSOR_METHODS", "Row", "_explain", "composite", "namespace"]
