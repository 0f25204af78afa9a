"""Activation checkpointing: keep a function's inputs, compute the rest again when backward needs
it.

Note [Recomputing]
While the function runs, every tensor that would be saved is replaced by a `_Holder`, numbered in
order of saving. When backward unpacks the first of them, the function runs once more, with hooks
that catch what would be saved, in the same order; as soon as the last one is there the rerun is
abandoned. Each backward has a rerun of its own, and a value is let go as soon as it has been
unpacked. The inputs are saved by a node of their own, in front of the function, so that hooks
around the checkpoint (an outer checkpoint, say) see them.
"""

from __future__ import annotations

import contextlib
import warnings
import weakref
from collections.abc import Callable, Iterable
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Final

from .. import random
from .._array import types as T
from .._base.lazy import lazy, list_names as _listed
from .._core.mode import CURRENT, current, derive, ready
from .._core.run import RUNNING
from .._core.storage import TensorBase, new_tensor, version_cell
from .._tensor.tensor import Tensor
from ..autograd.backward import backward as run_backward
from ..autograd.function import Function
from ..autograd.grad_mode import enable_grad, is_grad_enabled, no_grad
from ..autograd.saved_tensor_hooks import saved_tensors_hooks
from .checkpoint_devices import DefaultDeviceType, get_device_states, set_device_states

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._base.annotations import AnyCallable
    from ..nn.modules.module import Module


_early_stop: Final[ContextVar[bool | None]] = ContextVar("rushlight_early_stop", default=None)
_group: Final[ContextVar[GraphExecGroup | None]] = ContextVar("rushlight_exec_group", default=None)
_debug: Final[ContextVar[bool | None]] = ContextVar("rushlight_checkpoint_debug", default=None)


class CheckpointError(RuntimeError):
    """The function did something else when it ran again."""


class _Stop(BaseException):
    """Ends a rerun: everything has been recomputed."""


ADVICE: Final = """

Tip: To see a more detailed error message, either pass `debug=True` to
`torch.utils.checkpoint.checkpoint(...)` or wrap the code block
with `with torch.utils.checkpoint.set_checkpoint_debug_enabled(True):` to
enable checkpoint‑debug mode globally.

If this error occurs under torch.compile with automatic_dynamic_shapes enabled,
it may be because the recomputation selected a different compiled graph than the
forward pass (e.g., a dynamic graph instead of the original static graph).
To fix this, either:
  - Use torch._dynamo.mark_dynamic() to explicitly mark varying dimensions as
    dynamic upfront, avoiding the static-to-dynamic transition.
  - Call torch._C._dynamo.eval_frame._set_lru_cache(False) to disable LRU cache
    reordering, which can change which graph is checked first between forward
    and recompute.
See https://github.com/pytorch/pytorch/issues/166926 for more details and
workaround examples.
"""


@contextlib.contextmanager
def _setting(variable: ContextVar[Any], value: bool | None) -> Any:
    before = variable.get()
    try:
        variable.set(value)
        yield
    finally:
        variable.set(before)


def set_checkpoint_early_stop(enable: bool) -> Any:
    """A context that decides, for checkpoints made inside, whether a rerun stops when it can.

    Parameters:
        enable: whether it does: as soon as all that backward needs is there.
    Returns: a context manager.
    Raises: nothing.
    Example:
        >>> with torch.utils.checkpoint.set_checkpoint_early_stop(False):
        ...     pass
    """
    return _setting(_early_stop, enable)


def set_checkpoint_debug_enabled(enabled: bool | None) -> Any:
    """A context that overrides `debug` of the checkpoints made inside.

    Parameters:
        enabled: what counts instead; None: `debug` itself.
    Returns: a context manager.
    Raises: nothing.
    Example:
        >>> with torch.utils.checkpoint.set_checkpoint_debug_enabled(True):
        ...     pass
    """
    return _setting(_debug, enabled)


def noop_context_fn() -> tuple[object, object]:
    """Two contexts that do nothing.

    Returns: two context managers.
    Example:
        >>> len(torch.utils.checkpoint.noop_context_fn())
        2
    """
    return contextlib.nullcontext(), contextlib.nullcontext()


