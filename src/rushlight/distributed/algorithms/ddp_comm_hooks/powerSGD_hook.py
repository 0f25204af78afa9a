"""Gradients sent as products of two narrow matrices (PowerSGD, arXiv 1905.13727).

A matrix M is about P·Qᵀ with few columns. One step of a power iteration finds them: P = M·Q summed
over all ranks and made orthogonal, then Q = Mᵀ·P as a mean over all ranks. What is lost on a rank
is added to its next gradient (error feedback), and the next iteration starts from Q (warm start).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ...._base import dtypes as D
from ....random import Generator, fork_rng, manual_seed
from ....utils._futures import Future
from ..._ground import f, linalg
from ...collectives import all_reduce
from ...process_group import choose, default_group
from .default_hooks import mean_over_ranks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...._tensor.tensor import Tensor
    from ...annotations import State
    from ...buckets import GradBucket
    from ...process_group import ProcessGroup

__all__ = ["PowerSGDState", "batched_powerSGD_hook", "powerSGD_hook"]


class PowerSGDState:
    """What is chosen for PowerSGD, and what it remembers of each bucket.

    Raises:
        ValueError: for a start in the first two iterations together with memory of the last one.
    """

    def __init__(
        self,
        process_group: ProcessGroup | None,
        matrix_approximation_rank: int = 1,
        start_powerSGD_iter: int = 1_000,
        min_compression_rate: float = 2,
        use_error_feedback: bool = True,
        warm_start: bool = True,
        orthogonalization_epsilon: float = 0,
        random_seed: int = 0,
        compression_stats_logging_frequency: int = 10_000,
        batch_tensors_with_same_shape: bool = False,
    ) -> None:
        if (use_error_feedback or warm_start) and start_powerSGD_iter <= 1:
            raise ValueError(
                "Expect `start_powerSGD_iter` > 1 if `use_error_feedback` or `warm_start` is "
                "enabled, because PowerSGD can only be applied after the first two iterations in "
                "DDP."
            )
        self.process_group = process_group
        self.matrix_approximation_rank = matrix_approximation_rank
        self.start_powerSGD_iter = start_powerSGD_iter
        self.min_compression_rate = min_compression_rate
        self.use_error_feedback = use_error_feedback
        self.warm_start = warm_start
        self.orthogonalization_epsilon = orthogonalization_epsilon
        self.batch_tensors_with_same_shape = batch_tensors_with_same_shape
        self.compression_stats_logging_frequency = max(1, compression_stats_logging_frequency)
        self.rng = Generator().manual_seed(random_seed)
        self.error_dict: dict[int, Tensor] = {}
        self.p_memory_dict: dict[int, Tensor] = {}
        self.q_memory_dict: dict[int, Tensor] = {}
        self.iter = 0
        self.total_numel_before_compression = 0
        self.total_numel_after_compression = 0

    def __getstate__(self) -> State:
        return {name: value for name, value in vars(self).items() if name != "process_group"}

    def __setstate__(self, state: State) -> None:
        self.process_group = default_group()
        vars(self).update(state)

    def maybe_increase_iter(self, bucket: GradBucket) -> None:
        """Counts an iteration when its last bucket is sent."""
        self.iter += bucket.is_last()

    def compression_stats(self) -> tuple[float, int, int]:
        """How many times less was sent, and the elements before and after."""
        before, after = self.total_numel_before_compression, self.total_numel_after_compression
        return (before / after if after else 0, before, after)


def _orthogonalize(matrices: Tensor, epsilon: float) -> None:
    """Makes the columns of each matrix orthogonal and of length 1, in place."""
    columns = matrices.shape[2]
    if columns > 2 and matrices.dtype not in (D.float16, D.bfloat16):
        matrices.copy_(linalg.qr(matrices)[0])
        return
    for i in range(columns):
        column = matrices[:, :, i : i + 1]
        column /= f.norm(column, dim=1, keepdim=True) + epsilon
        rest = matrices[:, :, i + 1 :]
        if i + 1 < columns:
            rest -= (column * rest).sum(1, keepdim=True) * column


def powerSGD_hook(state: PowerSGDState, bucket: GradBucket) -> Future[Tensor]:
    """The mean over all ranks; after some iterations of matrices as products of narrow ones."""
    group = choose(state.process_group)
    row = bucket.buffer()
    if state.iter < state.start_powerSGD_iter:
        state.maybe_increase_iter(bucket)
        return mean_over_ranks(group, row)
    before = _with_error(state, bucket.index(), row, row.shape[0])
    large: dict[tuple[int, ...], list[Tensor]] = {}
    small = []
    for gradient in bucket.gradients():
        matrix = gradient.view(gradient.shape[0], -1)
        n, m = matrix.shape
        narrow = (n + m) * min(n, m, state.matrix_approximation_rank)
        state.total_numel_before_compression += n * m
        if narrow * state.min_compression_rate < n * m:
            large.setdefault((n, m), []).append(matrix)
            state.total_numel_after_compression += narrow
        else:
            small.append(gradient)
            state.total_numel_after_compression += n * m
    sent = f.cat([t.reshape(-1) for t in small]) if small else row.new_empty(0)
    work = all_reduce(sent, group=group, async_op=True)
    stacks = []
    for alike in large.values():
        stacks += [alike] if state.batch_tensors_with_same_shape else [[one] for one in alike]
    matrices = [f.stack(stack) for stack in stacks]
    _approximate(state, bucket.index(), matrices, group)
    for stack, products in zip(stacks, matrices):
        for matrix, product in zip(stack, products):
            matrix.copy_(product)
    assert work is not None
    work.wait()
    sent.div_(group.size())
    for gradient, part in zip(small, sent.split([t.numel() for t in small])):
        gradient.copy_(part.view_as(gradient))
    return _end_round(state, bucket, before, row)


def batched_powerSGD_hook(state: PowerSGDState, bucket: GradBucket) -> Future[Tensor]:
    """The same with all gradients of a bucket as one square matrix."""
    group = choose(state.process_group)
    row = bucket.buffer()
    if state.iter < state.start_powerSGD_iter:
        state.maybe_increase_iter(bucket)
        return mean_over_ranks(group, row)
    length = row.shape[0]
    side = math.ceil(math.sqrt(length))
    narrow = side * min(side, state.matrix_approximation_rank) * 2
    state.total_numel_before_compression += length
    state.total_numel_after_compression += narrow
    square = row.new_zeros(side * side)
    square[:length] = row
    before = _with_error(state, bucket.index(), square, side * side)
    matrices = [square.view(1, side, side)]
    _approximate(state, bucket.index(), matrices, group)
    if before is not None:
        state.error_dict[bucket.index()] = before - matrices[0].reshape(-1)
    row.copy_(matrices[0].reshape(-1)[:length])
    return _end_round(state, bucket, None, row)


def _with_error(state: PowerSGDState, index: int, row: Tensor, length: int) -> Tensor | None:
    """Adds what was lost the last time; a copy of the sum where it is to be remembered."""
    if not state.use_error_feedback:
        return None
    if index in state.error_dict:
        row.add_(state.error_dict[index])
    else:
        state.error_dict[index] = row.new_zeros(length)
    return row.clone()


def _approximate(
    state: PowerSGDState, index: int, matrices: list[Tensor], group: ProcessGroup
) -> None:
    """Puts the mean over all ranks of each matrix, as a product of narrow ones, in its place."""
    ranks = [min(*m.shape[1:], state.matrix_approximation_rank) for m in matrices]
    q_shapes = [(m.shape[0], m.shape[2], r) for m, r in zip(matrices, ranks)]
    p_shapes = [(m.shape[0], m.shape[1], r) for m, r in zip(matrices, ranks)]
    fresh = not state.warm_start or index not in state.q_memory_dict
    if fresh and matrices:
        dtype = matrices[0].dtype
        state.p_memory_dict[index] = f.empty(sum(map(math.prod, p_shapes)), dtype=dtype)
        state.q_memory_dict[index] = f.empty(sum(map(math.prod, q_shapes)), dtype=dtype)
    elif fresh:
        state.p_memory_dict[index] = state.q_memory_dict[index] = f.empty(0)
    all_p, all_q = state.p_memory_dict[index], state.q_memory_dict[index]
    ps, qs = _views(all_p, p_shapes), _views(all_q, q_shapes)
    if fresh:
        with fork_rng(devices=[]):
            manual_seed(_next_seed(state.rng))
            for q in qs:
                q.copy_(f.randn(*q.shape, dtype=q.dtype))
    for q in qs:
        _orthogonalize(q, state.orthogonalization_epsilon)
    for matrix, p, q in zip(matrices, ps, qs):
        p.copy_(matrix @ q)
    all_reduce(all_p, group=group)
    for matrix, p, q in zip(matrices, ps, qs):
        _orthogonalize(p, state.orthogonalization_epsilon)
        q.copy_(matrix.transpose(1, 2) @ p)
    all_reduce(all_q, group=group)
    all_q.div_(group.size())
    for matrix, p, q in zip(matrices, ps, qs):
        matrix.copy_(p @ q.transpose(1, 2))


def _next_seed(generator: Generator) -> int:
    """A number below 10⁹ as NumPy's `RandomState.randint` draws it: 30 bits until they fit."""
    while True:
        bits = f.empty(1, dtype=D.int32).random_(generator=generator)
        word = int(bits.item()) & ((1 << 30) - 1)
        if word < 1_000_000_000:
            return word


def _views(row: Tensor, shapes: Sequence[tuple[int, ...]]) -> list[Tensor]:
    parts = row.split([math.prod(shape) for shape in shapes])
    return [part.view(shape) for part, shape in zip(parts, shapes)]


def _end_round(
    state: PowerSGDState, bucket: GradBucket, before: Tensor | None, row: Tensor
) -> Future[Tensor]:
    if before is not None:
        state.error_dict[bucket.index()] = before - row
    if not state.warm_start:
        state.p_memory_dict.clear()
        state.q_memory_dict.clear()
    state.maybe_increase_iter(bucket)
    done: Future[Tensor] = Future()
    done.set_result(row)
    return done
