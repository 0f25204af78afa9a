"""A graph: steps in order, and the Python that does them."""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from .node import INFIX, Node, Target, code_name, find_function, map_arg

__all__ = ["Graph", "PythonCode"]


class PythonCode(NamedTuple):
    """The source of a `forward`, and the values that its names stand for."""

    src: str
    globals: dict[str, Any]


class InsertPoint:
    """Where a graph puts new steps from now on; as a context, until it ends."""

    def __init__(self, graph: Graph, insert: Callable[[Node], None]) -> None:
        self._graph = graph
        self._before = graph._insert
        graph._insert = insert

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: object) -> None:
        self._graph._insert = self._before


class Graph:
    """Steps from placeholders to an output.

    Parameters:
        owning_module: the module that runs it.
        tracer_cls: the class of the tracer that made it.
        tracer_extras: nothing here.
    Raises: nothing; RuntimeError from `lint`, for steps that use what isn't there yet.
    Example:
        >>> graph = torch.fx.Graph()
        >>> x = graph.placeholder("x")
        >>> end = graph.output(graph.call_function(torch.relu, (x,)))
        >>> graph.lint()
        >>> torch.fx.GraphModule(nn.Module(), graph)(torch.tensor([-1.0, 2.0]))
        tensor([0., 2.])
    """

    def __init__(
        self, owning_module: Any = None, tracer_cls: Any = None, tracer_extras: Any = None
    ) -> None:
        self._names: set[str] = set()
        self._root = Node(self, "", "root", "", (), {})
        self._insert: Callable[[Node], None] = self._root.prepend
        self.owning_module = owning_module
        self._tracer_cls = tracer_cls

    @property
    def nodes(self) -> _Nodes:
        """The steps in order."""
        return _Nodes(self)

    def find_nodes(self, *, op: str, target: Target | None = None, sort: bool = True) -> list[Node]:
        """The steps of a kind, and of a target where one is given."""
        return [n for n in self.nodes if n.op == op and (target is None or n.target == target)]

    def _name(self, candidate: str) -> str:
        name = re.sub(r"[^0-9a-zA-Z_]+", "_", candidate).strip() or "_unnamed"
        if name[0].isdigit():
            name = f"_{name}"
        base, number = name, 0
        match = re.fullmatch(r"(.*)_(\d+)", name)
        if match and name in self._names:
            base, number = match[1], int(match[2])
        while name in self._names or keyword.iskeyword(name) or hasattr(builtins, name):
            number += 1
            name = f"{base}_{number}"
        self._names.add(name)
        return name

    # ---- making steps ---------------------------------------------------------------------------
    def create_node(
        self,
        op: str,
        target: Target,
        args: tuple[Any, ...] | None = None,
        kwargs: dict[str, Any] | None = None,
        name: str | None = None,
        type_expr: Any = None,
    ) -> Node:
        """A new step at the place of insertion: the end, unless `inserting_before` says other."""
        candidate = name or _candidate(op, target)
        node = Node(self, self._name(candidate), op, target, args or (), kwargs or {}, type_expr)
        self._insert(node)
        return node

    def placeholder(self, name: str, type_expr: Any = None, default_value: Any = ...) -> Node:
        """An input."""
        args = () if default_value is ... else (default_value,)
        return self.create_node("placeholder", name, args, type_expr=type_expr)

    def get_attr(self, qualified_name: str, type_expr: Any = None) -> Node:
        """A parameter, buffer or other attribute of the module."""
        return self.create_node("get_attr", qualified_name, type_expr=type_expr)

    def call_module(
        self, module_name: str, args: Any = None, kwargs: Any = None, type_expr: Any = None
    ) -> Node:
        """A call of a submodule."""
        return self.create_node("call_module", module_name, args, kwargs, type_expr=type_expr)

    def call_method(
        self, method_name: str, args: Any = None, kwargs: Any = None, type_expr: Any = None
    ) -> Node:
        """A call of a method of the first argument."""
        return self.create_node("call_method", method_name, args, kwargs, type_expr=type_expr)

    def call_function(
        self, the_function: Callable[..., Any], args: Any = None, kwargs: Any = None,
        type_expr: Any = None, name: str | None = None,
    ) -> Node:  # fmt: skip
        """A call of a function."""
        return self.create_node("call_function", the_function, args, kwargs, name, type_expr)

    def output(self, result: Any, type_expr: Any = None) -> Node:
        """The result."""
        return self.create_node("output", "output", (result,), type_expr=type_expr)

    def output_node(self) -> Node:
        """The step that gives the result."""
        return next(node for node in reversed(self.nodes) if node.op == "output")

    def node_copy(self, node: Node, arg_transform: Callable[[Node], Any] = lambda x: x) -> Node:
        """A copy of a step, of another graph too, with its nodes replaced."""
        args = map_arg(node.args, arg_transform)
        kwargs = map_arg(node.kwargs, arg_transform)
        made = self.create_node(node.op, node.target, args, kwargs, node.name, node.type)
        made.meta = dict(node.meta)
        return made

    def graph_copy(
        self, g: Graph, val_map: dict[Node, Node], return_output_node: bool = False
    ) -> Any:
        """Copies the steps of another graph; gives what its output gives."""
        for node in g.nodes:
            if node in val_map:
                continue
            if node.op == "output":
                result = map_arg(node.args[0], lambda n: val_map[n])
                return (result, node) if return_output_node else result
            val_map[node] = self.node_copy(node, lambda n: val_map[n])
        return None

    # ---- changing it ----------------------------------------------------------------------------
    def inserting_before(self, n: Node | None = None) -> InsertPoint:
        """Puts new steps before a node, before all where none is given, until the context ends.

        Raises:
            AssertionError: for a node of another graph.
        """
        if n is None:
            return self.inserting_after(self._root)
        if n.graph is not self:
            raise AssertionError("Node to insert before is not in graph.")
        return InsertPoint(self, n.prepend)

    def inserting_after(self, n: Node | None = None) -> InsertPoint:
        """Puts new steps after a node, after all where none is given, until the context ends.

        Each of them comes directly after the node, so before those that were put there earlier.

        Raises:
            AssertionError: for a node of another graph.
        """
        if n is None:
            return self.inserting_before(self._root)
        if n.graph is not self:
            raise AssertionError("Node to insert after is not in graph.")
        return InsertPoint(self, n.append)

    def erase_node(self, to_erase: Node) -> None:
        """Removes a step that nothing uses.

        Raises:
            RuntimeError: where something does.
        """
        if to_erase.users:
            raise RuntimeError(
                f"Tried to erase Node {to_erase} but it still had {len(to_erase.users)} users in "
                f"the graph: {to_erase.users}!"
            )
        to_erase._set((), {})
        to_erase._unlink()
        to_erase._erased = True

    def eliminate_dead_code(self, is_impure_node: Callable[[Node], bool] | None = None) -> bool:
        """Removes steps that nothing uses; whether there were any."""
        changed = False
        for node in reversed(self.nodes):
            impure = is_impure_node(node) if is_impure_node else node.is_impure()
            if not impure and not node.users:
                self.erase_node(node)
                changed = True
        return changed

    def lint(self) -> None:
        """Checks that each step uses only what comes before it.

        Raises:
            RuntimeError: where one doesn't.
        """
        seen: set[Node] = set()
        names: set[str] = set()
        for node in self.nodes:
            for used in node.all_input_nodes:
                if used not in seen:
                    raise RuntimeError(
                        f"Argument '{used}' of Node '{node}' was used before it has been defined! "
                        f"Please check that Nodes in the graph are topologically ordered\n{self}"
                    )
            if node.name in names:
                raise RuntimeError(f"Node redefined name {node.name}!")
            seen.add(node)
            names.add(node.name)

    # ---- its Python -----------------------------------------------------------------------------
    def python_code(self, root_module: str = "self", **options: Any) -> PythonCode:
        """The source of a `forward` that does the steps, and what its names stand for."""
        return _Writer(self, root_module).code()

    def __str__(self) -> str:
        return "\n".join(["graph():", *(f"    {node.format_node()}" for node in self.nodes)])

    def print_tabular(self) -> None:
        """Prints a table of the steps."""
        rows = [("opcode", "name", "target", "args", "kwargs")]
        rows += [(n.op, n.name, str(n.target), str(n.args), str(n.kwargs)) for n in self.nodes]
        widths = [max(len(row[i]) for row in rows) for i in range(5)]
        lines = ["  ".join(cell.ljust(w) for cell, w in zip(row, widths)).rstrip() for row in rows]
        lines.insert(1, "  ".join("-" * w for w in widths))
        print("\n".join(lines))

    def __deepcopy__(self, memo: Any = None) -> Graph:
        made = Graph(tracer_cls=self._tracer_cls)
        val_map: dict[Node, Node] = {}
        found = made.graph_copy(self, val_map, return_output_node=True)
        if found is not None:
            made.output(found[0], found[1].type)
        return made


