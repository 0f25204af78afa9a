"""Registering operators and what belongs to them: `define`, `impl`, `Library`, `register_*`."""

from __future__ import annotations

import contextlib
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from ..._base.device import device
from ..._base.schema import parse
from ..._table.names import registered_operators as _registered
from ..._table.names.registered_operators import OperatorSchema, RegisteredOverload
from .autograd import formula_of, run
from .tags import Tag

_TYPES: Final = {
    "Tensor", "int", "SymInt", "float", "SymFloat", "bool", "SymBool", "str", "Scalar",
    "ScalarType", "Device", "Layout", "MemoryFormat", "Generator", "Dimname", "complex", "Any",
    "Stream", "Storage", "QScheme", "Dict",
}  # fmt: skip
_KEYS: Final = {
    "", "CPU", "CUDA", "Meta", "XPU", "MPS", "MTIA", "HPU", "PrivateUse1", "Autograd",
    "AutogradCPU", "AutogradCUDA", "AutogradMeta", "AutogradXPU", "AutogradPrivateUse1",
    "AutocastCPU", "AutocastCUDA", "ADInplaceOrView", "BackendSelect", "Functionalize", "Python",
    "CompositeExplicitAutograd", "CompositeImplicitAutograd", "SparseCPU", "SparseCUDA",
    "QuantizedCPU", "QuantizedCUDA", "FuncTorchBatched", "CompositeExplicitAutogradNonFunctional",
    "CompositeImplicitAutogradNestedTensor", "NestedTensorCPU", "NestedTensorCUDA", "Tracer",
    "MkldnnCPU", "SparseCsrCPU", "SparseCsrCUDA", "ZeroTensor", "Conjugate", "Negative",
}  # fmt: skip
_RESERVED: Final = ("prim",)
_defined: Final[dict[str, str]] = {}  # namespace -> where its DEF library was made


def parse_name(qualname: str) -> tuple[str, str]:
    """Namespace and name of `namespace::name`.

    Raises:
        ValueError: for anything else.
    """
    parts = qualname.split("::")
    if len(parts) != 2:
        raise ValueError(
            f'Expected `qualname` to be of the form "namespace::name", but got {qualname}. The '
            "qualname passed to the torch.library APIs must consist of a namespace and a name, "
            "e.g. aten::sin"
        )
    return parts[0], parts[1]


def _print(text: str) -> str:
    """A schema as PyTorch prints it: floats without a zero after the point."""
    return re.sub(r"=(-?\d+)\.0(?=[,)])", r"=\1.", text)


def define_in(namespace: str, text: str, where: str, tags: Any = ()) -> RegisteredOverload:
    """Makes an operator of a namespace.

    Raises:
        RuntimeError: for a text that is no schema, an unknown type, a name that is taken.
    """
    if "(" not in text or "->" not in text:
        raise RuntimeError(f"expected eof but found 'ident' here:\n{text}\n    ~~~~~~ <--- HERE\n")
    try:
        schema = parse(text)
    except ValueError as error:
        raise RuntimeError(str(error)) from None
    for p in schema.params:
        if p.type not in _TYPES:
            place = text.index(p.type + " ")
            raise RuntimeError(
                "\nunknown type specifier. Common valid schema types include Tensor, SymInt, int, "
                "float, bool, Scalar; for a full list, please see "
                "https://github.com/pytorch/pytorch/blob/main/aten/src/ATen/native/README.md#func "
                f":\n{text}\n{' ' * place}{'~' * len(p.type)} <--- HERE\n"
            )
    name = schema.name.rpartition("::")[2]
    overload = schema.overload or "default"
    packet = _registered.namespace_of(namespace).packet(name)
    whole = _print(f"{namespace}::{text.strip()}")
    if overload in packet.own:
        raise RuntimeError(
            f"Tried to register an operator ({whole}) with the same name and overload name "
            "multiple times. Each overload's schema should only be registered with a single call "
            f"to def(). Duplicate registration: registered at {where}. Original registration: "
            f"registered at {packet.own[overload].place}"
        )
    shown = OperatorSchema(whole, schema, f"{namespace}::{name}", schema.overload)
    made: Any = RegisteredOverload(packet, overload, shown)
    made.place = where
    made.run = run
    made.tags = [tags] if isinstance(tags, Tag) else list(tags)
    packet.own[overload] = made
    return made


