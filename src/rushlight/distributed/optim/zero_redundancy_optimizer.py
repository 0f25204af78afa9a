"""An optimizer whose state is spread over the ranks of a group.

Each rank steps some of the parameters, has the state of those alone, and sends them to the others.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..._core.storage import TensorBase
from ...autograd.grad_mode import no_grad
from ...optim.optimizer import Optimizer
from .._ground import f
from ..algorithms.join import Join, Joinable, JoinHook
from ..collectives import broadcast
from ..object_collectives import gather_object
from ..process_group import choose, get_global_rank

if TYPE_CHECKING:
    from ..._base.device import device
    from ..._tensor.tensor import Tensor
    from ..annotations import Given, State
    from ..process_group import ProcessGroup


__all__ = ["ZeroRedundancyOptimizer"]


class ZeroRedundancyOptimizer(Optimizer, Joinable):
    """Steps as `optimizer_class(params, **defaults)` does, with the state spread over the ranks.

    Each rank has the state of some parameters, steps those and sends them to the others. Before a
    `state_dict`, `consolidate_state_dict` brings the parts together on one rank.

    Parameters:
        params: the parameters, or groups of them, the same on all ranks.
        optimizer_class: the class of optimizers that steps them.
        process_group: the ranks; None means all.
        parameters_as_bucket_view: nothing here: parameters are sent one by one.
        overlap_with_ddp: refused among several ranks; nothing in a group of one.
        **defaults: what the optimizer is given.
    Raises:
        ValueError: without a process group, without parameters, for parameters of several types.
        TypeError: for parameters that aren't tensors.
        NotImplementedError: for steps within DistributedDataParallel's backward on several ranks.
    Example:
        >>> dist.init_process_group(store=dist.HashStore(), rank=0, world_size=1)
        >>> w = torch.tensor([1.0], requires_grad=True)
        >>> step = dist.optim.ZeroRedundancyOptimizer([w], torch.optim.SGD, lr=0.5)
        >>> w.square().sum().backward()
        >>> step.step()
        >>> w
        tensor([0.], requires_grad=True)
    """

    def __init__(
        self,
        params: Given,
        optimizer_class: type[Optimizer],
        process_group: ProcessGroup | None = None,
        parameters_as_bucket_view: bool = False,
        overlap_with_ddp: bool = False,
        **defaults: Given,
    ) -> None:
        self._made = False
        given = _check(params)
        Optimizer.__init__(self, given, defaults)
        self._join_config = Join.NOT_JOINING
        self.process_group = choose(process_group)
        self.world_size = self.process_group.size()
        self.rank = self.process_group.rank()
        self.global_rank = get_global_rank(self.process_group, self.rank)
        if overlap_with_ddp and self.world_size > 1:
            raise NotImplementedError(
                "ZeroRedundancyOptimizer(overlap_with_ddp=True): call step() after backward()"
            )
        self.parameters_as_bucket_view = parameters_as_bucket_view
        self._optim_defaults = defaults
        self._optim_constructor = optimizer_class
        self._sizes = [0] * self.world_size
        self._parts: list[list[list[Tensor]]] = [
            self._divide(group["params"]) for group in self.param_groups
        ]
        self.optim: Any = optimizer_class(
            [self._own(group, part) for group, part in zip(self.param_groups, self._parts)],
            **defaults,
        )
        self._gathered: list[State] = []
        self._share(self.optim.param_groups, self.param_groups)
        self.state = self.optim.state
        self._made = True

    def _divide(self, params: list[Tensor]) -> list[list[Tensor]]:
        """The parameters of each rank: the largest first, to whom has the fewest elements."""
        parts: list[list[Tensor]] = [[] for _ in range(self.world_size)]
        for parameter in sorted(params, key=lambda p: p.numel(), reverse=True):
            rank = self._sizes.index(min(self._sizes))
            parts[rank].append(parameter)
            self._sizes[rank] += parameter.numel()
        return parts

    def _own(self, group: State, parts: list[list[Tensor]]) -> State:
        return {**group, "params": parts[self.rank]}

    @property
    def join_device(self) -> device:
        """Where the parameters lie."""
        place: device = self.param_groups[0]["params"][0].device
        return place

    @property
    def join_process_group(self) -> ProcessGroup:
        """The group whose ranks may run out of batches."""
        return self.process_group

    def join_hook(self, **kwargs: object) -> JoinHook:
        """What to do without batches: step, as the others need this rank's parameters."""
        return _Steps(self)

    @staticmethod
    def _share(source: list[dict[str, object]], target: list[dict[str, object]]) -> None:
        """Copies the options of each group, so that schedules written to either are seen."""
        for mine, theirs in zip(source, target):
            for name, value in mine.items():
                if name != "params":
                    theirs[name] = value

    def step(self, closure: Callable[[], object] | None = None, **options: object) -> Given:
        """One step of the optimizer inside; then every rank gets what the others have stepped."""
        Join.notify_join_context(self)
        self._share(self.param_groups, self.optim.param_groups)
        loss = (
            self.optim.step(**options) if closure is None else self.optim.step(closure, **options)
        )
        self._share(self.optim.param_groups, self.param_groups)
        if self.world_size > 1:
            self._send()
        return loss

    def _send(self) -> None:
        """Gives the parameters of each rank to all, as one message each."""
        parts = [[p for part in self._parts for p in part[r]] for r in range(self.world_size)]
        with no_grad():
            rows = [f.cat([p.detach().reshape(-1) for p in own]) if own else None for own in parts]
            works = [
                broadcast(row, group=self.process_group, group_src=rank, async_op=True)
                for rank, row in enumerate(rows)
                if row is not None
            ]
            for work in works:
                if work is not None:
                    work.wait()
            for rank, row in enumerate(rows):
                if row is None or rank == self.rank:
                    continue
                sizes = [p.numel() for p in parts[rank]]
                for parameter, values in zip(parts[rank], row.split(sizes)):
                    parameter.detach().copy_(values.view(parameter.shape))

    def add_param_group(self, param_group: dict[str, object]) -> None:
        """Adds parameters, spread over the ranks like the others."""
        super().add_param_group(param_group)
        if self._made:
            group = self.param_groups[-1]
            self._parts.append(self._divide(group["params"]))
            self.optim.add_param_group(self._own(group, self._parts[-1]))
            self._share(self.optim.param_groups, self.param_groups)

    def consolidate_state_dict(self, to: int = 0) -> None:
        """Gathers the state on rank `to`, for the next `state_dict` there."""
        self._share(self.param_groups, self.optim.param_groups)
        own = self.optim.state_dict()
        if self.world_size == 1:
            self._gathered = [copy.deepcopy(own)]
            return
        places: list[Any] | None = [None] * self.world_size if self.rank == to else None
        gather_object(own, places, group=self.process_group, group_dst=to)
        self._gathered = places or []

    def state_dict(self) -> State:
        """The state and options as `consolidate_state_dict` has gathered them.

        Raises:
            RuntimeError: where it wasn't called.
        """
        if not self._gathered:
            raise RuntimeError(
                "Optimizer state has not been consolidated on this rank. Please call "
                f"`consolidate_state_dict(to={self.rank})` on all ranks beforehand if you meant to "
                "save the global state."
            )
        index = self._index()
        state: dict[int, Any] = {}
        for rank, held in enumerate(self._gathered):
            for group, parts in zip(held["param_groups"], self._parts):
                for local, parameter in zip(group["params"], parts[rank]):
                    if local in held["state"]:
                        state[index[id(parameter)]] = held["state"][local]
        groups = Optimizer.state_dict(self)["param_groups"]
        return {"state": dict(sorted(state.items())), "param_groups": groups}

    def _index(self) -> dict[int, int]:
        every = [p for group in self.param_groups for p in group["params"]]
        return {id(parameter): place for place, parameter in enumerate(every)}

    def load_state_dict(self, state_dict: State) -> None:
        """Takes options, and the state of this rank's parameters, from a `state_dict`."""
        index = self._index()
        own = [p for parts in self._parts for p in parts[self.rank]]
        state = {
            place: state_dict["state"][index[id(parameter)]]
            for place, parameter in enumerate(own)
            if index[id(parameter)] in state_dict["state"]
        }
        held = self.optim.state_dict()["param_groups"]
        groups: list[State] = list(state_dict["param_groups"])
        if len(groups) == len(held):
            groups = [{**g, "params": h["params"]} for g, h in zip(groups, held)]
        self.optim.load_state_dict({"state": state, "param_groups": groups})
        self.state = self.optim.state
        self._share(self.optim.param_groups, self.param_groups)


