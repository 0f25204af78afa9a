"""Scripted functions and modules: PyTorch's objects around the program's own Python."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, NoReturn, overload

from ..._base.error_notes import advise
from ..._table import namespace
from ..._tensor.tensor import Tensor
from ...nn.modules.module import Module
from .files import save

__all__ = [
    "CompilationUnit", "Error", "RecursiveScriptModule", "ScriptFunction", "ScriptModule",
    "ScriptWarning", "freeze", "interface", "no_graph", "optimize_for_inference",
    "run_frozen_optimizations", "script", "script_method",
]  # fmt: skip


class Error(Exception):
    """An error in scripted code."""


class ScriptWarning(Warning):
    """A warning of the compiler of scripts."""


def no_graph(what: str) -> NoReturn:
    """Says that something needs a graph, which isn't made.

    Raises:
        RuntimeError: always.
    """
    raise advise(
        RuntimeError(
            f"{what} needs a TorchScript graph, and Rushlight runs scripted code as Python: there "
            "is none"
        ),
        "call the function or module itself; to keep a model, save its state_dict()",
    )


class _WithoutGraph:
    """The attributes that only a graph could fill."""

    _is_scripted = True

    @property
    def graph(self) -> Any:
        """Raises RuntimeError: there is no graph."""
        no_graph(".graph")

    @property
    def inlined_graph(self) -> Any:
        """Raises RuntimeError: there is no graph."""
        no_graph(".inlined_graph")

    @property
    def code_with_constants(self) -> Any:
        """Raises RuntimeError: there is no graph."""
        no_graph(".code_with_constants")

    def graph_for(self, *args: Any, **kwargs: Any) -> Any:
        """Raises RuntimeError: there is no graph."""
        no_graph("graph_for()")


class ScriptFunction(_WithoutGraph):
    """A function under `torch.jit.script` or `trace`; calling it calls the function.

    Parameters:
        fn: the function.
    Raises: nothing.
    Example:
        >>> @torch.jit.script
        ... def twice(x):
        ...     return x * 2
        >>> type(twice).__name__, twice(torch.ones(1))
        ('ScriptFunction', tensor([2.]))
    """

    def __init__(self, fn: Callable[..., Any]) -> None:
        functools.update_wrapper(self, fn)
        self._fn = fn

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._fn(*args, **kwargs)

    def __get__(self, instance: Any, owner: type[Any] | None = None) -> Callable[..., Any]:
        return self if instance is None else functools.partial(self._fn, instance)

    @property
    def name(self) -> str:
        """The name of the function."""
        name: str = getattr(self._fn, "__name__", type(self._fn).__name__)
        return "_lambda" if name == "<lambda>" else name

    @property
    def qualified_name(self) -> str:
        """The name as TorchScript writes it."""
        module = getattr(self._fn, "__module__", "__main__")
        return (
            f"__torch__.{self.name}" if module == "__main__" else f"__torch__.{module}.{self.name}"
        )

    @property
    def code(self) -> str:
        """The Python source of the function."""
        return inspect.getsource(self._fn)

    @property
    def schema(self) -> Any:
        """Raises RuntimeError: there is no graph."""
        no_graph(".schema")

    def save(self, f: Any, **kwargs: Any) -> None:
        """Writes the function to a file, as `torch.jit.save` does."""
        save(self, f)

    def __reduce__(self) -> Any:
        return type(self), (self._fn,)

    def __deepcopy__(self, memo: Any) -> ScriptFunction:
        return self


class ScriptModule(_WithoutGraph, Module):
    """A module of scripted methods: here a module like any other.

    Parameters:
        args: what `nn.Module` takes: nothing.
    Shapes: those of the module.
    Raises: TypeError: for arguments.
    Example:
        >>> isinstance(torch.jit.ScriptModule(), nn.Module)
        True
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)

    @property
    def original_name(self) -> str:
        """The name of the class that the program has written."""
        return type(self).__name__

    @property
    def code(self) -> str:
        """The Python source of `forward`."""
        return inspect.getsource(_class_text(self).forward)

    def save(self, f: Any, **kwargs: Any) -> None:
        """Writes the module to a file, as `torch.jit.save` does."""
        save(self, f, **kwargs)

    def save_to_buffer(self, **kwargs: Any) -> bytes:
        """The bytes that `save` would write."""
        import io

        buffer = io.BytesIO()
        self.save(buffer, **kwargs)
        return buffer.getvalue()

    def get_debug_state(self, *args: Any, **kwargs: Any) -> Any:
        """Raises RuntimeError: there is no graph."""
        no_graph("get_debug_state()")


