"""`torch.cuda.nvtx`: marks for a profiler that isn't here."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from .. import missing_devices as absent

_NONE = "NVTX functions not installed. Are you sure you have a CUDA build?"

absent.refusing(globals(), RuntimeError, _NONE, "mark range_pop range_push")
absent.refusing(
    globals(), AttributeError, "'_NVTXStub' object has no attribute 'rangeEnd'", "range_end"
)
absent.refusing(
    globals(), AttributeError, "'_NVTXStub' object has no attribute 'rangeStartA'", "range_start"
)


@contextlib.contextmanager
def range(msg: str, *args: Any, **kwargs: Any) -> Iterator[None]:
    """A context that marks a range; entering it raises, as there is nothing to mark it in."""
    raise RuntimeError(_NONE)
    yield


__all__ = absent.names(globals())  # noqa: PLE0605