def overload_of(op: Any) -> RegisteredOverload:
    """The overload that a name, an overload or a custom operator stands for.

    Raises:
        RuntimeError: for a name that isn't registered.
    """
    if isinstance(op, RegisteredOverload):
        return op
    own = getattr(op, "_opoverload", None)
    if own is not None:
        return own
    namespace, name = parse_name(op)
    name, _, overload = name.partition(".")
    space = _registered.NAMESPACES.get(namespace)
    packet = None if space is None else space.__dict__.get(name)
    if packet is None or (overload or "default") not in packet.own:
        if namespace not in _registered.UNLOADED:
            raise RuntimeError(f"operator {op} does not exist")
        # The compiled part of the package would have defined it, and can't be loaded.
        shown = f"{name}.{overload}" if overload else name
        return define_in(namespace, f"{shown}(Tensor self) -> Tensor", _where(), ())
    return packet.own[overload or "default"]


def _where(depth: int = 2) -> str:
    frame = sys._getframe(depth)
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"


class Library:
    """Operators of one namespace: "DEF" defines it, "FRAGMENT" adds to it, "IMPL" only implements.

    Parameters:
        ns: the namespace.
        kind: "DEF", "FRAGMENT" or "IMPL".
        dispatch_key: the devices that kernels compute on where `impl` doesn't say, as "CPU".
    Raises:
        ValueError: for another kind, or a reserved namespace.
        RuntimeError: for a second "DEF" of a namespace.
    Example:
        >>> made = torch.library.Library("help_of_library", "FRAGMENT")
        >>> made.define("twice(Tensor x) -> Tensor")
        'twice'
        >>> made.impl("twice", lambda x: 2 * x, "CPU")
        >>> torch.ops.help_of_library.twice(torch.ones(1))
        tensor([2.])
    """

    def __init__(self, ns: str, kind: str, dispatch_key: str = "") -> None:
        if kind not in ("IMPL", "DEF", "FRAGMENT"):
            raise ValueError(f"Unsupported kind: {kind}")
        if ns in _RESERVED and kind in ("DEF", "FRAGMENT"):
            raise ValueError(f"{ns} is a reserved namespace. Please try creating a library with another name.")  # noqa: E501  # fmt: skip
        if kind == "DEF":
            if ns in _defined:
                raise RuntimeError(
                    "Only a single TORCH_LIBRARY can be used to register the namespace "
                    f"{ns}; please put all of your definitions in a single TORCH_LIBRARY block.  "
                    "If you were trying to specify implementations, consider using "
                    "TORCH_LIBRARY_IMPL (which can be duplicated).  If you really intended to "
                    "define operators for a single namespace in a distributed way, you can use "
                    "TORCH_LIBRARY_FRAGMENT to explicitly indicate this.  Previous registration "
                    f"of TORCH_LIBRARY was registered at {_defined[ns]}; latest registration was "
                    f"registered at {_where()}"
                )
            _defined[ns] = _where()
        self.ns = ns
        self.kind = kind
        self.dispatch_key = dispatch_key
        self._own: list[tuple[RegisteredOverload, str]] = []

    def __repr__(self) -> str:
        return f"Library(kind={self.kind}, ns={self.ns}, dispatch_key={self.dispatch_key})>"

    def define(self, schema: str, alias_analysis: str = "", *, tags: Any = ()) -> str:
        """Makes an operator; its name, with that of the overload."""
        made = define_in(self.ns, schema, _where(), tags)
        self._own.append((made, ""))
        return schema.partition("(")[0].strip().partition(".")[0]

    def impl(
        self, op_name: str, fn: Callable[..., Any], dispatch_key: str = "", *,
        with_keyset: bool = False, allow_override: bool = False,
    ) -> None:  # fmt: skip
        """Has a function compute an operator, on the devices of a dispatch key.

        Raises:
            TypeError: for something that can't be called.
            RuntimeError: for an unknown key.
        """
        if not callable(fn):
            raise TypeError(
                f"Input function is required to be a callable but found type {type(fn)}"
            )
        key = dispatch_key or self.dispatch_key or "CompositeImplicitAutograd"
        if key not in _KEYS:
            raise RuntimeError(f"could not parse dispatch key: {key}")
        if fn is fallthrough_kernel:
            return
        if isinstance(op_name, str):
            name, _, overload = op_name.rpartition("::")[2].partition(".")
        else:
            name, overload = op_name._opname, op_name._overloadname
        if self.ns == "aten":
            raise NotImplementedError(
                "Rushlight's own operators can't be given other kernels; declare a row of the "
                "table, or use a TorchFunctionMode"
            )
        packet = _registered.namespace_of(self.ns).__dict__.get(name)
        if packet is None or (overload or "default") not in packet.own:
            return  # PyTorch keeps it for a definition that never comes
        target = packet.own[overload or "default"]
        target.kernels[key] = fn
        self._own.append((target, key))

    def fallback(self, fn: Any, dispatch_key: str = "", *, with_keyset: bool = False) -> None:
        """Raises NotImplementedError: operators have no dispatch keys to fall back from."""
        raise NotImplementedError("Library.fallback: Rushlight dispatches by Python, not by keys")

    def _register_fake(self, op_name: str, fn: Any, _stacklevel: int = 1,
                       *, allow_override: bool = False) -> None:  # fmt: skip
        register_fake(f"{self.ns}::{op_name.rpartition('::')[2]}", fn)

    def _destroy(self) -> None:
        """Takes back what the library has registered."""
        for made, key in self._own:
            if key:
                made.kernels.pop(key, None)
            else:
                made.overloadpacket.own.pop(made._overloadname, None)
                if not made.overloadpacket.own:
                    _registered.namespace_of(self.ns).__dict__.pop(made._opname, None)
        if self.kind == "DEF":
            _defined.pop(self.ns, None)
        self._own.clear()


