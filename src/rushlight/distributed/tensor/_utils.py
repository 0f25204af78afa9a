"""`torch.distributed.tensor._utils`: which piece of a tensor a process has; of one, the whole."""

from __future__ import annotations

from collections.abc import Sequence


def compute_local_shape_and_global_offset(
    global_shape: Sequence[int], mesh: object, placements: Sequence[object], **options: object
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The shape of this process's piece and where it begins: the whole, from its start."""
    return tuple(global_shape), (0,) * len(global_shape)
