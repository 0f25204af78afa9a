"""Subclasses of `Tensor`: what they are told of each operation, and what class results have.

A subclass's `__torch_function__(func, types, args, kwargs)` is called in place of every operation
that gets one of its instances. The one that subclasses inherit computes on the plain tensors and
gives the results the subclass. `Parameter` opts out: its results are plain tensors.
"""

from __future__ import annotations

import functools
import inspect
import sys
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Final, cast

from .._array.memory.meta import MetaArray
from .._base import errors
from .._base.lazy import load
from .._base.own_packages import is_own
from .._core.apply import apply_n
from .._core.inplace import apply_inplace
from .._core.interposers import NOT_HANDLED
from .._core.mode import CURRENT, ask_class, current, derive, ready
from .._core.storage import TensorBase, init_tensor
from .._native.cpython.unbound import function_of
from .._table.rows.composite import as_called
from .._table.shape.shape import alias
from .asked_attributes import put_into, stays_plain
from .tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import CodeType, FrameType

    from .._base.annotations import AnyCallable, Arguments
    from .._core.op import Op

_PACKAGE: Final = __name__.partition(".")[0]
_MANY: Final = inspect.CO_VARARGS
_NAMED: Final = inspect.CO_VARKEYWORDS
_off: Final[ContextVar[bool]] = ContextVar("rushlight_subclasses_off", default=False)


class DisableTorchFunctionSubclass:
    """A context in which subclasses are not asked: operations treat them as plain tensors."""

    # See Note [A context that is interrupted] in `autograd.grad_mode`.
    def __enter__(self) -> None:
        self._was = _off.get()
        try:
            _off.set(True)
        except BaseException:
            _off.set(self._was)
            raise

    def __exit__(self, *exc: object) -> None:
        try:
            _off.set(self._was)
        except BaseException:
            _off.set(self._was)
            raise


def without_rules(
    cls: type | None,
    func: AnyCallable,
    types: Sequence[type],
    args: Sequence[object] = (),
    kwargs: dict[str, object] | None = None,
) -> Any:
    """The `__torch_function__` of classes that want none: just the operation."""
    if _of_pytorch(func):
        return NotImplemented
    with DisableTorchFunctionSubclass():
        return func(*args, **(kwargs or {}))


without_rules._opts_out = True  # type: ignore[attr-defined]


class _WithoutRules:
    """The same as a class attribute that doesn't bind: `__torch_function__ = disabled`."""

    _opts_out = True

    def __call__(
        self, func: Any, types: Sequence[type], args: Any = (), kwargs: Any = None
    ) -> object:
        return without_rules(None, func, types, args, kwargs)


disabled: Final = _WithoutRules()


def _inherit(
    cls: type[object],
    func: Callable[..., object],
    types: Sequence[type],
    args: Sequence[object] = (),
    kwargs: dict[str, object] | None = None,
) -> object:
    """The operation on plain tensors; its results get the class."""
    if not all(issubclass(cls, t) for t in types) or _of_pytorch(func):
        return NotImplemented
    with DisableTorchFunctionSubclass():
        result = func(*args, **(kwargs or {}))
    return result if stays_plain(func) else convert_result(result, cls)


def _of_pytorch(func: AnyCallable) -> bool:
    """Whether a function is PyTorch's, where that is imported beside: it can't take our tensors."""
    pytorch = sys.modules.get("torch")
    if pytorch is None or pytorch is sys.modules[_PACKAGE]:
        return False
    owner = getattr(func, "__objclass__", None) or getattr(func, "__self__", None)
    module = getattr(func, "__module__", None) or getattr(owner, "__module__", owner)
    return str(getattr(module, "__name__", module)).partition(".")[0] == "torch"


def convert_result(value: Any, cls: type[Any]) -> Any:
    """A result with its tensors, also inside tuples and lists, made instances of `cls`."""
    if isinstance(value, TensorBase):
        return value if isinstance(value, cls) else in_place_of(value, cls)
    if isinstance(value, (tuple, list)):
        kind = type(value)
        parts = [convert_result(part, cls) for part in value]
        return kind(parts) if kind in (tuple, list) else type(value)(parts)
    return value