@contextlib.contextmanager
def _scoped_library(*args: Any, **kwargs: Any) -> Iterator[Library]:
    """A library that takes back, at the end of the block, what it has registered."""
    made = Library(*args, **kwargs)
    try:
        yield made
    finally:
        made._destroy()


def fallthrough_kernel() -> None:
    """Stands for a kernel that does nothing of its own; never called.

    Raises: NotImplementedError: always.
    Example:
        >>> made = torch.library.Library("help_of_fallthrough", "FRAGMENT")
        >>> name = made.define("twice(Tensor x) -> Tensor")
        >>> made.impl("twice", torch.library.fallthrough_kernel, "AutogradCPU")
    """
    raise NotImplementedError("fallthrough_kernel() should never be called.")


def define(qualname: str, schema: str, *, lib: Library | None = None, tags: Any = ()) -> None:
    """Makes an operator `namespace::name` of a schema "(Tensor x) -> Tensor".

    Parameters:
        qualname: "namespace::name".
        schema: its arguments and results.
        lib: nothing here: what is made stays until the program ends.
        tags: of `torch.Tag`, what is known of it.
    Raises:
        ValueError: for a name or a schema of another form.
        RuntimeError: for a text that is no schema, and for a name that is taken.
    Example:
        >>> torch.library.define("help_of_define::twice", "(Tensor x) -> Tensor")
        >>> torch.library.impl("help_of_define::twice", "cpu", lambda x: 2 * x)
        >>> torch.ops.help_of_define.twice(torch.ones(1))
        tensor([2.])
    """
    if not isinstance(qualname, str):
        raise ValueError(
            "define(qualname, schema): expected qualname to be instance of str, got "
            f"{type(qualname)}"
        )
    namespace, name = parse_name(qualname)
    if not re.fullmatch(r"\(.*\) -> .*", schema):
        raise ValueError(
            "define(qualname, schema, ...): expected schema to look like e.g. "
            f'"(Tensor x) -> Tensor" but got "{schema}"'
        )
    define_in(namespace, name + schema, _where(), tags)


def _keys_of(types: str | Sequence[str]) -> list[str]:
    """Dispatch keys of kinds of device."""
    found = []
    for kind in (types,) if isinstance(types, str) else types:
        if kind in ("default", ""):
            found.append("CompositeExplicitAutograd")
        elif kind in _KEYS:
            found.append(kind)
        else:
            name = device(kind).type
            upper = {"cpu": "CPU", "cuda": "CUDA", "meta": "Meta", "xpu": "XPU", "mps": "MPS"}
            found.append(upper.get(name, name.upper()))
    return found


def impl(
    qualname: str, types: str = "default", func: Any = None, *, lib: Library | None = None
) -> Any:
    """Has a function compute an operator on some kinds of device; without one, a decorator.

    Parameters:
        qualname: "namespace::name".
        types: kinds of devices, as "cpu", or "default" for all.
        func: the function.
        lib: nothing here: what is registered stays until the program ends.
    Returns: None; without a function what registers one, and gives it back.
    Raises:
        ValueError: for a name of another form.
        RuntimeError: for an unknown operator or kind of device.
    Example:
        >>> torch.library.define("help_of_impl::twice", "(Tensor x) -> Tensor")
        >>> @torch.library.impl("help_of_impl::twice", "cpu")
        ... def twice(x):
        ...     return 2 * x
        >>> torch.ops.help_of_impl.twice(torch.ones(1))
        tensor([2.])
    """
    if isinstance(qualname, Library):  # the older form: impl(library, name, dispatch key)
        own, name, key = qualname, types, func or ""

        def older(function: Callable[..., Any]) -> Callable[..., Any]:
            own.impl(name, function, key)
            return function

        return older
    keys = _keys_of(types)

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        target = overload_of(qualname)
        for key in keys:
            target.kernels[key] = function
        return function

    if func is None:
        return register
    register(func)
    return None


