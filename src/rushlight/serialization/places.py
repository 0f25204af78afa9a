"""Where the storages of a file go: `map_location` in its four forms."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .._base.device import check_cpu, device

if TYPE_CHECKING:
    from .._base.annotations import DeviceLike


__all__ = ["Place", "UntypedStorage", "place_of"]

Place = Callable[[str, int], None]


class UntypedStorage:
    """What a function given as `map_location` sees of a storage: its size and where it is."""

    device = device("cpu")
    is_cuda = False
    is_sparse = False

    def __init__(self, count: int) -> None:
        self._count = count

    def nbytes(self) -> int:
        """The number of bytes."""
        return self._count

    def size(self) -> int:
        """The number of bytes."""
        return self._count

    def __len__(self) -> int:
        return self._count

    def cpu(self) -> UntypedStorage:
        """Itself: everything is in the memory of the CPU."""
        return self

    def cuda(self, device: DeviceLike | None = None, non_blocking: bool = False) -> UntypedStorage:
        """Never.

        Raises:
            AssertionError: there is no CUDA here.
        """
        raise AssertionError("Torch not compiled with CUDA enabled")


def place_of(map_location: Any) -> Place:
    """The check of a storage's place (its name and its size in bytes) that `map_location` means.

    Raises, when called:
        RuntimeError: for a device that isn't here.
        TypeError: where `map_location`, or what it gives, is nothing of that kind.
    """
    if map_location is None:
        return lambda location, count: _check(location)
    if isinstance(map_location, dict):
        table = map_location
        return lambda location, count: _check(str(table.get(location, location)))
    if isinstance(map_location, (str, bytes)):
        name = map_location.decode() if isinstance(map_location, bytes) else map_location
        return lambda location, count: _check(name)
    if isinstance(map_location, device):
        name = str(map_location)
        return lambda location, count: _check(name)

    if not callable(map_location):
        raise TypeError(f"'{type(map_location).__name__}' object is not callable")

    def ask(location: str, count: int) -> None:
        found = map_location(UntypedStorage(count), location)
        if found is None:
            _check(location)
        elif not isinstance(found, UntypedStorage):
            raise TypeError(
                "map_location gave an object of type "
                f"{type(found).__name__} where a storage or None was expected"
            )

    return ask


def _check(location: str) -> None:
    kind = location.partition(":")[0]
    if kind == "cuda":
        raise RuntimeError(
            "Attempting to deserialize object on a CUDA device but torch.cuda.is_available() "
            "is False. If you are running on a CPU-only machine, please use torch.load with "
            "map_location=torch.device('cpu') to map your storages to the CPU."
        )
    if kind == "meta":
        return
    if kind in ("cpu", "mps", "xpu"):
        check_cpu(location)
        return
    raise RuntimeError(
        "don't know how to restore data location of torch.storage.UntypedStorage "
        f"(tagged with {location})"
    )
