"""Tensors that are made where they lie: each rank of a mesh makes its own piece."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from .._ground import f
from ..device_mesh import active_mesh
from ._api import DTensor, distribute_tensor
from ._layout import DTensorSpec, Placements, TensorMeta, local_piece
from .placement_types import Placement, Replicate, Shard

if TYPE_CHECKING:
    from ..._base.annotations import DTypeLike, Scalar
    from ..._base.memory_format import layout as _layout
    from ..._tensor.tensor import Tensor
    from ..annotations import Given
    from ..device_mesh import DeviceMesh

__all__ = ["empty", "full", "ones", "rand", "randn", "zeros"]

_WORDS = """
    Parameters:
        size: the lengths of the whole, one after another or as one sequence.
{more}        dtype: what its elements are; without one {dtype}.
        layout: strided, the only one there is.
        requires_grad: whether a backward leaves a gradient in it.
        device_mesh: the ranks that it lies over; without one the mesh of the `with` around it.
        placements: how it lies, for each side of the mesh; without any every rank has the whole.
    Shapes: `size`; a rank's piece is as `placements` cut it.
    Returns: the DTensor.
    Raises:
        RuntimeError: without a mesh.
        AssertionError: for another number of placements than the mesh has sides, a cut dimension
            that is counted from the end, and a layout that isn't strided.
        IndexError: for a cut dimension that there isn't.
    Example:
        >>> import rushlight.distributed as dist
        >>> from rushlight.distributed.tensor import {name}, Shard
        >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
        >>> mesh = dist.init_device_mesh("cpu", (1,))
        >>> x = {name}({call}, device_mesh=mesh, placements=[Shard(0)])
        >>> {shown}
        {said}
        >>> dist.destroy_process_group()
    """


def _lengths(size: Sequence[Given]) -> tuple[int, ...]:
    one = size[0] if len(size) == 1 and not isinstance(size[0], int) else size
    return tuple(int(length) for length in one)


def _place(
    size: tuple[int, ...], mesh: DeviceMesh, placements: Sequence[Placement] | None, layout: Given
) -> Placements:
    """How a tensor that is to be made lies."""
    where = tuple(placements) if placements else (Replicate(),) * mesh.ndim
    if len(where) != mesh.ndim:
        raise AssertionError("mesh dimension does not match the length of placements")
    if layout is not None and str(layout) != "torch.strided":
        raise AssertionError("layout value not supported!")
    for placement in where:
        if isinstance(placement, Shard):
            if placement.dim < 0:
                raise AssertionError(
                    f"Shard dim {placement.dim} in placements {where} must be normalized"
                )
            size[placement.dim]  # an IndexError where there is no such dimension
    return where


def _make(
    make: Callable[..., Tensor], size: tuple[int, ...], mesh: DeviceMesh | None,
    placements: Sequence[Placement] | None, layout: Given, dtype: Given, requires_grad: bool,
) -> DTensor:  # fmt: skip
    """A tensor of which each rank makes its piece."""
    mesh = mesh or active_mesh()
    where = _place(size, mesh, placements, layout)
    local = make(local_piece(size, mesh, where)[0], dtype=dtype)
    steps = tuple(f.empty(size, device="meta").stride())
    spec = DTensorSpec(mesh, where, TensorMeta(size, steps, local.dtype))
    return DTensor(local, spec, requires_grad=requires_grad)


def _draw(
    draw: Callable[..., Tensor], size: tuple[int, ...], mesh: DeviceMesh | None,
    placements: Sequence[Placement] | None, layout: Given, dtype: Given, requires_grad: bool,
) -> DTensor:  # fmt: skip
    """What the first rank of each side has drawn, as the function of one process draws it."""
    mesh = mesh or active_mesh()
    where = _place(size, mesh, placements, layout)
    return distribute_tensor(
        draw(size, dtype=dtype).requires_grad_(requires_grad), mesh, where, src_data_rank=0
    )


def _function(name: str, what: str, how: Callable[..., DTensor], shown: str, said: str) -> Given:
    def make(
        *size: Given,
        dtype: DTypeLike | None = None,
        layout: _layout | None = None,
        requires_grad: bool = False,
        device_mesh: DeviceMesh | None = None,
        placements: Sequence[Placement] | None = None,
    ) -> DTensor:
        own: Callable[..., Tensor] = getattr(f, name)
        lengths = _lengths(size)
        return how(own, lengths, device_mesh, placements, layout, dtype, requires_grad)

    make.__name__ = make.__qualname__ = name
    make.__doc__ = what + _WORDS.format(
        more="", dtype="the default one", name=name, call="2, 3", shown=shown, said=said
    )
    return make


empty = _function(
    "empty", "A DTensor whose elements are whatever lay in its memory.\n", _make, "x.shape",
    "torch.Size([2, 3])",
)  # fmt: skip
ones = _function(
    "ones", "A DTensor of ones.\n", _make, "x.to_local()",
    "tensor([[1., 1., 1.],\n                [1., 1., 1.]])",
)  # fmt: skip
zeros = _function(
    "zeros", "A DTensor of zeros.\n", _make, "x.to_local()",
    "tensor([[0., 0., 0.],\n                [0., 0., 0.]])",
)  # fmt: skip
_DRAWN = """

    The first rank of each side of the mesh draws the whole from its default generator, as
    `torch.{name}` does, so that the numbers don't depend on how many ranks there are. All ranks
    draw as much. PyTorch has no DTensors of random numbers on the CPU.
"""
rand = _function(
    "rand", "A DTensor of uniform numbers from 0 to 1." + _DRAWN.format(name="rand"), _draw,
    "bool((x.to_local() < 1).all())", "True",
)  # fmt: skip
randn = _function(
    "randn", "A DTensor of standard normal numbers." + _DRAWN.format(name="randn"), _draw,
    "x.shape", "torch.Size([2, 3])",
)  # fmt: skip


def full(
    size: Given,
    fill_value: Scalar,
    *,
    dtype: DTypeLike | None = None,
    layout: _layout | None = None,
    requires_grad: bool = False,
    device_mesh: DeviceMesh | None = None,
    placements: Sequence[Placement] | None = None,
) -> DTensor:
    def make(shape: tuple[int, ...], **options: Given) -> Tensor:
        return f.full(shape, fill_value, **options)

    return _make(make, _lengths((size,)), device_mesh, placements, layout, dtype, requires_grad)


full.__doc__ = "A DTensor with the same number in every place.\n" + _WORDS.format(
    more="        fill_value: the number.\n", dtype="that of the number", name="full",
    call="(2, 3), 7", shown="x.to_local()",
    said="tensor([[7, 7, 7],\n                [7, 7, 7]])",
)  # fmt: skip
