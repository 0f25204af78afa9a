"""`async_save`: a checkpoint that is written while training goes on.

What is saved is copied at once. A thread writes it, one checkpoint after another. Its messages have
a group of their own: those of training, which goes on meanwhile, come in another order.
"""

from __future__ import annotations

import copy
import os
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from ..._tensor.tensor import Tensor
from ...autograd.grad_mode import no_grad
from ..process_group import choose, get_process_group_ranks, is_initialized, new_group
from .files import save
from .pieces import stateful

if TYPE_CHECKING:
    from ..annotations import Given, State
    from ..process_group import ProcessGroup

__all__ = ["AsyncCheckpointerType", "AsyncSaveResponse", "async_save"]


class AsyncCheckpointerType(Enum):
    """What writes: a thread. A process, which PyTorch can start for it, is a thread here, too."""

    THREAD = "thread"
    PROCESS = "process"


@dataclass
class AsyncSaveResponse:
    """When the copy is made, and when all is written, where a stager copies in the background."""

    staging_completion: Future[None]
    upload_completion: Future[None]


class _Writers:
    """For each group the thread that writes, and the group of its messages."""

    #: By the group of training, which is held here so that no other one has its identity.
    of: dict[int, tuple[object, ProcessGroup | None, ThreadPoolExecutor]] = {}


def _writer_of(group: ProcessGroup | None) -> tuple[ProcessGroup | None, ThreadPoolExecutor]:
    """The thread that writes for a group, and its own group, which all ranks make together."""
    found = _Writers.of.get(id(group))
    if found is None:
        own = None
        if group is not None and group.size() > 1:
            ranks = get_process_group_ranks(group)
            own = new_group(ranks, use_local_synchronization=True, group_desc="async_save")
        found = group, own, ThreadPoolExecutor(1, "async_save")
        _Writers.of = {
            key: held for key, held in _Writers.of.items() if held[0] is None or _is_open(held[0])
        }
        _Writers.of[id(group)] = found
    return found[1:]


def _is_open(group: Given) -> bool:
    """Whether a group is of the world that there is."""
    from ..process_group import _Current

    return any(group is one for one in _Current.groups.values())


@no_grad()
def _copy(value: Given) -> Given:
    if isinstance(value, Tensor):
        return value.detach().clone()
    if stateful(value):
        return _copy(value.state_dict())
    if isinstance(value, dict):
        return {key: _copy(inner) for key, inner in value.items()}
    if type(value) in (list, tuple):
        return type(value)(_copy(inner) for inner in value)
    return copy.deepcopy(value)


def async_save(
    state_dict: State,
    *,
    checkpoint_id: str | os.PathLike[str] | None = None,
    storage_writer: object = None,
    planner: object = None,
    process_group: ProcessGroup | None = None,
    async_checkpointer_type: AsyncCheckpointerType = AsyncCheckpointerType.THREAD,
    async_stager: Given = None,
    no_dist: bool = False,
    use_collectives: bool = True,
) -> Future[None] | AsyncSaveResponse:
    """Copies a dictionary, and writes it as `save` does while the program goes on.

    All ranks call it. What changes in the tensors afterwards isn't saved. Checkpoints are written
    one after another, each whole: wait for the last one before the program ends.

    Parameters:
        state_dict: tensors, values and what has a state of its own.
        checkpoint_id: the folder.
        storage_writer: a `FileSystemWriter` in its place.
        planner: a `DefaultSavePlanner`.
        process_group: the ranks that save; None means all.
        async_checkpointer_type: accepted; a thread writes.
        async_stager: makes the copy in its `stage(state_dict)`; without it the CPU's memory holds
            it.
        no_dist: whether this process saves for itself.
        use_collectives: accepted.
    Returns: a future, whose `result()` waits until the checkpoint is written; an
        `AsyncSaveResponse` of two, where the stager's copy is a future, too.
    Raises:
        RuntimeError: by `result()`, without a folder.
        CheckpointException: by `result()`, on every rank, where one has failed.
    Example:
        >>> import tempfile
        >>> from rushlight.distributed import checkpoint
        >>> folder, w = tempfile.mkdtemp(), torch.ones(2)
        >>> saving = checkpoint.async_save({"w": w}, checkpoint_id=folder)
        >>> w.zero_()
        tensor([0., 0.])
        >>> saving.result()
        >>> checkpoint.load({"w": w}, checkpoint_id=folder)
        >>> w
        tensor([1., 1.])
    """
    alone = no_dist or not is_initialized()
    group, thread = _writer_of(None if alone else choose(process_group))
    staged = _copy(state_dict) if async_stager is None else async_stager.stage(state_dict)

    def write() -> None:
        held = staged.result() if isinstance(staged, Future) else staged
        save(
            held, checkpoint_id=checkpoint_id, storage_writer=storage_writer, planner=planner,
            process_group=group, no_dist=alone or group is None,
        )  # fmt: skip

    upload = thread.submit(write)
    if not isinstance(staged, Future):
        if async_stager is not None and getattr(
            async_stager, "should_synchronize_after_execute", False
        ):
            async_stager.synchronize_staging()
        return upload
    completion: Future[None] = Future()

    def tell(done: Future[Given]) -> None:
        error = done.exception()
        if error is None:
            completion.set_result(None)
        else:
            completion.set_exception(error)

    staged.add_done_callback(tell)
    return AsyncSaveResponse(completion, upload)
