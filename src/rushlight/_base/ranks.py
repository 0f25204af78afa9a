"""What layers and samplers ask of a group of processes: `distributed`, which stands above, answers.

Before it is loaded this process is alone: there is no group.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from .._tensor.tensor import Tensor

__all__ = ["NO_GROUP", "RANKS", "Ranks"]

NO_GROUP: Final = (
    "Default process group has not been initialized, please make sure to call init_process_group."
)


def _refuse() -> int:
    raise ValueError(NO_GROUP)


def _normalize_alone(*args: object) -> None:
    """Of one process: what the layer does itself."""
    return None


class Ranks:
    """The answers, which `distributed` replaces by its own."""

    __slots__ = ("count", "normalize", "rank")

    def __init__(self) -> None:
        #: The rank of this process among all, and how many there are; refused without a group.
        self.rank: Callable[[], int] = _refuse
        self.count: Callable[[], int] = _refuse
        #: Batch norm over the ranks of a group; None where this process is the only one.
        self.normalize: Callable[..., Tensor | None] = _normalize_alone


RANKS: Final = Ranks()
