"""Arrays that note what formulas do with them.

Note [Formulas on proxies]
A formula of the table uses operators, Python numbers and `xp` only. While a step is recorded it
runs on proxies instead of raw arrays: each operator and each function of `xp` computes what it
computes in an eager backward, on the same arrays, and notes the call. So the program holds the very
calls that an eager step makes, and gives the same digits.

A formula that does something else with its operands is noted as one call.
"""

from __future__ import annotations

import operator
from sys import getrefcount
from typing import TYPE_CHECKING, Any

from ..._array.memory import aliasing as A
from ..._core.engine import WORLDS
from .temporaries import FIRST, REFLECTED, SECOND, is_temporary

if TYPE_CHECKING:
    from ..._array.annotations import Array, RawType
    from ..._base.annotations import AnyCallable, Shape, TensorLike
    from .recorder import Recorder


class Proxy:
    """An array within a formula that is being recorded."""

    __slots__ = ("raw", "recorder")

    __array_ufunc__ = None  # arrays leave arithmetic with proxies to them

    def __init__(self, raw: Array, recorder: Recorder) -> None:
        self.raw = raw
        self.recorder = recorder

    @property
    def shape(self) -> Shape:
        return self.raw.shape

    @property
    def ndim(self) -> int:
        return int(self.raw.ndim)

    @property
    def size(self) -> int:
        return int(self.raw.size)

    @property
    def dtype(self) -> RawType:
        return self.raw.dtype

    def run_formula(self, function: AnyCallable, args: tuple[object, ...]) -> Any:
        """A call of a function that is made of a formula: one call of the program."""
        return self.recorder.run(function, function.__name__, args)

    def __getitem__(self, key: object) -> Any:
        return self.recorder.run(operator.getitem, "getitem", (self, key))

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.raw, name)  # says what doesn't exist
        if callable(found):
            return Method(name, self)
        if A.is_array(found):
            return self.recorder.run(Attribute.of(name), name, (self,))
        return found

    def __bool__(self) -> bool:
        raise TypeError("a formula branches on a value")


def _unary(name: str) -> AnyCallable:
    function = getattr(operator, name)

    def method(self: Proxy) -> Any:
        return self.recorder.run(function, name.strip("_"), (self,))

    return method


def _forward(name: str) -> AnyCallable:
    function = getattr(operator, name)

    def method(self: Proxy, other: object) -> Any:
        over = None
        if getrefcount(self) == FIRST and is_temporary(function, self, other):
            over = self
        elif getrefcount(other) == SECOND and type(other) is Proxy:
            over = other if is_temporary(function, other, self) else None
        return self.recorder.run(function, name.strip("_"), (self, other), None, over)

    return method


def _backward(name: str) -> AnyCallable:
    function = getattr(operator, name)

    def method(self: Proxy, other: object) -> Any:
        alone = getrefcount(self) == REFLECTED
        over = self if alone and is_temporary(function, self, other) else None
        return self.recorder.run(function, name.strip("_"), (other, self), None, over)

    return method


for _name in ("add", "sub", "mul", "truediv", "pow", "matmul", "floordiv", "mod", "and_", "or_",
              "xor"):  # fmt: skip
    _stem = _name.rstrip("_")
    setattr(Proxy, f"__{_stem}__", _forward(_name))
    setattr(Proxy, f"__r{_stem}__", _backward(_name))
for _name in ("lt", "le", "gt", "ge", "eq", "ne"):
    setattr(Proxy, f"__{_name}__", _forward(_name))
for _name in ("neg", "pos", "abs", "invert"):
    setattr(Proxy, f"__{_name}__", _unary(_name))
Proxy.__hash__ = None  # type: ignore[assignment]


class Attribute:
    """Takes an attribute of an array; one object for each name."""

    __slots__ = ("name",)
    known: dict[str, Attribute] = {}

    def __init__(self, name: str) -> None:
        self.name = name

    @classmethod
    def of(cls, name: str) -> Attribute:
        return cls.known.setdefault(name, cls(name))

    def __call__(self, x: TensorLike) -> Array:
        return getattr(x, self.name)

    @property
    def __name__(self) -> str:
        return self.name


class Caller:
    """Calls a method of an array; one object for each name."""

    __slots__ = ("name",)
    known: dict[str, Caller] = {}

    def __init__(self, name: str) -> None:
        self.name = name

    @classmethod
    def of(cls, name: str) -> Caller:
        return cls.known.setdefault(name, cls(name))

    def __call__(self, x: object, *args: tuple[object, ...], **kwargs: dict[str, object]) -> Any:
        return getattr(x, self.name)(*args, **kwargs)

    @property
    def __name__(self) -> str:
        return self.name


class Method:
    """A method of a proxy, to be called."""

    __slots__ = ("name", "owner")

    def __init__(self, name: str, owner: Proxy) -> None:
        self.name = name
        self.owner = owner

    def __call__(self, *args: tuple[object, ...], **kwargs: dict[str, object]) -> Any:
        call = Caller.of(self.name)
        return self.owner.recorder.run(call, self.name, (self.owner, *args), kwargs)


class Names:
    """`xp` for formulas that run on proxies: the raw namespace, noted."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder

    def __getattr__(self, name: str) -> AnyCallable:
        function = getattr(WORLDS.raw, name)
        if not callable(function):
            return function
        recorder = self.recorder

        def note(*args: tuple[object, ...], **kwargs: dict[str, object]) -> Any:
            return recorder.run(function, name, args, kwargs)

        return note

    def overridden(
        self, override: AnyCallable, formula: AnyCallable, *args: tuple[object, ...]
    ) -> Any:
        """What the raw namespace makes of it: the override."""
        return self.recorder.run(override, getattr(override, "__name__", "override"), args)

    def constant(self, x: TensorLike) -> Any:
        """An array that a formula has made."""
        return x


class World:
    """The namespace in which an engine that runs on Tensors computes outside of formulas."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder

    def __getattr__(self, name: str) -> AnyCallable:
        function = getattr(WORLDS.raw, name, None)
        if function is None:
            return getattr(WORLDS.traced, name)
        recorder = self.recorder

        def note(*args: tuple[object, ...], **kwargs: dict[str, object]) -> Any:
            given = [recorder.to_proxy(x) for x in args]
            return recorder.from_proxy(recorder.run(function, name, given, kwargs))

        return note
