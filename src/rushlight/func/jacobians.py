"""Jacobians and Hessians of functions: one vmap over the unit vectors."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .._array import types as T
from .._core.mode import ready
from .._core.storage import TensorBase
from .._table import PUBLIC
from ..random import get_rng_state, set_rng_state
from ._checks import refuse_complex
from ._tree import flatten, tree_map, unflatten
from .derivatives import Level, Linear, _pick, vjp
from .vmap import check_randomness, vmap

if TYPE_CHECKING:
    from .._base.annotations import AnyCallable
    from .._tensor.tensor import Tensor


def basis(tensors: list[Tensor]) -> list[Tensor]:
    """The unit vectors of the tensors' common space: for each tensor a batch of its parts."""
    total = sum(t._raw.size for t in tensors)
    made: list[Any] = []
    start = 0
    for t in tensors:
        n = int(t._raw.size)
        eye = PUBLIC[("", "zeros")](total, n, dtype=T.from_raw(t._raw.dtype))
        if n:
            PUBLIC[("", "diagonal")](eye, -start).fill_(1)
        made.append(eye.view((total, *t._raw.shape)))
        start += n
    return made


def _only(func: Callable[..., object], args: tuple[object, ...], kwargs: dict[str, object],
          picked: tuple[int, ...]) -> Callable[..., object]:  # fmt: skip
    """`func` of the picked arguments alone."""

    def of_picked(*values: object) -> object:
        full = list(args)
        for k, v in zip(picked, values):
            full[k] = v
        return func(*full, **kwargs)

    return of_picked


def jacrev(
    func: Callable[..., object],
    argnums: int | tuple[int, ...] = 0,
    *,
    has_aux: bool = False,
    chunk_size: int | None = None,
    _preallocate_and_copy: bool = False,
) -> AnyCallable:
    """A function that returns the Jacobian: the pull-backs of all unit vectors in one vmap.

    `chunk_size` says how many rows to compute at once.

    Raises:
        ValueError: for a chunk size below one.

    Parameters:
        func: a function of tensors.
        argnums: the argument, or arguments, that is differentiated by.
        has_aux: whether `func` gives a pair whose second part isn't differentiated.
        chunk_size: how many rows are computed at once; all by default.
    Returns: a function of the same arguments that gives the Jacobian.
    Example:
        >>> torch.func.jacrev(lambda x: x**2)(torch.tensor([1.0, 2.0]))
        tensor([[2., 0.],
                [0., 4.]])
    """
    if chunk_size is not None and not chunk_size > 0:
        raise ValueError("jacrev: `chunk_size` should be greater than 0.")

    @functools.wraps(func)
    def run(*args: object, **kwargs: object) -> Any:
        picked = _pick(argnums, len(args))
        wanted = [args[k] for k in picked]
        refuse_complex(flatten(args)[0], "jacrev", "inputs")
        result = vjp(_only(func, args, kwargs, picked), *wanted, has_aux=has_aux)
        outs, out_spec = flatten(result[0])
        refuse_complex(outs, "jacrev", "outputs")
        pull_back = result[1]
        spec_in: list[Any] = []

        def pull(*units: TensorBase) -> tuple[Tensor, ...]:
            grads = pull_back(unflatten(list(units), out_spec))
            flat, spec = flatten(grads)
            spec_in.append(spec)
            return tuple(flat)

        if chunk_size == 1 and any(o._raw.size for o in outs):  # one row at a time needs no vmap
            found = [pull(*row) for row in zip(*basis(outs))]
            rows = tuple(PUBLIC[("", "stack")](list(column)) for column in zip(*found))
        else:
            rows = vmap(pull, chunk_size=chunk_size)(*basis(outs))
        split = PUBLIC[("", "split")]
        sizes = [int(o._raw.size) for o in outs]
        parts = [split(r, sizes, 0) for r in rows]  # by input, then by output
        leaves: list[Any] = []
        for i, o in enumerate(outs):
            flat = [p[i].reshape((*o._raw.shape, *r._raw.shape[1:])) for p, r in zip(parts, rows)]
            whole = unflatten(flat, spec_in[0])
            leaves.append(whole[0] if isinstance(argnums, int) else whole)
        jacobian = unflatten(leaves, out_spec)
        return (jacobian, result[2]) if has_aux else jacobian

    return run