@contextlib.contextmanager
def _casting_as(autocast: object) -> Any:
    """A context with autocast as it was in the first run."""
    if autocast is None and current().autocast is None:
        yield
        return
    before = ready()
    try:
        CURRENT.set(derive(before, autocast=autocast))
        yield
    finally:
        CURRENT.set(before)


class _Holder:
    """What stands in a node for a tensor that isn't kept."""

    __slots__ = ("__weakref__", "form", "position")

    def __init__(self, position: int, form: dict[str, object]) -> None:
        self.position = position
        self.form = form


class GraphExecGroup:
    """A context whose backward runs share what a rerun has computed, as if they were one run.

    Raises:
        RuntimeError: inside another group.

    Example:
        >>> with torch.utils.checkpoint.GraphExecGroup():
        ...     pass
    """

    def __enter__(self) -> None:
        outer = _group.get()
        if outer is not None:
            raise RuntimeError(
                f"GraphExecGroup contexts cannot be nested. Already inside group {outer}"
            )
        self._token = _group.set(self)

    def __exit__(self, *exc: object) -> None:
        _group.reset(self._token)

    @classmethod
    def _get_current_group(cls) -> GraphExecGroup | None:
        return _group.get()


class _Frame:
    """One checkpointed call: its holders, and what its reruns have recomputed."""

    def __init__(
        self,
        rerun: Callable[[], object],
        early_stop: bool,
        check: bool,
        logs: tuple[Any, Any] | None,
    ) -> None:
        self.logs = logs
        self.rerun = rerun
        self.early_stop = early_stop
        self.check = check
        self.holders: list[weakref.ref[_Holder]] = []
        self.forms: list[dict[str, Any]] = []
        self.values: dict[Any, dict[int, Any]] = {}  # by backward: position -> tensor
        self.finished = False
        self.autocast = current().autocast

    def pack(self, t: Tensor) -> _Holder:
        holder = _Holder(len(self.holders), _form(t) if self.check else {})
        self.holders.append(weakref.ref(holder))
        self.forms.append(holder.form)
        return holder

    def unpack(self, holder: _Holder) -> object:
        run = RUNNING.get()
        key: Any = _group.get()
        if key is None:
            key = None if run is None else run.number
        values = self.values.get(key)
        if values is None or holder.position not in values:
            values = self.list_recomputed()
            self.values = {k: v for k, v in self.values.items() if k is not None and v}
            self.values[key] = values
        value = values.pop(holder.position)
        if not values or key is None:
            del self.values[key]
        return value

    def list_recomputed(self) -> dict[int, object]:
        """The tensors of a fresh rerun whose holders still stand somewhere.

        Raises:
            CheckpointError: where their number, shapes or types differ from the first time.
        """
        found: dict[int, Any] = {}
        forms: list[dict[str, Any]] = []
        wanted = len(self.holders)

        def catch(t: Tensor) -> TensorBase:
            position = len(forms)
            forms.append(_form(t) if self.check else {})
            kept: TensorBase = t
            if t.requires_grad:  # its history would hold this frame
                kept = new_tensor(t._raw)
                kept._cell = version_cell(t)
            if position < wanted and self.holders[position]() is not None:
                found[position] = kept
            if self.early_stop and position + 1 == wanted:
                raise _Stop
            return kept

        try:
            with (
                saved_tensors_hooks(catch, lambda t: t),
                enable_grad(),
                _casting_as(self.autocast),
            ):
                self.rerun()
        except _Stop:
            pass
        if len(forms) != wanted and self.check:
            raise self.error(
                "torch.utils.checkpoint: A different number of tensors was saved during the "
                "original "
                f"forward and recomputation.\nNumber of tensors saved during forward: {wanted}\n"
                f"Number of tensors saved during recomputation: {len(forms)}.{ADVICE}"
            )
        different = [k for k in range(wanted) if self.check and forms[k] != self.forms[k]]
        if different:
            lines = "".join(
                f"tensor at position {k}:\nsaved metadata: {self.forms[k]}\n"
                f"recomputed metadata: {forms[k]}\n"
                for k in different
            )
            raise self.error(
                "torch.utils.checkpoint: Recomputed values for the following tensors have "
                "different "
                f"metadata than during the forward pass.\n{lines}.{ADVICE}"
            )
        return found

    def error(self, text: str) -> CheckpointError:
        """The error for a rerun that differed; with `debug`, it lists all operations."""
        if self.logs is None:
            return CheckpointError(text)
        from ._checkpoint_log import report

        return CheckpointError(report(*self.logs, text))


