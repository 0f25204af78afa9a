"""`torch._dynamo`: the names by which programs steer the capture of graphs, of which there is none.

Settings are kept and decorators give the function back; what would give a graph is an error.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..._base.error_notes import advise
from ..._compile.api import BACKENDS
from .. import compiler
from . import config, exc
from .eval_frame import OptimizedModule

__all__ = [
    "OptimizedModule", "allow_in_graph", "assume_constant_result", "config", "disable",
    "disallow_in_graph", "error_on_graph_break", "exc", "explain", "export", "forbid_in_graph",
    "graph_break", "is_compiling", "is_dynamo_supported", "list_backends", "mark_dynamic",
    "mark_static", "mark_static_address", "maybe_mark_dynamic", "nonstrict_trace", "optimize",
    "optimize_assert", "register_backend", "reset", "reset_code_caches", "run", "set_stance",
    "skip_frame", "substitute_in_graph",
]  # fmt: skip


def _itself(fn: Any) -> Any:
    return fn


allow_in_graph = disallow_in_graph = forbid_in_graph = assume_constant_result = _itself
nonstrict_trace = run = _itself
disable = compiler.disable
is_compiling = compiler.is_compiling


def reset() -> None:
    """Forgets what has been compiled."""
    compiler.reset()


reset_code_caches = reset


def graph_break(msg: str = "") -> None:
    """Does nothing: there is no graph to break."""


skip_frame = graph_break


def is_dynamo_supported() -> bool:
    """False: no bytecode is captured here."""
    return False


def optimize(backend: Any = "inductor", **options: Any) -> Callable[[Any], Any]:
    """A decorator that does what `torch.compile` does."""
    return lambda fn: compiler.compile(fn, backend=backend)


optimize_assert = optimize


def list_backends(exclude_tags: Any = ("debug", "experimental")) -> list[str]:
    """The names that `torch.compile(backend=…)` may be given."""
    hidden = () if not exclude_tags else ("eager", "aot_eager", "onnxrt")
    return sorted(name for name in BACKENDS if not name.startswith(hidden or "\0"))


def register_backend(compiler_fn: Any = None, name: str | None = None, tags: Any = ()) -> Any:
    """The function itself: its name is known from now on, but no graph will be handed to it."""
    found = name or getattr(compiler_fn, "__name__", None)
    if found is not None:
        BACKENDS.add(found)
    return _itself if compiler_fn is None else compiler_fn


def substitute_in_graph(original_fn: Any, **options: Any) -> Callable[[Any], Any]:
    """A decorator that gives the function back."""
    return _itself


class _Nothing:
    """A context, and a decorator, that changes nothing."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: object) -> None:
        pass

    def __call__(self, fn: Any) -> Any:
        return fn


set_stance = error_on_graph_break = _Nothing


def mark_dynamic(t: Any, index: Any, **options: Any) -> None:
    """Does nothing: sizes are what they are at each call."""


maybe_mark_dynamic = mark_dynamic


def mark_static(t: Any, index: Any = None) -> None:
    """Does nothing: sizes are what they are at each call."""


def mark_static_address(t: Any, guard: bool = True) -> None:
    """Does nothing: there is no graph that would hold the address."""


def _no_graph(what: str) -> Any:
    raise advise(
        RuntimeError(f"{what} needs a captured graph, and Rushlight captures none"),
        "run the function as it is; torch.compile takes it, too",
    )


def explain(f: Any, *args: Any, **kwargs: Any) -> Any:
    """Raises RuntimeError: there is no graph to explain."""
    return _no_graph("torch._dynamo.explain")


def export(f: Any, *args: Any, **kwargs: Any) -> Any:
    """Raises RuntimeError: there is no graph to export."""
    return _no_graph("torch._dynamo.export")


_disable_dynamo = disable
