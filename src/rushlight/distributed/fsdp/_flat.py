"""Parameters in one row, which is cut into equal parts."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ...nn.parameter import Parameter
from .._ground import f

if TYPE_CHECKING:
    from ..._tensor.tensor import Tensor

__all__ = ["FlatLayout"]


class FlatLayout:
    """A rank's part of the row: one parameter, or a piece of each parameter."""

    def __init__(
        self, parameters: list[Tensor], rank: int, count: int, pieces: bool, names: list[str]
    ) -> None:
        self.names = names
        self.shapes = [tuple(p.shape) for p in parameters]
        self.sizes = [math.prod(shape) for shape in self.shapes]
        self.total = sum(self.sizes)
        self.length = -(-self.total // count)
        self.start = rank * self.length
        self.pieces = pieces
        row = f.cat([p.detach().reshape(-1) for p in parameters])
        own = self.own_part(row)
        trained = any(p.requires_grad for p in parameters)
        if not pieces:
            self.parameters = [Parameter(own, trained)]
            return
        cuts = self.cuts()
        self.parameters = [
            Parameter(own[a:b].clone(), p.requires_grad) for (a, b), p in zip(cuts, parameters)
        ]

    def cuts(self) -> list[tuple[int, int]]:
        """Where the piece of each parameter lies in this rank's part."""
        out, start = [], 0
        for size in self.sizes:
            a, b = (min(max(x - self.start, 0), self.length) for x in (start, start + size))
            out.append((a, b))
            start += size
        return out

    def own_part(self, row: Tensor) -> Tensor:
        """This rank's part of a row, filled up with zeros."""
        part = row[self.start : self.start + self.length]
        lacking = self.length - part.numel()
        return f.cat([part, part.new_zeros(lacking)]) if lacking else part.clone()

    def row(self) -> Tensor:
        """This rank's part, with its history."""
        return self.in_a_row(list(self.parameters))

    def in_a_row(self, held: list[Tensor]) -> Tensor:
        """This rank's part from what it has instead of its parameters."""
        if not self.pieces:
            return held[0]
        lacking = self.length - sum(t.numel() for t in held)
        return f.cat([*held, held[0].new_zeros(lacking)])

    def wholes(self, rows: Tensor) -> list[Tensor]:
        """The whole parameters: views of the row."""
        parts = rows[: self.total].split(self.sizes)
        return [part.view(shape) for part, shape in zip(parts, self.shapes)]

    def take(self, wholes: list[Tensor]) -> None:
        """Makes whole values the parameters'."""
        own = self.own_part(f.cat([w.detach().reshape(-1) for w in wholes]))
        for parameter, (a, b) in zip(
            self.parameters, self.cuts() if self.pieces else [(0, self.length)]
        ):
            parameter.detach().copy_(own[a:b])
