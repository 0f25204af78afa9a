"""One step of a graph: what is called, with which values, and who uses the result."""

from __future__ import annotations

import builtins
import operator
import sys
import types
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeAlias

from ..._base.own_packages import is_own

if TYPE_CHECKING:
    from .graph import Graph

__all__ = ["Argument", "Node", "Target", "has_side_effect", "map_aggregate", "map_arg"]

Argument: TypeAlias = Any
Target: TypeAlias = Callable[..., Any] | str

_side_effects: set[Any] = {builtins.print}


def has_side_effect(fn: Any) -> Any:
    """Has a graph keep the calls of a function where nothing uses their results.

    Parameters:
        fn: the function; usable as a decorator.
    Returns: the function itself.
    Raises: TypeError: for what can't be hashed.
    Example:
        >>> @torch.fx.has_side_effect
        ... def report(x):
        ...     print("here")
        >>> graph = torch.fx.Graph()
        >>> step = graph.call_function(report, (graph.placeholder("x"),))
        >>> step.is_impure()
        True
    """
    _side_effects.add(fn)
    return fn


def map_aggregate(a: Any, fn: Callable[[Any], Any]) -> Any:
    """`a` with `fn` applied to all that its tuples, lists, dicts and slices hold."""
    if isinstance(a, tuple):
        parts = [map_aggregate(x, fn) for x in a]
        return type(a)(*parts) if hasattr(a, "_fields") else tuple(parts)
    if isinstance(a, list):
        return [map_aggregate(x, fn) for x in a]
    if isinstance(a, dict):
        return {key: map_aggregate(x, fn) for key, x in a.items()}
    if isinstance(a, slice):
        return slice(*(map_aggregate(x, fn) for x in (a.start, a.stop, a.step)))
    return fn(a)


def map_arg(a: Any, fn: Callable[[Node], Any]) -> Any:
    """Applies a function to all nodes that tuples, lists, dictionaries and slices hold.

    Parameters:
        a: the arguments of a step, or a part of them.
        fn: a function of a node.
    Returns: the same, with what the function gives in the nodes' places.
    Raises: AssertionError: for a `fn` that can't be called.
    Example:
        >>> x = torch.fx.Graph().placeholder("x")
        >>> torch.fx.map_arg({"a": [x, 1]}, lambda node: node.name)
        {'a': ['x', 1]}
    """
    if not callable(fn):
        raise AssertionError("torch.fx.map_arg(a, fn): fn must be a callable")
    return map_aggregate(a, lambda x: fn(x) if isinstance(x, Node) else x)


