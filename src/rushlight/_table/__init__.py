"""The table: every operation, declared once, by family of mathematics.

Importing this package declares all rows, names the public functions that can be built from them
and hands the core its namespaces.
"""

from __future__ import annotations

import os
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Final

from .._array import numpy_namespace as numpy_ns
from .._array.types import ignore_float_errors
from .._base.lazy import Pending, Space, end_declaring, load
from .._core.engine import WORLDS
from .._core.mode import on_first_use
from .calls.composite_checks import guard
from .calls.dispatch import inplace_function, public_function, variant
from .calls.signature_kinds import kind_of
from .modes.autocast_functions import CAST_NAMES, casting, casting_method
from .modes.vmap_variants import aware
from .rows import tensor_namespace as _traced
from .rows.composite import COMPOSITES, METHODS, composite
from .rows.row import ROWS, TABLE, Row

if TYPE_CHECKING:
    from .._base.annotations import AnyCallable

#: The folders that hold rows. What else is in this package makes functions of rows.
FAMILIES: Final = ("elementwise", "linalg", "nn", "random", "reduce", "shape")
#: Rows that lie beside what they serve.
_FURTHER: Final = ("modes.dual", "names.operator_names", "names.synonyms")


def _modules() -> list[str]:
    """The modules that declare rows."""
    found = set(_FURTHER)
    for family in FAMILIES:
        folder = f"{__path__[0]}/{family}"
        try:
            names = [name.partition(".")[0] for name in os.listdir(folder)]
        except OSError:  # the package isn't in a folder, but in an archive
            import pkgutil

            names = [module.name for module in pkgutil.iter_modules([folder])]
        found.update(f"{family}.{name}" for name in names if name and name[0] != "_")
    return sorted(found)


for _module in _modules():
    load(f"_table.{_module}")
end_declaring()

PUBLIC: Final[Pending[tuple[str, str]]] = Pending()  # (namespace, name) -> function
TENSOR_METHODS: Final[Pending[str]] = Pending()  # name -> function of (self, …), in-place included


def _function(namespace: str, short: str, rows: list[Row]) -> AnyCallable:
    kind = kind_of(namespace, short)
    own = rows[0].op.function
    if kind and kind != kind_of(rows[0].namespace[0], short):
        own = variant(rows[0].name, rows, kind)
    return casting((namespace, short), aware(short, own))


def _method(short: str, rows: list[Row]) -> AnyCallable:
    return aware(short, variant(rows[0].name, rows, "method"))


def _inplace(name: str, rows: list[Row]) -> AnyCallable:
    return inplace_function(name, [row for row in rows if row.inplace], "method")


def _composite(key: tuple[str, str]) -> AnyCallable:
    return casting(key, aware(key[1], guard(kind_of(*key), key[1], COMPOSITES[key])))


def _composite_method(name: str) -> Any:
    if name in CAST_NAMES:  # the public function comes first, which the method may be
        for namespace in ("", "linalg"):
            PUBLIC.get((namespace, name))
    return casting_method(name, aware(name, guard("method", name, METHODS[name])))


def _build() -> None:
    TABLE.function_of = public_function
    for name, rows in ROWS.items():
        short = name.rpartition(".")[2].removeprefix("linalg_")
        for row in rows:
            if row.public:
                for namespace in row.namespace:
                    PUBLIC.later((namespace, short), partial(_function, namespace, short, rows))
            if row.method:
                TENSOR_METHODS.later(short, partial(_method, short, rows))
            if row.inplace:
                TENSOR_METHODS.later(short + "_", partial(_inplace, name, rows))
    for key in COMPOSITES:
        PUBLIC.later(key, partial(_composite, key))
    for name in METHODS:
        TENSOR_METHODS.later(name, partial(_composite_method, name))
    _traced.connect(PUBLIC, TENSOR_METHODS)
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
