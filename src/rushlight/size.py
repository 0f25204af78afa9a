"""`Size`: the shape of a tensor, a tuple that prints as torch.Size."""

from __future__ import annotations

from typing import Any, Iterable


class Size(tuple[int, ...]):
    """A tuple of dimension sizes, with `numel()`; slices and sums are sizes too."""

    __slots__ = ()

    def __new__(cls, sizes: Iterable[int] = ()) -> Size:
        return tuple.__new__(cls, sizes)

    def numel(self) -> int:
        """The number of elements of a tensor of this size."""
        n = 1
        for s in self:
            n *= s
        return n

    def __repr__(self) -> str:
        return f"torch.Size([{', '.join(map(str, self))}])"

    __str__ = __repr__

    def __getitem__(self, index: Any) -> Any:
        found = tuple.__getitem__(self, index)
        return Size(found) if isinstance(index, slice) else found

    def __add__(self, other: Any) -> Size:  # type: ignore[override]
        return Size(tuple.__add__(self, other))

    def __mul__(self, times: Any) -> Size:  # type: ignore[override]
        return Size(tuple.__mul__(self, times))

    __rmul__ = __mul__  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        return Size, (tuple(self),)
