"""`PostLocalSGDOptimizer`: an optimizer after whose steps parameters become their means."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from ...optim.optimizer import Optimizer

if TYPE_CHECKING:
    from ..algorithms.model_averaging.averagers import ModelAverager
    from ..annotations import Given, State

__all__ = ["PostLocalSGDOptimizer"]


class PostLocalSGDOptimizer(Optimizer):
    """An optimizer that has an averager take the means of its parameters after each step.

    It goes with `DistributedDataParallel` and `post_localSGD_hook`: gradients are averaged over all
    ranks at first, and afterwards parameters every so many steps.

    Parameters:
        optim: the optimizer that makes the steps.
        averager: what takes the means of the parameters that have a gradient.
    Raises: nothing of its own.
    Example:
        >>> dist.init_process_group(store=dist.HashStore(), rank=0, world_size=1)
        >>> from rushlight.distributed.algorithms.model_averaging import averagers
        >>> from rushlight.distributed.optim import PostLocalSGDOptimizer
        >>> w = nn.Parameter(torch.tensor([1.0]))
        >>> sgd = PostLocalSGDOptimizer(
        ...     optim.SGD([w], lr=0.5), averagers.PeriodicModelAverager(period=4, warmup_steps=100))
        >>> w.sum().backward()
        >>> sgd.step()
        >>> w.data
        tensor([0.5000])
        >>> sgd.state_dict()["step"]
        1
    """

    def __init__(self, optim: Optimizer, averager: ModelAverager) -> None:
        self.optim = optim
        self.param_groups = self.optim.param_groups
        self.averager = averager

    @property
    def state(self) -> Given:  # type: ignore[override]
        """The optimizer's."""
        return self.optim.state

    def __repr__(self) -> str:
        return repr(self.optim)

    def state_dict(self) -> State:
        """The optimizer's state, with the number of the averager's steps as "step"."""
        return {**self.optim.state_dict(), "step": self.averager.step}

    def load_state_dict(self, state_dict: Given) -> None:
        """Loads the optimizer's state; an averager whose steps it lacks starts at 0."""
        self.optim.load_state_dict(state_dict)
        if "step" not in state_dict:
            warnings.warn(
                "Loaded state dict does not contain a step counter for an averager. Setting step "
                "counter to 0.",
                stacklevel=2,
            )
        self.averager.step = state_dict.get("step", 0)

    def step(self) -> None:  # type: ignore[override]
        """A step, then the means where it is time."""
        self.optim.step()
        self.averager.average_parameters(params=self.param_groups)

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Clears the gradients."""
        self.optim.zero_grad(set_to_none=set_to_none)

    def add_param_group(self, param_group: Given) -> None:
        """Adds parameters to the optimizer."""
        self.optim.add_param_group(param_group)
