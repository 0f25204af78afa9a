"""`symbolic_trace`: a module is called with proxies, and what it does becomes a graph."""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable
from typing import Any

from ..._base.own_packages import is_own
from ..._tensor.tensor import Tensor
from ...nn.modules.container import Sequential
from ...nn.modules.module import Module
from ...nn.parameter import Parameter
from ..overrides import TorchFunctionMode
from .graph import Graph
from .graph_module import GraphModule
from .node import map_aggregate
from .proxy import Proxy, TracerBase

__all__ = ["PHBase", "Tracer", "symbolic_trace", "wrap"]

#: Functions that are steps of their own: (the namespace that holds the name, the name).
_wrapped: list[tuple[dict[str, Any], str]] = []


class PHBase:
    """Marks an argument that stays an input among `concrete_args`; `torch.fx.PH` is one.

    Example:
        >>> def scale(x, factor, bias):
        ...     return x * factor + bias
        >>> made = torch.fx.symbolic_trace(scale, {"factor": 2, "bias": torch.fx.PH})
        >>> [node.name for node in made.graph.nodes if node.op == "placeholder"]
        ['x', 'bias']
    """

    def __repr__(self) -> str:
        return "PH"


PH = PHBase()


def wrap(fn_or_name: Any) -> Any:
    """Has a function of the calling module noted as one step; usable as a decorator.

    Parameters:
        fn_or_name: the function, or its name; a builtin's, too.
    Returns: what was given.
    Raises: RuntimeError: for anything but a function or a name.
    Example:
        >>> @torch.fx.wrap
        ... def twice(x):
        ...     return 2 * x
        >>> made = torch.fx.symbolic_trace(lambda x: twice(x) + 1)
        >>> [node.name for node in made.graph.nodes]
        ['x', 'twice', 'add', 'output']
    """
    if not callable(fn_or_name) and not isinstance(fn_or_name, str):
        raise RuntimeError(
            "Unsupported type for global function! Must be either a callable or string name"
        )
    name = fn_or_name if isinstance(fn_or_name, str) else fn_or_name.__name__
    frame = inspect.currentframe()
    caller = frame.f_back if frame is not None else None
    if caller is not None:
        _wrapped.append((caller.f_globals, name))
    return fn_or_name


