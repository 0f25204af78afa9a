"""Derivatives of functions as functions: `grad`, `vjp`, `jvp`, `jacrev`, `jacfwd`, `hessian`.

Note [Levels without wrappers]
Each transform gives the function aliases of its arguments: connected to whatever graph the
arguments are in, so that an outer transform sees through them, and differentiates with respect to
those aliases. Results keep a graph only where some outer transform, or the caller's own graph,
needs one.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, Final

from .._core.storage import TensorBase
from ..autograd.backward import grad as autograd_grad
from ..autograd.grad_mode import enable_grad
from ..ops import PUBLIC
from ._tree import flatten, tree_map, unflatten

_depth: Final[ContextVar[int]] = ContextVar("rushlight_func_depth", default=0)


class _Level:
    """Counts the transforms that are running in this context."""

    def __enter__(self) -> int:
        self.token = _depth.set(_depth.get() + 1)
        return _depth.get()

    def __exit__(self, *exc: object) -> None:
        _depth.reset(self.token)


def _alias(x: Any) -> Any:
    """A tensor to differentiate with respect to, still connected to what `x` came from."""
    if not isinstance(x, TensorBase):
        return x
    if x._requires_grad:
        return PUBLIC[("", "clone")](x)
    return x.detach().requires_grad_()  # type: ignore[attr-defined]


def _outside(x: Any, keep: bool) -> Any:
    return x if keep or not isinstance(x, TensorBase) else x.detach()  # type: ignore[attr-defined]


def _keeps_graph(leaves: list[Any], level: int) -> bool:
    return level > 1 or any(isinstance(x, TensorBase) and x._requires_grad for x in leaves)


def vjp(func: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """(output, function of a cotangent that gives the gradients of `primals`[, aux])."""
    with _Level() as level, enable_grad():
        leaves, spec = flatten(primals)
        keep = _keeps_graph(leaves, level)
        inner = [_alias(x) for x in leaves]
        out = func(*unflatten(inner, spec))
        aux = None
        if has_aux:
            out, aux = out
    outs, out_spec = flatten(out)

    def pull_back(
        cotangents: Any, retain_graph: bool = True, create_graph: bool | None = None
    ) -> Any:
        given, _ = flatten(cotangents)
        needs = keep or any(isinstance(c, TensorBase) and c._requires_grad for c in given)
        live = [(o, c) for o, c in zip(outs, given) if o._requires_grad]
        if not live:
            grads: Any = tuple(PUBLIC[("", "zeros_like")](x) for x in inner)
        else:
            with enable_grad():
                grads = autograd_grad(
                    [o for o, _ in live], inner, [c for _, c in live], retain_graph=True,
                    create_graph=needs, allow_unused=True, materialize_grads=True,
                )  # fmt: skip
        result = unflatten(list(grads), spec)
        return result

    shown = unflatten([_outside(o, keep) for o in outs], out_spec)
    if has_aux:
        return shown, pull_back, tree_map(lambda x: _outside(x, keep), aux)
    return shown, pull_back


def grad_and_value(
    func: Callable[..., Any], argnums: Any = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """A function that returns (gradient, value) of a scalar function."""

    @functools.wraps(func)
    def run(*args: Any, **kwargs: Any) -> Any:
        with _Level() as level, enable_grad():
            picked = (argnums,) if isinstance(argnums, int) else tuple(argnums)
            picked = tuple(_position(k, len(args)) for k in picked)
            wanted = [args[k] for k in picked]
            leaves, spec = flatten(wanted)
            keep = _keeps_graph(flatten(list(args))[0], level)
            for x in leaves:
                if not isinstance(x, TensorBase):
                    raise ValueError(f"Thing passed to transform API must be Tensor, got {type(x)}")
            inner = [_alias(x) for x in leaves]
            placed = unflatten(inner, spec)
            full = list(args)
            for k, value in zip(picked, placed):
                full[k] = value
            out = func(*full, **kwargs)
            aux = None
            if has_aux:
                out, aux = out
            if not isinstance(out, TensorBase):
                raise RuntimeError(
                    "grad_and_value(f)(*args): Expected f(*args) to return a Tensor, "
                    f"got {type(out)}"
                )
            if out._raw.ndim != 0:
                raise RuntimeError(
                    "grad_and_value(f)(*args): Expected f(*args) to return a scalar Tensor, got "
                    f"tensor with "
                    f"{out._raw.ndim} dims. "
                    "Maybe you wanted to use the vjp or jacrev APIs instead?"
                )
            if out._requires_grad:
                grads = autograd_grad(
                    out, inner, create_graph=keep, allow_unused=True, materialize_grads=True
                )
            else:
                grads = tuple(PUBLIC[("", "zeros_like")](x) for x in inner)
        shaped = unflatten(list(grads), spec)
        gradient = shaped[0] if isinstance(argnums, int) else tuple(shaped)
        value = _outside(out, keep)
        if has_aux:
            return gradient, (value, tree_map(lambda x: _outside(x, keep), aux))
        return gradient, value

    return run


def _position(k: int, count: int) -> int:
    if not -count <= k < count:
        raise RuntimeError(f"Got argnum={k}, but only {count} positional inputs")
    return k % count


def grad(func: Callable[..., Any], argnums: Any = 0, has_aux: bool = False) -> Callable[..., Any]:
    """A function that returns the gradient of a scalar function with respect to some arguments."""
    both = grad_and_value(func, argnums, has_aux)

    @functools.wraps(func)
    def run(*args: Any, **kwargs: Any) -> Any:
        gradient, value = both(*args, **kwargs)
        return (gradient, value[1]) if has_aux else gradient

    return run


def jvp(
    func: Callable[..., Any],
    primals: Any,
    tangents: Any,
    *,
    strict: bool = False,
    has_aux: bool = False,
) -> Any:
    """(output, derivative of `func` at `primals` along `tangents`[, aux]): a vjp of a vjp."""
    if not isinstance(primals, tuple):
        raise RuntimeError(
            "jvp(f, primals, tangents): Expected primals to be a tuple. E.g. it should be "
            "valid to call f(*primals)."
        )
    with _Level() as level, enable_grad():
        leaves, spec = flatten(primals)
        directions, _ = flatten(tangents)
        keep = _keeps_graph(leaves + directions, level)
        inner = [_alias(x) for x in leaves]
        out = func(*unflatten(inner, spec))
        aux = None
        if has_aux:
            out, aux = out
        outs, out_spec = flatten(out)
        results: list[Any] = []
        zeros_like = PUBLIC[("", "zeros_like")]
        for o in outs:
            if not o._requires_grad:
                results.append(zeros_like(o))
                continue
            dummy = zeros_like(o).requires_grad_()
            first = autograd_grad(
                o, inner, dummy, retain_graph=True, create_graph=True, allow_unused=True
            )
            pairs = [
                (g, t) for g, t in zip(first, directions) if g is not None and g._requires_grad
            ]
            if not pairs:
                results.append(zeros_like(o))
                continue
            second = autograd_grad(
                [g for g, _ in pairs],
                dummy,
                [t for _, t in pairs],
                retain_graph=True,
                create_graph=keep,
                allow_unused=True,
            )[0]
            results.append(zeros_like(o) if second is None else second)
    value = unflatten([_outside(o, keep) for o in outs], out_spec)
    along = unflatten(results, out_spec)
    if has_aux:
        return value, along, tree_map(lambda x: _outside(x, keep), aux)
    return value, along


def linearize(func: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[..., Any]]:
    """(output, function of tangents that gives the derivative along them)."""
    value = func(*primals)
    return value, lambda *tangents: jvp(func, primals, tangents)[1]


def _basis(x: Any) -> Any:
    """The unit vectors of a tensor's space, one after the other."""
    n = x._raw.size
    eye = PUBLIC[("", "eye")](n, dtype=x.dtype)
    return [eye[k].reshape(x._raw.shape) for k in range(n)]


