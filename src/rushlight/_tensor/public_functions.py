"""The functions that users call: those of the table, which ask modes and classes before they run.

Note [Functions ask from the start]
An operation asks function modes and the classes of its arguments on its slow path. A function that
is made of operations (`torch.cat`, `torch.zeros`, `Tensor.reshape`) is asked about as a whole, so
what users call is an outer function, `asking`, around the table's. It is made once: whoever has
imported it before the first mode was on has the same function as everybody after.

A call costs one look at the list `ALERTED` more, which is empty until the program enters a mode or
declares a class that is to be asked, and from then on one at the mode. The quick ways of the
table's own wrappers (`guard`, `aware`) are taken here, so that most functions have no further call
around them. A function that does next to nothing asks in its own first lines (`asks`,
`make_asking`).
The library itself calls the table's functions, most of which don't ask.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from types import FunctionType
from typing import TYPE_CHECKING, Any, Final

from .._base.lazy import Pending, Space
from .._base.own_packages import package_name
from .._core.interposers import NOT_HANDLED, Interposer, interpose
from .._core.mode import ALERTED, Mode, current, is_interposed
from .._core.op import Op
from .._native.cpython.unbound import function_of, unbound
from .._native.ufunc_loops import ENTRY, types_of
from .._table import PUBLIC
from .._table.rows.composite import (  # fmt: skip
    ASK_THEMSELVES,
    BUILTINS,
    COMPOSITES,
    ENTRIES,
    METHODS,
    without_keywords,
)
from .factories import FACTORIES, FACTORY_METHODS, show_calls
from .help_texts import describe, help_text
from .tensor import Tensor
from .torch_function import (
    STANDINS,
    all_refused,
    ask_in_turn,
    ask_of_failure,
    ask_of_misfit,
    ask_of_operation,
    by_mode,
    foreign,
    keywords_to_show,
    types_to_show,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._base.annotations import AnyCallable


#: (namespace, name) -> the function that users call
FACES: Final[Pending[tuple[str, str]]] = Pending()
#: The namespaces whose functions ask, and rows that do, which the rules of programs tell from the
#: method of the same name.
ASKING: Final = ("", "fft", "linalg", "nn.functional", "special")
_APART: Final = (("", "det"), ("", "unbind"))
#: The mark of functions that ask, see `asks` in `_table/rows/composite.py`.
ASKS_BY_ITSELF: Final = "_asks"


def make_asking_function(function: object, name: str, overload: str = "", module: str = "") -> Any:
    """A function that asks modes and the classes of its arguments before it runs.

    `overload` is what those who watch operations see of one that makes tensors, `module` where a
    pickle finds it.
    """
    if not isinstance(function, FunctionType) or hasattr(function, ASKS_BY_ITSELF):
        return function
    if function in ASK_THEMSELVES:
        return _name(ASK_THEMSELVES[function], name, module)
    whole = show_calls(function, overload) if overload else function
    if overload and name in FACTORY_METHODS:
        made = _alone(function, whole)
    else:
        # What asks modes only is passed by where there is none.
        plain: Any = getattr(function, "_in_no_mode", function)
        late = getattr(plain, "_late", True)
        made = (_quick if late else _skip_checks)(function, whole, plain)
    setattr(made, ASKS_BY_ITSELF, True)
    return _name(made, name, module)


def _name(made: Any, name: str, module: str) -> Any:
    made.__name__ = made.__qualname__ = name
    if module:
        made.__module__ = module
    return made


def _quick(function: Callable[..., object], whole: object, plain: Any) -> object:
    """For what runs on positional arguments without a look at them."""
    guarded = getattr(plain, "_guarded", plain)
    body = without_keywords(guarded)
    recheck: Any = getattr(plain, "_recheck", None)

    @functools.wraps(function)
    def asking(*args: object, **kwargs: object) -> object:
        if ALERTED and is_interposed():
            return _slowly(asking, whole, args, kwargs)
        try:
            if kwargs:
                return plain(*args, **kwargs)
            return body(*args)
        except Exception as error:
            handled = _after(asking, None if kwargs else recheck, args, kwargs, error)
            if handled is NOT_HANDLED:
                raise
            return handled

    _enter(asking, None, body, recheck, getattr(plain, "_settled", None), guarded)
    return asking


def _skip_checks(function: Callable[..., object], whole: object, plain: Any) -> object:
    """For what runs unchecked on arguments of types that have been checked."""
    body = without_keywords(plain._guarded)
    recheck = plain._recheck
    settled: dict[Any, tuple[int, ...]] = plain._settled

    @functools.wraps(function)
    def asking(*args: object, **kwargs: object) -> object:
        if ALERTED and is_interposed():
            return _slowly(asking, whole, args, kwargs)
        try:
            if not kwargs and settled.get(types_of(args)) == ():
                return body(*args)
            return plain(*args, **kwargs)
        except Exception as error:
            handled = _after(asking, None if kwargs else recheck, args, kwargs, error)
            if handled is NOT_HANDLED:
                raise
            return handled

    _enter(asking, settled, body, recheck, settled, plain._guarded)
    return asking


def _enter(
    function: AnyCallable,
    settled: dict[Any, tuple[int, ...]] | None,
    body: AnyCallable,
    recheck: object,
    named: dict[Any, tuple[int, ...]] | None,
    guarded: AnyCallable,
) -> None:
    """Has the usual calls of a function that asks taken in C, see Note [Entries]."""
    if ENTRY is None:
        return

    def explain(args: Any, kwargs: dict[str, object], box: list[Exception]) -> object:
        try:
            raise box.pop()
        except Exception as error:
            handled = _after(function, recheck, args, kwargs, error)
            if handled is NOT_HANDLED:
                raise
            return handled

    run = ENTRIES.get(body, body)
    parts = (ALERTED, settled, run, named, guarded)
    ENTRIES[function] = ENTRY(function, function, "whole", parts, explain)


def _alone(function: Callable[..., object], whole: object) -> Any:
    """For a method without arguments."""

    @functools.wraps(function)
    def asking(self: Tensor) -> object:
        if ALERTED and is_interposed():
            return _slowly(asking, whole, (self,), {})
        return function(self)

    return asking


def _slowly(function: Callable[..., object], whole: Any, args: Any, kwargs: Any) -> Any:
    """A call about which somebody may have to be asked."""
    handled = ask(function, args, kwargs)
    if handled is NOT_HANDLED:
        try:
            return whole(*args, **kwargs)
        except (AttributeError, TypeError):
            handled = of_others(function, args, kwargs)
            if handled is NOT_HANDLED:
                raise
    return handled


def ask(function: Any, args: Any, kwargs: Any) -> object:
    """What modes, and classes that stand in for tensors, make of a call; NOT_HANDLED if nothing."""
    modes = current().functions
    if modes:
        given, named = _spell(function, function.__module__, args, kwargs)
        types = types_to_show(function, foreign(_with_parts(given)), given)
        answer = by_mode(function, types, given, keywords_to_show(function, named))
        if answer is NotImplemented:
            raise all_refused(function, modes[-1:], ())
        return answer
    if STANDINS and _among(args, kwargs):
        # Run here, the function would have its parts noted one by one.
        return of_others(function, *_spell(function, function.__module__, args, kwargs))
    return NOT_HANDLED


def _among(args: Any, kwargs: Any) -> bool:
    """Whether one of the arguments, or of a list among them, is of a class in `STANDINS`."""
    for a in args if not kwargs else (*args, *kwargs.values()):
        kind = type(a)
        if kind in STANDINS:
            return True
        if (kind is list or kind is tuple) and not STANDINS.isdisjoint(map(type, a)):
            return True
    return False


def _with_parts(values: Sequence[object]) -> list[object]:
    """Some arguments, and what is in the lists among them."""
    return [*values, *(v for a in values if isinstance(a, (list, tuple)) for v in a)]


def of_others(function: Any, args: Any, kwargs: Any) -> Any:
    """What classes that are no tensors make of a call that no tensor function understands."""
    found = [x for x in foreign(_with_parts([*args, *kwargs.values()]))
             if not isinstance(x, Tensor) or type(x) in STANDINS]  # fmt: skip
    if not found:
        return NOT_HANDLED
    return ask_in_turn(found, function, types_to_show(function, found, args), args, kwargs)


class _Functions(Interposer):
    """Function modes, and classes with a `__torch_function__`."""

    def call(self, op: Op, args: list[object], mode: Mode, layered: bool) -> object:
        """An operation; so what a function called inside of another is made of."""
        return ask_of_operation(op, args, False, None) if mode.functions or layered else NOT_HANDLED

    def write(
        self, op: Op, args: list[object], writer: object, mode: Mode, layered: bool
    ) -> object:
        """A write, under the name of a method."""
        if mode.functions or layered:
            return ask_of_operation(op, args, True, writer)
        return NOT_HANDLED

    def call_whole(
        self, function: Callable[..., object], args: Sequence[object], kwargs: dict[str, object]
    ) -> object:
        """A function made of operations."""
        return ask(function, args, kwargs)

    def misfit(
        self, function: Callable[..., object], args: Sequence[object], kwargs: dict[str, object]
    ) -> object:
        """Arguments among which there may be one of a class that is no tensor."""
        return ask_of_misfit(function, args, kwargs)

    def explain_failure(self, op: Op, args: list[object], error: Exception) -> object:
        """The same for an operation that has come upon one."""
        return ask_of_failure(op, args, error)


interpose("functions", _Functions())


def _after(
    function: Callable[..., object],
    recheck: Any,
    args: Any,
    kwargs: dict[str, object],
    error: Exception,
) -> object:
    """What is made of a call that has failed: PyTorch's error, what another class says, or nothing.

    Raises:
        TypeError: where no signature takes the arguments.
    """
    if recheck is not None:
        try:
            handled = recheck(*args, **kwargs)
        except (AttributeError, TypeError):
            handled = of_others(function, args, kwargs)
            if handled is NOT_HANDLED:
                raise
        if handled is not NOT_HANDLED:
            return handled
    if isinstance(error, (AttributeError, TypeError)):
        return of_others(function, args, kwargs)
    return NOT_HANDLED


# Functions that are handed on as they were called; PyTorch has them in its compiled part.
_AS_CALLED: Final = frozenset({
    "adaptive_avg_pool1d", "avg_pool1d", "avg_pool2d", "avg_pool3d", "bilinear", "celu_",
    "channel_shuffle", "conv1d", "conv2d", "conv3d", "conv_tbc", "conv_transpose1d",
    "conv_transpose2d", "conv_transpose3d",
    "cosine_similarity", "elu_", "gelu", "hardshrink", "hardtanh_", "leaky_relu_", "linear",
    "logsigmoid", "native_channel_shuffle", "one_hot", "pairwise_distance", "pdist",
    "pixel_shuffle", "pixel_unshuffle", "prelu", "relu_", "rrelu_",
    "scaled_dot_product_attention", "selu_", "softplus", "softshrink", "threshold_",
})  # fmt: skip


def _spell(
    function: Callable[..., object], module: str, args: Sequence[object], kwargs: dict[str, object]
) -> tuple[Sequence[object], dict[str, object]]:
    """The arguments of a call as PyTorch's functions in Python hand them on: defaults written out.

    What has no default comes first, by position; the rest by name.
    """
    name = function.__name__
    if name == "einsum":
        operands = args[1] if len(args) == 2 and isinstance(args[1], (list, tuple)) else args[1:]
        return (args[0], *operands), kwargs
    if not hasattr(function, "_in_python"):
        return args, kwargs
    in_python = module.endswith("nn.functional")
    if not in_python and name not in _SPELLED:
        return args, kwargs
    bound = inspect.signature(function).bind(*args, **kwargs)
    bound.apply_defaults()
    first: list[Any] = []
    named: dict[str, Any] = {}
    for parameter in bound.signature.parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            return args, kwargs
        if parameter.default is parameter.empty:
            first.append(bound.arguments[parameter.name])
        else:
            named[parameter.name] = bound.arguments[parameter.name]
    if getattr(Tensor, name, None) is function:
        named.pop("out", None)  # which methods don't have
    return tuple(first), named


def _face(key: tuple[str, str]) -> AnyCallable:
    space, name = key
    overload = "" if space else FACTORIES.get(name, "")
    module = f"{package_name()}.{space}" if space else package_name()
    made: AnyCallable = make_asking_function(PUBLIC[key], name, overload, module)
    in_python = space == "nn.functional" and name not in _AS_CALLED
    if not space:
        in_python = name in _IN_PYTHON
    if in_python and hasattr(made, ASKS_BY_ITSELF):
        made._in_python = True  # type: ignore[attr-defined]
    return made


#: Functions that are Python's in PyTorch too, which a class binds as it binds all of them.
_IN_PYTHON: Final = frozenset({
    "_assert", "atleast_1d", "atleast_2d", "atleast_3d", "block_diag", "broadcast_shapes",
    "broadcast_tensors", "cartesian_prod", "cdist", "chain_matmul", "eig", "einsum",
    "from_dlpack", "lobpcg", "lstsq", "lu", "matrix_rank", "meshgrid", "norm", "pca_lowrank",
    "solve", "split", "stft", "svd_lowrank", "symeig", "tensordot", "unique",
    "unique_consecutive", "unravel_index",
})  # fmt: skip


#: Those of them, and methods, that hand on their defaults.
_SPELLED: Final = frozenset({
    "backward", "cdist", "istft", "lobpcg", "lu", "norm", "pca_lowrank", "split", "stft",
    "svd_lowrank", "tensordot", "unique", "unique_consecutive",
})  # fmt: skip
_METHODS_IN_PYTHON: Final = frozenset({
    "backward", "dim_order", "istft", "lu", "norm", "split", "stft", "unique",
    "unique_consecutive",
})  # fmt: skip


#: Namespaces whose functions lie in a module of PyTorch's compiled part of the same name.
_COMPILED: Final = ("fft", "linalg", "special")


def _function_of(key: tuple[str, str]) -> AnyCallable:
    space, name = key
    if space == "nn.functional" and name in _AS_CALLED and ("", name) in PUBLIC:
        return FACES[("", name)]  # the same function
    known = f"{space or 'torch'}.{name}"
    asks = space in ASKING and (key in COMPOSITES or key in _APART or space == "special")
    function: AnyCallable = _face(key) if asks else PUBLIC[key]
    compiled = name in _AS_CALLED or space in _COMPILED or not (space or name in _IN_PYTHON)
    if not compiled:
        if space and function.__name__ == name and function is not PUBLIC.get(("", name)):
            function.__module__ = f"{package_name()}.{space}"
        return describe(function, known)
    if function not in BUILTINS:
        if space in _COMPILED:
            name, space = f"{space}_{name}", f"_C._{space}"
        module = f"{package_name()}.{space}" if space else package_name()
        entry = ENTRIES.get(function)
        made = BUILTINS[function] = unbound(function, name, module, help_text(known), entry)
        inner: Any = getattr(function, "__wrapped__", None)
        while getattr(inner, "__name__", None) == name:  # which operations know themselves by
            BUILTINS.setdefault(inner, made)
            inner = getattr(inner, "__wrapped__", None)
    return BUILTINS[function]


FACES.all_later(PUBLIC, _function_of)


@functools.cache
def _method(function: Callable[..., object], name: str) -> object:
    key = ("", name)
    if key in COMPOSITES and PUBLIC[key] is function:
        found = function_of(FACES[key])
        if found is not FACES[key]:  # else the method would have the function's help
            return found
    made = make_asking_function(function, name, FACTORY_METHODS.get(name, ""))
    if name in _METHODS_IN_PYTHON and hasattr(made, ASKS_BY_ITSELF):
        made._in_python = True
    return made


def method_of(name: str, function: Callable[..., object]) -> object:
    """The method that users call for a function of the table: the public function if that is it."""
    return _method(function, name) if name in METHODS else function


#: The same for the library's own modules, which ask nobody but show what makes tensors.
_SHOWN: Final[Pending[tuple[str, str]]] = Pending()


def _show(key: tuple[str, str]) -> object:
    own = not key[0] and key[1] in FACTORIES
    return show_calls(PUBLIC[key], FACTORIES[key[1]]) if own else PUBLIC[key]


_SHOWN.all_later(PUBLIC, _show)


def namespace(name: str) -> Space:
    """The functions of a namespace as users call them, for the module that shows them."""
    return Space(FACES, name)


def own_namespace(name: str) -> Space:
    """The functions of a namespace as the library calls them."""
    return Space(_SHOWN, name)
