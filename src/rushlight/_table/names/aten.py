"""`torch.ops.aten`: the table's operations under the names of PyTorch's operator registry.

`torch.ops.aten.mul.Tensor` is an `OpOverload`, `torch.ops.aten.mul` the packet of its overloads.
They are made when they are first asked for. A row that PyTorch has under another name, or makes of
smaller operations, says so in `_aten_forms.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final, NoReturn

from ..._base.lazy import Pending
from ..._base.schema import REQUIRED, Parameter, Schema, parse
from ..._core.apply import apply_n
from ..._core.inplace import apply_inplace
from ..._core.storage import TensorBase
from ..calls.dispatch import Dispatcher, match
from ..rows.out_argument import apply_out
from ..rows.row import ROWS, Row

if TYPE_CHECKING:
    from ..._base.annotations import AnyCallable, Keywords, Positional


class FunctionSchema:
    """The schema of an operator, printed as PyTorch prints it."""

    __slots__ = ("_schema", "name", "overload_name", "is_mutable")

    def __init__(self, schema: Schema, name: str, overload: str, mutable: bool) -> None:
        self._schema = schema
        self.name = f"aten::{name}"
        self.overload_name = "" if overload == "default" else overload
        self.is_mutable = mutable

    @property
    def arguments(self) -> tuple[Parameter, ...]:
        """The parameters, in order."""
        return self._schema.params

    @property
    def returns(self) -> tuple[Any, ...]:
        """The results, in order."""
        return self._schema.returns

    def __str__(self) -> str:
        given = self._schema
        inside = given.text.partition("(")[2]
        if self.is_mutable:
            first = given.params[0].name
            inside = f"Tensor(a!) {first}" + inside[inside.index(first) + len(first) :]
            inside = inside.rpartition(" -> ")[0] + " -> Tensor(a!)"
        dot = f".{self.overload_name}" if self.overload_name else ""
        return f"{self.name}{dot}({inside}"

    __repr__ = __str__


class OpOverload:
    """One overload of an operator: callable, hashable, printed as `aten.mul.Tensor`."""

    __module__ = "torch._ops"

    def __init__(self, packet: OpOverloadPacket, overload: str, schema: Schema, call: Any,
                 mutable: bool) -> None:  # fmt: skip
        self.overloadpacket = packet
        self.namespace = "aten"
        self._opname = packet.__name__
        self._overloadname = overload
        self.__name__ = self.__qualname__ = self._name = f"{packet.__name__}.{overload}"
        self.__dict__["__module__"] = "torch._ops.aten"
        self._schema = FunctionSchema(schema, packet.__name__, overload, mutable)
        self._call = call
        self.is_view = schema.is_view and not mutable

    def __call__(self, *args: object, **kwargs: object) -> Any:
        return self._call(self, args, kwargs)

    @property
    def op(self) -> OpOverloadPacket:
        """The packet's call."""
        return self.overloadpacket

    @property
    def tags(self) -> list[Any]:
        """No tags are kept."""
        return []

    def name(self) -> str:
        """The qualified name: `aten::mul.Tensor`."""
        dot = "" if self._overloadname == "default" else f".{self._overloadname}"
        return f"aten::{self._opname}{dot}"

    def __str__(self) -> str:
        return f"aten.{self._name}"

    def __repr__(self) -> str:
        return f"<OpOverload(op='aten.{self._opname}', overload='{self._overloadname}')>"

    def __deepcopy__(self, memo: object = None) -> OpOverload:
        return self

    def __reduce__(self) -> tuple[AnyCallable, tuple[str, str]]:
        return find_overload, (self._opname, self._overloadname)


