"""`DistributedDataParallel`: a module whose gradients are averaged over all ranks.

Every rank runs the same module on its own part of a batch. While its backward still runs, gradients
that are complete are put into buckets, and a bucket that is full is summed over all ranks
(`gradient_reduction`). In a group of one process it is the module, with nothing to add up.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from warnings import warn

from .._base.device import device
from .._core.mode import ready
from ..autograd.grad_mode import is_grad_enabled, no_grad
from ..autograd.profiler import record_function
from ..nn._ground import f
from ..nn.modules.module import Module
from ..nn.modules.sparse import Embedding, EmbeddingBag

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._base.annotations import AnyCallable, DeviceLike
    from .._tensor.tensor import Tensor
    from .algorithms.join import Join, JoinHook
    from .gradient_reduction import GradientReduction
    from .process_group import ProcessGroup


__all__ = ["DistributedDataParallel"]


class _NotJoining(NamedTuple):
    """No `join` is under way: loading what knows more about it can wait until one is."""

    enable: bool = False
    throw_on_early_termination: bool = False
    is_first_joinable: bool = False


_NOT_JOINING: Final = _NotJoining()
_BOTH: Final = (
    "Both `broadcast_buffers` and `forward_sync_buffers` were specified. `broadcast_buffers` is "
    "deprecated and its value is ignored when `forward_sync_buffers` is provided."
)
_DEPRECATED: Final = (
    "`broadcast_buffers` is deprecated. Use `forward_sync_buffers` instead. IMPORTANT: unlike "
    "`broadcast_buffers=False`, `forward_sync_buffers=False` still syncs buffers at init. If you "
    "rely on buffers NOT being synced at init (e.g. rank-local buffers), keep using "
    "`broadcast_buffers=False` until `init_sync_buffers` is available."
)


def _gives_rows(module: object) -> bool:
    """Whether the gradient of a module's table holds only the rows that were read."""
    return isinstance(module, Embedding | EmbeddingBag) and module.sparse


