"""`torch._functorch.vmap`: `vmap`, and the steps of it that packages replace by their own.

A package that has containers of its own puts other functions in the place of
`_process_batched_inputs`, `_create_batched_inputs` and `_unwrap_batched`; `vmap` then goes through
these. While they are what they are here it doesn't.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..._core.storage import TensorBase
from ..._table import PUBLIC
from ..._tensor.batching import BatchedTensor, Batching
from ..._tensor.tensor import Tensor as Tensor
from ...func import vmap
from ...func.vmap import REPLACED, check_randomness, name_of, place_batches
from ...random import get_rng_state, set_rng_state
from ...utils._pytree import TreeSpec, _broadcast_to_and_flatten, tree_flatten, tree_unflatten
from .._C._functorch import _add_batch_dim, _remove_batch_dim

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..._base.annotations import Shape

__all__ = ["vmap"]

in_dims_t = int | tuple[Any, ...]
out_dims_t = int | tuple[int, ...]
_check_randomness_arg = check_randomness
_get_name = name_of


def _process_batched_inputs(
    in_dims: int, args: tuple[Any, ...], func: Callable[..., Any]
) -> tuple[int, list[int | None], list[Any], TreeSpec]:
    """The size of the batch, the dimension of each leaf of the arguments, the leaves, their build.

    Raises:
        ValueError: where `in_dims` doesn't fit the arguments.
    """
    dims, leaves, _, size = place_batches(in_dims, args, func)
    return size, dims, leaves, tree_flatten(args)[1]


def _create_batched_inputs(
    flat_in_dims: list[int | None], flat_args: list[Any], vmap_level: int, args_spec: TreeSpec
) -> Any:
    """The arguments as the function sees them."""
    return tree_unflatten(
        [
            x if dim is None else _add_batch_dim(x, dim, vmap_level)
            for x, dim in zip(flat_args, flat_in_dims)
        ],
        args_spec,
    )


def _maybe_remove_batch_dim(
    name: str, batched_output: Tensor, vmap_level: int, batch_size: int, out_dim: int | None
) -> Any:
    """The batch behind one result, at `out_dim`; with None the result itself, which has none.

    Raises:
        ValueError: for a batch where None is asked for, and for what is no tensor otherwise.
    """
    if out_dim is None:
        if isinstance(batched_output, BatchedTensor):
            raise ValueError(
                f"vmap({name}, ...): `{name}` can not return a BatchedTensor when out_dim is None"
            )
        return batched_output
    if not isinstance(batched_output, TensorBase):
        raise ValueError(
            f"vmap({name}, ...): `{name}` must only return Tensors, got type "
            f"{type(batched_output)}. Did you mean to set out_dims= to None for output?"
        )
    return _remove_batch_dim(batched_output, vmap_level, batch_size, out_dim)


def _unwrap_batched(
    batched_outputs: Tensor | Sequence[Tensor],
    out_dims: int | Shape,
    vmap_level: int,
    batch_size: int,
    func: Callable[..., Any],
) -> Any:
    """The results with the batch at `out_dims`.

    Raises:
        ValueError: where `out_dims` doesn't fit the results.
    """
    leaves, spec = tree_flatten(batched_outputs)
    if isinstance(batched_outputs, TensorBase) and isinstance(out_dims, tuple) and len(out_dims):
        dims: list[Any] | None = [out_dims[0]]
    else:
        dims = _broadcast_to_and_flatten(out_dims, spec)
    if dims is None:
        raise ValueError(
            f"vmap({name_of(func)}, ..., out_dims={out_dims})(<inputs>): out_dims is not "
            "compatible with the structure of `outputs`. out_dims has structure "
            f"{tree_flatten(out_dims)[1]} but outputs has structure {spec}."
        )
    name = name_of(func)
    return tree_unflatten(
        [
            _maybe_remove_batch_dim(name, x, vmap_level, batch_size, dim)
            for x, dim in zip(leaves, dims)
        ],
        spec,
    )


def _stage(
    func: Callable[..., Any], in_dims: int, out_dims: int | Shape, randomness: str,
    chunk_size: int | None, args: tuple[Any, ...], kwargs: dict[str, Any],
) -> Any:  # fmt: skip
    """`vmap` by the steps that stand in this module now."""
    size, dims, leaves, spec = _process_batched_inputs(in_dims, args, func)
    if chunk_size is None or size <= chunk_size:
        return _flat_vmap(func, size, dims, leaves, spec, out_dims, randomness, **kwargs)
    split, cat = PUBLIC[("", "split")], PUBLIC[("", "cat")]
    columns = [x if d is None else split(x, chunk_size, d) for x, d in zip(leaves, dims)]
    state = get_rng_state() if randomness == "same" else None
    parts: list[list[Any]] = []
    out_spec: Any = None
    for k, start in enumerate(range(0, size, chunk_size)):
        if state is not None:
            set_rng_state(state)
        mine = [c if d is None else c[k] for c, d in zip(columns, dims)]
        count = min(chunk_size, size - start)
        found = _flat_vmap(func, count, dims, mine, spec, out_dims, randomness, **kwargs)
        flat, out_spec = tree_flatten(found)
        parts.append(flat)
    places = _broadcast_to_and_flatten(out_dims, out_spec) or [0] * len(parts[0])
    joined = [
        column[0] if d is None else cat(list(column), d) for column, d in zip(zip(*parts), places)
    ]
    return tree_unflatten(joined, out_spec)


def _flat_vmap(
    func: Callable[..., Any],
    batch_size: int,
    flat_in_dims: list[int | None],
    flat_args: list[Any],
    args_spec: TreeSpec,
    out_dims: int | Shape,
    randomness: str,
    **kwargs: Any,
) -> Any:
    """One run of `func` on whole batches."""
    with Batching(batch_size, randomness) as layer:
        inside = _create_batched_inputs(flat_in_dims, flat_args, layer.level, args_spec)
        found = func(*inside, **kwargs)
        return _unwrap_batched(found, out_dims, layer.level, batch_size, func)


_OWN = (_process_batched_inputs, _create_batched_inputs, _unwrap_batched)


def _find_replaced() -> Callable[..., Any] | None:
    """`_stage` where one of the steps has been replaced, else None."""
    if (_process_batched_inputs, _create_batched_inputs, _unwrap_batched) == _OWN:
        return None
    return _stage


REPLACED[:] = [_find_replaced]