class Node:
    """A step of a graph: what is called, with which values, and who uses the result.

    Parameters:
        graph: the graph, whose methods make steps.
        name: its name, once in the graph.
        op: "placeholder", "get_attr", "call_function", "call_method", "call_module" or "output".
        target: the function, or the name of a method, a module, an attribute or an input.
        args: the positional arguments; nodes stand for their results.
        kwargs: the arguments by name.
        return_type: the type of the result.
    Raises: TypeError: for other parameters.
    Example:
        >>> node = torch.fx.symbolic_trace(torch.relu).graph.find_nodes(op="call_function")[0]
        >>> node.name, node.target is torch.relu, node.args
        ('relu', True, (input_1,))
        >>> list(node.users)
        [output]
    """

    def __init__(
        self,
        graph: Graph,
        name: str,
        op: str,
        target: Target,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        return_type: Any = None,
    ) -> None:
        self.graph = graph
        self.name = name
        self.op = op
        self.target = target
        self.type = return_type
        self.meta: dict[str, Any] = {}
        self.users: dict[Node, None] = {}
        self._args: tuple[Any, ...] = ()
        self._kwargs: dict[str, Any] = {}
        self._inputs: dict[Node, None] = {}
        self._before: Node = self
        self._after: Node = self
        self._erased = False
        self._set(args, kwargs)

    # ---- what it is made of ---------------------------------------------------------------------
    def _set(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        for old in self._inputs:
            old.users.pop(self, None)
        self._args, self._kwargs, self._inputs = args, kwargs, {}

        def note(node: Node) -> Node:
            self._inputs[node] = None
            node.users[self] = None
            return node

        map_arg((args, kwargs), note)

    @property
    def args(self) -> tuple[Any, ...]:
        """The positional arguments; nodes stand for values."""
        return self._args

    @args.setter
    def args(self, args: tuple[Any, ...]) -> None:
        self._set(tuple(args), self._kwargs)

    @property
    def kwargs(self) -> dict[str, Any]:
        """The arguments by name."""
        return self._kwargs

    @kwargs.setter
    def kwargs(self, kwargs: dict[str, Any]) -> None:
        self._set(self._args, dict(kwargs))

    @property
    def all_input_nodes(self) -> list[Node]:
        """The nodes among the arguments, each once."""
        return list(self._inputs)

    def update_arg(self, idx: int, arg: Any) -> None:
        """Replaces a positional argument."""
        args = list(self._args)
        args[idx] = arg
        self.args = tuple(args)

    def update_kwarg(self, key: str, arg: Any) -> None:
        """Replaces an argument by name."""
        self.kwargs = {**self._kwargs, key: arg}

    def insert_arg(self, idx: int, arg: Any) -> None:
        """Inserts a positional argument."""
        args = list(self._args)
        args.insert(idx, arg)
        self.args = tuple(args)

    def replace_input_with(self, old_input: Node, new_input: Node) -> None:
        """Has the step use another node's value in place of one's."""
        swap: Callable[[Node], Any] = lambda n: new_input if n is old_input else n  # noqa: E731
        self._set(map_arg(self._args, swap), map_arg(self._kwargs, swap))

    def replace_all_uses_with(
        self,
        replace_with: Node,
        delete_user_cb: Callable[[Node], bool] = lambda user: True,
        *,
        propagate_meta: bool = False,
    ) -> list[Node]:
        """Has all that use this node's value use another's; gives those who did."""
        if propagate_meta:
            replace_with.meta.update(self.meta)
        changed = []
        for user in list(self.users):
            if delete_user_cb(user):
                user.replace_input_with(self, replace_with)
                changed.append(user)
        return changed

    def is_impure(self, impure_random: bool = True) -> bool:
        """Whether the step must stay even where nothing uses its result."""
        if self.op in ("placeholder", "output"):
            return True
        return self.op == "call_function" and self.target in _side_effects

    # ---- where it stands ------------------------------------------------------------------------
    @property
    def next(self) -> Node:
        """The step after."""
        return self._after

    @property
    def prev(self) -> Node:
        """The step before."""
        return self._before

    def prepend(self, x: Node) -> None:
        """Moves a step to before this one."""
        if x is self:
            return
        x._unlink()
        before = self._before
        before._after, x._before = x, before
        x._after, self._before = self, x

    def append(self, x: Node) -> None:
        """Moves a step to after this one."""
        self._after.prepend(x)

    def _unlink(self) -> None:
        self._before._after, self._after._before = self._after, self._before
        self._before = self._after = self

    # ---- how it is written ----------------------------------------------------------------------
    def _pretty_print_target(self, target: Any) -> str:
        return target if isinstance(target, str) else code_name(target)

    def format_node(self, *args: Any, **kwargs: Any) -> str | None:
        """The step as a line."""
        if self.op == "output":
            return f"return {self._args[0]}"
        start = f"%{self.name} : [num_users={len(self.users)}] = {self.op}"
        target = self._pretty_print_target(self.target)
        if self.op == "placeholder":
            default = f"(default={self._args[0]})" if self._args else ""
            return f"{start}[target={target}]{default}"
        if self.op == "get_attr":
            return f"{start}[target={target}]"
        shown = _percent(self._args), _percent(self._kwargs)
        return f"{start}[target={target}](args = {shown[0]}, kwargs = {shown[1]})"

    def __repr__(self) -> str:
        return self.name

    def __iter__(self) -> Iterator[Any]:
        raise TypeError(f"'{type(self).__name__}' object is not iterable")


def _percent(a: Any) -> str:
    """An argument as a graph's listing writes it: nodes with a sign, words without quotes."""
    if isinstance(a, Node):
        return f"%{a.name}"
    if isinstance(a, list):
        return f"[{', '.join(map(_percent, a))}]"
    if isinstance(a, tuple) and not hasattr(a, "_fields"):
        return f"({', '.join(map(_percent, a))}{',' if len(a) == 1 else ''})"
    if isinstance(a, dict):
        return "{" + ", ".join(f"{key}: {_percent(x)}" for key, x in a.items()) + "}"
    return str(a)


def code_name(func: Callable[..., Any]) -> str:
    """A function's name in code: with its module, `torch` for those of Rushlight."""
    name: str = getattr(func, "__name__", None) or type(func).__name__
    if getattr(builtins, name, None) is func:
        return f"builtins.{name}"
    module = getattr(func, "__module__", None) or ""
    if isinstance(func, types.BuiltinFunctionType) and module == "_operator":
        return f"operator.{name}"
    if is_own(module):
        # A function of the table is known by the place where programs find it.
        place = ".nn.functional" if ".nn" in module else ""
        return f"torch{place}.{name}"
    return f"{module}.{name}" if module else str(name)


def find_function(name: str) -> Any:
    """The function that a name such as `torch.relu` finds here; None for any other name."""
    first, *rest = name.split(".")
    value: Any = sys.modules[__name__.partition(".")[0]] if first == "torch" else None
    for part in rest:
        value = getattr(value, part, None)
    return value


#: How the functions of operators are written between their arguments.
INFIX: dict[Any, str] = {
    operator.add: "{} + {}", operator.sub: "{} - {}", operator.mul: "{} * {}",
    operator.truediv: "{} / {}", operator.floordiv: "{} // {}", operator.mod: "{} % {}",
    operator.lt: "{} < {}", operator.le: "{} <= {}", operator.gt: "{} > {}",
    operator.ge: "{} >= {}", operator.eq: "{} == {}", operator.ne: "{} != {}",
    operator.matmul: "{} @ {}", operator.pow: "{} ** {}", operator.and_: "{} & {}",
    operator.or_: "{} | {}", operator.xor: "{} ^ {}", operator.getitem: "{}[{}]",
    operator.neg: "-{}", operator.pos: "+{}", operator.invert: "~{}",
}  # fmt: skip
