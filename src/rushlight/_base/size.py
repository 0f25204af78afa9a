"""`Size`: the shape of a tensor, a tuple that prints as torch.Size."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, SupportsIndex, overload


class Size(tuple[int, ...]):
    """A tuple of dimension sizes, with `numel()`; slices and sums are sizes too.

    Parameters:
        sizes: the integers; anything that counts as an index is one.
    Raises: TypeError: for anything but integers.
    Example:
        >>> torch.ones(2, 3).shape
        torch.Size([2, 3])
        >>> torch.Size([2, 3]).numel()
        6
    """

    __slots__ = ()

    def __new__(cls, sizes: Iterable[int] = ()) -> Size:
        found = list(sizes)
        for place, n in enumerate(found):
            if type(n) is not int:
                try:
                    found[place] = operator.index(n)
                except TypeError:
                    raise TypeError(
                        f"torch.Size() takes an iterable of 'int' (item {place} is "
                        f"'{type(n).__name__}')"
                    ) from None
        return tuple.__new__(cls, found)

    def numel(self) -> int:
        """The number of elements of a tensor of this size."""
        n = 1
        for s in self:
            n *= s
        return n

    def __repr__(self) -> str:
        return f"torch.Size([{', '.join(map(str, self))}])"

    __str__ = __repr__

    if TYPE_CHECKING:

        @overload
        def __getitem__(self, index: SupportsIndex) -> int: ...

        @overload
        def __getitem__(self, index: slice) -> Size: ...

    def __getitem__(self, index: Any) -> Any:
        found = tuple.__getitem__(self, index)
        return tuple.__new__(Size, found) if isinstance(index, slice) else found

    def __add__(self, other: object) -> Size:
        if not isinstance(other, tuple):
            swapped = getattr(type(other), "__radd__", None)
            found: Any = NotImplemented if swapped is None else swapped(other, self)
            if found is not NotImplemented:
                return found
            raise TypeError(
                f"can only concatenate tuple (not {type(other).__name__}) to torch.Size"
            )
        made = tuple.__add__(self, other)
        return tuple.__new__(Size, made) if type(other) is Size else Size(made)

    def __radd__(self, other: object) -> Size:
        if not isinstance(other, tuple):
            return NotImplemented
        return Size(tuple.__add__(other, self))

    def __mul__(self, times: Any) -> Size:
        return Size(tuple.__mul__(self, times))

    __rmul__ = __mul__

    def __reduce__(self) -> tuple[Any, ...]:
        return Size, (tuple(self),)