def _form(t: Tensor) -> dict[str, object]:
    return {"shape": t.shape, "dtype": t.dtype, "device": t.device}


class _Inputs(Function):
    """A node that saves a checkpoint's inputs. See Note [Recomputing]."""

    @staticmethod
    def forward(ctx: Any, anchor: Tensor, *tensors: Tensor) -> Any:
        ctx.save_for_backward(*tensors)
        return anchor * 1

    @staticmethod
    def backward(ctx: Any, *grads: object) -> object:
        raise AssertionError("nothing flows back through the inputs of a checkpoint")


def checkpoint(
    function: Callable[..., object],
    *args: object,
    use_reentrant: bool | None = None,
    context_fn: Callable[[], tuple[object, object]] = noop_context_fn,
    determinism_check: str = "default",
    debug: bool = False,
    early_stop: bool = True,
    **kwargs: Any,
) -> Any:
    """`function(*args, **kwargs)`, which is run again when backward needs its intermediate values.

    Random numbers are the same both times unless `preserve_rng_state=False`. `context_fn` gives two
    contexts, for the first run and for reruns. With `debug` the error for a rerun that differed
    lists all operations of both runs, and where they were called.

    Raises:
        CheckpointError: in backward, where the function saves something else than the first time.
        ValueError: for an argument that the chosen kind doesn't take.

    Parameters:
        function: what is run; the same each time it is given the same.
        args: its arguments; named ones too, with `use_reentrant=False`.
        use_reentrant: the older kind (a node that runs backward inside of backward) or the newer,
            which is recommended.
        context_fn: what gives the contexts.
        determinism_check: "default": shapes and types must be the same in a rerun; "none".
        debug: whether errors list the operations.
        early_stop: whether a rerun ends as soon as all that backward needs is there.
    Returns: what `function` gives.
    Example:
        >>> x = torch.tensor(2.0, requires_grad=True)
        >>> y = torch.utils.checkpoint.checkpoint(lambda x: x.exp().log(), x, use_reentrant=False)
        >>> y.backward()
        >>> x.grad
        tensor(1.)
    """
    if use_reentrant is None:
        warnings.warn(
            "torch.utils.checkpoint: the use_reentrant parameter should be passed explicitly. "
            "Starting in "
            "PyTorch 2.9, calling checkpoint without use_reentrant will raise an exception. "
            "use_reentrant=False is recommended, but if you need to preserve the current default "
            "behavior, you can pass use_reentrant=True. Refer to docs for more details on the "
            "differences between the two variants.",
            stacklevel=2,
        )
        use_reentrant = True
    preserve = kwargs.pop("preserve_rng_state", True)
    if use_reentrant:
        if kwargs:
            raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
        if context_fn is not noop_context_fn or debug:
            raise ValueError(
                "Passing `context_fn` or `debug` is only supported when use_reentrant=False."
            )
        return CheckpointFunction.apply(function, preserve, *args)
    if determinism_check not in ("default", "none"):
        raise ValueError(
            f"determinism_check should be one of ['default', 'none'], but got {determinism_check}"
        )
    chosen = _early_stop.get()
    stop = early_stop if chosen is None else chosen
    forced = _debug.get()
    logs: tuple[Any, Any] | None = None
    if debug if forced is None else forced:
        if context_fn is not noop_context_fn:
            raise ValueError("debug=True is incompatible with non-default context_fn")
        from ._checkpoint_log import OperatorLog

        logs = OperatorLog(), OperatorLog()
    contexts = context_fn() if logs is None else logs
    return _without_reentry(
        function, args, kwargs, preserve, contexts, determinism_check, stop, logs
    )


