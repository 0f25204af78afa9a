"""Selective checkpointing: some operations' results are kept, the others are computed again.

The first run of a checkpointed function happens under a mode that asks a policy about each
operation and keeps the results it names, by operator and by how many times that operator has run.
Reruns happen under a mode that hands these results out instead of computing them.
"""

from __future__ import annotations

import enum
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, Self

from .. import _table as ops
from .._core.storage import TensorBase, new_tensor, version_cell, version_of
from .._table.names.aten import OpOverload, OpOverloadPacket
from ._python_dispatch import TorchDispatchMode

if TYPE_CHECKING:
    from .._base.annotations import AnyCallable
    from .._tensor.tensor import Tensor

SAC_IGNORED_OPS: Final = {ops.aten().detach.default}


class CheckpointPolicy(enum.Enum):
    """What a policy answers: keep an operation's result, or compute it again.

    `MUST_` and `PREFER_` do the same here; results are in main memory already, so offloading them
    keeps them.

    Example:
        >>> torch.utils.checkpoint.CheckpointPolicy.MUST_SAVE.name
        'MUST_SAVE'
    """

    MUST_SAVE = 0
    PREFER_SAVE = 1
    MUST_RECOMPUTE = 2
    PREFER_RECOMPUTE = 3
    MUST_CPU_OFFLOAD = 4
    PREFER_CPU_OFFLOAD = 5


_RECOMPUTED: Final = (CheckpointPolicy.MUST_RECOMPUTE, CheckpointPolicy.PREFER_RECOMPUTE)


class SelectiveCheckpointContext:
    """What a policy is told besides the operation: whether it runs again, and its result.

    Parameters:
        is_recompute: whether the function runs again, for a backward.
        op_output: what the operation has given.
    Raises: TypeError: for other parameters.
    Example:
        >>> torch.utils.checkpoint.SelectiveCheckpointContext(is_recompute=False).is_recompute
        False
    """

    def __init__(self, *, is_recompute: bool, op_output: object = None) -> None:
        self.is_recompute = is_recompute
        self.op_output = op_output


class _Kept:
    """A result as it was, with the version that it had."""

    __slots__ = ("may_change", "used", "val", "versions")

    def __init__(self, value: object, may_change: bool) -> None:
        self.val = _map(_alias, value)
        self.versions = _versions(value)
        self.may_change = may_change
        self.used = False

    def take(self) -> Any:
        """The result, for the only rerun that may have it.

        Raises:
            RuntimeError: where it has been taken, or written.
        """
        if self.used:
            raise RuntimeError(
                "Trying to backward an extra time. You are only allowed to backward once on any "
                "region computed under selective activation checkpoint."
            )
        self.used = True
        value, self.val = self.val, None
        if not self.may_change and _versions(value) != self.versions:
            raise RuntimeError(
                "Tensor cached during selective activation checkpoint has been mutated"
            )
        return _map(lambda t: new_tensor(t._raw), value)


def _alias(t: Tensor) -> TensorBase:
    """Another tensor over the same memory and version, outside of any graph."""
    made = new_tensor(t._raw)
    made._cell = version_cell(t)
    return made


def _map(function: Callable[..., object], value: Any) -> Any:
    if isinstance(value, TensorBase):
        return function(value)
    if type(value) in (tuple, list):
        return type(value)(_map(function, v) for v in value)
    if isinstance(value, tuple):
        return type(value)([_map(function, v) for v in value])
    return value


def _versions(value: object) -> list[int]:
    if isinstance(value, TensorBase):
        return [version_of(value)]
    if isinstance(value, (tuple, list)):
        return [n for v in value for n in _versions(v)]
    return []