class ProgramModule(ScriptModule):
    """A module of a class that a program has written, under a class of PyTorch's."""

    _program_class: type
    _base_class: type

    @property
    def original_name(self) -> str:
        """The name of the class that the program has written."""
        return self._program_class.__name__

    @property
    def _c(self) -> Any:
        no_graph("._c")

    def extra_repr(self) -> str:
        """The name of the class, as PyTorch shows it."""
        return f"original_name={self.original_name}"

    def __reduce__(self) -> Any:
        return _rebuild, (self._program_class, dict(self.__dict__), self._base_class)


class RecursiveScriptModule(ProgramModule):
    """What `script` makes of a module; it shares all parameters and buffers with it.

    Parameters:
        args: what the module's own class takes; programs call `script` instead.
    Shapes: those of the module.
    Raises: TypeError: for arguments that the class doesn't take. RuntimeError: where a graph is
        asked for, as by `.graph`: there is none.
    Example:
        >>> layer = nn.Linear(2, 1)
        >>> made = torch.jit.script(layer)
        >>> type(made).__name__, made.original_name, made.weight is layer.weight
        ('RecursiveScriptModule', 'Linear', True)
    """

    def _get_name(self) -> str:
        return "RecursiveScriptModule"


def _class_text(module: Any) -> Any:
    return getattr(type(module), "_program_class", type(module))


def _rebuild(program_class: type, state: dict[str, Any], base: type = RecursiveScriptModule) -> Any:
    cls = make_scripted_class(program_class, base)
    made = cls.__new__(cls)
    made.__dict__.update(state)
    return made


@functools.cache
def make_scripted_class(cls: type, base: type = RecursiveScriptModule) -> Any:
    """The class of scripted modules of a class: its own methods, PyTorch's name and display."""
    body = {"_program_class": cls, "_base_class": base, "__module__": base.__module__}
    made = type(base.__name__, (base, cls), body)
    made.__qualname__ = base.__name__
    return made


def script_module(
    module: Any,
    seen: dict[int, Any] | None = None,
    base: type = RecursiveScriptModule,
    within: type = RecursiveScriptModule,
) -> Any:
    """A module over the same parameters, buffers and attributes, and its submodules likewise.

    Args:
        module: the module; one that is scripted already stays as it is.
        seen: what has been made, by the address of what it was made of.
        base: the class that says what it is; `within`: that of its submodules.
    """
    if isinstance(module, ScriptModule):
        return module
    seen = {} if seen is None else seen
    if id(module) in seen:
        return seen[id(module)]
    kind: Any = type(module)
    cls = make_scripted_class(kind, base)
    made = cls.__new__(cls)
    seen[id(module)] = made
    made.__dict__.update(module.__dict__)
    children = module._modules
    made.__dict__["_modules"] = type(children)(
        (name, None if child is None else script_module(child, seen, within, within))
        for name, child in children.items()
    )
    return made


@overload
def script(
    obj: Module,
    optimize: Any = None,
    _frames_up: int = 0,
    _rcb: Any = None,
    example_inputs: Any = None,
) -> RecursiveScriptModule: ...
@overload
def script(
    obj: object,
    optimize: Any = None,
    _frames_up: int = 0,
    _rcb: Any = None,
    example_inputs: Any = None,
) -> Any: ...
def script(
    obj: Any,
    optimize: Any = None,
    _frames_up: int = 0,
    _rcb: Any = None,
    example_inputs: Any = None,
) -> Any:
    """A scripted module or function that runs the program's own code; a class is given back.

    Parameters:
        obj: a module, a function, or a class.
        optimize, example_inputs: nothing here.
    Returns: a `RecursiveScriptModule`, a `ScriptFunction`, or what was given.
    Raises:
        TypeError: for an object of a builtin class, as a number.
        RuntimeError: for a class of modules.
    Example:
        >>> @torch.jit.script
        ... def twice(x):
        ...     return 2 * x
        >>> twice(torch.ones(1))
        tensor([2.])
        >>> torch.jit.script(nn.ReLU())
        RecursiveScriptModule(original_name=ReLU)
    """
    if isinstance(obj, ScriptModule | ScriptFunction):
        return obj
    if isinstance(obj, Module):
        return script_module(obj)
    if inspect.isclass(obj):
        if issubclass(obj, Module):
            raise RuntimeError(
                f"Type '{obj}' cannot be compiled since it inherits from nn.Module, consider "
                "passing an instance instead"
            )
        return obj
    if isinstance(obj, dict | list):
        return obj
    if inspect.isroutine(obj) or inspect.ismethod(obj):
        return ScriptFunction(obj)
    if type(obj).__module__ == "builtins":
        raise TypeError(f"{type(obj)} is a built-in class")
    if callable(obj):
        return ScriptFunction(obj)
    return obj