def in_place_of(t: TensorBase, cls: type[Any]) -> Tensor:
    """A tensor of class `cls` over the same memory, at the same place of the graph."""
    if t._requires_grad and t._node is None:
        t = alias(t)  # a leaf's place is its own
    made = TensorBase.__new__(cls)
    init_tensor(made, t._raw)
    made._node, made._nr, made._requires_grad = t._node, t._nr, t._requires_grad
    made._cell, made._view, made._inference = t._cell, t._view, t._inference
    if cls._overrides or cls._dispatches or type(t._raw) is MetaArray:
        made._plain = False
        made._layered = True
        if cls._dispatches:
            torch_dispatch().note(made)
    else:
        made._plain = t._plain or not t._inference
    return made


@functools.cache
def torch_dispatch() -> Any:
    """The module that asks classes with a `__torch_dispatch__`, loaded with the first of them."""
    return load("_tensor.torch_dispatch")


#: The code of a method or operator of `Tensor` -> by what method programs hear of its calls, and
#: the names of the operations that a call comes to.
ENTRIES: Final[dict[CodeType, tuple[str, frozenset[str]]]] = {}

#: Classes of programs that are asked what a whole function shall do, before it runs.
STANDINS: Final[set[type]] = set()


def stand_in(cls: type) -> None:
    """Has whole functions ask a class before they run."""
    if cls not in STANDINS:
        ask_class(cls)
        STANDINS.add(cls)


def asks(value: object) -> bool:
    """Whether the class of `value` has rules of its own for functions of tensors."""
    if isinstance(value, Tensor):
        return type(value)._overrides and not _off.get()
    return errors.has_rules(type(value))


def foreign(values: Any) -> list[Any]:
    """Those of the values that have such rules, one of each class, derived classes first."""
    found: list[Any] = []
    for item in values:
        if not asks(item) or any(type(item) is type(other) for other in found):
            continue
        place = next(
            (i for i, o in enumerate(found) if issubclass(type(item), type(o))), len(found)
        )
        found.insert(place, item)
    return found


def by_mode(
    function: Callable[..., object],
    types: Sequence[type],
    args: Sequence[object],
    kwargs: dict[str, object] | None,
) -> Any:
    """What the innermost function mode makes of a call; the mode itself is off meanwhile."""
    mode, function = ready(), as_called(function)
    former_mode = CURRENT.get()
    try:
        CURRENT.set(derive(mode, functions=mode.functions[:-1]))
        return mode.functions[-1].__torch_function__(function, types, args, kwargs)
    finally:
        CURRENT.set(former_mode)


def keywords_to_show(
    function: object, kwargs: dict[str, object] | None
) -> dict[str, object] | None:
    """The keywords that are told of a call: None for none, but of functions in Python."""
    return kwargs if kwargs or hasattr(function, "_in_python") else None


def is_asked_about(subject: object) -> bool:
    """Whether a mode, or the class of a program, has something to say on what it is asked."""
    return bool(current().functions) or (type(subject) in STANDINS and asks(subject))


def ask_about_one(
    function: AnyCallable,
    subject: object,
    types: tuple[type, ...],
    args: Sequence[object],
    kwargs: dict[str, object] | None,
) -> object:
    """What modes, and then its class, make of a question to one object.

    Raises:
        TypeError: where all of them give NotImplemented.
    """
    stack, own = current().functions, type(subject) in STANDINS and asks(subject)
    if stack:
        answer = by_mode(function, types, args, kwargs)
        if answer is not NotImplemented:
            return answer
    if own:
        kind: Any = type(subject)
        answer = kind.__torch_function__(as_called(function), types, args, kwargs)
        if answer is not NotImplemented:
            return answer
    raise all_refused(function, stack[-1:], types)


def ask_about_attribute(
    name: str, function: AnyCallable, x: object, args: tuple[object, ...]
) -> object:
    """What the class of a tensor makes of a read or a write of its attribute.

    Raises:
        TypeError: where that is NotImplemented.
    """
    kind: Any = type(x)
    if not asks(x):
        return function(*args)
    answer = kind.__torch_function__(function, (kind,), args, None)
    if answer is NotImplemented:
        called = f"Tensor.{name}.{function.__name__}"
        raise all_refused(function, (), (kind,), called)
    return answer


def all_refused(
    function: Callable[..., object], modes: Any, types: Sequence[type], name: str | None = None
) -> TypeError:
    """The error for a call that every mode and class has refused."""
    lines = [f"mode object {mode}" for mode in modes] + [f"tensor subclass {t}" for t in types]
    name = name or getattr(function, "__name__", str(function))
    return TypeError(
        f"Multiple dispatch failed for 'torch.{name}'; all __torch_function__ handlers returned "
        "NotImplemented:\n\n" + "".join(f"  - {line}\n" for line in lines)
        + "\nFor more information, try re-running with TORCH_LOGS=not_implemented"
    )  # fmt: skip


