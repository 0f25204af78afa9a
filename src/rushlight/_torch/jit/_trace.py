"""`torch.jit.trace`: the function is called once on the example, then it runs as it stands."""

from __future__ import annotations

from typing import Any

from ...autograd.grad_mode import no_grad
from ...nn.modules.module import Module
from .._jit_internal import TRACING
from ._script import ProgramModule, ScriptFunction, ScriptModule, no_graph, script_module

__all__ = [
    "TopLevelTracedModule", "TracedModule", "TracerWarning", "TracingCheckError",
    "_script_if_tracing", "_trace", "is_tracing", "script_if_tracing", "trace", "trace_module",
]  # fmt: skip


class TracedModule(ProgramModule):
    """What `trace` makes of a module within another; it shares parameters and buffers with it.

    Parameters:
        args: what the module's own class takes; programs call `trace` instead.
    Shapes: those of the module.
    Raises: TypeError: for arguments that the class doesn't take. RuntimeError: where a graph is
        asked for, as by `.graph`: there is none.
    Example:
        >>> made = torch.jit.trace(nn.Sequential(nn.ReLU()), torch.ones(1))
        >>> type(made).__name__, type(made[0]).__name__, made[0].original_name
        ('TopLevelTracedModule', 'TracedModule', 'ReLU')
    """

    def _get_name(self) -> str:
        return self.original_name


class TopLevelTracedModule(TracedModule):
    """What `trace` makes of a module: as those within it.

    Parameters:
        args: what the module's own class takes; programs call `trace` instead.
    Shapes: those of the module.
    Raises: TypeError: for arguments that the class doesn't take. RuntimeError: where a graph is
        asked for, as by `.graph`: there is none.
    Example:
        >>> torch.jit.trace(nn.ReLU(), torch.ones(1))
        ReLU(original_name=ReLU)
    """


def _trace_module(module: Any) -> Any:
    return script_module(module, None, TopLevelTracedModule, TracedModule)


class TracerWarning(Warning):
    """A warning of what a trace wouldn't hold."""

    @staticmethod
    def ignore_lib_warnings() -> None:
        """Does nothing: there are none."""


class TracingCheckError(Exception):
    """A trace that gives other results than the function."""


def is_tracing() -> bool:
    """Whether `trace` is calling its function on the example.

    Returns: True within that call, in its thread.
    Example:
        >>> seen = []
        >>> made = torch.jit.trace(lambda x: seen.append(torch.jit.is_tracing()), torch.ones(1))
        >>> seen, torch.jit.is_tracing()
        ([True], False)
    """
    return TRACING.on


class _Tracing:
    def __enter__(self) -> None:
        self.before, TRACING.on = TRACING.on, True

    def __exit__(self, *exc: object) -> None:
        TRACING.on = self.before


def _run(func: Any, args: Any, kwargs: Any = None) -> None:
    given = (
        args if isinstance(args, tuple) else (tuple(args) if isinstance(args, list) else (args,))
    )
    with _Tracing(), no_grad():
        func(*given, **(kwargs or {}))


def trace(
    func: Any,
    example_inputs: Any = None,
    optimize: Any = None,
    check_trace: bool = True,
    check_inputs: Any = None,
    check_tolerance: float = 1e-5,
    strict: bool = True,
    _force_outplace: bool = False,
    _module_class: Any = None,
    _compilation_unit: Any = None,
    example_kwarg_inputs: Any = None,
    _store_inputs: bool = True,
) -> Any:
    """A traced module or function that runs the program's own code, called once on the example.

    Unlike a trace, what comes back still takes each branch that the values of an input ask for.

    Parameters:
        func: a module, its `forward`, or a function.
        example_inputs: its arguments: a tuple, one value, or a dictionary by name.
        example_kwarg_inputs: its arguments by name.
        optimize, check_trace, check_inputs, check_tolerance, strict: nothing here: there is no
            graph that could differ.
    Returns: a `TopLevelTracedModule` or a `ScriptFunction`.
    Raises: RuntimeError: without an example, and for what can't be called; what the call raises.
    Example:
        >>> made = torch.jit.trace(lambda x: 2 * x, torch.ones(3))
        >>> made(torch.ones(1))
        tensor([2.])
    """
    if isinstance(func, ScriptModule | ScriptFunction):
        return func
    if example_inputs is None and example_kwarg_inputs is None:
        raise RuntimeError("example_kwarg_inputs should be a dict")
    if not callable(func):
        raise RuntimeError("Could not get name of python class object")
    if isinstance(example_inputs, dict):
        example_inputs, example_kwarg_inputs = (), example_inputs
    _run(func, () if example_inputs is None else example_inputs, example_kwarg_inputs)
    if isinstance(func, Module):
        return _trace_module(func)
    owner = getattr(func, "__self__", None)
    if isinstance(owner, Module) and getattr(func, "__name__", "") == "forward":
        return _trace_module(owner)
    return ScriptFunction(func)


def trace_module(mod: Any, inputs: dict[str, Any], *args: Any, **kwargs: Any) -> Any:
    """A traced module; each method that `inputs` names is called once on its example.

    Parameters:
        mod: the module.
        inputs: examples by names of methods: a tuple of arguments, or one value.
        args: others of PyTorch's, which change nothing here; so by name.
    Returns: a `TopLevelTracedModule`.
    Raises: AttributeError: unless `inputs` is a dict from names of methods to examples; what the
        calls raise.
    Example:
        >>> made = torch.jit.trace_module(nn.ReLU(), {"forward": torch.ones(1)})
        >>> made(torch.tensor([-1.0]))
        tensor([0.])
    """
    if not isinstance(inputs, dict):
        raise AttributeError("expected a dictionary of (method_name, input) pairs")
    for name, example in inputs.items():
        _run(mod if name == "forward" else getattr(mod, name), example)
    return _trace_module(mod)


def _get_trace_graph(f: Any, args: Any = (), *rest: Any, **kwargs: Any) -> Any:
    """Raises RuntimeError: there is no graph."""
    no_graph("_get_trace_graph()")


def script_if_tracing(fn: Any) -> Any:
    """The function itself: there is no trace that it would have to be scripted for.

    Parameters:
        fn: the function.
    Returns: the function.
    Raises: nothing.
    Example:
        >>> @torch.jit.script_if_tracing
        ... def twice(x):
        ...     return 2 * x
        >>> twice(torch.ones(1))
        tensor([2.])
    """
    return fn


_script_if_tracing = script_if_tracing
_trace = trace
