"""Attaches the table's operations to `Tensor`: methods, in-place variants, operators.

Note [Operators are short]
`x * y` is the hottest call of all. Each operator is one Python function that asks for the type of
its other operand and calls the fast path; whatever isn't a tensor, a float or an int goes through
the method, and what no overload takes gives NotImplemented, so that Python asks the other operand
or says why not.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from operator import mul
from types import FunctionType
from typing import TYPE_CHECKING, Any, Final, cast

from .._array import types as T
from .._base import errors
from .._base.lazy import LOCK, load
from .._base.size import Size
from .._core.apply import apply1, apply2, apply_n
from .._core.inplace import apply_inplace
from .._core.interposers import NOT_HANDLED, call_whole, misfit
from .._core.mode import ALERTED, is_interposed
from .._core.op import Op
from .._core.storage import TensorBase, new_tensor
from .._native.ufunc_loops import ENTRY, FIELDS
from .._table import TENSOR_METHODS
from .._table.rows import composite
from .._table.rows.composite import METHODS
from .._table.rows.row import ROWS
from .help_texts import describe
from .public_functions import make_asking_function, method_of
from .tensor import Tensor
from .torch_function import ENTRIES

if TYPE_CHECKING:
    from .._base.annotations import Scalar

Binary = Callable[[Any, Any], Any]
Unary = Callable[[Any], Any]
Maker = Callable[[], Any]

#: operator -> the row that it calls with (self, other)
BINARY: Final = {
    "add": "add", "sub": "sub", "mul": "mul", "truediv": "div", "floordiv": "floor_divide",
    "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor", "lshift": "bitwise_left_shift",
    "rshift": "bitwise_right_shift", "eq": "eq", "ne": "ne", "lt": "lt", "le": "le", "gt": "gt",
    "ge": "ge", "radd": "add", "rmul": "mul", "rand": "bitwise_and", "ror": "bitwise_or",
    "rxor": "bitwise_xor", "rsub": "_rsub",
}  # fmt: skip
#: operator -> the method whose in-place variant it calls
INPLACE: Final = {
    "iadd": "add", "isub": "sub", "imul": "mul", "itruediv": "div", "ifloordiv": "floor_divide",
    "imod": "remainder", "ipow": "pow", "iand": "bitwise_and", "ior": "bitwise_or",
    "ixor": "bitwise_xor", "ilshift": "bitwise_left_shift", "irshift": "bitwise_right_shift",
}  # fmt: skip
#: operator -> the row that it calls with (other, self), for a number on the left
REFLECTED: Final = {
    "rfloordiv": "floor_divide", "rmod": "remainder", "rpow": "pow",
    "rlshift": "bitwise_left_shift",
    "rrshift": "bitwise_right_shift",
}  # fmt: skip
#: operator -> the method by whose name it is shown to those who are asked; others by their own
QUALIFIED: Final = {
    "add": "add", "radd": "add", "sub": "sub", "mul": "mul", "rmul": "mul", "truediv": "div",
    "mod": "remainder", "rand": "bitwise_and", "ror": "bitwise_or", "rxor": "bitwise_xor",
    "ne": "ne", "lt": "lt", "le": "le", "gt": "gt", "ge": "ge", "iadd": "add_", "isub": "sub_",
    "imul": "mul_", "itruediv": "div_", "ifloordiv": "floor_divide_", "imod": "remainder_",
    "neg": "neg", "abs": "abs", "pos": "positive", "matmul": "matmul",
}  # fmt: skip
#: Operators that are Python's in PyTorch too, where the types that are told have plain ones.
IN_PYTHON: Final = frozenset({
    "rsub", "rtruediv", "floordiv", "rfloordiv", "rmod", "pow", "rpow", "ipow", "rmatmul",
    "rlshift", "rrshift",
})  # fmt: skip
#: operator -> the operation that its call comes to, by name
OPERATIONS: Final = {
    **BINARY, **REFLECTED, **{name: f"{method}_" for name, method in INPLACE.items()},
    "mod": "remainder", "pow": "pow", "invert": "bitwise_not",
}  # fmt: skip
#: Operators whose functions have another name in PyTorch, which programs that are asked read.
KNOWN_AS: Final = {
    "__rtruediv__": "__rdiv__", "__itruediv__": "__idiv__", "__pow__": "pow", "__ipow__": "pow_",
    "__neg__": "neg", "__abs__": "abs",
}  # fmt: skip
_POWERS: Final[tuple[str, ...]] = ("pow", "square", "_cube", "_root")


def _simple(name: str) -> Op:
    op = ROWS[name][0].simple_op
    assert op is not None, f"{name} has no two-operand form"
    return op


def _overload(name: str, overload: str) -> Op:
    for row in ROWS[name]:
        if row.overload == overload:
            return row.op
    raise KeyError(f"{name}.{overload}")


def _binary(name: str) -> Binary:
    """The operator of a two-operand row. See Note [Operators are short]."""
    op = _simple(name)
    of_tensors = _simple(name.lstrip("_"))  # `_rsub` is what numbers call
    function: Any = TENSOR_METHODS.get(name) or op.function

    def operator(self: Tensor, other: Tensor | Scalar) -> object:
        if isinstance(other, TensorBase):
            return apply2(of_tensors, self, other)
        kind = type(other)
        if kind is float or kind is int:
            return apply2(op, self, other)
        return _otherwise(function, self, other)

    return operator


def _commute(name: str, row: str) -> Binary:
    """A commutative operator for a number on the left: the operator the other way round."""
    op = _simple(row)
    function: Any = TENSOR_METHODS.get(row) or op.function

    def operator(self: Tensor, other: Scalar) -> object:
        kind = type(other)
        if kind is float or kind is int:
            return apply2(op, self, other)
        if isinstance(other, TensorBase):  # named by its special name: Python asks `other` itself
            if not isinstance(self, TensorBase):
                raise TypeError(
                    f"descriptor '__{name}__' for 'torch._C.TensorBase' objects doesn't apply to "
                    f"a '{type(self).__name__}' object"
                )
            return apply2(op, self, other)
        return _otherwise(function, self, other)

    return operator


def _otherwise(function: Binary, self: Tensor, other: Tensor | Scalar) -> object:
    """A method's result, or NotImplemented where it doesn't take the operand."""
    try:
        return function(self, other)
    except TypeError:
        if errors.is_pytorchs(type(other)):
            raise  # two tensors have one operator: nobody else will say what is wrong
        if hasattr(type(other), "__torch_function__"):
            asked = getattr(Tensor, function.__name__, function)  # as users know it
            handled = misfit(asked, (self, other), {})
            return NotImplemented if handled is NOT_HANDLED else handled
        return NotImplemented


def _equality(name: str) -> Binary:
    """`==` or `!=`, which take arrays too, where other operators leave these to NumPy."""
    operator = _binary(name)

    def equality(self: Tensor, other: object) -> object:
        if isinstance(other, T.ndarray):
            other = new_tensor(T.plain_array(other))
        return operator(self, other)

    return equality


def _by_method(name: str) -> Binary:
    """The operator of a method with overloads of its own for numbers."""
    function = TENSOR_METHODS[name]
    op = _simple(name)

    def operator(self: Tensor, other: Tensor | float) -> object:
        if type(other) is int and not ALERTED and self._raw.dtype is T.INT64:
            return apply2(op, self, other)  # of which nothing is recorded
        return _otherwise(function, self, other)

    return operator


def _matmul() -> Binary:
    """`@`, which is made of operations and so asks by itself."""
    function = TENSOR_METHODS["matmul"]

    def operator(self: Tensor, other: Tensor) -> object:
        if ALERTED and isinstance(other, TensorBase) and is_interposed():
            handled = call_whole(Tensor.matmul, (self, other), {})
            if handled is not NOT_HANDLED:
                return handled
        return _otherwise(function, self, other)

    return operator


def _inplace(name: str) -> Binary:
    """The in-place operator of a method."""
    function = TENSOR_METHODS[name + "_"]
    op = ROWS[name][0].simple_op

    def operator(self: Tensor, other: Tensor | float) -> object:
        if op is not None and isinstance(other, TensorBase):
            return apply_inplace(op, [self, other])
        return _otherwise(function, self, other)

    return operator


def _reflect(name: str, overload: str) -> Binary:
    """The operator for a number, or what can be made a tensor, on the left."""
    op = _overload(name, overload)

    def operator(self: Tensor, other: float) -> object:
        if T.is_number(other):
            return apply_n(
                op, [other if isinstance(other, NUMBERS) else T.python_number(other), self]
            )
        if isinstance(other, TensorBase):  # named by its special name: Python asks `other` itself
            function = TENSOR_METHODS[name.removeprefix("_r")]
            return function(other, self)
        return NotImplemented

    return operator


NUMBERS: Final = (int, float, complex)


def _reciprocal_times() -> Binary:
    """`number / x`: the reciprocal, times the number (or array)."""
    reciprocal, times = _simple("reciprocal"), _simple("mul")

    def operator(self: Tensor, other: float) -> object:
        if ALERTED and is_interposed():
            handled = call_whole(Tensor.__rtruediv__, (self, other), {})
            if handled is not NOT_HANDLED:
                return handled
        if T.is_number(other):
            number = other if isinstance(other, NUMBERS) else T.python_number(other)
            return apply2(times, apply1(reciprocal, self), number)
        if isinstance(other, TensorBase):
            if not isinstance(self, TensorBase):
                raise AttributeError(
                    f"'{type(self).__name__}' object has no attribute 'reciprocal'"
                )
            return apply2(times, apply1(reciprocal, self), other)
        if isinstance(other, T.ndarray):
            return _otherwise(mul, apply1(reciprocal, self), other)
        return NotImplemented

    return operator


def _power() -> Binary:
    """`x ** y`; squares, cubes and roots are operations of one operand."""
    whole = {2: _simple("square"), 3: _simple("_cube")}
    broken = {2.0: _simple("square"), 3.0: _simple("_cube"), 0.5: _simple("_root")}
    by_tensor, by_number = _simple("pow"), _overload("pow", "Tensor_Scalar")
    function = TENSOR_METHODS["pow"]

    def operator(self: Tensor, other: Any) -> object:
        if isinstance(other, TensorBase):
            return apply2(by_tensor, self, other)
        kind = type(other)
        if kind is int:
            op = whole.get(other)
        elif kind is float:
            op = None if T.is_discrete(self._raw.dtype) else broken.get(other)
        else:
            return _otherwise(function, self, other)
        return apply_n(by_number, [self, other]) if op is None else apply1(op, self)

    return operator


def _unary(name: str) -> Unary:
    op = _simple(name)

    def operator(self: Tensor) -> object:
        return apply1(op, self)

    return operator


def _make_invert() -> Unary:
    """`~x`, for integers and bools only."""
    op = _simple("bitwise_not")

    def operator(self: Tensor) -> object:
        if self._raw.dtype.kind not in "biu":
            if ALERTED and is_interposed():
                handled = call_whole(Tensor.__invert__, (self,), {})
                if handled is not NOT_HANDLED:
                    return handled
            raise TypeError(
                "~ (operator.invert) is only implemented on integer and Boolean-type tensors"
            )
        return apply1(op, self)

    return operator


def _matmul_reflected() -> Binary:
    function = TENSOR_METHODS["matmul"]

    def operator(self: Tensor, other: Tensor) -> object:
        if ALERTED and is_interposed():
            handled = call_whole(Tensor.__rmatmul__, (self, other), {})
            if handled is not NOT_HANDLED:
                return handled
        return _otherwise(function, other, self)

    return operator


def _hash(self: Tensor) -> int:
    return id(self)


def operators() -> dict[str, Maker]:
    """What makes the operators of `Tensor`, by their special names."""
    made: dict[str, Maker] = {name: partial(_binary, row) for name, row in BINARY.items()}
    made.update({name: partial(_equality, name) for name in ("eq", "ne")})
    for name in ("radd", "rmul", "rand", "ror", "rxor"):
        made[name] = partial(_commute, name, BINARY[name])
    made.update({name: partial(_inplace, method) for name, method in INPLACE.items()})
    for name, row in REFLECTED.items():
        overload = "" if row[0] == "_" else ("Scalar" if row == "pow" else "Scalar_Tensor")
        made[name] = partial(_reflect, row, overload)
    made["mod"] = partial(_by_method, "remainder")
    made["pow"] = _power
    made["rtruediv"] = _reciprocal_times
    made.update(
        {"neg": partial(_unary, "neg"), "invert": _make_invert, "abs": partial(_unary, "abs")}
    )
    made["pos"] = partial(TENSOR_METHODS.__getitem__, "positive")
    made["matmul"] = _matmul
    made["rmatmul"] = _matmul_reflected
    return {f"__{name}__": maker for name, maker in made.items()}


class Later:
    """A method in the class before anybody has looked at it: the first look puts it there."""

    __slots__ = ("name", "maker")

    def __init__(self, name: str, maker: Maker) -> None:
        self.name = name
        self.maker = maker

    def __get__(
        self, instance: Tensor | None, owner: type[object] | None = None
    ) -> Callable[..., object]:
        method = self.settle()
        return method if instance is None else method.__get__(instance, owner)

    def settle(self) -> Callable[..., object]:
        """The method, which `Tensor` then has under its name."""
        with LOCK:
            found = vars(Tensor)[self.name]
            if found is not self:
                found = getattr(Tensor, self.name)
            else:
                found = self.maker()
                if self.name[:2] == "__" and found.__name__ in ("operator", "equality"):
                    found.__name__ = KNOWN_AS.get(self.name, self.name)
                if isinstance(found, FunctionType) and found.__code__ not in ENTRIES:
                    _enter(self.name, found)
                _say_where(self.name, found)
                setattr(Tensor, self.name, _with_entry(found))
        return found


def _with_entry(method: Callable[..., object]) -> Callable[..., object]:
    """The method as the class has it: with its usual calls taken in C where nobody is on and that
    is known, see Note [Entries]. Who is on has its calls found by their frames.
    """
    plain = getattr(method, "_in_no_mode", method)
    entry = composite.ENTRIES.get(method) or composite.ENTRIES.get(plain)
    if entry is None or ENTRY is None:
        return method
    made: Callable[..., object] = ENTRY(method, method, "method", (ALERTED, entry))
    return made


def _say_where(name: str, method: object) -> None:
    """Has pickles find a method in `Tensor`."""
    known = (name, KNOWN_AS.get(name, name))  # `det` is known as `linalg_det`
    if isinstance(method, FunctionType) and method.__name__.endswith(known):
        method.__module__, method.__qualname__ = Tensor.__module__, f"Tensor.{name}"


def _enter(name: str, function: FunctionType) -> None:
    """Gives a method or operator code of its own, by which `torch_function` finds its calls."""
    short = name.strip("_") if name[:2] == "__" else ""
    if short in ("pow", "ipow"):
        operations = _POWERS
    elif short:
        operations = (OPERATIONS.get(short, short).removesuffix("_"),)
    elif name in METHODS:  # asks by itself
        return
    else:
        operations = (name, name.removesuffix("_"))
    if short in IN_PYTHON:
        function._in_python = True  # type: ignore[attr-defined]
    function.__code__ = function.__code__.replace(co_name=name)
    ENTRIES[function.__code__] = QUALIFIED.get(short, name), frozenset(operations)


def _method(name: str) -> object:
    method = cast("Unary", method_of(name, TENSOR_METHODS[name]))
    return method if name[:2] == "__" else describe(method, f"Tensor.{name}")


def _view_method(name: str) -> object:
    return load(f"_tensor.view_functions:{name[1:]}")


def attach() -> None:
    """Gives `Tensor` every method of the table and the operators."""
    taken = frozenset(vars(Tensor))
    for name in TENSOR_METHODS:
        if name not in taken:
            # One that Python itself looks up would change the class in the middle of a program.
            now = name[:2] == "__" and name in METHODS
            setattr(Tensor, name, _method(name) if now else Later(name, partial(_method, name)))
    Tensor.detach = make_asking_function(Tensor.detach, "detach", "detach.default")  # type: ignore[method-assign]
    Tensor.__hash__ = _hash  # type: ignore[method-assign]
    makers = operators()
    for name, maker in makers.items():
        setattr(Tensor, name, Later(name, maker))
    for name in ("div", "rdiv", "idiv"):
        same = f"__{name.replace('div', 'truediv')}__"
        setattr(Tensor, f"__{name}__", Later(f"__{name}__", partial(getattr, Tensor, same)))
    _put_fields()
    for name in ("_view_func", "_view_func_unsafe", "_rev_view_func_unsafe"):
        setattr(Tensor, name, Later(name, partial(_view_method, name)))
    for name in ("detach", "__getitem__", "__setitem__", "__delitem__"):
        _say_where(name, vars(Tensor)[name])


#: What tensors are asked about their arrays: attributes and methods, with their letters in
#: `fields.c`.
_ATTRIBUTES: Final = {"shape": "S", "ndim": "D"}
_QUESTIONS: Final = {"size": "S", "dim": "D", "numel": "N", "is_contiguous": "C"}


def _put_fields() -> None:
    """Has these answered in C where that is there."""
    if FIELDS is None or ENTRY is None:
        return
    FIELDS.set_size(Size)
    for name, letter in _ATTRIBUTES.items():
        setattr(Tensor, name, FIELDS.Attribute(getattr(Tensor, name), letter))
    for name, letter in _QUESTIONS.items():
        method = getattr(Tensor, name)
        entry = ENTRY(method, method, "method", (ALERTED, FIELDS.Field(method, letter)))
        setattr(Tensor, name, entry)


def settle() -> None:
    """Makes the methods that nobody has looked at, for those who go through all of them."""
    for name in list(vars(Tensor)):
        getattr(Tensor, name, None)


attach()
