"""`torch.distributed.tensor.experimental`: plain tensors beside those that lie over ranks."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ..._tensor.tensor import Tensor
from ...utils._pytree import tree_flatten, tree_unflatten
from ._api import DTensor
from ._dispatch import Replicating

if TYPE_CHECKING:
    from ..annotations import Given
    from ..device_mesh import DeviceMesh

__all__ = ["implicit_replication", "local_map"]


@contextmanager
def implicit_replication() -> Iterator[None]:
    """Plain tensors stand for tensors that every rank has."""
    before = Replicating.on
    Replicating.on = True
    try:
        yield
    finally:
        Replicating.on = before


def local_map(
    func: Callable[..., Given] | None = None,
    out_placements: Given = None,
    in_placements: tuple[Given, ...] | None = None,
    in_grad_placements: tuple[Given, ...] | None = None,
    device_mesh: DeviceMesh | None = None,
    *,
    redistribute_inputs: bool = False,
) -> Callable[..., Given]:
    """A function of plain tensors as one of DTensors: each rank calls it with its pieces.

    Parameters:
        func: the function; without it a decorator is returned.
        out_placements: how the results lie: a list of placements for one, a tuple of such lists for
            several, None in the place of one that isn't a tensor.
        in_placements: how the positional arguments have to lie, nested ones counted by their
            leaves; None for what isn't a DTensor. Without it they lie as they come.
        in_grad_placements: how the gradients of the pieces lie; without it as the arguments do.
        device_mesh: the mesh of the results; without it that of the first DTensor.
        redistribute_inputs: whether arguments that lie otherwise are laid out anew.
    Shapes: those of each rank's pieces.
    Returns: the function; its results are DTensors where one of its arguments is one.
    Raises:
        ValueError: for an argument that lies otherwise.
        AssertionError: for another number of placements than of arguments or results, and for
            placements of what isn't a tensor.
    Example:
        >>> import rushlight.distributed as dist
        >>> from rushlight.distributed.tensor import Shard, ones
        >>> from rushlight.distributed.tensor.experimental import local_map
        >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
        >>> mesh = dist.init_device_mesh("cpu", (1,))
        >>> double = local_map(lambda x: x * 2, [Shard(0)])
        >>> double(ones(2, device_mesh=mesh, placements=[Shard(0)])).full_tensor()
        tensor([2., 2.])
        >>> dist.destroy_process_group()
    """
    if func is None:
        return functools.partial(
            local_map, out_placements=out_placements, in_placements=in_placements,
            in_grad_placements=in_grad_placements, device_mesh=device_mesh,
            redistribute_inputs=redistribute_inputs,
        )  # fmt: skip
    call = func

    def call_on_pieces(*args: Given, **kwargs: Given) -> Given:
        given, form = tree_flatten(args)
        if in_placements is not None and len(in_placements) != len(given):
            raise AssertionError(
                f"in_placements length {len(in_placements)} does not match the number of input "
                f"args {len(given)}!"
            )
        wanted = in_placements or (None,) * len(given)
        backs = in_grad_placements or (None,) * len(given)
        pieces = []
        for value, where, back in zip(given, wanted, backs):
            if isinstance(value, DTensor):
                if in_placements is not None:
                    value = _lay_out(value, where, redistribute_inputs)
                if in_grad_placements is not None and back is None:
                    raise AssertionError(
                        f"DTensor input {value} expects in grad placements but received {back}!"
                    )
                value = value.to_local(grad_placements=back)
            elif where is not None and not isinstance(value, Tensor):
                raise AssertionError(
                    f"Non-Tensor input {value} expects None placements but received {where}!"
                )
            pieces.append(value)
        out = call(*tree_unflatten(pieces, form), **kwargs)
        first = next((value for value in given if isinstance(value, DTensor)), None)
        if first is None:
            return out
        return _join(out, out_placements, device_mesh or first.device_mesh)

    return functools.wraps(call)(call_on_pieces)


def _lay_out(value: DTensor, where: Given, moves: bool) -> DTensor:
    """An argument that lies as it has to."""
    if where is None:
        raise AssertionError(f"DTensor input {value} expects placements but received {where}!")
    if value.placements == tuple(where):
        return value
    if not moves:
        raise ValueError(
            f"arg {value} in local_map has a mismatched placements: arg placements is "
            f"{value.placements} but the input placements is {tuple(where)}! If "
            "redistribute_inputs is wanted, set redistribute_inputs=True to local_map."
        )
    return value.redistribute(placements=where)


def _join(out: Given, placements: Given, mesh: DeviceMesh) -> Given:
    """Each rank's results as DTensors."""
    results, form = tree_flatten(out)
    each = placements if isinstance(placements, tuple) else (placements,)
    if len(results) != len(each):
        raise AssertionError(
            "local_map requires one PlacementType be provided for each output value, received "
            f"{len(each)} out_placements but {len(results)} is expected!"
        )
    whole = []
    for result, where in zip(results, each):
        if isinstance(result, DTensor):
            raise AssertionError(
                f"torch.Tensor output expected but received {type(result)}: {result}"
            )
        if isinstance(result, Tensor):
            result = DTensor.from_local(result, mesh, where, run_check=False)
        elif where is not None:
            raise AssertionError(
                f"Non-tensor output {result} expects None placements but received {where}!"
            )
        whole.append(result)
    return tree_unflatten(whole, form)