class _Nodes:
    """The steps of a graph in order; `reversed` goes from the last."""

    def __init__(self, graph: Graph) -> None:
        self._root = graph._root

    def __iter__(self) -> Iterator[Node]:
        node = self._root._after
        while node is not self._root:
            following = node._after
            yield node
            node = node._after if not node._erased else following

    def __reversed__(self) -> Iterator[Node]:
        node = self._root._before
        while node is not self._root:
            following = node._before
            yield node
            node = following

    def __len__(self) -> int:
        return sum(1 for _ in self)


def _candidate(op: str, target: Target) -> str:
    if isinstance(target, str):
        name = target.lstrip("*").replace(".", "_")
        return name.lower() if op == "call_module" and name[:1].isupper() else name
    return str(getattr(target, "__name__", type(target).__name__)).strip("_")


class _Writer:
    """Writes a graph as a function."""

    def __init__(self, graph: Graph, root: str) -> None:
        self.graph = graph
        self.root = root
        self.globals: dict[str, Any] = {}

    def _global(self, value: Any, hint: str) -> str:
        name = re.sub(r"[^0-9a-zA-Z_]+", "_", hint) or "value"
        base, number = name, 0
        while self.globals.get(name, value) is not value or name in self.graph._names:
            number += 1
            name = f"{base}_{number}"
        self.globals[name] = value
        return name

    def _value(self, a: Any) -> str:
        if isinstance(a, Node):
            return a.name
        if type(a) is tuple:
            return "(" + "".join(self._value(x) + ", " for x in a).rstrip(" ") + ")"
        if isinstance(a, tuple):  # a named one
            return f"{self._global(type(a), type(a).__name__)}({', '.join(map(self._value, a))})"
        if isinstance(a, list):
            return f"[{', '.join(map(self._value, a))}]"
        if isinstance(a, dict):
            return "{" + ", ".join(f"{k!r}: {self._value(x)}" for k, x in a.items()) + "}"
        if isinstance(a, slice):
            return f"slice({', '.join(self._value(x) for x in (a.start, a.stop, a.step))})"
        if a is None or a is ... or isinstance(a, bool | int | str | bytes):
            return repr(a)
        if isinstance(a, float) and a == a and abs(a) != float("inf"):
            return repr(a)
        return self._global(a, getattr(a, "__name__", str(a) if len(str(a)) < 30 else "value"))

    def _call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
        parts = [self._value(x) for x in args]
        parts += [f"{key} = {self._value(x)}" for key, x in kwargs.items()]
        return ", ".join(parts)

    def _function(self, target: Callable[..., Any]) -> str:
        """A function's name in the code: `torch.relu` where that is what the name finds."""
        name = code_name(target)
        if find_function(name) is not target:
            return self._global(target, getattr(target, "__name__", "function"))
        self.globals["torch"] = find_function("torch")
        return name

    def _line(self, node: Node) -> str:
        target: Any = node.target
        if node.op == "get_attr":
            return f"{node.name} = {_path(self.root, target)}"
        if node.op == "output":
            return f"return {self._value(node.args[0])}"
        if node.op == "call_module":
            called = self._call(node.args, node.kwargs)
            return f"{node.name} = {_path(self.root, target)}({called})"
        if node.op == "call_method":
            rest = self._call(node.args[1:], node.kwargs)
            return f"{node.name} = {self._value(node.args[0])}.{target}({rest})"
        if target in INFIX and not node.kwargs:
            return f"{node.name} = {INFIX[target].format(*map(self._value, node.args))}"
        if target is getattr and len(node.args) == 2 and str(node.args[1]).isidentifier():
            return f"{node.name} = {self._value(node.args[0])}.{node.args[1]}"
        return f"{node.name} = {self._function(target)}({self._call(node.args, node.kwargs)})"

    def code(self) -> PythonCode:
        inputs, lines = [], []
        last = {used: node for node in self.graph.nodes for used in node.all_input_nodes}
        for node in self.graph.nodes:
            if node.op == "placeholder":
                default = f" = {self._value(node.args[0])}" if node.args else ""
                inputs.append(f"{node.target}{default}")
                plain = str(node.target).lstrip("*")
                if plain != node.name:
                    lines.append(f"{node.name} = {plain}")
                continue
            line = self._line(node)
            gone = [used.name for used in node.all_input_nodes if last[used] is node]
            if gone and node.op != "output":
                # Memory is let go of as soon as the last user of a value has run.
                line += ";  " + " = ".join(gone) + " = None"
            lines.append(line)
        body = "".join(f"    {line}\n" for line in lines or ["pass"])
        source = f"\n\n\ndef forward({', '.join([self.root, *inputs])}):\n{body}    "
        return PythonCode(source, self.globals)


def _path(root: str, qualified: str) -> str:
    """`root.a.b`; names that aren't identifiers (`0` of a Sequential) by way of `getattr`."""
    for atom in qualified.split("."):
        root = f"{root}.{atom}" if atom.isidentifier() else f'getattr({root}, "{atom}")'
    return root
