"""Properties that refuse to be set or deleted, in PyTorch's words."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    ReadOnly = property
else:

    class ReadOnly(property):
        """A property that refuses to be set, in PyTorch's words."""

        def __set__(self, instance: object, value: object) -> None:
            name = getattr(self.fget, "__name__", "")
            raise AttributeError(
                f"attribute '{name}' of 'torch._C.TensorBase' objects is not writable"
            )

        def __delete__(self, instance: object) -> None:
            self.__set__(instance, None)
