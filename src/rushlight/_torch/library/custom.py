"""`custom_op`: an operator from a Python function."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, overload

from ..._array import types as T
from ..._core.storage import TensorBase
from ..._table.names.registered_operators import RegisteredOverload
from .autograd import formula_of
from .inference import infer_schema
from .registration import (
    _keys_of,
    define_in,
    parse_name,
    register_autocast,
    register_autograd,
    register_fake,
    register_vmap,
)
from .tags import Tag

if TYPE_CHECKING:
    from ..._base.annotations import AnyCallable
    from ..._tensor.tensor import Tensor


class CustomOpDef:
    """An operator that `custom_op` has made, and the place to register what belongs to it.

    Parameters:
        namespace: the operator's namespace.
        name: its name.
        schema: its arguments and results: "(Tensor x) -> Tensor".
        fn: the function that it was made of, which is called where a kernel is switched off.
        tags: of `torch.Tag`, what is known of it.
    Raises: RuntimeError: for a text that is no schema.
    Example:
        >>> @torch.library.custom_op("help_of_definition::twice", mutates_args=())
        ... def twice(x: torch.Tensor) -> torch.Tensor:
        ...     return 2 * x
        >>> twice.register_autograd(lambda ctx, grad: 2 * grad)
        >>> x = torch.ones(1, requires_grad=True)
        >>> twice(x).backward()
        >>> x.grad
        tensor([2.])
    """

    def __init__(self, namespace: str, name: str, schema: str, fn: Callable[..., Any],
                 tags: Any = None) -> None:  # fmt: skip
        self._namespace = namespace
        self._name = name
        self._schema = schema
        self._init_fn = fn
        where = f"{fn.__code__.co_filename}:{fn.__code__.co_firstlineno}"
        space = _old(namespace, name)
        if space is not None:
            space.pop("default", None)
        said = [Tag.pt2_compliant_tag, *(tags or ())]
        self._opoverload: RegisteredOverload = define_in(namespace, name + schema, where, said)
        self._disabled: dict[str, Any] = {}
        formula_of(self._opoverload, opaque=True).opaque = True

    @property
    def _qualname(self) -> str:
        return f"{self._namespace}::{self._name}"

    def __repr__(self) -> str:
        return f"<CustomOpDef({self._qualname})>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._opoverload(*args, **kwargs)

    def register_kernel(
        self, device_types: Any, fn: Callable[..., Any] | None = None, /
    ) -> Callable[..., Any]:
        """Has a function compute the operator on some kinds of device (None: on all)."""
        keys = _keys_of("default" if device_types is None else device_types)

        def register(function: Callable[..., Any]) -> Callable[..., Any]:
            for key in keys:
                self._opoverload.kernels[key] = self._guarded(function)
            return function

        return register if fn is None else register(fn)

    def _guarded(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """A kernel that refuses results which share memory with arguments."""

        def kernel(*args: Any, **kwargs: Any) -> Any:
            result = function(*args, **kwargs)
            _refuse_aliases(self._name, function, (*args, *kwargs.values()), result)
            return result

        return kernel

    def register_fake(self, fn: Callable[..., Any], /) -> Callable[..., Any]:
        """Remembers a function that tells the shapes and types of the results."""
        register_fake(self._opoverload, fn)
        return fn

    def register_autograd(
        self, backward: Callable[..., Any], /, *, setup_context: Callable[..., Any] | None = None
    ) -> None:
        """Gives the operator a backward, and what keeps for it what it needs."""
        if self._opoverload._schema.is_mutable:
            raise RuntimeError(
                f"Cannot register autograd formula for non-functional operator {self} with schema "
                f"{self._opoverload._schema}. Please create a functional operator and register an "
                "autograd formula for that."
            )
        register_autograd(self._opoverload, backward, setup_context=setup_context)

    def register_vmap(self, func: Any = None) -> Any:
        """Gives the operator a rule for vmap."""
        return register_vmap(self._opoverload, func)

    def register_autocast(self, device_type: str, cast_inputs: Any) -> None:
        """Has the operator convert its arguments under autocast."""
        register_autocast(self._opoverload, device_type, cast_inputs)

    @contextlib.contextmanager
    def set_kernel_enabled(self, device_type: str, enabled: bool = True) -> Iterator[None]:
        """A context in which a kernel isn't used, and the function itself is."""
        key = _keys_of(device_type)[0]
        kernels = self._opoverload.kernels
        before = kernels.get(key)
        if not enabled:
            kernels[key] = self._init_fn
        try:
            yield
        finally:
            if before is None:
                kernels.pop(key, None)
            else:
                kernels[key] = before


def _old(namespace: str, name: str) -> Any:
    """The overloads of an operator that is made anew."""
    from ..._table.names import registered_operators as _registered

    space = _registered.NAMESPACES.get(namespace)
    packet = None if space is None else space.__dict__.get(name)
    return None if packet is None else packet.own


