"""How a registered operator is recorded: one node, whose backward is the registered formula."""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Final

from ..._core.mode import current
from ..._core.storage import TensorBase, bump
from ..._table.names.registered_operators import RegisteredOverload
from ..._tensor.dispatch_modes import ask_mode
from ...autograd.function import Function
from ...autograd.grad_mode import no_grad

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..._tensor.tensor import Tensor

_call: Final[ContextVar[Any]] = ContextVar("rushlight_registered_call", default=None)


class Formula:
    """What was registered for an operator's gradient."""

    __slots__ = ("backward", "setup", "vmap", "opaque", "function")

    def __init__(self, opaque: bool) -> None:
        self.backward: Any = None
        self.setup: Any = None
        self.vmap: Any = None
        self.opaque = opaque  # recorded as one node even without a formula
        self.function: Any = None


FORMULAS: Final[dict[RegisteredOverload, Formula]] = {}


def formula_of(overload: RegisteredOverload, opaque: bool = False) -> Formula:
    """What is registered for an operator."""
    found = FORMULAS.get(overload)
    if found is None:
        found = FORMULAS[overload] = Formula(opaque)
    return found


def run(overload: RegisteredOverload, values: list[Any]) -> Any:
    """The result of a call, recorded if need be.

    Raises:
        NotImplementedError: where no kernel for the CPU is registered.
    """
    formula = FORMULAS.get(overload)
    kernel = overload.kernels.get("Autograd") or overload.kernels.get("AutogradCPU")
    if kernel is not None:
        return call_kernel(overload, kernel, values)
    if formula is None or not (formula.opaque or formula.backward is not None):
        return _compute(overload, values)
    flat: list[Any] = []
    for value in values:
        if _is_tensors(value):
            flat.extend(value)
        else:
            flat.append(value)
    mode = current()
    wanted = mode.grad and any(isinstance(v, TensorBase) and v.requires_grad for v in flat)  # type: ignore[attr-defined]
    if overload._schema.is_mutable:
        return _call_writing(overload, values)
    if not wanted and not mode.layers:
        with no_grad():
            return _compute(overload, values)
    if formula.function is None:
        formula.function = _function(overload, formula)
    token = _call.set((overload, values))
    try:
        result = formula.function.apply(*flat)
    finally:
        _call.reset(token)
    return list(result) if _gives_list(overload) and isinstance(result, tuple) else result


def _gives_list(overload: RegisteredOverload) -> bool:
    """Whether the result is a list of tensors."""
    returns = overload._schema.returns
    return len(returns) == 1 and bool(returns[0].is_list)


def _is_tensors(value: Tensor) -> bool:
    return isinstance(value, (list, tuple)) and any(isinstance(v, TensorBase) for v in value)


def call_kernel(overload: RegisteredOverload, kernel: Callable[..., Any], values: list[Any]) -> Any:
    """A kernel's result; parameters after `*` are given by name."""
    params = overload._schema.arguments
    args = [v for p, v in zip(params, values) if not p.kw_only]
    named = {p.name: v for p, v in zip(params, values) if p.kw_only}
    return kernel(*args, **named)


def _compute(overload: RegisteredOverload, values: list[Any]) -> Any:
    """What the kernel gives, or a dispatch mode: it sees the operator, not what that is made of."""
    key = _kernel_key(overload)
    mode = current()
    if not mode.dispatch or key in _SEEN_THROUGH:
        return call_kernel(overload, overload.kernels[key], values)

    def ask(*args: Any, **named: Any) -> Any:
        return ask_mode(mode, overload, (), args, named)

    return call_kernel(overload, ask, values)


def _call_writing(overload: RegisteredOverload, values: list[Any]) -> Any:
    """A call that writes some of its arguments."""
    with no_grad():
        result = _compute(overload, values)
    for p, value in zip(overload._schema.arguments, values):
        if "!" in p.alias:
            for t in value if isinstance(value, (list, tuple)) else (value,):
                if isinstance(t, TensorBase):
                    bump(t)
    return result


#: Kernels made of other operators, which are what modes see.
_SEEN_THROUGH: Final = ("CompositeImplicitAutograd", "")


def _kernel_key(overload: RegisteredOverload) -> str:
    kernels = overload.kernels
    for key in ("CPU", "CompositeExplicitAutograd", *_SEEN_THROUGH):
        if key in kernels:
            return key
    name = f"{overload.namespace}::{overload._opname}"
    raise NotImplementedError(
        f"Could not run '{name}' with arguments from the 'CPU' backend. This could be because the "
        "operator doesn't exist for this backend, or was omitted during the selective/custom "
        f"build process (if using custom build). '{name}' is only available for these backends: "
        f"[{', '.join(sorted(kernels))}]."
    )


def _function(overload: RegisteredOverload, formula: Formula) -> Any:
    """The custom function that calls of an operator are recorded with."""
    stem = f"{overload.namespace}_{overload._opname}_{overload._overloadname}"

    def forward(*flat: Any) -> Any:
        _, values = _call.get()
        with no_grad():
            result = _compute(overload, _restructure(values, list(flat)))
        return tuple(result) if isinstance(result, list) else result

    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        _, values = _call.get()
        values = _restructure(values, list(inputs))
        ctx._shape = [len(v) if _is_tensors(v) else -1 for v in values]
        if formula.setup is None:
            return
        params = overload._schema.arguments
        result = list(output) if _gives_list(overload) else output
        given = tuple(v for p, v in zip(params, values) if not p.kw_only)
        named = {p.name: v for p, v in zip(params, values) if p.kw_only}
        if named:
            formula.setup(ctx=ctx, inputs=given, keyword_only_inputs=named, output=result)
        else:
            formula.setup(ctx=ctx, inputs=given, output=result)

    def backward(ctx: Any, *grads: Any) -> Any:
        if formula.backward is None:
            raise RuntimeError(
                f"Trying to backward through {overload} but no autograd formula was registered. "
                "Please use register_autograd to add one."
            )
        given = (list(grads),) if _gives_list(overload) else grads
        found = formula.backward(ctx, *given)
        if not isinstance(found, tuple):
            found = (found,)
        flat: list[Any] = []
        for size, grad in zip(ctx._shape, (*found, *[None] * len(ctx._shape))):
            if size < 0:
                flat.append(grad)
            else:
                flat.extend([None] * size if grad is None else grad)
        return tuple(flat)

    members: dict[str, Any] = {
        "forward": staticmethod(forward),
        "setup_context": staticmethod(setup_context),
        "backward": staticmethod(backward),
        "__module__": __name__,
    }
    if formula.vmap is not None:

        def vmap(info: Any, in_dims: Any, *args: Any) -> Any:
            return formula.vmap(info, in_dims, *args)

        members["vmap"] = staticmethod(vmap)
    return type(f"GeneratedBackwardFor_{stem}", (Function,), members)


def _restructure(values: list[Any], flat: list[Any]) -> list[Any]:
    """Values as they were given, with the tensors that forward sees."""
    found: list[Any] = []
    for value in values:
        if _is_tensors(value):
            found.append([flat.pop(0) for _ in value])
        else:
            found.append(flat.pop(0))
    return found
