"""Derivatives of functions as functions: `grad`, `vjp`, `jvp`, `jacrev`, `jacfwd`, `hessian`.

Note [Levels without wrappers]
Each transform gives the function aliases of its arguments: connected to whatever graph the
arguments are in, so that an outer transform sees through them, and differentiates with respect to
those aliases. Results keep a graph only where what the function did leads to more than the aliases:
to an outer transform's, or to tensors of the caller that require grad.

Under vmap an alias has all the batch dimensions that are open, even where the argument had none:
then each example has its own gradient. The graph is that of the whole batches, so one backward over
arrays gives the gradients of all examples.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, Literal, cast, overload

from .._array import types as T
from .._base import errors
from .._base.dtypes import promote_types
from .._core.mode import CURRENT, derive, ready
from .._core.run import DERIVATIVES, FORWARD, TRANSFORMS, Derivative
from .._core.slow import record
from .._core.storage import TensorBase, new_tensor, version_cell, version_of
from .._core.views import view_target
from .._table import PUBLIC
from .._table.rows.row import ROWS
from .._tensor.batching import BatchedTensor, Layer, expand_over, gather_layers
from .._tensor.printed_levels import ENDS
from ..autograd.backward import grad as autograd_grad
from ..autograd.edges import GradientEdge
from ..autograd.grad_mode import inference_mode
from ._captures import find_captured
from ._checks import only_tensors, refuse_discrete, refuse_discrete_outputs
from ._tree import Spec, flatten, format_spec, picture, tree_map, unflatten

if TYPE_CHECKING:
    from .._base.annotations import AnyCallable, Arguments
    from .._tensor.tensor import Tensor


class Level:
    """A transform that is running: counted in this context, which records for a derivative."""

    def __init__(self, forward: bool = False, derivative: bool = True,
                 function: object = None, given: tuple[object, ...] = ()) -> None:  # fmt: skip
        self.forward = forward
        self.derivative = derivative
        self.captured = find_captured(function, given) if derivative else []

    # See Note [A context that is interrupted] in `autograd.grad_mode`.
    def __enter__(self) -> None:
        mode = self.mode = ready()
        if self.derivative and not self.forward and mode.saved_hooks:
            raise RuntimeError(NO_SAVED_HOOKS)
        self.before = TRANSFORMS.get(), FORWARD.get()
        self.around = around = DERIVATIVES.get()
        try:
            TRANSFORMS.set(self.before[0] + 1)
            if self.derivative:
                running = Derivative(len(mode.layers), self.forward, self.captured)
                DERIVATIVES.set((*around, running))
            if self.forward:
                FORWARD.set(self.before[1] + 1)
                CURRENT.set(derive(mode, grad=True, forward_grad=True, inference=False))
            elif self.derivative:
                CURRENT.set(
                    derive(mode, grad=True, inference=False, saved_hooks_off=NO_SAVED_HOOKS)
                )
        except BaseException:
            self._restore()
            raise

    def __exit__(self, *exc: object) -> None:
        try:
            self._restore()
        except BaseException:
            self._restore()
            raise

    def _restore(self) -> None:
        TRANSFORMS.set(self.before[0])
        for derivative in DERIVATIVES.get()[len(self.around) :]:
            derivative.end()
        DERIVATIVES.set(self.around)
        mode, now = self.mode, ready()
        if self.forward:
            FORWARD.set(self.before[1])
            former = mode.forward_grad
            CURRENT.set(derive(now, grad=mode.grad, forward_grad=former, inference=mode.inference))
        elif self.derivative:
            off = mode.saved_hooks_off
            CURRENT.set(derive(now, grad=mode.grad, inference=mode.inference, saved_hooks_off=off))


NO_SAVED_HOOKS: Final = (
    "torch.func.{grad, vjp, jacrev, hessian} don't yet support saved tensor hooks. Please open an "
    "issue with your use case."
)


class _Outside:
    """A context outside of all vmaps: what runs there meets whole batches."""

    def __enter__(self) -> None:
        self.mode = mode = ready()
        try:
            CURRENT.set(derive(mode, layers=()) if mode.layers else mode)
        except BaseException:
            CURRENT.set(mode)
            raise

    def __exit__(self, *exc: object) -> None:
        try:
            CURRENT.set(self.mode)
        except BaseException:
            CURRENT.set(self.mode)
            raise


def _zeros(x: Tensor) -> Any:
    return PUBLIC[("", "zeros_like")](x)


def _alias(x: Tensor) -> Tensor:
    """A tensor to differentiate with respect to, still connected to what `x` came from."""
    if x.requires_grad or isinstance(x, BatchedTensor):
        return PUBLIC[("", "clone")](x)
    if x._inference:  # a tensor of inference mode would stay out of the graph
        return _asking(cast("Tensor", new_tensor(x._raw)))
    return _asking(x.detach())


def _writable(leaf: Tensor) -> Tensor:
    """A tensor over the memory of a leaf that a function may write to: its history says so."""
    if leaf._layered or ready().inference:
        return PUBLIC[("", "clone")](leaf)
    made = new_tensor(leaf._raw)
    record(ROWS["clone"][0].op, [leaf], [leaf._raw], [made], 1, ready(), None)
    made._cell = version_cell(leaf)
    return cast("Tensor", made)


def _asking(x: Tensor) -> Tensor:
    """A leaf that requires grad."""
    x._requires_grad = True
    return x


def _requires(x: Tensor) -> bool:
    """Whether a tensor, or the batch behind it, requires grad."""
    while isinstance(x, BatchedTensor):
        x = x._value
    return isinstance(x, TensorBase) and (x._requires_grad or x.requires_grad)


class Aliases:
    """The leaves of some arguments as aliases to differentiate with respect to."""

    __slots__ = ("layers", "leaves", "keep", "shown", "ends")

    def __init__(self, values: Arguments, writable: bool = False) -> None:
        for x in values:
            if not isinstance(x, TensorBase):
                raise ValueError(f"Thing passed to transform API must be Tensor, got {type(x)}")
            if T.is_discrete(x._raw.dtype):
                raise RuntimeError("only Tensors of floating point dtype can require gradients")
        self.layers: tuple[Layer, ...] = ready().layers
        self.keep = any(_requires(x) for x in values)
        with _Outside():
            self.leaves = [_alias(expand_over(x, self.layers)) for x in values]
            shown = [_writable(x) for x in self.leaves] if writable else self.leaves
        #: Where gradients end: a write gives what is shown another node.
        self.ends: list[Any] = self.leaves
        if writable:
            nodes: list[Any] = [x._node for x in shown]
            self.ends = [
                x if node is None else GradientEdge(node, 0) for x, node in zip(self.leaves, nodes)
            ]
        self.shown = [gather_layers(x, self.layers) for x in shown]
        running = DERIVATIVES.get()[-1]
        running.ends.update(map(view_target, self.leaves))
        for x in self.leaves:
            if x._node is None:
                x.__dict__[ENDS] = running

    def look_at(self, results: object) -> None:
        """Notes whether results depend on more than the aliases."""
        if not self.keep:
            self.keep = leads_elsewhere(flatten(results)[0], self.leaves)

    def whole(self, t: Any) -> Any:
        """A tensor with the batch dimensions of the aliases as ordinary ones."""
        if not self.layers:
            return t
        with _Outside():
            return expand_over(t, self.layers)

    def settle(self, t: TensorBase) -> TensorBase:
        """A result without its graph, unless that is needed, and recorded, further out."""
        if not isinstance(t, TensorBase) or (self.keep and ready().grad):
            return t
        out: Tensor = t.detach()  # type: ignore[attr-defined]
        return out

    def gradients(self, outs: list[Any], cotangents: list[Any], create_graph: bool) -> list[Any]:
        """The gradients of `outs` (with all their batch dimensions), for the aliases.

        Raises:
            RuntimeError: where the function has written to its arguments.
        """
        for x in self.leaves:
            if x._node is not None and version_of(x):
                raise RuntimeError(errors.LEAF_INPLACE)
        live = [(o, c) for o, c in zip(outs, cotangents) if _requires(o)]
        if not live:
            return [_zeros(x) for x in self.shown]
        with inference_mode(False), _Outside():
            found = differentiate(
                [o for o, _ in live], self.leaves, [c for _, c in live], create_graph
            )
        return [
            gather_layers(_zeros(x) if g is None else g, self.layers)
            for g, x in zip(found, self.leaves)
        ]


def leads_elsewhere(results: list[Tensor], aliases: list[Tensor]) -> bool:
    """Whether the graph behind some tensors has leaves that aren't among `aliases`."""
    seen: set[Any] = set(aliases)
    stack: list[Any] = []
    for t in results:
        while isinstance(t, BatchedTensor):
            t = t._value
        vertex = view_target(t) if isinstance(t, TensorBase) else None
        if vertex is not None and vertex not in seen:
            seen.add(vertex)
            stack.append(vertex)
    while stack:
        vertex = stack.pop()
        if isinstance(vertex, TensorBase):
            return True
        for child in vertex.next:
            if child is not None and child not in seen:
                seen.add(child)
                stack.append(child)
    return False


