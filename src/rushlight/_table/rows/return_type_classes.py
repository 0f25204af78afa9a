"""Named tuples of results, such as `torch.return_types.max`, made from schemas."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final

from ..._base.own_packages import package_name
from ..._base.schema import Schema

if TYPE_CHECKING:
    from ..._base.annotations import AnyCallable
    from ..._tensor.tensor import Tensor
    from .row import Row

RETURN_TYPES: Final[dict[str, Any]] = {}  # by name: "max", "linalg_svd", and "max_out" for out=


class NamedResultsMeta(type):
    """The type of the types of results: Python's own messages name them with their module."""

    __name__: str = property(lambda kind: kind.__qualname__)  # type: ignore[assignment]


class NamedResults(tuple[Any, ...], metaclass=NamedResultsMeta):
    """A tuple whose items have names as well; it prints and pickles as PyTorch's do."""

    __slots__ = ()
    __match_args__: tuple[str, ...] = ()
    n_fields = 0
    n_sequence_fields = 0
    n_unnamed_fields = 0

    def __new__(cls, items: Iterable[Any], dict: object = None) -> NamedResults:
        try:
            found = tuple(items)
        except TypeError:
            raise TypeError("constructor requires a sequence") from None
        if len(found) != cls.n_fields:
            raise TypeError(
                f"torch.return_types.{cls.__name__}() takes a {cls.n_fields}-sequence "
                f"({len(found)}-sequence given)"
            )
        return tuple.__new__(cls, found)

    def __repr__(self) -> str:
        items = [f"{name}={item!r}" for name, item in zip(self.__match_args__, self)]
        return f"torch.return_types.{type(self).__name__}(\n" + ",\n".join(items) + ")"

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(
            f"'torch.return_types.{type(self).__name__}' object has no attribute '{name}'"
        )

    def __setattr__(self, name: str, value: Tensor) -> None:
        if name in self.__match_args__:
            raise AttributeError("readonly attribute")
        self.__getattr__(name)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (tuple(self), {})


#: The named results of functions that are no rows.
OF_FUNCTIONS: Final = {
    "linalg_ldl_factor": ("LD", "pivots"),
    "linalg_lu_factor": ("LU", "pivots"),
    "qr": ("Q", "R"),
    "svd": ("U", "S", "V"),
}


def all_types(rows: Iterable[Row]) -> dict[str, type]:
    """All types by name, those of rows that nobody has used included."""
    for name in OF_FUNCTIONS:
        make_result_class(name)
    for row in rows:
        if "-> (" in row.text:
            assert row.schema is not None  # settling the row makes its types
    return RETURN_TYPES


def make_result_class(name: str, fields: tuple[str, ...] = ()) -> type[Any]:
    """The class of results called `name`, with those fields; made at the first call."""
    made = RETURN_TYPES.get(name)
    if made is None:
        fields = fields or OF_FUNCTIONS[name]
        body: dict[str, Any] = {f: property(itemgetter(i)) for i, f in enumerate(fields)}
        count = len(fields)
        body.update(
            __slots__=(), __match_args__=fields, __module__=f"{package_name()}.return_types",
            __qualname__=name,
            n_fields=count, n_sequence_fields=count, n_unnamed_fields=0,
        )  # fmt: skip
        made = NamedResultsMeta(f"torch.return_types.{name}", (NamedResults,), body)
        RETURN_TYPES[name] = made
    return made


#: Operations that users call whose results have names here, and none in PyTorch.
_PLAIN: Final = frozenset(("native_layer_norm",))


def maker(schema: Schema) -> AnyCallable | None:
    """What makes the schema's named results of a list of outputs; None where they have no names."""
    fields = tuple(r.name for r in schema.returns)
    if len(fields) < 2 or not all(fields) or schema.name in _PLAIN:
        return None
    name = schema.name.replace(".", "_")
    make_result_class(name + "_out", fields)
    return partial(tuple.__new__, make_result_class(name, fields))


def name_outputs(name: str, targets: list[Tensor]) -> Any:
    """The tensors passed as `out=` under the names of the results."""
    made = RETURN_TYPES.get(name.replace(".", "_") + "_out")
    return targets if made is None else tuple.__new__(made, targets)
