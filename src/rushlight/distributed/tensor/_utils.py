"""`torch.distributed.tensor._utils`: which piece of a tensor a rank has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ._layout import local_piece

if TYPE_CHECKING:
    from ..device_mesh import DeviceMesh
    from .placement_types import Placement


def compute_local_shape_and_global_offset(
    global_shape: Sequence[int], mesh: DeviceMesh, placements: Sequence[Placement],
    **options: object,
) -> tuple[tuple[int, ...], tuple[int, ...]]:  # fmt: skip
    """The shape of this rank's piece, and where it begins."""
    return local_piece(global_shape, mesh, tuple(placements))
