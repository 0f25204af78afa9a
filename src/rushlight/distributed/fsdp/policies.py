"""How parameters would be kept and computed with if they were spread over processes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

from ..._base.dtypes import dtype
from ..._base.error_notes import advised

if TYPE_CHECKING:
    from ...nn.modules.module import Module


__all__ = [
    "CPUOffloadPolicy", "FSDPModule", "MixedPrecisionPolicy", "OffloadPolicy", "fully_shard",
]  # fmt: skip


class FSDPModule:
    """The class that `fully_shard` gives a module besides its own: here no module has it."""


@dataclass(frozen=True)
class MixedPrecisionPolicy:
    """In which types parameters, gradients and outputs are held."""

    param_dtype: dtype | None = None
    reduce_dtype: dtype | None = None
    output_dtype: dtype | None = None
    cast_forward_inputs: bool = True


@dataclass
class OffloadPolicy:
    """Parameters stay where they are."""


@dataclass
class CPUOffloadPolicy(OffloadPolicy):
    """Parameters wait in main memory."""

    pin_memory: bool = True


def fully_shard(module: Module, *args: object, **kwargs: object) -> NoReturn:
    """Raises RuntimeError: there is one process."""
    raise advised(
        RuntimeError("fully_shard spreads parameters over several processes"),
        "Rushlight runs in one process: use the module itself",
    )
