"""Dictionaries and references that don't keep a tensor alive, by identity."""

from __future__ import annotations

import weakref
from collections.abc import Iterator, MutableMapping
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from .._tensor.tensor import Tensor


__all__ = ["TensorWeakRef", "WeakIdKeyDictionary", "WeakIdRef", "WeakTensorKeyDictionary"]

V = TypeVar("V")


class WeakIdRef(weakref.ref[Any]):
    """A weak reference that equals another one of the same object."""

    __slots__ = ("_id",)

    def __init__(self, key: object, callback: object = None) -> None:
        super().__init__(key, callback)  # type: ignore[call-arg]
        self._id = id(key)

    def __hash__(self) -> int:
        return self._id

    def __eq__(self, other: object) -> bool:
        a, b = self(), other() if isinstance(other, weakref.ref) else None
        return self is other if a is None or b is None else a is b


class WeakIdKeyDictionary(MutableMapping[Any, V], Generic[V]):
    """A dictionary whose keys are compared by identity and vanish with their objects."""

    def __init__(self, dict: Any = None, ref_type: type[WeakIdRef] = WeakIdRef) -> None:
        self.data: Any = {}
        self.ref_type = ref_type
        if dict is not None:
            self.update(dict)

    def __setitem__(self, key: object, value: V) -> None:
        mine = weakref.ref(self)

        def forget(ref: object) -> None:
            me = mine()
            if me is not None:
                me.data.pop(ref, None)

        self.data[self.ref_type(key, forget)] = value

    def __getitem__(self, key: object) -> V:
        return self.data[self.ref_type(key)]

    def __delitem__(self, key: object) -> None:
        del self.data[self.ref_type(key)]

    def __iter__(self) -> Iterator[object]:
        for ref in list(self.data):
            key = ref()
            if key is not None:
                yield key

    def __len__(self) -> int:
        return len(self.data)

    def __contains__(self, key: object) -> bool:
        try:
            return self.ref_type(key) in self.data
        except TypeError:
            return False

    def __repr__(self) -> str:
        return f"<{type(self).__name__} at {id(self):#x}>"

    def copy(self) -> WeakIdKeyDictionary[V]:
        """Another dictionary with the same entries."""
        return type(self)(self)

    __copy__ = copy

    def keyrefs(self) -> list[object]:
        """Weak references to the keys."""
        return list(self.data)


class WeakTensorKeyDictionary(WeakIdKeyDictionary[V]):
    """A dictionary whose keys are tensors."""


class TensorWeakRef:
    """A weak reference to a tensor: calling it gives the tensor, or None."""

    def __init__(self, tensor: Tensor) -> None:
        from .._tensor.tensor import Tensor

        if not isinstance(tensor, Tensor):
            raise AssertionError(f"expected torch.Tensor, got {type(tensor)}.")
        self.ref = weakref.ref(tensor)

    def __call__(self) -> Tensor | None:
        return self.ref()