class OpOverloadPacket:
    """All overloads of an operator; calling it resolves which one is meant."""

    __module__ = "torch._ops"

    def __init__(self, name: str, makers: Mapping[str, object], public: AnyCallable | None) -> None:
        self.__name__ = name
        self._qualified_op_name = f"aten::{name}"
        self.__dict__["__module__"] = "torch._ops.aten"
        self._makers = makers
        self._public = public

    def __call__(self, *args: object, **kwargs: object) -> Any:
        if self._public is not None:
            return self._public(*args, **kwargs)
        return getattr(self, self.overloads()[0])(*args, **kwargs)

    def overloads(self) -> list[str]:
        """The names of the overloads."""
        return list(self._makers)

    def __iter__(self) -> Iterator[str]:
        return iter(self._makers)

    def __getattr__(self, name: str) -> Any:
        maker = None if name.startswith("__") else self.__dict__["_makers"].get(name)
        if maker is None:
            raise AttributeError(f"The underlying op of '{self}' has no overload name '{name}'")
        schema, call, mutable = maker
        made = OpOverload(self, name, schema, call, mutable)
        setattr(self, name, made)
        return made

    def __str__(self) -> str:
        return f"aten.{self.__name__}"

    def __repr__(self) -> str:
        return f"<OpOverloadPacket(op='aten.{self.__name__}')>"

    def __deepcopy__(self, memo: object = None) -> OpOverloadPacket:
        return self

    def __reduce__(self) -> tuple[AnyCallable, tuple[object, str]]:
        return getattr, (ATEN, self.__name__)


#: Operations that packages name when they are imported, to register rules of their own for them.
_ABSENT = {
    "_pin_memory", "_sparse_addmm", "_sparse_mm_reduce_impl", "_sparse_mm", "_sparse_sum",
    "_sparse_softmax",
}  # fmt: skip


def _refusal(name: str) -> AnyCallable:
    def refuse(*args: object, **kwargs: object) -> NoReturn:
        raise NotImplementedError(f"aten::{name} is not there: Rushlight computes on dense tensors")

    return refuse


class _OpNamespace:
    """`torch.ops.aten`."""

    __module__ = "torch._ops"

    def __init__(self) -> None:
        self.name = "aten"
        self.public: Pending[str] = Pending()  # composite functions by name, for what has no row

    def __getattr__(self, name: str) -> Any:
        makers = {} if name.startswith("__") else makers_of(name)
        public = OWN.get(name) or self.__dict__["public"].get(name)
        if not makers and public is not None:
            schema = parse(f"{name}(Any args) -> Tensor")
            makers = {"default": (schema, _of_public(public), name.endswith("_"))}
        if not makers and name in _ABSENT:
            schema = parse(f"{name}(Any args) -> Tensor")
            makers = {"default": (schema, _refusal(name), False)}
        if not makers:
            raise AttributeError(f"'_OpNamespace' 'aten' object has no attribute '{name}'")
        made = OpOverloadPacket(name, makers, public)
        setattr(self, name, made)
        return made

    def __str__(self) -> str:
        return "<module 'torch.ops.aten' from 'torch.ops'>"

    __repr__ = __str__


ATEN: Final = _OpNamespace()


def find_overload(name: str, overload: str) -> Any:
    """The overload of these names."""
    return getattr(getattr(ATEN, name), overload)


# Forms that PyTorch has and the table writes otherwise: "name.overload" -> (schema, function).
FORMS: Final[dict[str, tuple[str, Any]]] = {}
# Operators whose defaults aren't those of the public function.
OWN: Final[dict[str, Any]] = {}