def register_kernel(op: Any, device_types: Any, func: Any = None, /, *, lib: Any = None) -> Any:
    """Has a function compute an operator on some kinds of device.

    Parameters:
        op: what `custom_op` gave, an operator, or its name.
        device_types: kinds of devices, as "cpu"; None means all.
        func: the function; without one this is a decorator.
        lib: nothing here: what is registered stays until the program ends.
    Returns: None or the function; without a function what registers one, and gives it back.
    Raises:
        ValueError: for a name of another form.
        RuntimeError: for an unknown operator or kind of device.
    Example:
        >>> @torch.library.custom_op("help_of_kernel::twice", mutates_args=(), device_types="cuda")
        ... def twice(x: torch.Tensor) -> torch.Tensor:
        ...     return 2 * x
        >>> @torch.library.register_kernel(twice, "cpu")
        ... def add(x):
        ...     return x + x
        >>> twice(torch.ones(1))
        tensor([2.])
    """
    own = getattr(op, "register_kernel", None)
    if own is not None:
        return own(device_types, func)
    return impl(op, "default" if device_types is None else device_types, func, lib=lib)


_fakes: Final[dict[RegisteredOverload, Any]] = {}


def register_fake(op: Any, func: Any = None, /, *, lib: Any = None, _stacklevel: int = 1,
                  allow_override: bool = False) -> Any:  # fmt: skip
    """Remembers a function that tells the shapes and types of an operator's results.

    Parameters:
        op: what `custom_op` gave, an operator, or its name.
        func: the function, of the operator's arguments; without one this is a decorator.
        lib: nothing here: what is registered stays until the program ends.
        allow_override: nothing here: the last function counts.
    Returns: the function; without one what registers it, and gives it back.
    Raises: ValueError: for a name of another form. RuntimeError: for an unknown operator.
    Example:
        >>> @torch.library.custom_op("help_of_fake::twice", mutates_args=())
        ... def twice(x: torch.Tensor) -> torch.Tensor:
        ...     return 2 * x
        >>> @torch.library.register_fake(twice)
        ... def shape(x):
        ...     return torch.empty_like(x)
        >>> torch.library.opcheck(twice, (torch.ones(2),), test_utils="test_faketensor")
        {'test_faketensor': 'SUCCESS'}
    """

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        _fakes[overload_of(op)] = function
        return function

    return register if func is None else register(func)


impl_abstract = register_fake


def fake_of(overload: RegisteredOverload) -> Any:
    """What `register_fake` was given for an operator."""
    return _fakes.get(overload)


def register_autograd(
    op: Any,
    backward: Callable[..., Any],
    /,
    *,
    setup_context: Callable[..., Any] | None = None,
    lib: Any = None,
) -> None:
    """Gives an operator a backward, and what keeps for it what it needs.

    Parameters:
        op: what `custom_op` gave, an operator, or its name.
        backward: a function of a context and the gradients of the results, which gives one for each
            argument, None for those that have none.
        setup_context: a function of the context, `inputs` and `output`, which keeps what `backward`
            needs.
        lib: nothing here: what is registered stays until the program ends.
    Raises:
        ValueError: for a name of another form.
        RuntimeError: for an unknown operator, and for one that writes its arguments.
    Example:
        >>> @torch.library.custom_op("help_of_autograd::square", mutates_args=())
        ... def square(x: torch.Tensor) -> torch.Tensor:
        ...     return x * x
        >>> def keep(ctx, inputs, output):
        ...     ctx.save_for_backward(*inputs)
        >>> def backward(ctx, grad):
        ...     return 2 * ctx.saved_tensors[0] * grad
        >>> torch.library.register_autograd(square, backward, setup_context=keep)
        >>> x = torch.tensor([3.0], requires_grad=True)
        >>> square(x).backward()
        >>> x.grad
        tensor([6.])
    """
    target = overload_of(op)
    if target._schema.is_mutable:
        raise RuntimeError(
            f"Cannot register autograd formula for non-functional operator {op} with schema "
            f"{target._schema}. Please create a functional operator and register an autograd "
            "formula for that."
        )
    formula = formula_of(target)
    formula.backward, formula.setup, formula.function = backward, setup_context, None


