"""Memory for the padded samples of convolutions, and how sums over samples are shared out.

Note [The order of sums]
An output is summed over channels and taps in one order. Gradients of weights are summed over
shares of the samples, whose number depends on sizes alone; so threads change no digit.
"""

from __future__ import annotations

from typing import Any, Final

THREADED: Final = 1 << 21  # multiplications from which threads are worth waking
SHARES: Final = 8  # pieces of the work at least, where there are threads
_TOTALS: Final = 1 << 21  # elements of sums for shares of the samples


class Samples:
    """Where samples (N, C, H, W) begin, in elements. Those of bodies are (N, planes, C, H, W):
    samples of samples."""

    __slots__ = ("channel", "channels", "column", "count", "inner", "next", "outer", "row")

    def __init__(self, x: Any) -> None:
        steps = [step // x.itemsize for step in x.strides]
        if x.ndim == 4:
            self.inner, self.outer, self.count = x.shape[0], 0, x.shape[0]
        else:
            self.inner, self.outer, self.count = x.shape[1], steps[0], x.shape[0] * x.shape[1]
        self.next, self.channel, self.row, self.column = steps[-4:]
        self.channels = x.shape[-3]


def even(n: int) -> int:
    """Elements up to a multiple of 32, which begin a cache line."""
    return -(-n // 32) * 32


def share_samples(count: int, tiles: int, total: int, work: int) -> tuple[int, int, int, int]:
    """How many samples have sums of their own (`total` elements), how often, and the same for
    tiles of the sums. See Note [The order of sums]."""
    if work < THREADED:
        return count, 1, tiles, 1
    shares = min(count, SHARES, max(1, _TOTALS // total))
    share = -(-count // shares)
    shares = -(-count // share)
    run = -(-tiles // min(tiles, -(-SHARES // shares)))
    return share, shares, run, -(-tiles // run)
