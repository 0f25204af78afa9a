"""How a tensor lies over ranks: whole on each, in pieces, or as parts of a sum."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Partial", "Placement", "Replicate", "Shard"]


class Placement:
    """How a tensor lies over the ranks of one side of a mesh: `Shard`, `Replicate` or `Partial`.

    Example:
        >>> dist.tensor.Shard(0).is_shard(), dist.tensor.Shard(0).is_replicate()
        (True, False)
    """

    def is_shard(self, dim: int | None = None) -> bool:
        """Whether each rank has a piece, of this dimension where one is given."""
        return isinstance(self, Shard) and (dim is None or self.dim == dim)

    def is_replicate(self) -> bool:
        """Whether each rank has the whole."""
        return isinstance(self, Replicate)

    def is_partial(self, reduce_op: str | None = None) -> bool:
        """Whether each rank has a part of a sum, or of what is named."""
        return isinstance(self, Partial) and (reduce_op is None or self.reduce_op == reduce_op)


@dataclass(frozen=True)
class Shard(Placement):
    """Each rank has a piece of a dimension.

    Parameters:
        dim: the dimension; negative ones count from the last.
    Raises: TypeError: for other parameters.
    Example:
        >>> dist.tensor.Shard(1)
        Shard(dim=1)
        >>> dist.tensor.Shard(1).is_shard(dim=0)
        False
    """

    dim: int

    def __str__(self) -> str:
        return f"S({self.dim})"


@dataclass(frozen=True)
class _StridedShard(Shard):
    """Each rank has a piece of a piece."""

    split_factor: int = 1


@dataclass(frozen=True)
class Replicate(Placement):
    """Each rank has the whole.

    Example:
        >>> dist.tensor.Replicate() == dist.tensor.Replicate()
        True
    """

    def __repr__(self) -> str:
        return "Replicate()"

    def __str__(self) -> str:
        return "R"


@dataclass(frozen=True)
class Partial(Placement):
    """Each rank has a part of what is to be reduced.

    Parameters:
        reduce_op: how the parts make the whole: "sum", "avg", "product", "max" or "min".
    Raises: TypeError: for other parameters.
    Example:
        >>> dist.tensor.Partial()
        Partial(sum)
    """

    reduce_op: str = "sum"

    def __repr__(self) -> str:
        return f"Partial({self.reduce_op})"

    def __str__(self) -> str:
        return f"P({self.reduce_op})"


@dataclass(frozen=True, repr=False)
class _NormPartial(Partial):
    """Each rank has the norm of its part: those of all make the norm of the whole."""

    norm_type: float = 2

    def __repr__(self) -> str:
        return f"_NormPartial({self.norm_type})"

    def __str__(self) -> str:
        return f"_NormP({self.norm_type})"