class DistributedDataParallel(Module):
    """A module whose gradients are averaged over all ranks.

    Raises:
        ValueError: before `init_process_group`, and for devices of a module on the CPU.
        NotImplementedError: for the arguments that are refused.
        RuntimeError: for a module without parameters that require gradients, and where the ranks'
            modules have different parameters.

    Parameters:
        module: the module; its parameters become rank 0's in all ranks.
        device_ids, output_device, dim: for other hardware; None.
        broadcast_buffers: deprecated: whether rank 0 gives its buffers at the start, and forwards.
        init_sync: whether parameters are compared and made the same at the start.
        process_group: the ranks that take part; None: all.
        bucket_cap_mb: how many MiB of gradients are sent at a time; None: 25.
        find_unused_parameters: whether parameters that a forward doesn't use are looked for.
        check_reduction, gradient_as_bucket_view: accepted.
        static_graph: a promise that each forward uses the same parameters.
        delay_all_reduce_named_params, param_to_hook_all_reduce, mixed_precision: refused unless
            they are None.
        device_mesh, skip_all_reduce_unused_params, bucket_cap_mb_list, batched_grad_copy: accepted.
        forward_sync_buffers: whether each forward begins with rank 0's buffers; None: it does.
    Shapes: those of the module.
    Example:
        >>> import tempfile
        >>> import rushlight.distributed as dist
        >>> store = dist.FileStore(tempfile.mktemp(), 1)
        >>> dist.init_process_group("gloo", store=store, rank=0, world_size=1)
        >>> model = nn.parallel.DistributedDataParallel(nn.Linear(2, 1))
        >>> model(torch.ones(1, 2)).sum().backward()
        >>> model.module.weight.grad
        tensor([[1., 1.]])
        >>> dist.destroy_process_group()
    """

    #: What forwards change; a step that is recorded hears of it, see `recorded_reduction`.
    _by_messages: Final = frozenset({
        "process_group", "received", "reducer", "require_forward_param_sync",
    })  # fmt: skip

    def __init__(
        self,
        module: Module,
        device_ids: Sequence[int] | None = None,
        output_device: DeviceLike | None = None,
        dim: int = 0,
        broadcast_buffers: bool | None = None,
        init_sync: bool = True,
        process_group: ProcessGroup | None = None,
        bucket_cap_mb: float | None = None,
        find_unused_parameters: bool = False,
        check_reduction: bool = False,
        gradient_as_bucket_view: bool = False,
        static_graph: bool = False,
        delay_all_reduce_named_params: object = None,
        param_to_hook_all_reduce: object = None,
        mixed_precision: object = None,
        device_mesh: object = None,
        skip_all_reduce_unused_params: bool = False,
        bucket_cap_mb_list: list[int] | None = None,
        batched_grad_copy: bool = False,
        forward_sync_buffers: bool | None = None,
    ) -> None:
        from .process_group import choose

        super().__init__()
        self.process_group = choose(process_group)
        if not any(p.requires_grad for p in module.parameters()):
            raise RuntimeError(
                "DistributedDataParallel is not needed when a module doesn't have any parameter "
                "that requires a gradient."
            )
        if device_ids or output_device is not None:
            raise ValueError(
                "DistributedDataParallel device_ids and output_device arguments only work with "
                "single-device/multiple-device GPU modules or CPU modules, but got device_ids "
                f"{device_ids}, output_device {output_device}, and module parameters "
                f"{ {p.device for p in module.parameters()} }."
            )
        for name, value in (("delay_all_reduce_named_params", delay_all_reduce_named_params),
                            ("param_to_hook_all_reduce", param_to_hook_all_reduce),
                            ("mixed_precision", mixed_precision)):  # fmt: skip
            if value is not None:
                raise NotImplementedError(f"DistributedDataParallel: {name}")
        self.module = module
        self.dim = dim
        self.device = device("cpu")
        self.device_type = "cpu"
        self.device_ids = None
        self.output_device = None
        self.is_multi_device_module = False
        if broadcast_buffers is not None:
            warn(_DEPRECATED if forward_sync_buffers is None else _BOTH, FutureWarning, 2)
        old = broadcast_buffers is None or broadcast_buffers
        self.forward_sync_buffers = old if forward_sync_buffers is None else forward_sync_buffers
        self.find_unused_parameters = find_unused_parameters
        self.gradient_as_bucket_view = gradient_as_bucket_view
        self.static_graph = static_graph
        self.require_backward_grad_sync = True
        self.require_forward_param_sync = True
        self.parameters_to_ignore = set(getattr(module, "_ddp_params_and_buffers_to_ignore", ()))
        self.reducer: GradientReduction | None = None
        self.received: list[Tensor] | None = None  # see `receive_buffers`
        self._join_config = _NOT_JOINING
        self._divide_by_initial_world_size = True
        self.bucket_bytes_cap = int((25.0 if bucket_cap_mb is None else bucket_cap_mb) * (1 << 20))
        if self.process_group.size() > 1:
            self._join_ranks(init_sync, old or forward_sync_buffers is not None)

    @property
    def broadcast_buffers(self) -> bool:
        """Whether each forward begins with rank 0's buffers."""
        return self.forward_sync_buffers

    @broadcast_buffers.setter
    def broadcast_buffers(self, value: bool) -> None:
        self.forward_sync_buffers = value

    def _join_ranks(self, init_sync: bool, init_buffers: bool) -> None:
        """Makes all ranks start from rank 0's parameters, and watches gradients from now on."""
        from .gradient_reduction import GradientReduction
        from .utils import _verify_param_shape_across_processes

        named = self._keep(self.module.named_parameters())
        trained = {name: p for name, p in named.items() if p.requires_grad}
        if init_sync:
            _verify_param_shape_across_processes(self.process_group, list(trained.values()))
            buffers = self._shared_buffers() if init_buffers else []
            self._broadcast([*named.values(), *buffers])
        self.reducer = GradientReduction(
            trained,
            self.process_group,
            self.bucket_bytes_cap,
            self.gradient_as_bucket_view,
            {id(part.weight) for part in self.module.modules() if _gives_rows(part)},
        )

    def _keep(self, named: Iterator[tuple[str, Tensor]]) -> dict[str, Tensor]:
        return {name: t for name, t in named if name not in self.parameters_to_ignore}

    def _shared_buffers(self) -> list[Tensor]:
        return list(self._keep(self.module.named_buffers()).values())

    def _broadcast(self, tensors: list[Tensor], root: int = 0) -> None:
        """Gives all ranks what one has."""
        from .utils import give_all

        give_all(tensors, self.process_group, root)

    def _send_from(self, tensors: list[Tensor], root: int) -> list[tuple[Tensor, Tensor]]:
        from .utils import send_from

        return send_from(tensors, self.process_group, root)

    def forward(self, *inputs: object, **kwargs: object) -> Any:
        """What the module gives."""
        return self.run_as(self.module, inputs, kwargs)

    def run_as(
        self, call: AnyCallable, inputs: tuple[object, ...], kwargs: dict[str, object]
    ) -> Any:
        """What a function of the module's parameters gives; backward sends their gradients."""
        if ready().profiler is None:
            return self._run(call, inputs, kwargs)
        with record_function("DistributedDataParallel.forward"):
            return self._run(call, inputs, kwargs)

    def _run(
        self, call: AnyCallable, inputs: tuple[object, ...], kwargs: dict[str, object]
    ) -> object:
        reducer = self.reducer
        if reducer is None:
            return call(*inputs, **kwargs)
        recording = is_grad_enabled() and self.require_backward_grad_sync
        recorder = ready().recorder
        if recorder is not None:
            from .recorded_reduction import record_forward, why_not_recorded

            why = why_not_recorded(self)
            if not why:
                return record_forward(self, reducer, recording, lambda: call(*inputs, **kwargs))
            recorder.refuse(why)
        if recording:
            reducer.start_iteration()
        joining = self._join_config.enable
        if joining:
            from .joining import tell_the_joined

            tell_the_joined(self)
        if self.received is not None:
            self._take_received()
        elif self.shares_buffers():
            self._broadcast(self._shared_buffers(), self._source_of_buffers(joining, True))
        if joining:
            self._any_synchronizes(self.require_backward_grad_sync)
        out = call(*inputs, **kwargs)
        self.expect_backward(recording, out)
        return out

    def expect_backward(self, synchronizes: bool, out: object) -> None:
        """Gets ready for the backward of a forward that gave `out`."""
        reducer = self.reducer
        assert reducer is not None
        reducer.enabled = synchronizes
        # Of forwards whose gradients aren't sent only the first has rank 0's buffers.
        self.require_forward_param_sync = synchronizes
        if synchronizes:
            reducer.expect(out if self.find_unused_parameters or self.static_graph else None)

    @contextlib.contextmanager
    def no_sync(self) -> Iterator[None]:
        """A context in which gradients are added up on each rank alone."""
        before = self.require_backward_grad_sync
        if ready().recorder is not None:
            from .recorded_reduction import will_ask

            will_ask(self)
        try:
            self.require_backward_grad_sync = False
            yield
        finally:
            self.require_backward_grad_sync = before

    def shares_buffers(self) -> bool:
        """Whether a forward starts with rank 0's buffers."""
        return self.require_forward_param_sync and self.broadcast_buffers

    def receive_buffers(self) -> None:
        """Has `received` hold rank 0's buffers, on rank 0 nothing.

        Until `settle` is called a forward that starts anew takes them from there: the other ranks
        send them once. See Note [A message can't be taken back].
        """
        if self.received is None:
            buffers = self._shared_buffers()
            parts = {id(t): part for t, part in self._send_from(buffers, 0)}
            self.received = [parts[id(t)] for t in buffers] if parts else []

    def settle(self) -> None:
        """The forward won't start anew."""
        self.received = None

    def _take_received(self) -> None:
        received, self.received = self.received, None
        with no_grad():
            for t, part in zip(self._shared_buffers(), received or ()):
                t.detach().copy_(part)

    def is_joining(self) -> bool:
        """Whether ranks may run out of batches at different times."""
        return self._join_config.enable

    def _source_of_buffers(self, joining: bool, goes_on: bool) -> int:
        """The rank whose buffers are taken: in a `join` the last that still has batches."""
        return self._last_rank(goes_on) if joining else 0

    def _last_rank(self, counts: bool) -> int:
        from .collectives import all_reduce
        from .reduce_op import ReduceOp

        last = f.tensor([self.process_group.rank() if counts else -1])
        all_reduce(last, ReduceOp.MAX, self.process_group)
        return int(last.item())

    def _any_synchronizes(self, wanted: bool) -> bool:
        """Whether a rank that still has batches sends gradients in this iteration."""
        from .collectives import all_reduce

        count = f.tensor([float(wanted)])
        all_reduce(count, group=self.process_group)
        return bool(count.item())

    @property
    def join_device(self) -> device:
        """Where the messages of `join` lie."""
        return self.device

    @property
    def join_process_group(self) -> ProcessGroup:
        """The group whose ranks may run out of batches."""
        return self.process_group

    def join(self, divide_by_initial_world_size: bool = True, enable: bool = True,
             throw_on_early_termination: bool = False) -> Join:  # fmt: skip
        """A context in which ranks may run out of batches at different times."""
        from .algorithms.join import Join

        return Join(
            [self], enable, throw_on_early_termination,
            divide_by_initial_world_size=divide_by_initial_world_size,
        )  # fmt: skip

    def join_hook(self, **kwargs: object) -> JoinHook:
        """What to do without batches: answer what the other ranks send."""
        from .joining import answering_hook

        return answering_hook(self, bool(kwargs.get("divide_by_initial_world_size", True)))

    def scatter(self, inputs: object, kwargs: dict[str, object], device_ids: Sequence[int]) -> Any:
        """The inputs: there is one device."""
        return (inputs,), (kwargs,)

    def gather(self, outputs: object, output_device: DeviceLike) -> Any:
        """The outputs: there is one device."""
        return outputs

    def register_comm_hook(self, state: object, hook: Callable[..., Any]) -> None:
        """Has `hook(state, bucket)` add each bucket up; it gives a future of the sum.

        Raises:
            TypeError: for a hook that can't be called.
            RuntimeError: for a second one.
        """
        if not callable(hook):
            raise TypeError("Communication hook must be callable.")
        if self.reducer is not None:
            self.reducer.set_hook(state, hook)

    def _get_ddp_logging_data(self) -> dict[str, str | int]:
        from .logged import facts_of

        return facts_of(self)

    def _set_static_graph(self) -> None:
        self.static_graph = True
