"""`torch.classes`: classes that compiled extensions register; there are none."""

from __future__ import annotations

from typing import Any

from .._base.lazy import lazy


class _Namespace:
    """The classes that one extension would have registered."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("__"):
            raise AttributeError(attribute)
        raise RuntimeError(
            f"Tried to instantiate class '{self.name}.{attribute}', but it does not exist! Ensure "
            "that it is registered via torch::class_"
        )


loaded_libraries: set[str] = set()


def load_library(path: str) -> None:
    """Raises: compiled extensions of PyTorch can't be loaded.

    Raises:
        OSError: always.
    """
    raise OSError(f"{path}: Rushlight loads no compiled extensions of PyTorch")


def _namespace(name: str) -> _Namespace:
    if name[:2] == "__":
        raise KeyError(name)
    return _Namespace(name)


__getattr__ = lazy(__name__, find=_namespace)
