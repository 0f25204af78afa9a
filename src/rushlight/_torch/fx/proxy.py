"""Proxies: values that note what is done with them instead of doing it."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ..._base.error_notes import advise
from ..._tensor.torch_function import stand_in
from .. import overrides as _overrides
from .graph import Graph
from .node import Node, map_aggregate

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "Attribute", "GraphAppendingTracer", "ParameterProxy", "Proxy", "TraceError", "TracerBase",
]  # fmt: skip


class TraceError(ValueError):
    """Something that a program does can't be noted: it depends on a value."""


class TracerBase:
    """Makes nodes and proxies; what to do where a program asks for a value."""

    graph: Graph

    def create_node(
        self, kind: str, target: Any, args: Any, kwargs: Any, name: str | None = None,
        type_expr: Any = None,
    ) -> Node:  # fmt: skip
        """A new step of the graph."""
        return self.graph.create_node(kind, target, args, kwargs, name, type_expr)

    def proxy(self, node: Node) -> Proxy:
        """The proxy of a step's result."""
        return Proxy(node, self)

    def create_proxy(
        self, kind: str, target: Any, args: Any, kwargs: Any, name: str | None = None,
        type_expr: Any = None, proxy_factory_fn: Any = None,
    ) -> Any:  # fmt: skip
        """The proxy of a new step."""
        node = self.create_node(
            kind, target, self.create_arg(args), self.create_arg(kwargs), name, type_expr
        )
        return self.proxy(node) if proxy_factory_fn is None else proxy_factory_fn(node)

    def create_arg(self, a: Any) -> Any:
        """An argument as nodes hold it: nodes for proxies."""
        return map_aggregate(a, lambda x: x.node if isinstance(x, Proxy) else x)

    def to_bool(self, obj: Proxy) -> bool:
        """Raises TraceError: which branch is taken depends on a value."""
        raise advise(
            TraceError("symbolically traced variables cannot be used as inputs to control flow"),
            "give the argument a value by symbolic_trace(module, concrete_args={...}), or make the "
            "part that branches a leaf module",
        )

    def iter(self, obj: Proxy) -> Iterator[Any]:
        """The parts of a proxy that is unpacked into a known number of names.

        Raises:
            TraceError: in a loop, whose length depends on the value.
        """
        import dis
        import sys

        frame = sys._getframe(2)
        code = frame.f_code
        found = [i for i in dis.get_instructions(code) if i.offset == frame.f_lasti]
        if found and found[0].opname == "UNPACK_SEQUENCE":
            return (obj[i] for i in range(int(found[0].argval)))
        raise TraceError(
            "Proxy object cannot be iterated. This can be attempted when the Proxy is used in a "
            "loop or as a *args or **kwargs function argument. See the torch.fx docs on "
            "pytorch.org for a more detailed explanation of what types of control flow can be "
            "traced, and check out the Proxy docstring for help troubleshooting Proxy iteration "
            "errors"
        )

    def keys(self, obj: Proxy) -> Any:
        """The proxy of the keys."""
        return Attribute(obj, "keys")()


class GraphAppendingTracer(TracerBase):
    """Puts what is done with its proxies at the end of a graph that is there already."""

    def __init__(self, graph: Graph) -> None:
        super().__init__()
        self.graph = graph