def _without_reentry(
    function: AnyCallable,
    args: tuple[object, ...],
    kwargs: dict[str, object],
    preserve: bool,
    contexts: tuple[Any, Any],
    check: str,
    stop: bool,
    logs: tuple[object, object] | None,
) -> object:
    first_context, again_context = contexts
    if not is_grad_enabled():
        with first_context:
            return function(*args, **kwargs)
    state = random.get_rng_state() if preserve else None
    flat = [*args, *kwargs.values()]
    places = [k for k, a in enumerate(flat) if isinstance(a, TensorBase)]
    anchor = new_tensor(T.number_array(0.0))
    anchor._requires_grad = True
    saved = _Inputs.apply(anchor, *[flat[k] for k in places]).grad_fn
    rest = [None if k in places else a for k, a in enumerate(flat)]
    names = list(kwargs)
    count = len(args)

    def rerun() -> None:
        values = list(rest)
        for k, t in zip(places, saved.saved_tensors):
            values[k] = _detach(t) if t.requires_grad else t
        with contextlib.ExitStack() as stack:
            if state is not None:
                stack.enter_context(random.fork_rng())
                random.set_rng_state(state)
            stack.enter_context(again_context)
            function(*values[:count], **dict(zip(names, values[count:])))

    frame = _Frame(rerun, stop, check == "default", logs)
    with saved_tensors_hooks(frame.pack, frame.unpack), first_context:
        return function(*args, **kwargs)


def _detach(t: Any) -> Tensor:
    alias = t.detach()
    alias._requires_grad = t._requires_grad
    return alias


def detach_variable(inputs: tuple[object, ...]) -> tuple[Any, ...]:
    """The inputs with every tensor detached, still requiring grad where it did.

    Parameters:
        inputs: a tuple of any values.
    Returns: tuple.
    Raises: RuntimeError: for anything but a tuple.
    Example:
        >>> torch.utils.checkpoint.detach_variable((torch.ones(1, requires_grad=True), 3))
        (tensor([1.], requires_grad=True), 3)
    """
    if not isinstance(inputs, tuple):
        raise RuntimeError(
            "Only tuple of tensors is supported. Got Unsupported input type: "
            + type(inputs).__name__
        )
    return tuple(_detach(x) if isinstance(x, TensorBase) else x for x in inputs)


def check_backward_validity(inputs: Iterable[object]) -> None:
    """Warns where no input requires grad: nothing would flow back through the checkpoint.

    Parameters:
        inputs: the arguments of a checkpoint.
    Raises: TypeError: for what can't be gone through.
    Example:
        >>> torch.utils.checkpoint.check_backward_validity([torch.ones(1, requires_grad=True)])
    """
    if not any(x.requires_grad for x in inputs if isinstance(x, Tensor)):
        warnings.warn(
            "None of the inputs have requires_grad=True. Gradients will be None", stacklevel=2
        )


class CheckpointFunction(Function):
    """The older kind: a node whose backward runs the function again and then its backward.

    Parameters:
        args: nothing is made of them: it is used by `apply`.
    Raises: nothing; an instance warns that it is deprecated.
    Example:
        >>> x = torch.tensor(2.0, requires_grad=True)
        >>> torch.utils.checkpoint.CheckpointFunction.apply(torch.square, True, x).backward()
        >>> x.grad
        tensor(4.)
    """

    @staticmethod
    def forward(ctx: Any, run_function: AnyCallable, preserve_rng_state: bool, *args: Any) -> Any:
        check_backward_validity(args)
        ctx.run_function = run_function
        ctx.autocast = current().autocast
        ctx.rng_state = random.get_rng_state() if preserve_rng_state else None
        ctx.places = [k for k, a in enumerate(args) if isinstance(a, TensorBase)]
        ctx.rest = [None if k in ctx.places else a for k, a in enumerate(args)]
        ctx.save_for_backward(*[args[k] for k in ctx.places])
        with no_grad():
            return run_function(*args)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor | None) -> Any:
        run = RUNNING.get()
        if run is not None and run.captures is not None:
            raise RuntimeError(
                "When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad() or "
                "passing "
                "an `inputs` parameter to .backward(). To resolve this error, you can either set "
                "use_reentrant=False, or call .backward() without passing the `inputs` argument."
            )
        values = list(ctx.rest)
        for k, t in zip(ctx.places, ctx.saved_tensors):
            values[k] = _detach(t)
        with contextlib.ExitStack() as stack:
            if ctx.rng_state is not None:
                stack.enter_context(random.fork_rng())
                random.set_rng_state(ctx.rng_state)
            stack.enter_context(enable_grad())
            stack.enter_context(_casting_as(ctx.autocast))
            outputs = ctx.run_function(*values)
        group = outputs if isinstance(outputs, tuple) else (outputs,)
        pairs = [
            (o, g) for o, g in zip(group, grads) if isinstance(o, TensorBase) and o._requires_grad
        ]
        if not pairs:
            raise RuntimeError(
                "none of output has requires_grad=True, this checkpoint() is not necessary"
            )
        run_backward([o for o, _ in pairs], [g for _, g in pairs])
        return (None, None, *[v._grad if isinstance(v, TensorBase) else None for v in values])


