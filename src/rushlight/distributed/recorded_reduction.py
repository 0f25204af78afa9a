"""What a compiled step does of `DistributedDataParallel`: its messages, as calls of the program.

The program exchanges the same messages as an eager step, in the same order and in the same buckets,
so that a rank whose step is compiled meets one whose step isn't. What is computed between them is
recorded as ever.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .._array import types as T
from .._core.mode import ready
from ..autograd.grad_mode import no_grad

if TYPE_CHECKING:
    from .._array.annotations import Array
    from .._compile.capture.recorder import Recorder
    from .._tensor.tensor import Tensor
    from .buckets import GradBucket
    from .data_parallel import DistributedDataParallel
    from .gradient_reduction import GradientReduction

__all__ = ["record_finish", "record_forward", "record_sent", "why_not_recorded", "will_ask"]


class _Alike:
    """Something that is equal to another of its class with the same parts."""

    def __init__(self, *parts: object) -> None:
        self.parts = parts

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return False
        return len(self.parts) == len(other.parts) and all(
            a is b or (isinstance(a, int) and a == b) for a, b in zip(self.parts, other.parts)
        )

    def __hash__(self) -> int:
        return id(type(self)) ^ id(self.parts[0])


class _Stands(_Alike):
    """Whether a module's options are those with which a step was entered."""

    def __init__(self, module: DistributedDataParallel) -> None:
        super().__init__(module)  # whatever its options are: those of the entry count
        self.module = module
        self.options = self._options()
        self.held = (module.module, module.reducer, module.process_group)

    def _options(self) -> tuple[bool, ...]:
        m = self.module
        return (
            m.require_backward_grad_sync, m.require_forward_param_sync, m.broadcast_buffers,
            m.training,
        )  # fmt: skip

    def __call__(self) -> bool:
        m = self.module
        return (
            self._options() == self.options
            and m.module is self.held[0] and m.reducer is self.held[1]
            and m.process_group is self.held[2] and not why_not_recorded(m)
        )  # fmt: skip


class _Begin(_Alike):
    """A forward begins: the last iteration must have ended."""

    def __call__(self) -> None:
        reducer: Any = self.parts[0]
        reducer.start_iteration()


class _Share(_Alike):
    """Has rank 0 send its buffers."""

    def __init__(self, module: DistributedDataParallel, *buffers: Tensor) -> None:
        super().__init__(module, *buffers)
        self.module = module

    def __call__(self, *_: Array) -> None:
        self.module.receive_buffers()


class _Buffer(_Alike):
    """Puts what rank 0 has sent into a buffer."""

    def __call__(self, array: Array) -> None:
        module, place = self.parts
        received: Any = module.received  # type: ignore[attr-defined]
        T.write_into(array, received[place]._raw)


class _Expect(_Alike):
    """A forward has ended: gets ready for its backward, or for none."""

    def __call__(self) -> None:
        module, synchronizes = self.parts
        module.expect_backward(synchronizes, None)  # type: ignore[attr-defined]


class _Send(_Alike):
    """Sends a bucket, filled with the gradients of its parameters."""

    def __call__(self, *grads: Array) -> None:
        reducer, bucket = self.parts
        reducer.send_filled(bucket, grads)  # type: ignore[attr-defined]


class _Finish(_Alike):
    """Waits for all buckets."""

    def __call__(self) -> None:
        reducer: Any = self.parts[0]
        reducer.wait_for_all()


class _Mean(_Alike):
    """Puts a mean into a gradient."""

    def __call__(self, grad: Array) -> None:
        bucket, place = self.parts
        T.write_into(grad, bucket.part(place)._raw)  # type: ignore[attr-defined]


def why_not_recorded(module: DistributedDataParallel) -> str:
    """Why a compiled step can't hold a module; empty where it can."""
    reducer = module.reducer
    what = ""
    if module.find_unused_parameters:
        what = "find_unused_parameters asks which parameters the other ranks have used"
    elif module.static_graph:
        what = "static_graph looks at the graph of its first steps"
    elif module.gradient_as_bucket_view:
        what = "gradient_as_bucket_view lays gradients into its buckets"
    elif module.is_joining():
        what = "ranks may run out of batches (join)"
    elif reducer is not None and reducer.hook is not None:
        what = "a communication hook of the program's adds its gradients up"
    elif reducer is not None and reducer.sparse:
        what = "gradients of embeddings are sparse"
    return what and f"DistributedDataParallel in a compiled step: {what}"


def will_ask(module: DistributedDataParallel) -> None:
    """Has a step that is recorded depend on the options of a module, as they are now."""
    recorder = ready().recorder
    if recorder is not None and module.reducer is not None:
        recorder.depends_on(_Stands(module))


def record_forward(
    module: DistributedDataParallel, reducer: GradientReduction, synchronizes: bool,
    run: Callable[[], Any],
) -> Any:  # fmt: skip
    """What a module gives while a step is recorded."""
    recorder = ready().recorder
    will_ask(module)
    recorder.stands_for_hooks(reducer.parameters)
    if synchronizes:
        with recorder.aside():
            reducer.start_iteration()
        recorder.message(_Begin(reducer), "start_iteration")
    if module.shares_buffers():
        _record_buffers(module, recorder)
    out = run()
    with recorder.aside():
        module.expect_backward(synchronizes, None)
    recorder.message(_Expect(module, synchronizes), "expect_backward")
    reducer.recorder = recorder if synchronizes else None
    return out


def _record_buffers(module: DistributedDataParallel, recorder: Recorder) -> None:
    buffers = module._shared_buffers()
    if not buffers:
        return
    with recorder.aside():
        module.receive_buffers()
    received = module.received or ()  # rank 0 keeps its own
    module.settle()
    recorder.message(
        _Share(module, *buffers), "broadcast", buffers, waits=True, settle=module.settle
    )
    for place, (t, part) in enumerate(zip(buffers, received)):
        with recorder.aside(), no_grad():
            t.detach().copy_(part)
        recorder.overwritten(_Buffer(module, place), "received", t)


def record_sent(recorder: Recorder, reducer: GradientReduction, buckets: list[GradBucket]) -> None:
    """Notes that buckets were sent."""
    for bucket in buckets:
        grads = [p.grad for p in bucket.parameters() if p.grad is not None]
        recorder.message(_Send(reducer, bucket), "all_reduce", grads, final=True)


def record_finish(recorder: Recorder, reducer: GradientReduction) -> None:
    """Notes that the means have become the gradients."""
    recorder.message(_Finish(reducer), "wait", waits=True)
    for bucket in reducer.buckets:
        for place, parameter in enumerate(bucket.parameters()):
            if parameter.grad is not None:
                recorder.overwritten(_Mean(bucket, place), "mean", parameter.grad)