def _in_here(frame: FrameType) -> bool:
    package = frame.f_globals.get("__package__")
    return package.__class__ is str and package.startswith(_PACKAGE)


def _inside_of_another() -> bool:
    """Whether a function that asks classes itself has been called, and is still running."""
    frame: Any = sys._getframe(2)
    while frame is not None and _in_here(frame):
        if frame.f_code.co_name == "asking":
            return True
        frame = frame.f_back
    return False


def ask_of_misfit(function: Any, args: Any, kwargs: Any) -> Any:
    """What classes that are no tensors make of arguments that no overload takes."""
    values = [*args, *kwargs.values()]
    inside = [v for a in values if isinstance(a, (list, tuple)) for v in a]
    found = foreign([*values, *inside])
    if not any(not isinstance(item, Tensor) for item in found):
        return NOT_HANDLED
    types = tuple(type(item) for item in found)
    if not STANDINS.issuperset(kind for kind in types if not issubclass(kind, Tensor)):
        for kind in types:
            if not issubclass(kind, Tensor):
                stand_in(kind)
        if _inside_of_another():
            return NOT_HANDLED  # the function that the program has called asks first
    return ask_in_turn(found, function, types, args, kwargs)


def ask_in_turn(
    found: list[Any], function: Any, types: tuple[type, ...], args: Any, kwargs: Any
) -> object:
    """What the first of some operands answers that has an answer. Raises: TypeError for none."""
    kwargs = keywords_to_show(function, kwargs)
    for item in found:
        answer = item.__torch_function__(as_called(function), types, args, kwargs)
        if answer is not NotImplemented:
            return answer
    raise all_refused(function, (), types)


def ask_of_failure(op: Any, args: list[object], error: Exception) -> object:
    """What classes that are no tensors make of an operation that has failed on their instances."""
    if not isinstance(error, (TypeError, AttributeError)):
        return NOT_HANDLED
    if not any(asks(arg) for arg in args if not isinstance(arg, TensorBase)):
        return NOT_HANDLED
    package = sys.modules[_PACKAGE]
    public = getattr(package, op.row.schema.name.lstrip("_"), None)
    function = _function_of(op) if public is None else function_of(public)
    if hasattr(function, "_asks"):  # it asks the classes itself when it hears of the error
        return NOT_HANDLED
    first, named = _without_defaults(op, args)
    return ask_of_misfit(function, first, named)


def _entry(op: Op) -> tuple[Any, Any, Any] | None:
    """The method or operator that the program has called for an operation, and its arguments.

    An operation isn't told by which function it was called, as that would cost every call. The
    frames on the stack say it, which are looked at here only, where a class is to be asked.
    """
    frame: FrameType | None = sys._getframe(2)
    outermost: FrameType | None = None
    while frame is not None and frame.f_code not in _ASKING and _in_here(frame):
        if frame.f_code in ENTRIES:
            outermost = frame
        frame = frame.f_back
    if outermost is None:
        return None
    code = outermost.f_code
    name, operations = ENTRIES[code]
    if op.row.schema.name.rpartition(".")[2] not in operations:
        return None  # one of several, or done before it
    values = outermost.f_locals
    names = code.co_varnames[: code.co_argcount]
    given = (*(values[n] for n in names), *(values["args"] if code.co_flags & _MANY else ()))
    named = values["kwargs"] if code.co_flags & _NAMED else {}
    return getattr(Tensor, name), given, named


def types_to_show(
    function: object, found: Sequence[object], args: Sequence[object]
) -> tuple[type, ...]:
    """The types that are told of a call.

    What is Python's in PyTorch has plain ones too, and so have methods without arguments.
    """
    types = tuple(type(item) for item in found)
    if hasattr(function, "_in_python") and any(type(a) is Tensor for a in args):
        return (*types, Tensor)
    if not types and len(args) == 1 and _is_about_itself(function):
        return (type(args[0]),)
    return types


@functools.cache
def _is_about_itself(function: object) -> bool:
    """Whether a function is a method of tensors that takes nothing else."""
    if getattr(Tensor, getattr(function, "__name__", ""), None) is not function:
        return False
    return len(inspect.signature(cast("AnyCallable", function)).parameters) == 1