def differentiate(outs: list[Tensor], inputs: list[Tensor], cotangents: list[Tensor],
                   create_graph: bool) -> tuple[Tensor, ...]:  # fmt: skip
    """`autograd.grad`; where a cotangent is a batch the run goes through Tensors."""
    if create_graph or not any(isinstance(c, BatchedTensor) for c in cotangents):
        return autograd_grad(outs, inputs, cotangents, retain_graph=True,
                             create_graph=create_graph, allow_unused=True)  # fmt: skip
    before = CURRENT.get()
    try:
        CURRENT.set(derive(ready(), carrying=True))
        return autograd_grad(outs, inputs, cotangents, retain_graph=True, create_graph=True,
                             allow_unused=True)  # fmt: skip
    finally:
        CURRENT.set(before)


def _part(result: object, has_aux: bool, api: str) -> tuple[object, object]:
    if not has_aux:
        return result, None
    if not (isinstance(result, tuple) and len(result) == 2):
        raise RuntimeError(
            f"{api}: output of function f should be a tuple: (output, aux) if has_aux is True"
        )
    for leaf in flatten(result[1])[0]:
        if not isinstance(leaf, TensorBase):
            raise RuntimeError(f"Expected tensors, got unsupported type {type(leaf)}")
    return result


# ---- reverse mode -----------------------------------------------------------------------------
@overload
def vjp(
    func: Callable[..., object], *primals: object, has_aux: Literal[False] = False
) -> tuple[Any, AnyCallable]: ...
@overload
def vjp(func: Callable[..., object], *primals: object, has_aux: bool) -> tuple[Any, ...]: ...
def vjp(func: Callable[..., object], *primals: object, has_aux: bool = False) -> Any:
    """(output, function of a cotangent that gives the gradients of `primals`[, aux]).

    Raises:
        RuntimeError: for a function that returns something else than tensors.
        ValueError: for a primal that is no tensor.
    Parameters:
        func: a function of tensors.
        primals: the arguments.
        has_aux: whether `func` gives a pair whose second part isn't differentiated.
    Returns: (result, function of cotangents that gives a gradient for each argument).
    Example:
        >>> value, pull = torch.func.vjp(lambda x: x**2, torch.tensor(3.0))
        >>> pull(torch.tensor(1.0))
        (tensor(6.),)
    """
    with Level(function=func):
        leaves, spec = flatten(primals)
        aliases = Aliases(leaves)
        result = func(*unflatten(aliases.shown, spec))
        aliases.look_at(result)
        out, aux = _part(result, has_aux, "vjp(f, *primals)")
        outs, out_spec = flatten(out)
        only_tensors(outs, "vjp(f, *primals)")
        refuse_discrete_outputs(outs)
        whole = [aliases.whole(o) for o in outs]

    def pull_back(
        cotangents: object, retain_graph: bool = True, create_graph: bool | None = None
    ) -> Any:
        given, given_spec = flatten(cotangents)
        if given_spec != out_spec:
            raise RuntimeError(
                "Expected pytree structure of cotangents to be the same as pytree structure of "
                f"outputs to the function. cotangents: {picture(given_spec)}, primal output: "
                f"{picture(out_spec)}"
            )
        for k, (c, o) in enumerate(zip(given, outs)):
            if isinstance(c, TensorBase) and c._raw.shape != o._raw.shape:
                raise RuntimeError(
                    f"Mismatch in shape: grad_output[{k}] has a shape of "
                    f"torch.Size({list(c._raw.shape)}) and output[{k}] has a shape of "
                    f"torch.Size({list(o._raw.shape)})."
                )
        needs = ready().grad and (aliases.keep or any(_requires(c) for c in given))
        grads = aliases.gradients(whole, [aliases.whole(c) for c in given], needs)
        return unflatten(grads, spec)

    value = unflatten([aliases.settle(o) for o in outs], out_spec)
    if has_aux:
        return value, pull_back, tree_map(aliases.settle, aux)
    return value, pull_back