def jacrev(
    func: Callable[..., Any],
    argnums: Any = 0,
    *,
    has_aux: bool = False,
    chunk_size: int | None = None,
    _preallocate_and_copy: bool = False,
) -> Callable[..., Any]:
    """A function that returns the Jacobian, computed row by row with vjps."""

    @functools.wraps(func)
    def run(*args: Any, **kwargs: Any) -> Any:
        picked = (argnums,) if isinstance(argnums, int) else tuple(argnums)

        def of_picked(*values: Any) -> Any:
            full = list(args)
            for k, v in zip(picked, values):
                full[k] = v
            return func(*full, **kwargs)

        result = vjp(of_picked, *[args[k] for k in picked], has_aux=has_aux)
        value, pull_back = result[0], result[1]
        outs, out_spec = flatten(value)
        stack = PUBLIC[("", "stack")]
        zeros_like = PUBLIC[("", "zeros_like")]
        rows: list[Any] = []
        for i, o in enumerate(outs):
            per_row = []
            for unit in _basis(o):
                cot = [zeros_like(p) for p in outs]
                cot[i] = unit
                per_row.append(pull_back(unflatten(cot, out_spec)))
            trees = [flatten(r) for r in per_row]
            spec = trees[0][1] if trees else None
            joined = [
                stack(list(column), 0).reshape(tuple(o._raw.shape) + tuple(column[0]._raw.shape))
                for column in zip(*[t[0] for t in trees])
            ]
            whole = unflatten(joined, spec)
            rows.append(whole[0] if isinstance(argnums, int) else whole)
        jacobian = unflatten(rows, out_spec)
        return (jacobian, result[2]) if has_aux else jacobian

    return run


def jacfwd(func: Callable[..., Any], argnums: Any = 0, has_aux: bool = False, *,
           randomness: str = "error") -> Callable[..., Any]:  # fmt: skip
    """A function that returns the Jacobian, computed column by column with jvps."""

    @functools.wraps(func)
    def run(*args: Any, **kwargs: Any) -> Any:
        picked = (argnums,) if isinstance(argnums, int) else tuple(argnums)
        stack = PUBLIC[("", "stack")]
        zeros_like = PUBLIC[("", "zeros_like")]

        def of_picked(*values: Any) -> Any:
            full = list(args)
            for k, v in zip(picked, values):
                full[k] = v
            return func(*full, **kwargs)

        primals = tuple(args[k] for k in picked)
        aux = None
        per_argument: list[list[Any]] = []
        out_spec: Any = None
        for i, x in enumerate(primals):
            columns = []
            for unit in _basis(x):
                tangents = tuple(unit if j == i else zeros_like(p) for j, p in enumerate(primals))
                result = jvp(of_picked, primals, tangents, has_aux=has_aux)
                if has_aux:
                    aux = result[2]
                flat, out_spec = flatten(result[1])
                columns.append(flat)
            per_argument.append([
                stack(list(c), -1).reshape(tuple(c[0]._raw.shape) + tuple(x._raw.shape))
                for c in zip(*columns)
            ])  # fmt: skip
        leaves = [
            per_argument[0][k] if isinstance(argnums, int) else tuple(a[k] for a in per_argument)
            for k in range(len(per_argument[0]))
        ]
        jacobian = unflatten(leaves, out_spec)
        return (jacobian, aux) if has_aux else jacobian

    return run


def hessian(func: Callable[..., Any], argnums: Any = 0) -> Callable[..., Any]:
    """A function that returns the Hessian of a scalar function: forward over reverse."""
    return jacfwd(jacrev(func, argnums), argnums)