def ask_of_operation(op: Any, args: Arguments, inplace: bool, writer: Any) -> object:
    """What modes, then the subclasses among the arguments, make of an operation."""
    stack = current().functions
    if _off.get() and not stack:
        return NOT_HANDLED
    found: list[Any] = []
    for arg in args:
        for item in arg if type(arg) in (list, tuple) else (arg,):
            if not isinstance(item, Tensor) or not item._layered or not type(item)._overrides:
                continue
            if not any(type(item) is type(other) for other in found):
                place = next(
                    (i for i, o in enumerate(found) if issubclass(type(item), type(o))),
                    len(found),
                )
                found.insert(place, item)
    if _off.get():
        found.clear()
    if not found and not stack:
        return NOT_HANDLED
    types = tuple(type(item) for item in found)
    entry = _entry(op)
    named: dict[str, object] | None
    if entry is not None:
        function, given, named = entry
        types = types_to_show(function, found, given)
    else:
        if inplace:
            function = _make_writing(op, writer)
        else:
            function = as_called(op.function or _function_of(op))
        first, named = _without_defaults(op, args)
        given = tuple(first)
    named = keywords_to_show(function, named)
    if stack:
        answer = by_mode(function, types, given, named)
        if answer is not NotImplemented:
            return answer
        if not found:
            raise all_refused(function, stack[-1:], ())
    for item in found:
        answer = type(item).__torch_function__(function, types, given, named)
        if answer is not NotImplemented:
            return answer
    names = ", ".join(repr(t) for t in types)
    raise TypeError(
        f"no implementation found for '{getattr(function, '__name__', function)}' on types that "
        f"implement __torch_function__: [{names}]"
    )


#: Above these a frame is of a call that has been asked about already.
_ASKING: Final = frozenset(
    asking.__code__ for asking in (by_mode, ask_in_turn, ask_of_operation, without_rules)
)


def _function_of(op: Any) -> Any:
    """The function of an operation that has no public one."""

    def function(*args: object, **named: object) -> object:
        rest = op.row.schema.params[len(args) :]
        return apply_n(op, [*args, *(named.get(p.name, p.default) for p in rest)])

    function.__name__ = function.__qualname__ = op.row.schema.name.lstrip("_")
    op.function = function
    return function


def _make_writing(op: Op, writer: Callable[..., object] | None) -> Callable[..., object]:
    """The in-place method of an operation."""
    if op is op.row.simple_op:
        op = op.row.op  # which takes all arguments

    def function(*args: object, **named: object) -> object:
        rest = [named.get(p.name, p.default) for p in op.row.schema.params[len(args) :]]
        return apply_inplace(op, [*args, *rest], writer)

    function.__name__ = function.__qualname__ = op.row.schema.name.lstrip("_") + "_"
    return function


def _without_defaults(op: Op, args: list[object]) -> tuple[list[object], dict[str, object]]:
    """The arguments without trailing ones that have their default values, some of them by name."""
    params = op.row.schema.params
    count = len(args)
    while count > 1 and count <= len(params) and args[count - 1] is params[count - 1].default:
        count -= 1
    first: list[Any] = []
    named: dict[str, Any] = {}
    for place, value in enumerate(args[:count]):
        if place < len(params) and params[place].kw_only:
            if value is not params[place].default:
                named[params[place].name] = value
        else:
            first.append(value)
    return first, named


def _note(cls: type[Any], /, **kwargs: object) -> None:
    super(Tensor, cls).__init_subclass__(**kwargs)
    rule = cls.__torch_function__
    own = getattr(rule, "__func__", rule)
    if "__torch_dispatch__" in cls.__dict__ and own is _inherit:
        cls.__torch_function__ = own = disabled  # it is asked below autograd, and not above
    cls._overrides = not getattr(own, "_opts_out", False)
    if "__torch_dispatch__" in cls.__dict__ and not cls._dispatches:
        cls._dispatches = True
        torch_dispatch()
        if not is_own(getattr(cls.__torch_dispatch__, "__module__", None)):
            ask_class(Tensor)
    if cls._overrides and own is not _inherit and not is_own(cls.__module__):
        stand_in(cls)
        if not is_own(getattr(own, "__module__", None)):
            put_into(cls, ask_about_attribute)


Tensor.__torch_function__ = classmethod(_inherit)
Tensor.__init_subclass__ = classmethod(_note)  # type: ignore[assignment]
