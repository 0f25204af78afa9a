"""`vmap`: a function of one example made a function of a batch.

Note [vmap is a loop]
The function runs once per example and the results are stacked. Everything works inside it (random
numbers apart, which need `randomness="different"` or `"same"`), nested transforms and gradients
included, because nothing but ordinary operations is recorded. Batched rules per row are a later
matter of speed.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from .._core.storage import TensorBase
from ..ops import PUBLIC
from ..random import get_rng_state, set_rng_state
from ._tree import broadcast_to, flatten, unflatten


def vmap(func: Callable[..., Any], in_dims: Any = 0, out_dims: Any = 0, randomness: str = "error",
         *, chunk_size: int | None = None) -> Callable[..., Any]:  # fmt: skip
    """`func` mapped over dimension `in_dims` of its arguments; results get one at `out_dims`.

    Raises:
        ValueError: where no argument has a batch dimension, or their sizes differ.
    """
    if randomness not in ("error", "different", "same"):
        raise RuntimeError(
            f"Only allowed values for randomness are 'error', 'different', or 'same'. "
            f"Got {randomness}"
        )
    if chunk_size is not None and not chunk_size > 0:
        raise ValueError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")
    name = getattr(func, "__name__", repr(func))

    @functools.wraps(func)
    def mapped(*args: Any, **kwargs: Any) -> Any:
        leaves, spec = flatten(list(args))
        if not leaves:
            raise ValueError(
                f"vmap({name})(<inputs>): got no inputs. Maybe you forgot to add inputs, "
                "or you are "
                "trying to vmap over a function with no inputs. The latter is unsupported."
            )
        if isinstance(in_dims, (tuple, list)):
            dims = broadcast_to(list(in_dims), list(args), "in_dims")
        else:
            dims = [in_dims if isinstance(x, TensorBase) else None for x in leaves]
            if not isinstance(in_dims, int):
                raise ValueError(
                    f"vmap({name}, in_dims={in_dims}, ...)(<inputs>): expected `in_dims` "
                    "to be int or a "
                    f"(potentially nested) tuple matching the structure of inputs, "
                    f"got: {type(in_dims)}."
                )
        keyword_leaves, keyword_spec = flatten(kwargs)
        keyword_dims = [0 if isinstance(x, TensorBase) else None for x in keyword_leaves]
        everything = leaves + keyword_leaves
        all_dims = [_checked(name, in_dims, x, d) for x, d in zip(everything, dims + keyword_dims)]
        sizes = [x._raw.shape[d] for x, d in zip(everything, all_dims) if d is not None]
        if not sizes:
            raise ValueError(
                f"vmap({name}, in_dims={in_dims}, ...)(<inputs>): at least one input "
                "must be mapped over."
            )
        if any(s != sizes[0] for s in sizes):
            raise ValueError(
                f"vmap: Expected all tensors to have the same size in the mapped dimension, "
                f"got sizes {sizes} for the mapped dimension"
            )
        unbind = PUBLIC[("", "unbind")]
        columns = [x if d is None else unbind(x, d) for x, d in zip(everything, all_dims)]
        results: list[list[Any]] = []
        out_spec: Any = None
        state = None if randomness == "different" else get_rng_state()
        watched = state if randomness == "error" else None
        for b in range(sizes[0]):
            row = [c if d is None else c[b] for c, d in zip(columns, all_dims)]
            if randomness == "same" and b:
                set_rng_state(state)
            out = func(
                *unflatten(row[: len(leaves)], spec), **unflatten(row[len(leaves) :], keyword_spec)
            )
            if watched is not None and not watched.equal(get_rng_state()):
                set_rng_state(watched)
                raise RuntimeError(
                    "vmap: called random operation while in randomness error mode. "
                    "Please either use "
                    "the 'same' or 'different' randomness flags on vmap or perform the randomness "
                    "operation out of vmap"
                )
            flat, out_spec = flatten(out)
            for o in flat:
                if not isinstance(o, TensorBase):
                    raise ValueError(
                        f"vmap({name}, ...): `{name}` must only return Tensors, got type "
                        f"{type(o)}. Did you mean to set out_dims= to None for output?"
                    )
            results.append(flat)
        if not results:
            raise RuntimeError("vmap over a batch of size zero is not supported here")
        where = broadcast_to(out_dims, unflatten(results[0], out_spec), "out_dims")
        stack = PUBLIC[("", "stack")]
        joined = [r[0] if w is None else stack(list(r), w) for r, w in zip(zip(*results), where)]
        return unflatten(joined, out_spec)

    return mapped


def _checked(name: str, in_dims: Any, x: Any, dim: Any) -> Any:
    if dim is None:
        return None
    if not isinstance(x, TensorBase):
        raise ValueError(
            f"vmap({name}, in_dims={in_dims}, ...)(<inputs>): Got in_dim={dim} for an input "
            "but the input "
            f"is of type {type(x)}. We cannot vmap over non-Tensor arguments, please use None "
            "as the respective in_dim"
        )
    ndim = x._raw.ndim
    if dim < -ndim or dim >= ndim:
        raise ValueError(
            f"vmap({name}, in_dims={in_dims}, ...)(<inputs>): Got in_dim={dim} for some input, "
            "but that "
            f"input is a Tensor of dimensionality {ndim} so expected in_dim to satisfy -{ndim} "
            f"<= in_dim < {ndim}."
        )
    return dim % ndim
