"""A module whose `forward` is a graph's Python."""

from __future__ import annotations

import copy
import linecache
from typing import Any, Final

from ...nn.modules.module import Module
from .graph import Graph, PythonCode
from .node import Node, code_name, find_function, map_aggregate, map_arg

__all__ = ["GraphModule", "reduce_graph_module"]

_counter = [0]
_USER_PRESERVED_ATTRIBUTES_KEY = "_user_preserved_attributes"


class _CodeOnlyModule(Module):
    """A module with the attributes of another one: what is left of it beside its code."""

    def __init__(self, body: dict[str, Any]) -> None:
        super().__init__()
        self.__dict__ = body


def _get_at(root: Any, path: str) -> Any:
    for atom in path.split("."):
        root = root._modules[atom] if atom in getattr(root, "_modules", {}) else getattr(root, atom)
    return root


def _copy_attr(from_module: Module, to_module: Module, target: str) -> None:
    """Gives a module another one's attribute, under the same path."""
    *prefix, field = target.split(".")
    for item in prefix:
        source = _get_at(from_module, item)
        place = to_module._modules.get(item)
        if place is source:
            return
        if place is None:
            place = Module()
            to_module.add_module(item, place)
        from_module, to_module = source, place
    value = _get_at(from_module, field)
    if field in from_module._buffers:
        to_module.register_buffer(field, value)
    else:
        setattr(to_module, field, value)


def _assign_attr(from_obj: Any, to_module: Module, target: str) -> None:
    *prefix, field = target.split(".")
    for item in prefix:
        if item not in to_module._modules:
            to_module.add_module(item, Module())
        place = to_module._modules[item]
        if place is None:
            raise AttributeError(f"{item} is None")
        to_module = place
    setattr(to_module, field, from_obj)


#: By which programs know, in the text of the class, that `forward` belongs to it.
_IMPLEMENTATION: Final = "GraphModule.__new__.<locals>.GraphModuleImpl"


