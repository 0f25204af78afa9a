"""`torch._subclasses.fake_tensor`: programs ask whether a tensor is of this kind; none is."""

from __future__ import annotations

from typing import Any

from ..._base.error_notes import advise

__all__ = ["FakeTensor", "FakeTensorMode", "is_fake"]


class FakeTensor:
    """A tensor that has a shape and no memory. There is none."""


class FakeTensorMode:
    """Raises: every tensor here has its memory.

    Raises:
        NotImplementedError: always.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise advise(
            NotImplementedError("FakeTensorMode follows shapes without computing"),
            'make tensors on torch.device("meta") for their shapes alone',
        )


def is_fake(x: object) -> bool:
    """Whether `x` is a tensor without memory: never."""
    return False