def _pick(argnums: int | tuple[int, ...], count: int) -> tuple[int, ...]:
    """The chosen arguments, counted from zero.

    Raises:
        RuntimeError: for numbers that name no argument, or one twice.
    """
    if not isinstance(argnums, int) and not isinstance(argnums, tuple):
        raise RuntimeError(f"argnums must be int or Tuple[int, ...], got: {type(argnums)}")
    numbers = (argnums,) if isinstance(argnums, int) else argnums
    if not numbers:
        raise RuntimeError("argnums must be non-empty")
    for k in numbers:
        if not isinstance(k, int):
            raise RuntimeError(f"argnum must be int, got: {type(k)}")
        if not -count <= k < count:
            raise RuntimeError(f"Got argnum={k}, but only {count} positional inputs")
    found = tuple(k % count for k in numbers)
    if len(set(found)) != len(found):
        raise RuntimeError(f"argnums elements must be unique, got {found}")
    return found


def grad_and_value(
    func: Callable[..., object], argnums: int | tuple[int, ...] = 0, has_aux: bool = False
) -> Callable[..., tuple[Any, Any]]:
    """A function that returns (gradient, value) of a scalar function.

    Raises:
        RuntimeError: where the function doesn't return a tensor of one element.

    Parameters:
        func: gives a tensor of one element (and, with `has_aux`, something more).
        argnums: the argument, or arguments, that is differentiated by.
        has_aux: whether `func` gives a pair whose second part isn't differentiated.
    Returns: a function of the same arguments that gives (gradient, value).
    Example:
        >>> torch.func.grad_and_value(lambda x: x**3)(torch.tensor(2.0))
        (tensor(12.), tensor(8.))
    """
    api = "grad_and_value(f)(*args)"

    @functools.wraps(func)
    def run(*args: Any, **kwargs: object) -> Any:
        recording = ready().grad
        with Level(function=func, given=(*args, *kwargs.values())):
            picked = _pick(argnums, len(args))
            leaves, spec = flatten([args[k] for k in picked])
            aliases = Aliases(leaves)
            full = list(args)
            for k, value in zip(picked, unflatten(aliases.shown, spec)):
                full[k] = value
            result = func(*full, **kwargs)
            aliases.look_at(result)
            out, aux = _part(result, has_aux, api)
            if not isinstance(out, TensorBase):
                raise RuntimeError(f"{api}: Expected f(*args) to return a Tensor, got {type(out)}")
            if out._raw.ndim != 0:
                raise RuntimeError(
                    f"{api}: Expected f(*args) to return a scalar Tensor, got tensor with "
                    f"{out._raw.ndim} dims. Maybe you wanted to use the vjp or jacrev APIs instead?"
                )
            if out._raw.dtype.kind == "c":
                raise RuntimeError(
                    "grad can be implicitly created only for real scalar outputs but got "
                    f"{T.from_raw(out._raw.dtype)}"
                )
            whole = aliases.whole(out)
            seed = None
            if _requires(whole):
                seed = PUBLIC[("", "ones_like")](whole)
            grads = aliases.gradients([whole], [seed], aliases.keep and recording)
        shaped = unflatten(grads, spec)
        gradient = shaped[0] if isinstance(argnums, int) else tuple(shaped)
        value = aliases.settle(out)
        if has_aux:
            return gradient, (value, tree_map(aliases.settle, aux))
        return gradient, value

    return run


