"""`torch.ops.<namespace>`: operators that programs register, under the names they gave them.

What an operator does when it is called is set by `library`, which knows autograd.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from ..._base.schema import REQUIRED, Schema
from ..._core.storage import TensorBase
from .aten import OpOverload, OpOverloadPacket

if TYPE_CHECKING:
    from ..._base.annotations import Positional
    from ..._base.schema import Parameter
    from ..._tensor.tensor import Tensor

NAMESPACES: Final[dict[str, Namespace]] = {}
LOADED: Final[set[str]] = set()


class OperatorSchema:
    """The schema of a registered operator, printed as it was written."""

    __slots__ = ("text", "parsed", "name", "overload_name")

    def __init__(self, text: str, parsed: Schema, name: str, overload: str) -> None:
        self.text = text
        self.parsed = parsed
        self.name = name
        self.overload_name = overload

    @property
    def arguments(self) -> tuple[Any, ...]:
        """The parameters, in order."""
        return self.parsed.params

    @property
    def returns(self) -> tuple[Any, ...]:
        """The results, in order."""
        return self.parsed.returns

    @property
    def is_mutable(self) -> bool:
        """Whether it writes one of its arguments."""
        return any("!" in p.alias for p in self.parsed.params)

    def __str__(self) -> str:
        return self.text

    __repr__ = __str__


class RegisteredOverload(OpOverload):
    """One overload of a registered operator: callable, hashable."""

    tags: Any = ()
    _schema: Any

    def __init__(self, packet: Packet, overload: str, schema: OperatorSchema) -> None:
        self.overloadpacket = packet
        self.namespace = packet.namespace
        self._overloadname = overload
        self._opname = packet.__name__
        self.__name__ = self.__qualname__ = f"{packet.__name__}.{overload}"
        self.__module__ = f"torch._ops.{packet.namespace}"
        self._name = f"{packet.namespace}::{packet.__name__}" + (
            "" if overload == "default" else f".{overload}"
        )
        self._schema = schema
        self.tags = []
        self.is_view = any(p.alias and "!" not in p.alias for p in schema.parsed.params)
        self.place = ""  # where in which file it was defined
        self.kernels: dict[str, Any] = {}  # by dispatch key: "CPU", "CompositeImplicitAutograd" …
        self.run: Any = None  # (overload, values) -> result; values in schema order

    def __call__(self, *args: object, **kwargs: object) -> Any:
        return self.run(self, self.values(args, kwargs))

    def values(self, args: Positional, kwargs: dict[str, object]) -> list[Any]:
        """The values of all parameters, in schema order.

        Raises:
            RuntimeError: where the arguments don't fit, in PyTorch's words.
        """
        params = self._schema.parsed.params
        name = f"{self.namespace}::{self._opname}()"
        declared = f"Declaration: {self._schema}"
        positional = [p for p in params if not p.kw_only]
        known = {p.name for p in params}
        if len(args) > len(positional) or len(args) + len(kwargs) > len(params):
            at_most = "positional argument(s)" if len(params) > len(positional) else "argument(s)"
            count = len(args) if len(params) > len(positional) else len(args) + len(kwargs)
            raise RuntimeError(
                f"{name} expected at most {len(positional)} {at_most} but received "
                f"{count} argument(s). {declared}"
            )
        found: list[Any] = []
        for i, p in enumerate(params):
            if i < len(args) and not p.kw_only:
                value = args[i]
            elif p.name in kwargs:
                value = kwargs[p.name]
            elif p.default is not REQUIRED:
                found.append(list(p.default) if isinstance(p.default, tuple) else p.default)
                continue
            else:
                raise RuntimeError(f"{name} is missing value for argument '{p.name}'. {declared}")
            if not _fits(p, value):
                raise RuntimeError(
                    f"{name} Expected a value of type '{_kind(p)}' for argument '{p.name}' but "
                    f"instead found type '{type(value).__name__}'.\nPosition: {i}\n"
                    f"Value: {value!r}\n{declared}\nCast error details: {_cast_error(p, value)}"
                )
            found.append(value)
        unknown = kwargs.keys() - known
        if unknown:
            raise RuntimeError(
                f"Unknown keyword argument '{sorted(unknown)[0]}' for operator "
                f"'{self.namespace}::{self._opname}'. Schema: {self._schema}"
            )
        return found

    @property
    def op(self) -> Any:
        """The packet's call."""
        return self.overloadpacket

    def name(self) -> str:
        """The qualified name: `mylib::sin`."""
        return self._name

    def __str__(self) -> str:
        return f"{self.namespace}.{self.__name__}"

    def __repr__(self) -> str:
        return (
            f"<OpOverload(op='{self.namespace}.{self._opname}', overload='{self._overloadname}')>"
        )

    def __deepcopy__(self, memo: object = None) -> RegisteredOverload:
        return self


