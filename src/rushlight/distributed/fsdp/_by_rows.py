"""Parameters that are each cut by their first dimension: DTensors."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ...nn.parameter import Parameter
from .._ground import f
from ..tensor._api import DTensor
from ..tensor._layout import DTensorSpec, TensorMeta, piece
from ..tensor.placement_types import Placement, Replicate, Shard

if TYPE_CHECKING:
    from ..._tensor.tensor import Tensor
    from ..device_mesh import DeviceMesh

__all__ = ["RowsLayout"]


class RowsLayout:
    """Each rank has some rows of each parameter."""

    def __init__(self, parameters: list[Tensor], mesh: DeviceMesh, side: int) -> None:
        self.count = mesh.size(side)
        index = mesh.get_local_rank(side) if mesh.ndim > 1 else mesh.get_local_rank()
        layout: tuple[Placement, ...] = tuple(
            Shard(0) if i == side else Replicate() for i in range(mesh.ndim)
        )
        self.shapes = [tuple(p.shape) for p in parameters]
        self.rows_each = [-(-shape[0] // self.count) for shape in self.shapes]
        self.parameters: list[Parameter] = []
        for p in parameters:
            start, length = piece(p.shape[0], self.count, index)
            own = p.detach()[start : start + length].clone()
            steps = tuple(p.stride())
            spec = DTensorSpec(mesh, layout, TensorMeta(tuple(p.shape), steps, p.dtype))
            self.parameters.append(Parameter(DTensor(own, spec), p.requires_grad))

    def row(self) -> Tensor:
        """This rank's rows of all parameters, filled up to equal numbers of rows."""
        parts: list[Tensor] = []
        for parameter, shape, rows in zip(self.parameters, self.shapes, self.rows_each):
            assert isinstance(parameter, DTensor)
            own = parameter.to_local().reshape(-1)
            lacking = rows * math.prod(shape[1:]) - own.numel()
            parts += [own, own.new_zeros(lacking)] if lacking else [own]
        return f.cat(parts)

    def wholes(self, rows: Tensor) -> list[Tensor]:
        """The whole parameters."""
        table = rows.view(self.count, -1)
        sizes = [n * math.prod(shape[1:]) for n, shape in zip(self.rows_each, self.shapes)]
        return [
            part.reshape(self.count * n, *shape[1:])[: shape[0]].contiguous()
            for part, n, shape in zip(table.split(sizes, 1), self.rows_each, self.shapes)
        ]