class Tracer(TracerBase):
    """Calls a module with proxies and keeps the graph; `is_leaf_module` says where to stop.

    Parameters:
        autowrap_modules: modules of Python whose functions become steps of their own; `math` by
            default.
        autowrap_functions: functions that do, by whatever name the program calls them.
        param_shapes_constant: nothing here: a parameter's shape is a value in any case.
    Raises: TypeError: for what can't be listed. On `trace`, TraceError: where what is done depends
        on a value.
    Example:
        >>> class Deep(torch.fx.Tracer):
        ...     def is_leaf_module(self, m, module_qualified_name):
        ...         return False
        >>> graph = Deep().trace(nn.ReLU())
        >>> [(node.op, node.name) for node in graph.nodes]
        [('placeholder', 'input_1'), ('call_function', 'relu'), ('output', 'output')]
    """

    def __init__(
        self, autowrap_modules: Any = (math,), autowrap_functions: Any = (),
        param_shapes_constant: bool = False,
    ) -> None:  # fmt: skip
        #: The names in which functions that are steps of their own are looked for.
        self.autowrap_spaces = [vars(module) for module in autowrap_modules]
        #: Those functions, by their ids: what can't be hashed may be called, too.
        self.autowrapped = {
            id(function): function
            for function in (*autowrap_functions, *(
                value for space in self.autowrap_spaces for name, value in space.items()
                if name[0] != "_" and callable(value)
            ))
        }  # fmt: skip
        self.root: Module
        self.tensor_attrs: dict[Any, str] = {}

    # ---- what may be overridden -----------------------------------------------------------------
    def is_leaf_module(self, m: Module, module_qualified_name: str) -> bool:
        """Whether a module is one step: those of `nn` are, except Sequential."""
        module = type(m).__module__
        ours = is_own(module) and module.split(".")[1:2] == ["nn"]
        return ours and not isinstance(m, Sequential)

    def path_of_module(self, mod: Module) -> str:
        """The name by which the root knows a module.

        Raises:
            NameError: where it doesn't.
        """
        for name, module in self.root.named_modules():
            if module is mod:
                return name
        raise NameError("module is not installed as a submodule")

    def call_module(
        self, m: Module, forward: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """The result of a module: one step for a leaf, else what its `forward` does."""
        path = self.path_of_module(m)
        if self.is_leaf_module(m, path):
            return self.create_proxy("call_module", path, args, kwargs)
        return forward(*args, **kwargs)

    def create_arg(self, a: Any) -> Any:
        """An argument as nodes hold it; parameters and tensors become attributes of the module."""
        if isinstance(a, Parameter):
            for name, parameter in self.root.named_parameters():
                if parameter is a:
                    return self.create_node("get_attr", name, (), {})
            raise NameError("parameter is not a member of this module")
        if isinstance(a, Tensor):
            for name, buffer in self.root.named_buffers():
                if buffer is a:
                    return self.create_node("get_attr", name, (), {})
            return self.create_node("get_attr", self._constant(a), (), {})
        if isinstance(a, tuple) and hasattr(a, "_fields"):
            return type(a)(*(self.create_arg(x) for x in a))
        if isinstance(a, tuple):
            return tuple(self.create_arg(x) for x in a)
        if isinstance(a, list):
            return [self.create_arg(x) for x in a]
        if isinstance(a, dict):
            return {key: self.create_arg(x) for key, x in a.items()}
        if isinstance(a, slice):
            return slice(*(self.create_arg(x) for x in (a.start, a.stop, a.step)))
        return a.node if isinstance(a, Proxy) else a

    def _constant(self, value: Tensor) -> str:
        for known, name in self.tensor_attrs.items():
            if known is value:
                return name
        number = 0
        while hasattr(self.root, f"_tensor_constant{number}"):
            number += 1
        name = f"_tensor_constant{number}"
        self.tensor_attrs[value] = name
        setattr(self.root, name, value)
        return name

    # ---- the trace ------------------------------------------------------------------------------
    def create_args_for_root(
        self, root_fn: Callable[..., Any], is_module: bool, concrete_args: Any = None
    ) -> tuple[Any, list[Any]]:
        """The function to call, and the proxies to call it with."""
        given = concrete_args or {}
        args: list[Any] = []
        for parameter in inspect.signature(root_fn).parameters.values():
            if parameter.name in given and not isinstance(given[parameter.name], PHBase):
                value = given[parameter.name]
                args.append((parameter, value))
                continue
            name = parameter.name
            if parameter.kind is parameter.VAR_POSITIONAL:
                name = f"*{name}"
            elif parameter.kind is parameter.VAR_KEYWORD:
                name = f"**{name}"
            default = () if parameter.default is parameter.empty else (parameter.default,)
            args.append((parameter, self.create_proxy("placeholder", name, default, {})))
        return root_fn, args

    def trace(self, root: Any, concrete_args: Any = None) -> Graph:
        """The graph of a module or a function."""
        if isinstance(root, Module):
            self.root, function = root, root.forward
        else:
            self.root, function = Module(), root
        self.graph = Graph(tracer_cls=type(self))
        self.tensor_attrs = {}
        call, arguments = self.create_args_for_root(
            function, isinstance(root, Module), concrete_args
        )
        positional: list[Any] = []
        named: dict[str, Any] = {}
        for parameter, value in arguments:
            if parameter.kind in (parameter.KEYWORD_ONLY, parameter.VAR_KEYWORD):
                named[parameter.name] = value
            else:
                positional.append(value)
        with _Patches(self, getattr(function, "__globals__", {})):
            result = call(*positional, **named)
        self.create_node("output", "output", (self.create_arg(result),), {})
        return self.graph


class _Noting(TorchFunctionMode):
    """Asks proxies before a function of `torch` looks at them."""

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        proxies: list[Proxy] = []
        map_aggregate(
            (tuple(args), dict(kwargs or {})),
            lambda x: proxies.append(x) if isinstance(x, Proxy) else None,
        )
        if proxies:
            return Proxy.__torch_function__(func, types, args, kwargs)
        return func(*args, **(kwargs or {}))


class _Patches:
    """While a trace runs: calls of modules and of wrapped functions go to the tracer."""

    def __init__(self, tracer: Tracer, space: dict[str, Any]) -> None:
        self.tracer = tracer
        self.space = space  # the names that the root's code knows

    def __enter__(self) -> None:
        module: Any = Module
        self.call = module.__call__
        self.noting = _Noting()
        self.noting.__enter__()
        tracer, original = self.tracer, self.call

        @functools.wraps(original)
        def call(mod: Module, *args: Any, **kwargs: Any) -> Any:
            def forward(*args: Any, **kwargs: Any) -> Any:
                return original(mod, *args, **kwargs)

            self._note_in(getattr(mod.forward, "__globals__", {}))
            return tracer.call_module(mod, forward, args, kwargs)

        module.__call__ = call
        self.names: list[tuple[dict[str, Any], str, Any]] = []
        self.seen: set[int] = set()
        for space, name in _wrapped:
            self._note(space, name)
        for space in (*tracer.autowrap_spaces, self.space):
            self._note_in(space)

    def _note_in(self, space: dict[str, Any]) -> None:
        """Notes what the tracer wraps by itself, among the names that a function calls."""
        if id(space) in self.seen:
            return
        self.seen.add(id(space))
        for name, value in list(space.items()):
            if name[0] != "_" and id(value) in self.tracer.autowrapped:
                self._note(space, name)

    def _note(self, space: dict[str, Any], name: str) -> None:
        import builtins

        function = space.get(name, getattr(builtins, name, None))
        if function is None:
            return
        self.names.append((space, name, space.get(name, _ABSENT)))

        @functools.wraps(function)
        def note(*args: Any, **kwargs: Any) -> Any:
            for arg in (*args, *kwargs.values()):
                if isinstance(arg, Proxy):
                    return arg.tracer.create_proxy("call_function", function, args, kwargs)
            return function(*args, **kwargs)

        space[name] = note

    def __exit__(self, *exc: object) -> None:
        self.noting.__exit__(*exc)
        Module.__call__ = self.call  # type: ignore[method-assign]
        for space, name, before in reversed(self.names):
            if before is _ABSENT:
                del space[name]
            else:
                space[name] = before


_ABSENT = object()


def symbolic_trace(root: Any, concrete_args: Any = None) -> GraphModule:
    """A module of the graph of what `root` does with any input of the same kind.

    Parameters:
        root: a module or a function; it is called once, with proxies.
        concrete_args: values of arguments, by name: for the graph they are constants.
    Returns: a `GraphModule` with the same parameters.
    Raises:
        TraceError: where what it does depends on a value.
        TypeError: for what can't be called.
    Example:
        >>> made = torch.fx.symbolic_trace(lambda x: torch.relu(x) + 1)
        >>> print(made.code.strip())
        def forward(self, x):
            relu = torch.relu(x);  x = None
            add = relu + 1;  relu = None
            return add
        >>> made(torch.tensor([-1.0, 2.0]))
        tensor([1., 3.])
    """
    tracer = Tracer()
    graph = tracer.trace(root, concrete_args)
    name = type(root).__name__ if isinstance(root, Module) else root.__name__
    return GraphModule(tracer.root, graph, name)