def script_method(fn: Any) -> Any:
    """The method itself; usable in classes derived from `ScriptModule`.

    Parameters:
        fn: the method.
    Returns: the method.
    Raises: nothing.
    Example:
        >>> class Twice(torch.jit.ScriptModule):
        ...     @torch.jit.script_method
        ...     def forward(self, x):
        ...         return 2 * x
        >>> Twice()(torch.ones(1))
        tensor([2.])
    """
    return fn


def interface(obj: Any) -> Any:
    """The class itself, which describes what modules can do.

    Parameters:
        obj: the class, whose methods have no bodies.
    Returns: the class.
    Raises: RuntimeError: for anything but a class.
    Example:
        >>> @torch.jit.interface
        ... class Scales:
        ...     def scale(self, x: torch.Tensor) -> torch.Tensor: ...
        >>> Scales.__name__
        'Scales'
    """
    if not inspect.isclass(obj):
        raise RuntimeError("interface must be applied to a class")
    setattr(obj, "__torch_script_interface__", True)  # noqa: B010
    return obj


def freeze(
    mod: Any,
    preserved_attrs: Any = None,
    optimize_numerics: bool = True,
    preserve_parameters: bool = False,
) -> Any:
    """The module itself, whose parameters are taken for constants.

    Parameters:
        mod: a scripted or traced module, in eval mode.
        preserved_attrs: names of attributes that would stay; with them a module in training is
            taken.
        optimize_numerics, preserve_parameters: nothing here.
    Returns: the module.
    Raises: RuntimeError: for a module that isn't scripted, and in training.
    Example:
        >>> torch.jit.freeze(torch.jit.script(nn.ReLU().eval()))(torch.tensor([-1.0]))
        tensor([0.])
    """
    if not isinstance(mod, ScriptModule):
        raise RuntimeError(
            "Freezing expects a ScriptModule as input. Please use torch.jit.script or "
            "torch.jit.trace to script your 'nn.Module'."
        )
    if mod.training and not preserved_attrs:
        raise RuntimeError(
            "Freezing is currently only implemented for modules in eval mode. Please call .eval() "
            "on your module before freezing."
        )
    return mod


def run_frozen_optimizations(
    mod: Any, optimize_numerics: bool = True, preserved_methods: Any = None
) -> None:
    """Does nothing: there is no graph to improve.

    Parameters:
        mod: a frozen module.
        optimize_numerics, preserved_methods: nothing here.
    Raises: nothing.
    Example:
        >>> torch.jit.run_frozen_optimizations(torch.jit.script(nn.ReLU().eval()))
    """


def optimize_for_inference(mod: Any, other_methods: Any = None) -> Any:
    """The module itself: there is no graph to improve.

    Parameters:
        mod: a scripted or traced module.
        other_methods: nothing here.
    Returns: the module.
    Raises: nothing.
    Example:
        >>> model = torch.jit.script(nn.ReLU().eval())
        >>> torch.jit.optimize_for_inference(model) is model
        True
    """
    return mod


class CompilationUnit:
    """Functions given as text in TorchScript: defined as the Python that the text is, too.

    Parameters:
        lang: the text; empty: nothing yet.
    Raises: SyntaxError: for what Python doesn't read. TypeError: for anything but text.
    Example:
        >>> unit = torch.jit.CompilationUnit("def twice(x): return x * 2")
        >>> unit.twice(torch.ones(1))
        tensor([2.])
    """

    def __init__(self, lang: str = "", _frames_up: int = 0) -> None:
        if not isinstance(lang, str):
            raise TypeError(
                "__init__(): incompatible constructor arguments. The following argument types are "
                "supported:\n    1. torch._C.CompilationUnit(lang: str = '', _frames_up: "
                "typing.SupportsInt | typing.SupportsIndex = 0)\n\nInvoked with: "
                f"{lang!r}{f', {_frames_up!r}' if _frames_up else ''}"
            )
        self._functions: dict[str, ScriptFunction] = {}
        self.define(lang)

    def define(self, lang: str, rcb: Any = None, _frames_up: int = 0) -> None:
        """Adds the functions of a text."""
        import textwrap

        torch = namespace("").module("the functions of a compilation unit")
        names: dict[str, Any] = {"torch": torch, "Tensor": Tensor}
        before = set(names)
        exec(compile(textwrap.dedent(lang), "<torch.jit.CompilationUnit>", "exec"), names)
        for name in set(names) - before - {"__builtins__"}:
            self._functions[name] = ScriptFunction(names[name])

    def __getattr__(self, name: str) -> ScriptFunction:
        found: ScriptFunction | None = self.__dict__.get("_functions", {}).get(name)
        if found is None:
            raise AttributeError(f"'CompilationUnit' has no attribute '{name}'")
        return found