def _kind(p: Parameter) -> str:
    base = p.type + ("[]" if p.is_list else "")
    return f"Optional[{base}]" if p.optional else ("int" if base == "SymInt" else base)


_SIMPLE: Final = {
    "float": (int, float), "int": (int,), "SymInt": (int,), "bool": (bool,), "str": (str,),
    "Scalar": (int, float, complex),
}  # fmt: skip


def _fits(p: Parameter, value: Tensor | float | str) -> bool:
    if value is None:
        return bool(p.optional)
    if p.is_list:
        if not isinstance(value, (list, tuple)):
            return False
        return p.type != "Tensor" or all(v is None or isinstance(v, TensorBase) for v in value)
    if p.type == "Tensor":
        return isinstance(value, TensorBase)
    kinds = _SIMPLE.get(p.type)
    if kinds is None:
        return True
    if isinstance(value, TensorBase):  # a number in a tensor counts as a number
        return p.type not in ("str",) and value._raw.size == 1
    return isinstance(value, kinds)


def _cast_error(p: Parameter, value: str) -> str:
    if p.type == "Tensor" and not p.is_list:
        return f"Unable to cast {value} to Tensor"
    return (
        f"Unable to cast Python instance of type {type(value)} to C++ type '?' (#define "
        "PYBIND11_DETAILED_ERROR_MESSAGES or compile in debug mode for details)"
    )


class Packet(OpOverloadPacket):
    """All overloads of a registered operator; calling it resolves which one is meant."""

    def __init__(self, namespace: str, name: str) -> None:
        self.namespace = namespace
        self.__name__ = name
        self.__module__ = f"torch._ops.{namespace}"
        self._qualified_op_name = f"{namespace}::{name}"
        self.own: dict[str, RegisteredOverload] = {}

    def __call__(self, *args: object, **kwargs: object) -> Any:
        if len(self.own) == 1:
            return next(iter(self.own.values()))(*args, **kwargs)
        last: RuntimeError | None = None
        for overload in self.own.values():
            try:
                values = overload.values(args, kwargs)
            except RuntimeError as error:
                last = error
                continue
            return overload.run(overload, values)
        raise last or RuntimeError(f"{self._qualified_op_name} has no overload")

    def overloads(self) -> list[str]:
        """The names of the overloads."""
        return list(self.own)

    def __iter__(self) -> Iterator[str]:
        return iter(self.own)

    def __getattr__(self, name: str) -> Any:
        found = self.__dict__.get("own", {}).get(name)
        if found is None:
            raise AttributeError(f"The underlying op of '{self}' has no overload name '{name}'")
        return found

    def __str__(self) -> str:
        return f"{self.namespace}.{self.__name__}"

    def __repr__(self) -> str:
        return f"<OpOverloadPacket(op='{self.namespace}.{self.__name__}')>"

    def __deepcopy__(self, memo: object = None) -> Packet:
        return self


class Namespace:
    """`torch.ops.<name>`."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"'_OpNamespace' '{self.name}' object has no attribute '{name}'")

    def packet(self, name: str) -> Packet:
        """The operator of a name, made now if there is none."""
        found = self.__dict__.get(name)
        if found is None:
            found = self.__dict__[name] = Packet(self.name, name)
        return found

    def __str__(self) -> str:
        return f"<module 'torch.ops.{self.name}' from 'torch.ops'>"

    __repr__ = __str__


def namespace_of(name: str) -> Namespace:
    """The namespace of a name, made now if there is none."""
    return NAMESPACES.setdefault(name, Namespace(name))


#: The packages whose compiled operators were asked for; what they register for these is let pass.
UNLOADED: Final[set[str]] = set()


def load_library(path: str) -> None:
    """Raises OSError: operators compiled against PyTorch can't be loaded."""
    UNLOADED.add(os.path.basename(os.path.dirname(os.path.abspath(path))))
    raise OSError(f"Could not load this library: {path}")


def import_module(module: str) -> None:
    """Imports a Python module, which may register operators."""
    __import__(module)