def grad(
    func: Callable[..., object], argnums: int | tuple[int, ...] = 0, has_aux: bool = False
) -> AnyCallable:
    """A function that returns the gradient of a scalar function with respect to some arguments.

    Parameters:
        func: gives a tensor of one element (and, with `has_aux`, something more).
        argnums: the argument, or arguments, that is differentiated by.
        has_aux: whether `func` gives a pair whose second part isn't differentiated.
    Returns: a function of the same arguments that gives the gradient.
    Raises:
        RuntimeError: on a call, where the result isn't one number.
    Example:
        >>> torch.func.grad(lambda x: x**3)(torch.tensor(2.0))
        tensor(12.)
    """
    both = grad_and_value(func, argnums, has_aux)

    @functools.wraps(func)
    def run(*args: object, **kwargs: object) -> Any:
        gradient, value = both(*args, **kwargs)
        return (gradient, value[1]) if has_aux else gradient

    return run


def _as_complex(tangent: Tensor, x: Tensor) -> Tensor:
    """A tangent in the type of complex primals."""
    alike = tangent.is_complex() or not x.is_complex()
    return tangent if alike else tangent.to(T.from_raw(x._raw.dtype))


# ---- forward mode -----------------------------------------------------------------------------
class Linear:
    """A function's linear part at some point: tangents of its arguments go to those of its results.

    It is the gradient of a gradient: u ↦ uᵀ J is linear in u, so its own pull-back is t ↦ J t.
    """

    __slots__ = ("aliases", "outs", "out_spec", "aux", "dummies", "pulled", "random")

    def __init__(self, func: Callable[..., object], leaves: list[Any], spec: Spec | None,
                 has_aux: bool, api: str) -> None:  # fmt: skip
        refuse_discrete(leaves, "primal")
        self.aliases = Aliases(leaves, writable=True)
        result = func(*unflatten(self.aliases.shown, spec))
        self.aliases.look_at(result)
        out, self.aux = _part(result, has_aux, api)
        self.outs, self.out_spec = flatten(out)
        only_tensors(self.outs, api, api.startswith("linearize"))
        whole = [self.aliases.whole(o) for o in self.outs]
        self.dummies: list[Any] = []
        self.pulled: list[Any] = []
        with _Outside():
            for o in whole:
                if not _requires(o):
                    self.dummies.append(None)
                    self.pulled.append(None)
                    continue
                dummy = _asking(_zeros(o))
                self.dummies.append(dummy)
                self.pulled.append(
                    autograd_grad(o, self.aliases.ends, dummy, retain_graph=True,
                                  create_graph=True, allow_unused=True)
                )  # fmt: skip

    def push(self, directions: list[Any], recording: bool) -> list[Any]:
        """The tangents of the results, for those of the arguments.

        `recording` says whether the caller records them, if anything wants it.
        """
        refuse_discrete(directions, "tangent")
        a = self.aliases
        along = [a.whole(_as_complex(t, x)) for t, x in zip(directions, a.leaves)]
        keep = recording and (a.keep or any(_requires(t) for t in directions))
        results: list[Any] = []
        for o, dummy, pulled in zip(self.outs, self.dummies, self.pulled):
            pairs = [] if pulled is None else [
                (g, t) for g, t in zip(pulled, along) if g is not None and _requires(g)
            ]  # fmt: skip
            found = None
            if pairs:
                with inference_mode(False), _Outside():
                    found = differentiate(
                        [g for g, _ in pairs], [dummy], [t for _, t in pairs], keep
                    )[0]
                found = _widen_as(found, [t for _, t in pairs])
            results.append(_zeros(o) if found is None else gather_layers(found, a.layers))
        return results

    def value(self) -> Any:
        """The function's results."""
        return unflatten([self.aliases.settle(o) for o in self.outs], self.out_spec)