def checkpoint_sequential(
    functions: Module | Sequence[Callable[..., object]],
    segments: int,
    input: Tensor,
    use_reentrant: bool | None = None,
    **kwargs: object,
) -> Any:
    """A chain of functions (or an `nn.Sequential`), checkpointed in parts all but the last.

    Raises:
        ValueError: for unknown keyword arguments.

    Parameters:
        functions: the chain.
        segments: how many parts.
        input: what the first function is given.
        use_reentrant: as `checkpoint` takes it.
    Shapes: those of the chain.
    Returns: what the last function gives.
    Example:
        >>> chain = nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 1))
        >>> x = torch.ones(1, 2)
        >>> y = torch.utils.checkpoint.checkpoint_sequential(chain, 2, x, use_reentrant=False)
        >>> torch.equal(y, chain(x))
        True
    """
    if use_reentrant is None:
        warnings.warn(
            "torch.utils.checkpoint.checkpoint_sequential: the use_reentrant parameter should be "
            "passed "
            "explicitly. In version 2.9 we will raise an exception if use_reentrant is not passed. "
            "use_reentrant=False is recommended, but if you need to preserve the current default "
            "behavior, "
            "you can pass use_reentrant=True. Refer to docs for more details on the differences "
            "between the "
            "two variants.",
            stacklevel=2,
        )
        use_reentrant = True
    preserve = kwargs.pop("preserve_rng_state", True)
    if kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
    chain = list(functions.children()) if hasattr(functions, "children") else list(functions)
    size = len(chain) // segments
    end = -1
    for start in range(0, size * (segments - 1), size):
        end = start + size - 1
        input = checkpoint(
            _segment(chain, start, end),
            input,
            use_reentrant=use_reentrant,
            preserve_rng_state=preserve,
        )
    return _segment(chain, end + 1, len(chain) - 1)(input)


def _segment(chain: list[Any], start: int, end: int) -> Callable[..., object]:
    def run(x: Tensor) -> Tensor:
        for k in range(start, end + 1):
            x = chain[k](x)
        return x

    return run


#: Selective checkpointing comes, with the operators it needs, when it is first asked for.
__getattr__ = lazy(
    __name__,
    {name: f"utils._selective_checkpoint:{name}" for name in (
        "CheckpointPolicy", "SAC_IGNORED_OPS", "SelectiveCheckpointContext",
        "create_selective_checkpoint_contexts", "_CachedTorchDispatchMode",
        "_CachingTorchDispatchMode",
    )},
)  # fmt: skip


__all__ = [  # noqa: F822 - some are loaded when first asked for
    "CheckpointError", "CheckpointFunction", "CheckpointPolicy", "DefaultDeviceType",
    "GraphExecGroup", "SAC_IGNORED_OPS", "SelectiveCheckpointContext", "check_backward_validity",
    "checkpoint", "checkpoint_sequential", "create_selective_checkpoint_contexts",
    "detach_variable", "get_device_states", "noop_context_fn", "set_checkpoint_debug_enabled",
    "set_checkpoint_early_stop", "set_device_states",
]  # fmt: skip

__dir__ = _listed(globals())
