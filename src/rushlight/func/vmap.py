"""`vmap`: a function of one example made a function of a batch.

The function runs once, on `BatchedTensor`s: each operation in it is done for the whole batch at
once, by the operation's batching rule. See Note [Where batches travel].
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from .._core.storage import TensorBase
from .._table import PUBLIC
from .._tensor.batching import BatchedTensor, Batching, Layer, unwrap, wrap
from ..random import get_rng_state, set_rng_state
from ._tree import Spec, broadcast_prefix, flatten, format_spec, unflatten

if TYPE_CHECKING:
    from typing import ParamSpec, TypeVar

    from .._base.annotations import AnyCallable, Shape

    P = ParamSpec("P")
    R = TypeVar("R")

#: What packages have put in the place of how arguments are taken apart and results put together:
#: `_functorch.vmap`, where they find these steps, says so here.
REPLACED: list[Callable[[], Any]] = []


def vmap(
    func: Callable[P, R],
    in_dims: object = 0,
    out_dims: Any = 0,
    randomness: str = "error",
    *,
    chunk_size: int | None = None,
) -> Callable[P, R]:
    """`func` mapped over dimension `in_dims` of its arguments; results get one at `out_dims`.

    Both may be nested like the arguments (the results), with None for what has no such dimension.
    `randomness` says what random operations inside do: "error", one draw for all ("same"), or one
    for each example ("different"). With `chunk_size` the batch is worked off in parts, in less
    memory. `func` runs once, with tensors that stand for all examples: it can't branch on their
    values, ask for `item()`, or write them into a tensor that isn't mapped.

    Raises:
        ValueError: where no argument has a batch dimension, or their sizes differ.
        RuntimeError: for another `randomness`.

    Parameters:
        func: a function of tensors without the mapped dimension.
        in_dims: the mapped dimension of each argument; None where it isn't mapped.
        out_dims: where the dimension stands in the results.
        randomness: "error", "same" or "different" random numbers for each element.
        chunk_size: how many elements are computed at once; all by default.
    Returns: a function of the same arguments with one dimension more.
    Example:
        >>> torch.vmap(torch.dot)(torch.ones(2, 3), torch.ones(2, 3))
        tensor([3., 3.])
    """
    check_randomness(randomness)
    if chunk_size is not None and not chunk_size > 0:
        raise ValueError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")

    @functools.wraps(func)
    def run_mapped(*args: object, **kwargs: object) -> object:
        _check_out_dims(out_dims, func)
        if REPLACED and (staged := REPLACED[0]()) is not None:
            return staged(func, in_dims, out_dims, randomness, chunk_size, args, kwargs)
        dims, leaves, spec, size = place_batches(in_dims, args, func)
        if chunk_size is not None and size > chunk_size:
            return _in_chunks(
                func, dims, leaves, spec, size, out_dims, randomness, chunk_size, kwargs
            )
        return run(func, dims, leaves, spec, size, out_dims, randomness, kwargs)

    return cast("Callable[P, R]", run_mapped)


def check_randomness(randomness: str) -> None:
    """Refuses a word that vmap doesn't know.

    Raises:
        RuntimeError: in PyTorch's words.
    """
    if randomness not in ("error", "different", "same"):
        raise RuntimeError(
            "Only allowed values for randomness are 'error', 'different', or 'same'. "
            f"Got {randomness}"
        )


def name_of(func: Callable[..., object]) -> str:
    """A function as messages call it."""
    if isinstance(func, functools.partial):
        return f"functools.partial({name_of(func.func)}, ...)"
    return getattr(func, "__name__", None) or repr(func)


# ---- arguments --------------------------------------------------------------------------------
def place_batches(
    in_dims: object, args: tuple[object, ...], func: Callable[..., object]
) -> tuple[list[int | None], list[object], Spec | None, int]:
    """The batch dimension of each leaf of the arguments, the leaves, their build, and the size.

    Raises:
        ValueError: where `in_dims` doesn't fit the arguments.
    """
    head = f"vmap({name_of(func)}, in_dims={in_dims}, ...)(<inputs>): "
    if not isinstance(in_dims, int) and not isinstance(in_dims, tuple):
        raise ValueError(
            head + "expected `in_dims` to be int or a (potentially nested) tuple matching the "
            f"structure of inputs, got: {type(in_dims)}."
        )
    if len(args) == 0:
        raise ValueError(
            f"vmap({name_of(func)})(<inputs>): got no inputs. Maybe you forgot to add inputs, or "
            "you are trying to vmap over a function with no inputs. The latter is unsupported."
        )
    leaves, spec = flatten(args)
    found = broadcast_prefix(in_dims, spec)
    if found is None:
        raise ValueError(
            head + "in_dims is not compatible with the structure of `inputs`. in_dims has "
            f"structure {format_spec(flatten(in_dims)[1])} but inputs has structure "
            f"{format_spec(spec)}."
        )
    dims: list[int | None] = []
    sizes: list[int] = []
    for x, dim in zip(leaves, found):
        if dim is None:
            dims.append(None)
            continue
        if not isinstance(dim, int):
            raise ValueError(
                head + f"Got in_dim={dim} for an input but in_dim must be either an integer "
                "dimension or None."
            )
        if not isinstance(x, TensorBase):
            raise ValueError(
                head + f"Got in_dim={dim} for an input but the input is of type {type(x)}. We "
                "cannot vmap over non-Tensor arguments, please use None as the respective in_dim"
            )
        ndim = x._raw.ndim
        if dim < -ndim or dim >= ndim:
            raise ValueError(
                head + f"Got in_dim={dim} for some input, but that input is a Tensor of "
                f"dimensionality {ndim} so expected in_dim to satisfy -{ndim} <= in_dim < {ndim}."
            )
        dims.append(dim % ndim)
        sizes.append(int(x._raw.shape[dim]))
    if not sizes:
        raise ValueError("vmap: Expected at least one Tensor to vmap over")
    if any(s != sizes[0] for s in sizes):
        raise ValueError(
            "vmap: Expected all tensors to have the same size in the mapped dimension, got sizes "
            f"{sizes} for the mapped dimension"
        )
    return dims, leaves, spec, sizes[0]


def wrap_leaves(leaves: list[Any], dims: list[int | None], layer: Layer) -> list[object]:
    """The leaves as the function sees them."""
    return [x if d is None else wrap(x, d, layer) for x, d in zip(leaves, dims)]


def run(
    func: Callable[..., object],
    dims: list[int | None],
    leaves: list[object],
    spec: Spec | None,
    size: int,
    out_dims: Any,
    randomness: str,
    kwargs: dict[str, object],
) -> Any:
    """One run of `func` on whole batches."""
    with Batching(size, randomness) as layer:
        inside = unflatten(wrap_leaves(leaves, dims, layer), spec)
        result = func(*inside, **kwargs)
    return _results(result, out_dims, layer, func)


# ---- results ----------------------------------------------------------------------------------
def _check_out_dims(out_dims: int | Shape | None, func: Callable[..., object]) -> None:
    if isinstance(out_dims, int):
        return
    if any(not isinstance(d, int) and d is not None for d in flatten(out_dims)[0]):
        raise ValueError(
            f"vmap({name_of(func)}, ..., out_dims={out_dims}): `out_dims` must be an int, None or "
            "a python collection of ints representing where in the outputs the vmapped dimension "
            "should appear."
        )


def _places(
    out_dims: int | Shape | None, spec: Spec | None, func: Callable[..., object]
) -> list[Any]:
    """Where the batch dimension of each result goes.

    Raises:
        ValueError: where `out_dims` doesn't fit the results.
    """
    if spec is None and isinstance(out_dims, tuple) and len(out_dims) == 1:
        return list(out_dims)
    found = broadcast_prefix(out_dims, spec)
    if found is None:
        raise ValueError(
            f"vmap({name_of(func)}, ..., out_dims={out_dims})(<inputs>): out_dims is not "
            "compatible with the structure of `outputs`. out_dims has structure "
            f"{format_spec(flatten(out_dims)[1])} but outputs has structure {format_spec(spec)}."
        )
    return found


def _results(
    result: object, out_dims: int | Shape | None, layer: Layer, func: AnyCallable
) -> object:
    leaves, spec = flatten(result)
    made: list[Any] = []
    for t, dim in zip(leaves, _places(out_dims, spec, func)):
        if dim is None:
            if isinstance(t, BatchedTensor) and t._layer is layer:
                name = name_of(func)
                raise ValueError(
                    f"vmap({name}, ...): `{name}` can not return a BatchedTensor when out_dim is "
                    "None"
                )
            made.append(t)
        elif not isinstance(t, TensorBase):
            name = name_of(func)
            raise ValueError(
                f"vmap({name}, ...): `{name}` must only return Tensors, got type {type(t)}. Did "
                "you mean to set out_dims= to None for output?"
            )
        else:
            made.append(unwrap(t, layer, dim))
    return unflatten(made, spec)


# ---- in parts ---------------------------------------------------------------------------------
def _in_chunks(
    func: Callable[..., object],
    dims: list[int | None],
    leaves: list[Any],
    spec: Spec | None,
    size: int,
    out_dims: Shape,
    randomness: str,
    chunk_size: int,
    kwargs: dict[str, object],
) -> Any:
    """Several runs, each on a part of the batch; their results joined."""
    split, cat = PUBLIC[("", "split")], PUBLIC[("", "cat")]
    columns = [x if d is None else split(x, chunk_size, d) for x, d in zip(leaves, dims)]
    state = get_rng_state() if randomness == "same" else None
    parts: list[list[Any]] = []
    out_spec: Spec | None = None
    for k, start in enumerate(range(0, size, chunk_size)):
        if state is not None:
            set_rng_state(state)
        mine = [c if d is None else c[k] for c, d in zip(columns, dims)]
        count = min(chunk_size, size - start)
        result = run(func, dims, mine, spec, count, out_dims, randomness, kwargs)
        flat, out_spec = flatten(result)
        parts.append(flat)
    where = _places(out_dims, out_spec, func)
    joined = [
        column[0] if d is None else cat(list(column), d) for column, d in zip(zip(*parts), where)
    ]
    return unflatten(joined, out_spec)