class Proxy:
    """Stands for the result of a step; what is done with it becomes further steps.

    Parameters:
        node: the step.
        tracer: what makes the further steps; None appends them to the node's graph.
    Raises: AttributeError: for what is no step. TraceError: where its truth or its parts are asked
        for. RuntimeError: where its length is.
    Example:
        >>> graph = torch.fx.Graph()
        >>> x = torch.fx.Proxy(graph.placeholder("x"))
        >>> (torch.relu(x) + 1).node
        add
        >>> [node.name for node in graph.nodes]
        ['x', 'relu', 'add']
    """

    def __init__(self, node: Node, tracer: TracerBase | None = None) -> None:
        self.tracer = GraphAppendingTracer(node.graph) if tracer is None else tracer
        self.node = node
        stand_in(type(self))

    def __repr__(self) -> str:
        return f"Proxy({self.node.name})"

    def __getattr__(self, k: str) -> Any:
        if k.startswith("__") and k.endswith("__"):
            raise AttributeError(k)
        return Attribute(self, k)

    def __getitem__(self, key: int) -> Any:
        return self.tracer.create_proxy("call_function", operator.getitem, (self, key), {})

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.tracer.create_proxy("call_method", "__call__", (self, *args), kwargs)

    def __iter__(self) -> Iterator[Any]:
        return self.tracer.iter(self)

    def __bool__(self) -> bool:
        return self.tracer.to_bool(self)

    def __len__(self) -> int:
        raise RuntimeError(
            "'len' is not supported in symbolic tracing by default. If you want this call to be "
            "recorded, please call torch.fx.wrap('len') at module scope"
        )

    def __hash__(self) -> int:
        return id(self)

    def keys(self) -> Any:
        """The proxy of the keys."""
        return self.tracer.keys(self)

    @classmethod
    def __torch_function__(
        cls, orig_method: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        kwargs = {} if kwargs is None else kwargs
        found: list[TracerBase] = []
        map_aggregate(
            (tuple(args), dict(kwargs)),
            lambda x: found.append(x.tracer) if isinstance(x, Proxy) else None,
        )
        tracer = found[0]
        if (_overrides.resolve_name(orig_method) or "").startswith("torch.Tensor."):
            return tracer.create_proxy("call_method", orig_method.__name__, tuple(args), kwargs)
        return tracer.create_proxy("call_function", orig_method, tuple(args), kwargs)


class Attribute(Proxy):
    """An attribute of a value; calling it calls a method."""

    def __init__(self, root: Proxy, attr: str) -> None:
        self.root = root
        self.attr = attr
        self.tracer = root.tracer
        self._node: Node | None = None
        stand_in(type(self))

    @property
    def node(self) -> Node:  # type: ignore[override]
        """The step that reads it, made when it is used as a value."""
        if self._node is None:
            made = self.tracer.create_proxy("call_function", getattr, (self.root, self.attr), {})
            self._node = made.node
        return self._node

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.tracer.create_proxy("call_method", self.attr, (self.root, *args), kwargs)


class ParameterProxy(Proxy):
    """Stands for a parameter whose shape is known."""

    def __init__(self, tracer: TracerBase, node: Node, name: str, param: Any) -> None:
        super().__init__(node, tracer)
        self.param = param
        self.name = name

    @property
    def shape(self) -> Any:
        """The shape."""
        return self.param.shape

    def size(self) -> Any:
        """The shape."""
        return self.param.size()

    def dim(self) -> int:
        """The number of dimensions."""
        return int(self.param.dim())

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return int(self.param.ndim)

    def numel(self) -> int:
        """The number of elements."""
        return int(self.param.numel())


def _operator(name: str) -> Callable[..., Any]:
    function = getattr(operator, name)

    def note(self: Proxy, *args: Any) -> Any:
        return self.tracer.create_proxy("call_function", function, (self, *args), {})

    return note


def _reflect(name: str) -> Callable[..., Any]:
    function = getattr(operator, name)

    def note(self: Proxy, other: Any) -> Any:
        return self.tracer.create_proxy("call_function", function, (other, self), {})

    return note


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "lshift",
              "rshift", "and_", "or_", "xor"):  # fmt: skip
    _plain = _name.strip("_")
    setattr(Proxy, f"__{_plain}__", _operator(_name))
    setattr(Proxy, f"__r{_plain}__", _reflect(_name))
for _name in ("eq", "ne", "lt", "le", "gt", "ge", "neg", "pos", "invert", "abs"):
    setattr(Proxy, f"__{_name}__", _operator(_name))