def jacfwd(
    func: Callable[..., object],
    argnums: int | tuple[int, ...] = 0,
    has_aux: bool = False,
    *,
    randomness: str = "error",
) -> AnyCallable:
    """A function that returns the Jacobian: the derivatives along all unit vectors in one vmap.

    Raises:
        RuntimeError: for random operations in `func`, with `randomness="error"`.

    Parameters:
        func: a function of tensors.
        argnums: the argument, or arguments, that is differentiated by.
        has_aux: whether `func` gives a pair whose second part isn't differentiated.
        randomness: "error", "same" or "different" random numbers for each direction.
    Returns: a function of the same arguments that gives the Jacobian.
    Example:
        >>> torch.func.jacfwd(lambda x: x**2)(torch.tensor([1.0, 2.0]))
        tensor([[2., 0.],
                [0., 4.]])
    """

    @functools.wraps(func)
    def run(*args: object, **kwargs: object) -> Any:
        picked = _pick(argnums, len(args))
        leaves, spec = flatten(tuple(args[k] for k in picked))
        for x in leaves:
            if not isinstance(x, TensorBase):
                raise AttributeError(f"'{type(x).__name__}' object has no attribute 'numel'")
        refuse_complex(flatten(args)[0], "jacfwd", "inputs")
        check_randomness(randomness)
        state = get_rng_state() if randomness == "error" else None
        given = (*args, *kwargs.values())
        with Level(forward=True, function=func, given=given):
            line = Linear(
                _only(func, args, kwargs, picked), leaves, spec, has_aux,
                "jvp(f, primals, tangents)",
            )  # fmt: skip
        if state is not None and not state.equal(get_rng_state()):
            set_rng_state(state)
            raise RuntimeError(
                "vmap: called random operation while in randomness error mode. Please either use "
                "the 'same' or 'different' randomness flags on vmap or perform the randomness "
                "operation out of vmap"
            )
        refuse_complex(line.outs, "jacfwd", "outputs")
        a = line.aliases

        def push(*units: Tensor) -> tuple[Tensor, ...]:
            return tuple(line.push(list(units), ready().grad))

        columns = vmap(push, out_dims=-1, randomness="same")(*basis(leaves))
        split = PUBLIC[("", "split")]
        sizes = [int(x._raw.size) for x in leaves]
        blocks: list[Any] = []
        for o, c in zip(line.outs, columns):
            parts = split(c, sizes, -1)
            flat = [p.reshape((*o._raw.shape, *x._raw.shape)) for p, x in zip(parts, leaves)]
            whole = unflatten(flat, spec)
            blocks.append(whole[0] if isinstance(argnums, int) else whole)
        jacobian = unflatten(blocks, line.out_spec)
        return (jacobian, tree_map(a.settle, line.aux)) if has_aux else jacobian

    return run


def hessian(func: Callable[..., object], argnums: int | tuple[int, ...] = 0) -> AnyCallable:
    """A function that returns the Hessian of a scalar function: forward over reverse.

    Parameters:
        func: a function of tensors.
        argnums: the argument, or arguments, that is differentiated by.
    Returns: a function of the same arguments that gives the matrix of second derivatives.
    Raises:
        RuntimeError: on a call, where what `func` gives isn't floating-point.
    Example:
        >>> torch.func.hessian(lambda x: (x**3).sum())(torch.tensor([1.0, 2.0]))
        tensor([[ 6.,  0.],
                [ 0., 12.]])
    """
    return jacfwd(jacrev(func, argnums), argnums)
