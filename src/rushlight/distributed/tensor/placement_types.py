"""How a tensor lies over processes: whole on each, in pieces, or as parts of a sum."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Partial", "Placement", "Replicate", "Shard"]


class Placement:
    """How a tensor lies over the processes of one dimension of a mesh."""

    def is_shard(self, dim: int | None = None) -> bool:
        """Whether each process has a piece, of this dimension where one is given."""
        return isinstance(self, Shard) and (dim is None or self.dim == dim)

    def is_replicate(self) -> bool:
        """Whether each process has the whole."""
        return isinstance(self, Replicate)

    def is_partial(self, reduce_op: str | None = None) -> bool:
        """Whether each process has a part of a sum, or of what is named."""
        return isinstance(self, Partial) and (reduce_op is None or self.reduce_op == reduce_op)


@dataclass(frozen=True)
class Shard(Placement):
    """Each process has a piece of a dimension."""

    dim: int


@dataclass(frozen=True)
class _StridedShard(Shard):
    """Each process has a piece of a piece."""

    split_factor: int = 1


@dataclass(frozen=True)
class Replicate(Placement):
    """Each process has the whole."""


@dataclass(frozen=True)
class Partial(Placement):
    """Each process has a part of what is to be reduced."""

    reduce_op: str = "sum"