class _CachingTorchDispatchMode(TorchDispatchMode):
    """The first run: asks the policy, keeps what it names."""

    def __init__(self, policy: Any, kept: dict[Any, dict[int, _Kept]], may_change: bool) -> None:
        super().__init__()
        self.policy_fn = policy
        self.storage = kept
        self.may_change = may_change
        self.counts: dict[Any, int] = defaultdict(int)

    def __torch_dispatch__(
        self,
        func: AnyCallable,
        types: Sequence[type],
        args: tuple[object, ...] = (),
        kwargs: dict[str, object] | None = None,
    ) -> object:
        kwargs = {} if kwargs is None else kwargs
        out = func(*args, **kwargs)
        if func in SAC_IGNORED_OPS:
            return out
        context = SelectiveCheckpointContext(is_recompute=False, op_output=out)
        policy = self.policy_fn(context, func, *args, **kwargs)
        if isinstance(policy, bool):
            policy = CheckpointPolicy.MUST_SAVE if policy else CheckpointPolicy.PREFER_RECOMPUTE
        place = self.counts[func]
        self.counts[func] = place + 1
        if policy not in _RECOMPUTED:
            self.storage[func][place] = _Kept(out, self.may_change)
        return out


class _CachedTorchDispatchMode(TorchDispatchMode):
    """A rerun: hands out what was kept, computes the rest."""

    def __init__(self, kept: dict[object, dict[int, _Kept]]) -> None:
        super().__init__()
        self.storage = kept
        self.counts: dict[Any, int] = defaultdict(int)

    def __enter__(self) -> Self:
        self.counts.clear()  # every rerun counts from the beginning
        return super().__enter__()

    def __torch_dispatch__(
        self,
        func: Callable[..., object],
        types: Sequence[type],
        args: tuple[object, ...] = (),
        kwargs: dict[str, object] | None = None,
    ) -> object:
        kwargs = {} if kwargs is None else kwargs
        if func in SAC_IGNORED_OPS:
            return func(*args, **kwargs)
        place = self.counts[func]
        self.counts[func] = place + 1
        kept = self.storage[func].get(place) if func in self.storage else None
        return func(*args, **kwargs) if kept is None else kept.take()


def create_selective_checkpoint_contexts(
    policy_fn_or_list: object, allow_cache_entry_mutation: bool = False
) -> tuple[object, object]:
    """Two contexts for `checkpoint(…, context_fn=…)`, by a policy or a list of operators to keep.

    A policy is called as `policy(context, op, *args, **kwargs)` and gives a `CheckpointPolicy`, or
    a bool: whether to keep the result.

    Raises:
        TypeError: where it is neither a function nor a list.
        ValueError: for something in the list that isn't one overload of an operator.

    Parameters:
        policy_fn_or_list: the policy, or the operators whose results are kept.
        allow_cache_entry_mutation: whether kept results may have been written since.
    Returns: two contexts, for the first run and for reruns.
    Example:
        >>> from functools import partial
        >>> from rushlight.utils.checkpoint import checkpoint, create_selective_checkpoint_contexts
        >>> keep = [torch.ops.aten.mm.default]
        >>> x = torch.ones(2, 2, requires_grad=True)
        >>> contexts = partial(create_selective_checkpoint_contexts, keep)
        >>> y = checkpoint(lambda x: (x @ x).sin(), x, use_reentrant=False, context_fn=contexts)
        >>> y.sum().backward()
        >>> x.grad.shape
        torch.Size([2, 2])
    """
    if isinstance(policy_fn_or_list, list):
        kept_ops: Sequence[Any] = policy_fn_or_list
        for op in kept_ops:
            if not isinstance(op, OpOverload):
                hint = ""
                if isinstance(op, OpOverloadPacket):
                    hint = (
                        "Please update the OpOverloadPacket to a specific OpOverload."
                        f"For example, if you have `torch.ops.{op}`, change it to "
                        f"`torch.ops.{op}.default`."
                    )
                raise ValueError(
                    f"Expected op in `op_list` to be an OpOverload but got: {op} of type "
                    f"{type(op)}. {hint}"
                )
        chosen = frozenset(kept_ops)

        def policy(
            context: object, op: object, *args: object, **kwargs: object
        ) -> CheckpointPolicy:
            if op in chosen:
                return CheckpointPolicy.MUST_SAVE
            return CheckpointPolicy.PREFER_RECOMPUTE
    elif callable(policy_fn_or_list):
        policy = policy_fn_or_list
    else:
        raise TypeError("policy_fn_or_list must be either a function or a list of ops.")
    kept: dict[Any, dict[int, _Kept]] = defaultdict(dict)
    first = _CachingTorchDispatchMode(policy, kept, allow_cache_entry_mutation)
    return first, _CachedTorchDispatchMode(kept)
