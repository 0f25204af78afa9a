"""What a world of other sizes would take, from what is measured in this one.

A model of three figures: the time until a message arrives (latency), the work of a rank for one
more message (overhead), and the bytes that a rank sends in a second (bandwidth). It has nothing of
a crowded network or of ranks that wait for a slow one: real worlds are slower, not faster.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, NamedTuple

__all__ = ["Figures", "fit", "table"]

#: How many ranks the table is for, and the bytes of a model of 100 million float32 parameters.
_RANKS: Final = (2, 8, 64, 512, 1_000, 4_000, 10_000)
_MODEL: Final = 400e6
_BUCKET: Final = 25 * 2**20  # of DistributedDataParallel
_UNITS: Final = 32  # parts of a model that are gathered one by one
_WHOLE: Final = 1 << 16  # up to how many bytes of all ranks a tensor goes to all of them whole


class Figures(NamedTuple):
    """Seconds of latency and of overhead, and bytes a second."""

    latency: float
    overhead: float
    bandwidth: float

    def all_reduce(self, size: float, ranks: int) -> float:
        """Seconds of one sum: small ones go to all, large ones in a part for each rank."""
        if size * ranks <= _WHOLE:
            return math.ceil(math.log2(ranks)) * self.latency + size * ranks / self.bandwidth
        return 2 * self.reduce_scatter(size, ranks)

    def reduce_scatter(self, size: float, ranks: int) -> float:
        """Seconds in which each rank gets the sum of its part: a message to and from each other."""
        others = ranks - 1
        return self.latency + 2 * others * self.overhead + size * others / ranks / self.bandwidth

    def all_gather(self, size: float, ranks: int) -> float:
        """Seconds in which all ranks get all parts of what is `size` bytes whole; by MPI."""
        return math.ceil(math.log2(ranks)) * self.latency + size / self.bandwidth

    def by_halves(self, size: float, ranks: int) -> float:
        """Seconds of one sum by halves (which isn't done): a message to each of log2(ranks)."""
        rounds = 2 * math.ceil(math.log2(ranks))
        return rounds * (self.latency + 2 * self.overhead) + 2 * size / self.bandwidth

    def by_replicas(self, ranks: int) -> float:
        """Seconds in which DistributedDataParallel sums the model's gradients."""
        return math.ceil(_MODEL / _BUCKET) * self.all_reduce(_BUCKET, ranks)

    def by_shards(self, ranks: int) -> float:
        """Seconds in which a sharded model gathers parameters twice and cuts up its gradients."""
        part = _MODEL / _UNITS
        return _UNITS * (2 * self.all_gather(part, ranks) + self.reduce_scatter(part, ranks))


def fit(times: Sequence[tuple[int, float]], overhead: float, ranks: int) -> Figures:
    """The figures of a world, from seconds of all_reduce by bytes, the smallest size first."""
    (_, small), (size, took), (larger, longer) = times[0], times[-2], times[-1]
    bandwidth = 2 * (ranks - 1) / ranks * (larger - size) / max(longer - took, 1e-9)
    return Figures(small / max(1, math.ceil(math.log2(ranks))), overhead, bandwidth)


def table(figures: Figures) -> list[str]:
    """Seconds by number of ranks, a line each."""
    out = [
        f"latency {figures.latency * 1e6:.0f} µs, a message more {figures.overhead * 1e6:.1f} µs, "
        f"{figures.bandwidth / 1e6:.0f} MB/s",
        "",
        "          all_reduce of                    a step's messages, 400 MB of float32",
        " ranks        4 KB        1 MB   25 MB    replicated   sharded   1 MB by halves",
    ]
    for ranks in _RANKS:
        row = [figures.all_reduce(size, ranks) for size in (4096, 2**20, _BUCKET)]
        row += [
            figures.by_replicas(ranks),
            figures.by_shards(ranks),
            figures.by_halves(2**20, ranks),
        ]
        out.append(
            "{:>6,}  {:>7.2f} ms  {:>7.1f} ms  {:>5.0f} ms  {:>8.1f} s  {:>7.1f} s  {:>9.1f} ms"
            .format(ranks, *(s * 1e3 for s in row[:3]), *row[3:5], row[5] * 1e3)
        )  # fmt: skip
    return out
