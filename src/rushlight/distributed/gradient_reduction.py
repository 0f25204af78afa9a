"""How gradients become means over all ranks while backward still runs: in buckets.

Buckets are filled from the last parameter to the first, as backward reaches them, and are sent in
one order on all ranks. When backward ends all are waited for, and the means become the gradients.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from .._base import dtypes as D
from .._core.mode import ready
from .._tensor.tensor import Tensor
from ..autograd.grad_mode import no_grad
from ..autograd.variable import Variable
from ..nn._ground import f
from .buckets import GradBucket, RowsBucket
from .collectives import all_reduce
from .recorded_reduction import record_finish, record_sent
from .reduce_op import ReduceOp

if TYPE_CHECKING:
    from .._array.annotations import Array
    from .process_group import ProcessGroup
    from .work import Work

__all__ = ["GradBucket", "GradientReduction"]

#: The first bucket is small, so that sending starts early.
_FIRST = 1 << 20
_UNFINISHED = (
    "Expected to have finished reduction in the prior iteration before starting a new one. This "
    "error indicates that your module has parameters that were not used in producing loss. You can "
    "enable unused parameter detection by passing the keyword argument "
    "`find_unused_parameters=True` to `torch.nn.parallel.DistributedDataParallel`, and by \nmaking "
    "sure all `forward` function outputs participate in calculating loss. \nIf you already have "
    "done the above, then the distributed data parallel module wasn't able to locate the output "
    "tensors in the return value of your module's `forward` function. Please include the loss "
    "function and the structure of the return value of `forward` of your module when reporting "
    "this issue (e.g. list, dict, iterable)."
)
_MORE = (
    "In addition, you can set the environment variable TORCH_DISTRIBUTED_DEBUG to either INFO or "
    "DETAIL to print out information about which particular parameters did not receive gradient on "
    "this rank as part of this error"
)


class GradientReduction:
    """The buckets of a module's parameters, and how far they are in this iteration."""

    def __init__(
        self,
        named: dict[str, Tensor],
        group: ProcessGroup,
        limit: int,
        as_views: bool,
        sparse: set[int],
    ) -> None:
        self.group = group
        self.sparse = sparse  # by `id`: parameters whose gradients are sparse
        self.names = list(named)
        self.parameters = list(named.values())
        self.as_views = as_views
        self.enabled = True
        self.iterations = 0
        self.divisor = group.size()
        self.hook: tuple[object, Callable[..., Any]] | None = None
        self.buckets = self._cut(limit)
        self.place = {
            id(p): (bucket, i) for bucket in self.buckets for i, p in enumerate(bucket.parameters())
        }
        self._works: list[tuple[GradBucket, Any]] = []
        self._finished = True
        self._queued = False
        self._following = 0
        self._unused: set[int] | None = None
        self._used: set[int] = set()
        self.recorder: Any = None  # of the step that is being recorded, see `recorded_reduction`
        for parameter in self.parameters:
            parameter.register_post_accumulate_grad_hook(self._arrive)

    def set_hook(self, state: object, hook: Callable[..., Any]) -> None:
        """Has a function of the user add each bucket up.

        Raises:
            RuntimeError: for a second one.
        """
        if self.hook is not None:
            raise RuntimeError("register_comm_hook or register_builtin_comm_hook can only be "
                               "called once.")  # fmt: skip
        self.hook = (state, hook)

    def _cut(self, limit: int) -> list[GradBucket]:
        lists: list[list[Tensor]] = []
        open_lists: dict[Any, tuple[list[Tensor], list[int]]] = {}
        alone: list[list[Tensor]] = []
        for parameter in reversed(self.parameters):
            if id(parameter) in self.sparse:
                alone.append([parameter])
                continue
            size = parameter.numel() * parameter.element_size()
            held, count = open_lists.setdefault(parameter.dtype, ([], [0]))
            held.append(parameter)
            count[0] += size
            if count[0] >= (limit if lists else min(limit, _FIRST)):
                lists.append(held)
                del open_lists[parameter.dtype]
        lists += [held for held, _ in open_lists.values()] + alone
        place = {id(p): i for i, p in enumerate(self.parameters)}
        lists.sort(key=lambda held: -place[id(held[-1])])  # as they become complete
        buckets = [
            (RowsBucket if id(held[0]) in self.sparse else GradBucket)(index, held)
            for index, held in enumerate(lists)
        ]
        buckets[-1]._last = True
        return buckets

    # ---- an iteration -------------------------------------------------------------------------
    def start_iteration(self) -> None:
        """Checks that the last iteration has ended.

        Raises:
            RuntimeError: where a parameter had no gradient in it.
        """
        if not self._finished and self._used:
            lacking = [str(i) for i, p in enumerate(self.parameters) if id(p) not in self._used]
            indices = (
                "Parameter indices which did not receive grad for rank "
                f"{self.group.rank()}: {' '.join(lacking)}"
            )
            raise RuntimeError(f"{_UNFINISHED}\n{indices}\n {_MORE}")
        self.iterations += 1

    def expect(self, outputs: object) -> None:
        """Gets ready for a backward: from `outputs`, or (None) from all parameters."""
        self._finished = False
        self._following = 0
        self._works = []
        self._used = set()
        self._queued = False
        for bucket in self.buckets:
            bucket.missing = set(range(len(bucket.parameters())))
        self._unused = None
        if outputs is not None:
            reached = _find_reached(outputs)
            self._unused = {id(p) for p in self.parameters} - reached

    def prepare_for_backward(self, outputs: Sequence[Tensor] | Tensor) -> None:
        """Has the next backward add up, though its forward was told not to; [] for all outputs."""
        self.enabled = True
        self.expect(None if isinstance(outputs, Sequence) and not outputs else outputs)

    def _arrive(self, parameter: Tensor) -> None:
        """A gradient is complete: it goes into its bucket."""
        if not self.enabled or self._finished:
            return
        recorder = ready().recorder
        if recorder is None or recorder is not self.recorder:
            self._take(parameter)
            return
        before = self._following
        with recorder.aside():
            self._take(parameter)
        record_sent(recorder, self, self.buckets[before : self._following])

    def _take(self, parameter: Tensor) -> None:
        if not self._queued:
            self._queued = True
            Variable._execution_engine.queue_callback(self._finish)
            for p in self.parameters:
                if self._unused is not None and id(p) in self._unused:
                    self._ready(p, None)
        self._used.add(id(parameter))
        self._ready(parameter, parameter.grad)

    def _ready(self, parameter: Tensor, grad: Tensor | None) -> None:
        bucket, i = self.place[id(parameter)]
        if i not in bucket.missing:
            raise RuntimeError(
                "Expected to mark a variable ready only once. This error is caused by one of the "
                "following reasons: 1) Use of a module parameter outside the `forward` function. "
                "Please make sure model parameters are not shared across multiple concurrent "
                "forward-backward passes. or try to use _set_static_graph() as a workaround if "
                "this module graph does not change during training loop.2) Reused parameters in "
                "multiple reentrant backward passes."
            )
        bucket.take(i, grad, 1 if self.hook is not None else self.divisor)
        bucket.missing.discard(i)
        while self._following < len(self.buckets) and not self.buckets[self._following].missing:
            self._send(self.buckets[self._following])
            self._following += 1

    def send_filled(self, bucket: GradBucket, grads: Sequence[Array]) -> None:
        """Sends a bucket of complete gradients, in a step that is compiled."""
        for i, (parameter, grad) in enumerate(zip(bucket.parameters(), grads)):
            self._used.add(id(parameter))
            bucket.fill(i, grad, 1.0 / self.divisor)
        bucket.missing.clear()
        self._send(bucket)
        self._following += 1

    def wait_for_all(self) -> None:
        """Waits for the buckets that were sent, in a step that is compiled."""
        for _, sent in self._works:
            sent.wait()
        self._finished = True
        self._works = []

    def _send(self, bucket: GradBucket) -> None:
        if self.hook is not None:
            state, hook = self.hook
            with no_grad():
                self._works.append((bucket, hook(state, bucket)))
            return
        work: Work | None = all_reduce(bucket.buffer(), ReduceOp.SUM, self.group, async_op=True)
        self._works.append((bucket, work))

    def answer(self, asks_for_unused: bool) -> None:
        """Answers the messages of other ranks' backward: zeros, and no parameter was used."""
        self._works = []
        held = [bucket.buffer() for bucket in self.buckets]
        for bucket in self.buckets:
            bucket.set_buffer(f.zeros_like(bucket.buffer()))
            self._send(bucket)
        if asks_for_unused:
            all_reduce(f.zeros(len(self.parameters), dtype=D.int32), ReduceOp.MAX, self.group)
        for _, sent in self._works:
            sent.wait()
        for bucket, buffer in zip(self.buckets, held):
            bucket.set_buffer(buffer)
        self._works = []

    def _finish(self) -> None:
        """Backward has ended: waits for all buckets, and makes their means the gradients."""
        recorder, self.recorder = self.recorder, None
        noted = recorder is not None and recorder is ready().recorder
        if self._following < len(self.buckets):
            if noted:
                recorder.refuse("a parameter of DistributedDataParallel has got no gradient")
            return  # said at the start of the next iteration, as PyTorch does
        if noted:
            with recorder.aside():
                self._give_all()
            record_finish(recorder, self)
        else:
            self._give_all()

    def _give_all(self) -> None:
        used_anywhere = self._used_anywhere()
        for bucket, sent in self._works:
            result = sent.wait()
            if self.hook is not None:
                bucket.receive(result[0] if isinstance(result, list | tuple) else result)
            with no_grad():
                for i, parameter in enumerate(bucket.parameters()):
                    if used_anywhere is None or id(parameter) in used_anywhere:
                        bucket.give(i, parameter, self.as_views)
        self._finished = True
        self._works = []

    def _used_anywhere(self) -> set[int] | None:
        """The parameters that some rank has used; None where all ranks use all."""
        if self._unused is None:
            return None
        marks = f.tensor([int(id(p) in self._used) for p in self.parameters], dtype=D.int32)
        all_reduce(marks, ReduceOp.MAX, self.group)
        return {id(p) for p, mark in zip(self.parameters, marks.tolist()) if mark}


def _tensors_in(value: object) -> list[Tensor]:
    """The tensors in what a forward gives."""
    if isinstance(value, Tensor):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    elif hasattr(value, "__dataclass_fields__"):
        value = list(vars(value).values())
    if isinstance(value, list | tuple):
        return [tensor for item in value for tensor in _tensors_in(item)]
    return []


def _find_reached(outputs: object) -> set[int]:
    """The parameters (by `id`) that the outputs' history leads to."""
    seen: set[Any] = set()
    out: set[int] = set()
    stack: list[Any] = []
    for tensor in _tensors_in(outputs):
        if tensor.grad_fn is not None:
            stack.append(tensor.grad_fn)
        elif tensor.requires_grad:
            out.add(id(tensor))
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        variable = getattr(node, "variable", None)
        if variable is not None:
            out.add(id(variable))
        stack += [following for following, _ in node.next_functions if following is not None]
    return out