class GraphModule(Module):
    """A module that does what its `graph` says; after a change to it call `recompile`.

    Parameters:
        args: a module, or a dictionary by name, of which it takes what the graph's steps name; the
            graph; and the name of its class.
    Shapes: those of the program that the graph is of.
    Raises: RuntimeError: where a step names what the dictionary hasn't. AttributeError: where it
        names what the module hasn't.
    Example:
        >>> made = torch.fx.symbolic_trace(lambda x: torch.relu(x))
        >>> made.graph.find_nodes(op="call_function")[0].target = torch.neg
        >>> code = made.recompile()
        >>> made(torch.tensor([1.0]))
        tensor([-1.])
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> GraphModule:
        # `forward` belongs to the class, and each graph has its own.
        names = {"__module__": GraphModule.__module__, "__qualname__": _IMPLEMENTATION}
        return super().__new__(type("GraphModuleImpl", (cls,), names))

    def __init__(self, root: Any, graph: Graph, class_name: str = "GraphModule") -> None:
        super().__init__()
        type(self).__name__ = class_name
        if isinstance(root, Module):
            self.training = root.training
        for node in graph.nodes:
            if node.op not in ("get_attr", "call_module"):
                continue
            target = str(node.target)
            if isinstance(root, Module):
                _copy_attr(root, self, target)
            elif target in root:
                _assign_attr(root[target], self, target)
            else:
                raise RuntimeError(
                    f"Node {node} referenced target {target} but that target was not provided in "
                    "``root``!"
                )
        self.meta: dict[str, Any] = {}
        self._graph = graph
        self._graph.owning_module = self
        self.recompile()

    @property
    def graph(self) -> Graph:
        """The graph."""
        return self._graph

    @graph.setter
    def graph(self, g: Graph) -> None:
        self._graph = g
        g.owning_module = self
        self.recompile()

    @property
    def code(self) -> str:
        """The Python of `forward`."""
        return self._code

    def print_readable(self, print_output: bool = True, **options: Any) -> str:
        """The class as it would be written."""
        lines = "".join(f"    {line}\n" for line in self._code.splitlines())
        text = f"class {type(self).__name__}(torch.nn.Module):\n{lines}"
        if print_output:
            print(text)
        return text

    def recompile(self) -> PythonCode:
        """Makes `forward` anew from the graph."""
        made = self._graph.python_code("self")
        self._code = made.src
        _counter[0] += 1
        name = f"<rushlight.fx generated {_counter[0]}>"
        linecache.cache[name] = (len(made.src), None, made.src.splitlines(True), name)
        names = dict(made.globals)
        exec(compile(made.src, name, "exec"), names)
        type(self).forward = names["forward"]
        return made

    def add_submodule(self, target: str, m: Module) -> bool:
        """Adds a module under a path; whether that could be done."""
        *prefix, field = target.split(".")
        place: Module = self
        for item in prefix:
            found = place._modules.get(item)
            if found is None:
                found = Module()
                place.add_module(item, found)
            place = found
        place.add_module(field, m)
        return True

    def delete_submodule(self, target: str) -> bool:
        """Removes the module at a path; whether there was one."""
        *prefix, field = target.split(".")
        place: Any = self
        for item in prefix:
            place = place._modules.get(item)
            if place is None:
                return False
        return place._modules.pop(field, None) is not None

    def delete_all_unused_submodules(self) -> None:
        """Removes the modules that no step calls or reads from."""
        used: set[str] = set()
        for node in self._graph.nodes:
            if node.op in ("call_module", "get_attr"):
                parts = str(node.target).split(".")
                used.update(".".join(parts[: i + 1]) for i in range(len(parts)))
        inside = [str(n.target) + "." for n in self._graph.nodes if n.op == "call_module"]
        for name, _ in list(self.named_modules()):
            if name and name not in used and not name.startswith(tuple(inside)):
                self.delete_submodule(name)

    def __reduce__(self) -> Any:
        state = dict(self.__dict__)
        graph = state.pop("_graph")
        return reduce_graph_module, (state, _pack(graph), type(self).__name__)

    def __deepcopy__(self, memo: Any) -> GraphModule:
        fake = Module()
        fake.__dict__.update(
            {k: copy.deepcopy(v, memo) for k, v in self.__dict__.items() if k != "_graph"}
        )
        made = GraphModule(fake, copy.deepcopy(self._graph), type(self).__name__)
        made.meta = dict(self.meta)
        return made

    def __str__(self) -> str:
        more = "# To see more debug info, please use `graph_module.print_readable()`"
        return "\n".join([super().__str__(), self._code, more])


def _pack(graph: Graph) -> list[tuple[Any, ...]]:
    place = {node: i for i, node in enumerate(graph.nodes)}
    return [
        (
            n.op,
            _by_name(n.target),
            *(map_arg(a, lambda x: _At(place[x])) for a in (n.args, n.kwargs)),
            n.name,
        )
        for n in graph.nodes
    ]


def _by_name(target: Any) -> Any:
    # Functions of the table aren't what their module holds under their name.
    name = code_name(target) if callable(target) else ""
    return _Public(name) if find_function(name) is target else target


class _Public:
    """A function of `torch` by its name, in a pickle."""

    def __init__(self, name: str) -> None:
        self.name = name


class _At:
    """A node by its place, in a pickle."""

    def __init__(self, place: int) -> None:
        self.place = place


def reduce_graph_module(
    state: dict[str, Any], packed: list[tuple[Any, ...]], name: str
) -> GraphModule:
    """The module that a pickle holds."""

    graph = Graph()
    nodes: list[Node] = []
    for op, target, args, kwargs, node_name in packed:
        args, kwargs = (
            map_aggregate(a, lambda x: nodes[x.place] if isinstance(x, _At) else x)
            for a in (args, kwargs)
        )
        target = find_function(target.name) if isinstance(target, _Public) else target
        nodes.append(graph.create_node(op, target, args, kwargs, node_name))
    fake = Module()
    fake.__dict__.update(state)
    return GraphModule(fake, graph, name)
