"""`torch.multiprocessing.pool.Pool`: the standard pool, through whose pipes tensors are shared."""

from __future__ import annotations

from multiprocessing.pool import Pool

__all__ = ["Pool"]