def _widen_as(found: Tensor, along: list[Tensor]) -> Tensor:
    """A tangent in the type of those that it comes of, where they are wider than their primals."""
    own = wide = T.dtype_of(found)
    for t in along:
        wide = promote_types(wide, T.dtype_of(t))
    return found if wide is own or wide.is_complex else found.to(wide)


def jvp(
    func: Callable[..., object],
    primals: Any,
    tangents: Any,
    *,
    strict: bool = False,
    has_aux: bool = False,
) -> tuple[Tensor, ...]:
    """(output, derivative of `func` at `primals` along `tangents`[, aux]): a vjp of a vjp.

    Raises:
        RuntimeError: where primals or tangents have another form; where `strict` and a result
            doesn't depend on the primals.

    Parameters:
        func: a function of tensors.
        primals: the arguments, a tuple.
        tangents: the direction, a tuple of tensors like them.
        strict: whether a result that doesn't depend on the arguments is refused.
        has_aux: whether `func` gives a pair whose second part isn't differentiated.
    Shapes: tangents as primals; the derivative as the result.
    Returns: (result, derivative along the tangents).
    Example:
        >>> torch.func.jvp(lambda x: x**2, (torch.tensor(3.0),), (torch.tensor(1.0),))
        (tensor(9.), tensor(6.))
    """
    api = "jvp(f, primals, tangents)"
    if not isinstance(primals, tuple):
        raise RuntimeError(
            f"{api}: Expected primals to be a tuple. E.g. it should be valid to call f(*primals)."
        )
    leaves, spec = flatten(primals)
    directions, direction_spec = flatten(tangents)
    if spec != direction_spec:
        raise RuntimeError(
            f"{api}: Expected primals and tangents to have the same python structure. For example, "
            "if primals is a tuple of 3 tensors, tangents also must be. Got primals with structure "
            f"{format_spec(spec)} and tangents with structure {format_spec(direction_spec)}"
        )
    for values, name in ((leaves, "primals"), (directions, "tangents")):
        if not values:
            raise RuntimeError(f"{api}: Expected {name} to contain at least one Tensor.")
        for x in values:
            if not isinstance(x, TensorBase):
                raise RuntimeError(f"{api}: Expected {name} to only contain Tensors, got {type(x)}")
    for x, t in zip(leaves, directions):
        if x._raw.shape != t._raw.shape:
            raise RuntimeError(
                "Trying to set a forward gradient that has a different size than that of the "
                f"original Tensor, this is not supported. Tensor is of size "
                f"{list(x._raw.shape)} while the given forward gradient is of size "
                f"{list(t._raw.shape)}."
            )
    recording = ready().grad
    with Level(forward=True, function=func):
        line = Linear(func, leaves, spec, has_aux, api)
        along = line.push(directions, recording)
    if strict and any(p is None for p in line.pulled):
        raise RuntimeError(
            f"{api[:-1]}, strict=True): The output of f is independent of the inputs. This is not "
            "allowed with strict=True."
        )
    a = line.aliases
    result = (line.value(), unflatten(along, line.out_spec))
    return (*result, tree_map(a.settle, line.aux)) if has_aux else result