def register_vmap(op: Any, func: Any = None, /, *, lib: Any = None) -> Any:
    """Gives an operator a rule for vmap.

    Parameters:
        op: what `custom_op` gave, an operator, or its name.
        func: a function of (info, in_dims, *args), which gives the results and the dimensions along
            which they are batched; without one this is a decorator.
        lib: nothing here: what is registered stays until the program ends.
    Returns: the function; without one what registers it, and gives it back.
    Raises: ValueError: for a name of another form. RuntimeError: for an unknown operator.
    Example:
        >>> @torch.library.custom_op("help_of_vmap::twice", mutates_args=())
        ... def twice(x: torch.Tensor) -> torch.Tensor:
        ...     return 2 * x
        >>> @torch.library.register_vmap(twice)
        ... def batched(info, in_dims, x):
        ...     return twice(x), in_dims[0]
        >>> torch.vmap(twice)(torch.ones(2, 1))
        tensor([[2.],
                [2.]])
    """

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        formula = formula_of(overload_of(op), opaque=True)
        formula.vmap, formula.function = function, None
        return function

    return register if func is None else register(func)


def register_autocast(op: Any, device_type: str, cast_inputs: Any, /, *, lib: Any = None) -> None:
    """Has an operator convert its arguments while autocast is on for a kind of device.

    Parameters:
        op: what `custom_op` gave, an operator, or its name.
        device_type: "cpu"; "cuda" is taken, and changes nothing.
        cast_inputs: the dtype that its arguments of floats get.
        lib: nothing here: what is registered stays until the program ends.
    Raises:
        ValueError: for a device other than the CPU or CUDA, and for a name of another form.
        RuntimeError: for an unknown operator.
    Example:
        >>> @torch.library.custom_op("help_of_autocast::twice", mutates_args=())
        ... def twice(x: torch.Tensor) -> torch.Tensor:
        ...     return 2 * x
        >>> torch.library.register_autocast(twice, "cpu", torch.bfloat16)
        >>> with torch.autocast("cpu"):
        ...     twice(torch.ones(1)).dtype
        torch.bfloat16
    """
    if device_type not in ("cpu", "cuda"):
        raise ValueError(f"Unknown device type: {device_type}")
    if device_type == "cuda":
        return
    from ...amp.autocast_mode import _cast, autocast
    from ...amp.switches import is_autocast_enabled

    target = overload_of(op)

    def casting(overload: RegisteredOverload, values: list[Any]) -> Any:
        if not is_autocast_enabled("cpu"):
            return run(overload, values)
        with autocast("cpu", enabled=False):
            return run(overload, _cast(values, "cpu", cast_inputs))

    target.run = casting


def register_torch_dispatch(op: Any, torch_dispatch_class: Any, func: Any = None, /, *,
                            lib: Any = None) -> Any:  # fmt: skip
    """Refuses: subclasses are asked by `__torch_function__` here.

    Parameters:
        op: an operator.
        torch_dispatch_class: a class of tensors, or a mode.
        func: what it would do.
        lib: nothing here.
    Returns: nothing; it raises.
    Raises: NotImplementedError: always.
    Example:
        >>> try:
        ...     torch.library.register_torch_dispatch("aten::add", torch.Tensor)
        ... except NotImplementedError:
        ...     print("define __torch_function__")
        define __torch_function__
    """
    raise NotImplementedError(
        "register_torch_dispatch: Rushlight asks subclasses by __torch_function__; define that"
    )


def get_ctx() -> None:
    """What a function that tells shapes is asked in: nothing, as it is never called to trace.

    Returns: None.
    Example:
        >>> torch.library.get_ctx() is None
        True
    """
    return None


def get_kernel(op: Any, dispatch_key: str) -> Any:
    """The function that computes an operator on the devices of a key.

    Parameters:
        op: an operator that a program has made, or its name.
        dispatch_key: the key, as "CPU".
    Returns: the function.
    Raises:
        ValueError: for a name of another form.
        RuntimeError: for an unknown operator, and where there is none.
    Example:
        >>> torch.library.define("help_of_get_kernel::twice", "(Tensor x) -> Tensor")
        >>> torch.library.impl("help_of_get_kernel::twice", "cpu", lambda x: 2 * x)
        >>> torch.library.get_kernel("help_of_get_kernel::twice", "CPU")(4)
        8
    """
    found = overload_of(op).kernels.get(dispatch_key)
    if found is None:
        raise RuntimeError(f"No kernel for {op} and dispatch key {dispatch_key} is registered")
    return found
