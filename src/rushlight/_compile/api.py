"""`rushlight.compile`, and modules whose calls are compiled."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any, Final, overload

from ..nn.modules.module import Module
from .refusal import InvalidBackend
from .step import STANCE, CompiledStep

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Concatenate, ParamSpec, Protocol, TypeVar

    from .._base.annotations import AnyCallable, Keywords
    from .ir.program import Program

    P = ParamSpec("P")
    Q = ParamSpec("Q")
    R = TypeVar("R", covariant=True)
    T = TypeVar("T")
    S = TypeVar("S", contravariant=True)

    M = TypeVar("M", bound=Module)

    class CompiledFunction(Protocol[P, R]):
        """What `compile` makes of a function, as type checkers see it."""

        def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R: ...
        def __get__(
            self: CompiledFunction[Concatenate[S, Q], R], instance: S, owner: type | None = None
        ) -> Callable[Q, R]: ...
        def explain(self) -> str: ...
        def reset(self) -> None: ...

    class Compiling(Protocol):
        """The decorator that `compile` makes where it is given no function."""

        @overload
        def __call__(self, model: Module, /) -> OptimizedModule: ...
        @overload
        def __call__(self, model: Callable[Concatenate[M, Q], object], /) -> Any: ...
        @overload
        def __call__(self, model: Callable[P, T], /) -> CompiledFunction[P, T]: ...


MODES: Final = (
    "default", "lite", "reduce-overhead", "max-autotune-no-cudagraphs", "max-autotune",
)  # fmt: skip
#: Names by which programs ask for a backend: this one, and those that give an eager run's digits.
BACKENDS: Final = {"inductor", "cudagraphs", "openxla", "tvm", "onnxrt"}
_REPLAYED: Final = ("eager", "aot_eager", "aot_eager_decomp_partition", "eager_noexcept")
BACKENDS.update(_REPLAYED)
_steps: weakref.WeakSet[Any] = weakref.WeakSet()


@overload
def compile(
    model: Module,
    *,
    fullgraph: bool = False,
    dynamic: bool | None = None,
    backend: AnyCallable | str | None = None,
    mode: str | None = None,
    options: Keywords | None = None,
    disable: bool = False,
) -> OptimizedModule: ...
@overload
def compile(  # a method of a module, which checkers must be able to bind
    model: Callable[Concatenate[M, Q], object],
    *,
    fullgraph: bool = False,
    dynamic: bool | None = None,
    backend: AnyCallable | str | None = None,
    mode: str | None = None,
    options: Keywords | None = None,
    disable: bool = False,
) -> Any: ...
@overload
def compile(
    model: Callable[P, T],
    *,
    fullgraph: bool = False,
    dynamic: bool | None = None,
    backend: AnyCallable | str | None = None,
    mode: str | None = None,
    options: Keywords | None = None,
    disable: bool = False,
) -> CompiledFunction[P, T]: ...
@overload
def compile(
    model: None = None,
    *,
    fullgraph: bool = False,
    dynamic: bool | None = None,
    backend: AnyCallable | str | None = None,
    mode: str | None = None,
    options: Keywords | None = None,
    disable: bool = False,
) -> Compiling: ...
def compile(
    model: AnyCallable | None = None,
    *,
    fullgraph: bool = False,
    dynamic: bool | None = None,
    backend: AnyCallable | str | None = None,
    mode: str | None = None,
    options: Keywords | None = None,
    disable: bool = False,
) -> object:
    """The function or module with its calls recorded, then replayed; usable as a decorator.

    The first calls run eagerly while each operation on arrays is noted: forward, backward, writes
    in place, the optimizer's update. When two recordings agree, further calls run the recorded
    program, without a graph and without dispatch. All that the program depends on (shapes, types,
    modes, training flags, parameters, globals and attributes that are read) is checked at each
    call; a call that doesn't fit is recorded anew. What can't be recorded runs eagerly, and
    `explain()` of the result says why and where.

    Where llvmlite is installed, most of a program runs as machine code: elementwise work and
    reductions fused into kernels, matrix products by BLAS, in memory that is planned beforehand.
    Its results differ from eager ones in the last digits; `options={"native": False}` replays the
    program through NumPy instead, which gives the same digits.

    `fullgraph` raises RuntimeError where a step can't be compiled whole. `disable` gives the
    function back. The backends "eager" and "aot_eager" replay through NumPy, all others are this
    one; `dynamic`, `mode` and further options have no effect.

    Raises:
        RuntimeError: for mode and options together, and for a mode or backend that nobody knows.

    Parameters:
        model: a function of tensors, or a module; None: a decorator is made.
        fullgraph: whether a step that can't be compiled whole is an error.
        dynamic: accepted; shapes are part of what is checked.
        backend: "eager" or "aot_eager" for NumPy; None or another name for machine code; a function
            is given the recorded program.
        mode: "default", "reduce-overhead", "max-autotune" or "max-autotune-no-cudagraphs": all mean
            the same.
        options: {"native": False} for NumPy; others have no effect.
        disable: whether the function itself is given back.
    Returns: what can be called as `model`, with `explain()`.
    Example:
        >>> step = torch.compile(lambda x: (x * 2).relu())
        >>> for _ in range(3):
        ...     y = step(torch.tensor([-1.0, 1.0]))
        >>> y
        tensor([0., 2.])
    """
    if model is None:

        def decorate(function: AnyCallable) -> object:
            return compile(function, fullgraph=fullgraph, dynamic=dynamic, backend=backend,
                           mode=mode, options=options, disable=disable)  # fmt: skip

        return decorate
    native = _check_options(mode, options, backend, dynamic)
    if not callable(model):
        raise AssertionError(f"A callable function is expected, but {type(model)} is provided.")
    if disable or getattr(model, "_compile_disabled", False):
        return model
    if isinstance(model, OptimizedModule | CompiledStep):
        return model
    if isinstance(model, Module):
        return OptimizedModule(model, fullgraph, native)
    step = CompiledStep(model, fullgraph=fullgraph, native=native)
    _steps.add(step)
    return step


def _check_options(
    mode: str | None, options: Any, backend: AnyCallable | str | None, dynamic: object
) -> bool:
    """Whether machine code is wanted, after a look at all that may be said.

    Raises:
        RuntimeError, AssertionError: for what nobody knows, in PyTorch's words.
    """
    if mode is not None and options is not None:
        raise RuntimeError(
            "Either mode or options can be specified, but both can't be specified at the same time."
        )
    if mode is not None and mode not in MODES:
        known = ", ".join(MODES)
        raise RuntimeError(f"Unrecognized mode={mode}, should be one of: {known}")
    if isinstance(backend, str) and backend not in BACKENDS:
        raise InvalidBackend(
            f"Invalid backend: {backend!r}, see `torch._dynamo.list_backends()` for available "
            "backends."
        )
    if dynamic is not None and not isinstance(dynamic, bool):
        raise AssertionError(f"Expected enable to be a bool, got {type(dynamic)}")
    return bool(dict(options or {}).get("native", backend not in _REPLAYED))


class OptimizeContext:
    """How a module is compiled; called with a function, it compiles that in the same way."""

    def __init__(self, fullgraph: bool, native: bool) -> None:
        self.fullgraph = fullgraph
        self.export = False
        self.compiler_config: object = None
        self.native = native

    def __call__(self, fn: AnyCallable) -> Any:
        options = {"native": self.native}
        return compile(fn, fullgraph=self.fullgraph, options=options)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: object) -> None:
        pass


class OptimizedModule(Module):
    """A module whose calls are compiled; its parameters are those of `_orig_mod`."""

    _orig_mod: Module

    def __init__(self, module: Module, fullgraph: bool = False, native: bool = True) -> None:
        super().__init__()
        self._orig_mod = module
        self.__dict__["_step"] = CompiledStep(module, fullgraph=fullgraph, native=native)
        self.__dict__["training"] = module.training
        self.__dict__["dynamo_ctx"] = OptimizeContext(fullgraph, native)
        _steps.add(self._step)

    def __call__(self, *args: object, **kwargs: object) -> Any:
        own = self.__dict__
        if (own["_forward_hooks"] or own["_forward_pre_hooks"] or own["_backward_hooks"]
                or own["_backward_pre_hooks"]):  # fmt: skip
            return super().__call__(*args, **kwargs)
        return own["_step"](*args, **kwargs)

    def forward(self, *args: object, **kwargs: object) -> Any:
        """What the module gives."""
        return self.__dict__["_step"](*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        if name == "_orig_mod":
            return self._modules["_orig_mod"]
        return getattr(self._modules["_orig_mod"], name)

    def __setattr__(self, name: str, value: object) -> None:
        inner = self.__dict__.get("_modules", {}).get("_orig_mod")
        if inner is None or name == "_orig_mod":
            super().__setattr__(name, value)
        elif name in self.__dict__:
            self.__dict__[name] = value
            if name == "training":
                inner.training = value
        else:
            setattr(inner, name, value)

    def __delattr__(self, name: str) -> None:
        delattr(self._orig_mod, name)

    @property
    def program(self) -> Program:
        """The program that was compiled last."""
        return self.__dict__["_step"].program

    def explain(self) -> str:
        """Whether calls are compiled, and if not, why."""
        return self.__dict__["_step"].explain()


def reset() -> None:
    """Forgets every program that has been compiled."""
    for step in list(_steps):
        step.reset()


def stance(name: str) -> None:
    """Has compiled steps run eagerly, or not be recorded anew, or as usual."""
    STANCE.off = name in ("force_eager", "eager_on_recompile")
    STANCE.strict = name == "fail_on_recompile"
    for step in list(_steps):
        step.hide(name == "force_eager")
