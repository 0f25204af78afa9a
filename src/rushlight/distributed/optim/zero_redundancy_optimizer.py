"""An optimizer whose state would be spread over processes; of one process it has all of it."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..._core.storage import TensorBase
from ...optim.optimizer import Optimizer
from ..process_group import alone, chosen

if TYPE_CHECKING:
    from ..._tensor.tensor import Tensor
    from ..process_group import ProcessGroup


__all__ = ["ZeroRedundancyOptimizer"]


class ZeroRedundancyOptimizer(Optimizer):
    """Steps as `optimizer_class(params, **defaults)` does; its `state_dict` is consolidated first.

    Raises:
        ValueError: without a process group, without parameters, for parameters of several types.
        TypeError: for parameters that aren't tensors.
    """

    def __init__(
        self,
        params: Any,
        optimizer_class: type[Optimizer],
        process_group: ProcessGroup | None = None,
        parameters_as_bucket_view: bool = False,
        overlap_with_ddp: bool = False,
        **defaults: Any,
    ) -> None:
        self._made = False
        given = _checked(params)
        super().__init__(given, defaults)
        self.process_group = chosen(process_group)
        alone("ZeroRedundancyOptimizer", process_group)
        self.world_size = 1
        self.rank = self.global_rank = 0
        self.parameters_as_bucket_view = parameters_as_bucket_view
        self._optim_defaults = defaults
        self._optim_constructor = optimizer_class
        inner = [{**group, "params": list(group["params"])} for group in self.param_groups]
        self.optim: Any = optimizer_class(inner, **defaults)
        self._consolidated: dict[str, Any] | None = None
        self._share(self.optim.param_groups, self.param_groups)
        self.state = self.optim.state
        self._made = True

    @property
    def join_device(self) -> object:
        """Where the parameters lie."""
        return self.param_groups[0]["params"][0].device

    @property
    def join_process_group(self) -> object:
        """The group of one process."""
        return self.process_group

    @staticmethod
    def _share(source: list[dict[str, object]], target: list[dict[str, object]]) -> None:
        """Copies the options of each group, so that schedules written to either are seen."""
        for mine, theirs in zip(source, target):
            for name, value in mine.items():
                if name != "params":
                    theirs[name] = value

    def step(self, closure: Callable[[], object] | None = None, **options: object) -> Any:
        """One step of the optimizer inside."""
        self._share(self.param_groups, self.optim.param_groups)
        loss = (
            self.optim.step(**options) if closure is None else self.optim.step(closure, **options)
        )
        self._share(self.optim.param_groups, self.param_groups)
        return loss

    def add_param_group(self, param_group: dict[str, object]) -> None:
        """Adds parameters, also to the optimizer inside."""
        super().add_param_group(param_group)
        if self._made:
            group = self.param_groups[-1]
            self.optim.add_param_group({**group, "params": list(group["params"])})
            self._share(self.optim.param_groups, self.param_groups)

    def consolidate_state_dict(self, to: int = 0) -> None:
        """Gathers the state on the process `to`, for the next `state_dict`."""
        self._share(self.param_groups, self.optim.param_groups)
        self._consolidated = copy.deepcopy(self.optim.state_dict())

    def state_dict(self) -> dict[str, Any]:
        """The state and options as `consolidate_state_dict` has gathered them.

        Raises:
            RuntimeError: where it wasn't called.
        """
        if self._consolidated is None:
            raise RuntimeError(
                "Optimizer state has not been consolidated on this rank. Please call "
                f"`consolidate_state_dict(to={self.rank})` on all ranks beforehand if you meant to "
                "save the global state."
            )
        return self._consolidated

    def load_state_dict(self, state_dict: dict[str, object]) -> None:
        """Takes state and options from a `state_dict`."""
        self.optim.load_state_dict(state_dict)
        self.state = self.optim.state
        self._share(self.optim.param_groups, self.param_groups)


def _checked(params: Any) -> list[Tensor]:
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