def makers_of(name: str) -> dict[str, Any]:
    """What makes the overloads of `name`, by overload name: (schema, call, writes its first)."""
    makers: dict[str, Any] = {}
    for key, (text, function) in FORMS.items():
        stem, _, overload = key.partition(".")
        if stem == name:
            makers[overload] = (parse(text), _of_public(function), name.endswith("_"))
    # PyTorch's registry writes `linalg_inv` where the table writes `linalg.inv`.
    rows = ROWS.get(name) or ROWS.get(name.replace("special_", "", 1)) or []
    for row in rows:
        overload = row.schema.overload or "default"
        makers.setdefault(overload, (row.schema, _of_row(row), False))
        if overload == "Tensor" and row.numbers and row.op.broadcasts:
            makers.setdefault("Scalar", (row.schema, _of_row(row), False))
        if row.out:
            makers.setdefault(out_name(row), (row.schema, _of_out(row), False))
    if not rows and name.endswith("_"):
        for row in ROWS.get(name[:-1], []):
            if row.inplace:
                overload = row.schema.overload or "default"
                makers.setdefault(overload, (row.schema, _of_writing(row), True))
                if overload == "Tensor" and row.numbers:
                    makers.setdefault("Scalar", (row.schema, _of_writing(row), True))
    return makers


_OUT_NAMES: Final = {"sum.dim_IntList": "IntList_out", "mean.dim": "out", "max.dim": "dim_max",
                     "min.dim": "dim_min", "nansum.dim_IntList": "out", "prod.dim_int": "int_out",
                     "where.self": "self_out"}  # fmt: skip


def out_name(row: Row) -> str:
    """The name of the overload of a row that takes `out=`."""
    overload = row.schema.overload
    if overload in ("", "Tensor"):
        return "out"
    return _OUT_NAMES.get(f"{row.schema.name}.{overload}", f"{overload}_out")


def _of_row(row: Row) -> AnyCallable:
    def call(overload: OpOverload, args: Positional, kwargs: dict[str, object]) -> Any:
        return apply_n(row.op, values_of(overload, row, args, kwargs))

    return call


def _of_writing(row: Row) -> AnyCallable:
    def call(overload: OpOverload, args: tuple[object, ...], kwargs: dict[str, object]) -> Any:
        return apply_inplace(row.op, values_of(overload, row, args, kwargs))

    return call


def _of_out(row: Row) -> AnyCallable:
    def call(overload: OpOverload, args: Positional, kwargs: Keywords) -> Any:
        rest = dict(kwargs)
        out = rest.pop("out", None)
        return apply_out(row, values_of(overload, row, args, rest), out)

    return call


def _of_public(function: AnyCallable) -> AnyCallable:
    def call(overload: OpOverload, args: tuple[object, ...], kwargs: Mapping[str, object]) -> Any:
        return function(*args, **kwargs)

    return call


def values_of(overload: OpOverload, row: Row, args: Positional, kwargs: dict[str, object]) -> Any:
    """The values of a row's parameters, for a call of one of its overloads.

    Raises:
        RuntimeError: where the arguments don't fit, in PyTorch's words.
    """
    plan = match(row, args, kwargs)
    if isinstance(plan, bool):
        raise RuntimeError(_misfit(overload, row, args, kwargs))
    return Dispatcher.gather(_GATHERER, plan, args, kwargs)


_GATHERER: Final = Dispatcher("", [])


def _misfit(
    overload: OpOverload, row: Row, args: tuple[object, ...], kwargs: Mapping[str, object]
) -> str:
    """Why arguments don't fit."""
    name = f"aten::{overload._opname}()"
    declared = f"Declaration: {overload._schema}"
    params = row.schema.params
    if len(args) + len(kwargs) > len(params):
        return (
            f"{name} expected at most {len(params)} argument(s) but received "
            f"{len(args) + len(kwargs)} argument(s). {declared}"
        )
    for i, p in enumerate(params):
        if i >= len(args) and p.name not in kwargs:
            if p.default is REQUIRED:
                return f"{name} is missing value for argument '{p.name}'. {declared}"
            continue
        value = args[i] if i < len(args) else kwargs[p.name]
        if p.is_tensor and not isinstance(value, TensorBase):
            return (
                f"{name} Expected a value of type 'Tensor' for argument '{p.name}' but instead "
                f"found type '{type(value).__name__}'.\nPosition: {i}\nValue: {value!r}\n"
                f"{declared}\nCast error details: Unable to cast {value} to Tensor"
            )
    return f"{name} got arguments that don't fit. {declared}"
