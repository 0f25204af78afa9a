"""How a bucket of gradients becomes a mean over all ranks: as it is, or sent in 16 bits."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...._base import dtypes as D
from ...collectives import all_reduce
from ...process_group import choose

if TYPE_CHECKING:
    from ...._base.dtypes import dtype
    from ...._tensor.tensor import Tensor
    from ....utils._futures import Future
    from ...annotations import Given
    from ...buckets import GradBucket
    from ...process_group import ProcessGroup

    Hook = Callable[[Any, GradBucket], Future[Tensor]]

__all__ = [
    "allreduce_hook", "bf16_compress_hook", "bf16_compress_wrapper", "fp16_compress_hook",
    "fp16_compress_wrapper",
]  # fmt: skip


def mean_over_ranks(group: ProcessGroup | None, tensor: Tensor) -> Future[Tensor]:
    """A future of a tensor's mean over all ranks, which takes the tensor's place."""
    among = choose(group)
    tensor.div_(among.size())
    work = all_reduce(tensor, group=among, async_op=True)
    assert work is not None
    sent: Future[Any] = work.get_future()
    return sent.then(_first)


def _first(done: Given) -> Given:
    return done.value()[0]


def allreduce_hook(process_group: ProcessGroup | None, bucket: GradBucket) -> Future[Tensor]:
    """Means as they are without a hook."""
    return mean_over_ranks(process_group, bucket.buffer())


def _widen(sent: Future[Tensor], bucket: GradBucket, row: Tensor) -> Future[Tensor]:
    def widen(done: Given) -> Tensor:
        row.copy_(done.value())
        return row

    return sent.then(widen)


def _compress(group: ProcessGroup | None, bucket: GradBucket, narrow: dtype) -> Future[Tensor]:
    row = bucket.buffer()
    return _widen(mean_over_ranks(group, row.to(narrow)), bucket, row)


def fp16_compress_hook(process_group: ProcessGroup | None, bucket: GradBucket) -> Future[Tensor]:
    """Means of gradients that are sent as float16."""
    return _compress(process_group, bucket, D.float16)


def bf16_compress_hook(process_group: ProcessGroup | None, bucket: GradBucket) -> Future[Tensor]:
    """Means of gradients that are sent as bfloat16."""
    return _compress(process_group, bucket, D.bfloat16)


def _wrap(hook: Hook, narrow: dtype) -> Hook:
    def compress(state: Given, bucket: GradBucket) -> Future[Tensor]:
        row = bucket.buffer()
        bucket.set_buffer(row.to(narrow))
        sent = hook(state, bucket)
        bucket.set_buffer(row)
        return _widen(sent, bucket, row)

    return compress


def fp16_compress_wrapper(hook: Hook) -> Hook:
    """A hook that gets gradients as float16."""
    return _wrap(hook, D.float16)


def bf16_compress_wrapper(hook: Hook) -> Hook:
    """A hook that gets gradients as bfloat16."""
    return _wrap(hook, D.bfloat16)
