"""A graph done step by step, by methods that can be overridden."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...nn.modules.module import Module
from .graph import Graph
from .graph_module import GraphModule
from .node import Node, map_arg
from .proxy import Proxy, TracerBase

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Interpreter", "Transformer"]


class Interpreter:
    """Runs a graph, one method call per step.

    Parameters:
        module: a `GraphModule`, or with `graph` any module.
        garbage_collect_values: whether a value is given up when its last user has run.
        graph: the steps; None means the module's own.
    Raises: AttributeError: for a module without a graph. RuntimeError: on `run` without an input.
    Example:
        >>> class Counted(torch.fx.Interpreter):
        ...     steps = 0
        ...     def run_node(self, n):
        ...         self.steps += 1
        ...         return super().run_node(n)
        >>> made = Counted(torch.fx.symbolic_trace(lambda x: x * 2 + 1))
        >>> made.run(torch.ones(1)), made.steps
        (tensor([3.]), 4)
    """

    def __init__(
        self, module: Any, garbage_collect_values: bool = True, graph: Graph | None = None
    ) -> None:
        self.module = module
        self.graph: Graph = module.graph if graph is None else graph
        self.submodules = dict(module.named_modules())
        self.garbage_collect_values = garbage_collect_values
        self.env: dict[Node, Any] = {}
        self.name = "Interpreter"
        self.extra_traceback = True

    def run(self, *args: Any, initial_env: Any = None, enable_io_processing: bool = True) -> Any:
        """The graph's result for these inputs."""
        self.env = dict(initial_env or {})
        self.args_iter = iter(args)
        last: dict[Node, Node] = {}
        for node in self.graph.nodes:
            for used in node.all_input_nodes:
                last[used] = node
        for node in self.graph.nodes:
            if node in self.env:
                continue
            self.env[node] = self.run_node(node)
            if node.op == "output":
                return self.env[node]
            if self.garbage_collect_values:
                for used in node.all_input_nodes:
                    if last[used] is node:
                        self.env.pop(used, None)
        return None

    def run_node(self, n: Node) -> Any:
        """The result of one step."""
        args, kwargs = self.fetch_args_kwargs_from_env(n)
        return getattr(self, n.op)(n.target, args, kwargs)

    def fetch_args_kwargs_from_env(self, n: Node) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """A step's arguments with the values that its nodes have."""
        return (
            self.map_nodes_to_values(n.args, n),
            self.map_nodes_to_values(n.kwargs, n),
        )

    def map_nodes_to_values(self, args: Any, n: Node) -> Any:
        """Values for nodes."""
        return map_arg(args, lambda node: self.env[node])

    def fetch_attr(self, target: str) -> Any:
        """An attribute of the module, by its path."""
        found = self.module
        for atom in target.split("."):
            modules = getattr(found, "_modules", {})
            found = modules[atom] if atom in modules else getattr(found, atom)
        return found

    def placeholder(self, target: str, args: Any, kwargs: Any) -> Any:
        """An input, or its default."""
        if target.startswith("*"):
            return list(self.args_iter)
        try:
            return next(self.args_iter)
        except StopIteration:
            if args:
                return args[0]
            raise RuntimeError(
                f"Expected positional argument for parameter {target}, but one was not passed in!"
            ) from None

    def get_attr(self, target: Any, args: Any, kwargs: Any) -> Any:
        """An attribute."""
        return self.fetch_attr(target)

    def call_function(self, target: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        """What a function gives."""
        return target(*args, **kwargs)

    def call_method(self, target: Any, args: Any, kwargs: Any) -> Any:
        """What a method gives."""
        owner, *rest = args
        return getattr(owner, target)(*rest, **kwargs)

    def call_module(self, target: Any, args: Any, kwargs: Any) -> Any:
        """What a submodule gives."""
        return self.fetch_attr(target)(*args, **kwargs)

    def output(self, target: str, args: Any, kwargs: Any) -> Any:
        """The result."""
        return args[0]


class Transformer(Interpreter):
    """Runs a graph on proxies: each method says what becomes of a step in a new graph.

    Parameters:
        module: a `GraphModule`.
    Raises: AttributeError: for a module without a graph.
    Example:
        >>> class Negated(torch.fx.Transformer):
        ...     def call_function(self, target, args, kwargs):
        ...         return -super().call_function(target, args, kwargs)
        >>> made = Negated(torch.fx.symbolic_trace(lambda x: torch.relu(x))).transform()
        >>> made(torch.tensor([2.0]))
        tensor([-2.])
    """

    def __init__(self, module: Any) -> None:
        super().__init__(module)
        self.new_graph = Graph()
        self.tracer = TracerBase()
        self.tracer.graph = self.new_graph

    def placeholder(self, target: Any, args: Any, kwargs: Any) -> Any:
        """An input of the new graph."""
        default = args[0] if args else ...
        return Proxy(self.new_graph.placeholder(target, default_value=default), self.tracer)

    def get_attr(self, target: Any, args: Any, kwargs: Any) -> Any:
        """An attribute in the new graph."""
        return self.tracer.create_proxy("get_attr", target, args, kwargs)

    def call_module(self, target: Any, args: Any, kwargs: Any) -> Any:
        """A call in the new graph."""
        return self.tracer.create_proxy("call_module", target, args, kwargs)

    def call_function(self, target: Any, args: Any, kwargs: Any) -> Any:
        """A call in the new graph."""
        return self.tracer.create_proxy("call_function", target, args, kwargs)

    def transform(self) -> GraphModule:
        """A module of the new graph."""
        result = self.run()
        self.new_graph.output(map_proxies(result))
        root: Module = self.module
        return GraphModule(root, self.new_graph, type(root).__name__)

    def run(self, *args: Any, initial_env: Any = None, enable_io_processing: bool = True) -> Any:
        """The proxies of the result."""
        self.env = {}
        self.args_iter = iter(())
        for node in self.graph.nodes:
            if node.op == "output":
                return map_arg(node.args[0], lambda n: self.env[n])
            self.env[node] = self.run_node(node)
        return None


def map_proxies(a: Any) -> Any:
    """Nodes for proxies."""
    from .node import map_aggregate

    return map_aggregate(a, lambda x: x.node if isinstance(x, Proxy) else x)