def _refuse_aliases(
    name: str, function: Callable[..., Any], values: tuple[Tensor, ...], result: Tensor
) -> None:
    """Refuses results that are arguments, or share their memory.

    Raises:
        RuntimeError: for such a result.
    """
    taken: set[int] = set()
    for value in values:
        for t in value if isinstance(value, (list, tuple)) else (value,):
            if isinstance(t, TensorBase) and t._raw.size:
                taken.add(T.address(T.owner(t._raw)))
    results = result if isinstance(result, (list, tuple)) else (result,)
    for t in results:
        if not isinstance(t, TensorBase) or not t._raw.size:
            continue
        place = T.address(T.owner(t._raw))
        if place in taken:
            raise RuntimeError(
                f"{name} (with implementation in {inspect.getmodule(function)}): The output of "
                "this custom operator (1) must not also be an input to this custom operator and "
                "(2) may not alias any inputs to this custom operator or other returns. The most "
                "common way to trigger this error is if we have y = custom_op(x) and y and x are "
                "the same Tensor. Please instead return a clone of the offending output tensor(s) "
                "(e.g. return x.clone()) or refactor the custom operator to not return y."
            )
        taken.add(place)


@overload
def custom_op(
    name: str, fn: AnyCallable, /, *, mutates_args: str | Iterable[str],
    device_types: object = None, schema: str | None = None, tags: object = None,
) -> CustomOpDef: ...  # fmt: skip
@overload
def custom_op(
    name: str, fn: None = None, /, *, mutates_args: str | Iterable[str],
    device_types: object = None, schema: str | None = None, tags: object = None,
) -> Callable[[AnyCallable], CustomOpDef]: ...  # fmt: skip
def custom_op(
    name: str,
    fn: Callable[..., Any] | None = None,
    /,
    *,
    mutates_args: str | Iterable[str],
    device_types: Any = None,
    schema: str | None = None,
    tags: Any = None,
) -> Any:
    """An operator `namespace::name` that a function computes; without one, a decorator.

    Parameters:
        name: "namespace::name".
        fn: the function; its annotations make the schema where none is given.
        mutates_args: the names of arguments that it writes, or "unknown".
        device_types: the kinds of devices that it computes on; None means all.
        schema: the arguments and results: "(Tensor x) -> Tensor".
        tags: of `torch.Tag`, what is known of it.
    Shapes: those of the function.
    Returns: a `CustomOpDef`, which is called as the function is.
    Raises:
        ValueError: where the function's annotations make no schema, and for a name of another form.
        RuntimeError: for a text that is no schema, an unknown kind of device, and when called, for
            results that share memory with arguments.
    Example:
        >>> @torch.library.custom_op("help_of_custom_op::twice", mutates_args=())
        ... def twice(x: torch.Tensor) -> torch.Tensor:
        ...     return 2 * x
        >>> twice(torch.ones(1)), torch.ops.help_of_custom_op.twice(torch.ones(1))
        (tensor([2.]), tensor([2.]))
    """

    def make(function: Callable[..., Any]) -> CustomOpDef:
        text = infer_schema(function, mutates_args=mutates_args) if schema is None else schema
        namespace, short = parse_name(name)
        found = CustomOpDef(namespace, short, text, function, tags)
        found.register_kernel(device_types, function)
        return found

    return make if fn is None else make(fn)


def triton_op(
    name: str, fn: Callable[..., Any] | None = None, /, *, mutates_args: Any, schema: Any = None
) -> Any:
    """Like `custom_op`, but recorded as the operations that the function is made of.

    Parameters:
        name: "namespace::name".
        fn: the function; without one this is a decorator.
        mutates_args: the names of arguments that it writes, or "unknown".
        schema: the arguments and results; None means that annotations make it.
    Returns: a `CustomOpDef`.
    Raises: ValueError: where the function's annotations make no schema, and for a name of another
        form.
    Example:
        >>> @torch.library.triton_op("help_of_triton_op::twice", mutates_args=())
        ... def twice(x: torch.Tensor) -> torch.Tensor:
        ...     return 2 * x
        >>> twice(torch.ones(1))
        tensor([2.])
    """

    def make(function: Callable[..., Any]) -> CustomOpDef:
        found: CustomOpDef = custom_op(name, function, mutates_args=mutates_args, schema=schema)
        formula_of(found._opoverload).opaque = False
        return found

    return make if fn is None else make(fn)


def wrap_triton(triton_kernel: Callable[..., Any], /) -> Any:
    """The kernel itself.

    Parameters:
        triton_kernel: the kernel.
    Returns: the kernel.
    Raises: nothing.
    Example:
        >>> torch.library.wrap_triton(len) is len
        True
    """
    return triton_kernel