class _Steps(JoinHook):
    def __init__(self, optimizer: ZeroRedundancyOptimizer) -> None:
        self.optimizer = optimizer

    def main_hook(self) -> None:
        """One step more."""
        self.optimizer.step()


def _check(params: Given) -> list[Tensor]:
    if isinstance(params, TensorBase):
        raise TypeError(
            "`params` argument should be an iterable of Tensors, but got "
            f"{getattr(params, 'type', lambda: type(params))()}"
        )
    try:
        given = list(params)
    except TypeError:
        raise TypeError(
            f"`params` argument should be an iterable of Tensors or dicts, but got {type(params)}"
        ) from None
    if not given:
        raise ValueError("ZeroRedundancyOptimizer got an empty parameter list")
    each: list[Any] = []
    for item in given:
        if isinstance(item, dict):
            each.extend(
                [item["params"]] if isinstance(item["params"], TensorBase) else list(item["params"])
            )
        else:
            each.append(item)
    for one in each:
        if not isinstance(one, TensorBase):
            raise TypeError("`params` argument should be an iterable of Tensors or dicts")
        first, own = each[0].type(), one.type()  # type: ignore[attr-defined]
        if first != own:
            raise ValueError(
                "ZeroRedundancyOptimizer only supports using the same dense type for all "
                f"parameters but got both {first} and {own}"
            )
    return given
