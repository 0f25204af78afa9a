"""Averages of a model's weights over its training: plain ones (SWA) and exponential ones (EMA)."""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Callable, Iterable
from copy import deepcopy
from typing import TYPE_CHECKING, Any

from .._base.lazy import list_names as _listed
from .._tensor.help_texts import describe_classes as _describe_classes
from ..nn.modules.batchnorm import _BatchNorm
from ..nn.modules.module import Module
from ._ground import Tensor, f, no_grad
from .lr_scheduler import LRScheduler
from .optimizer import Optimizer

if TYPE_CHECKING:
    from .._base.annotations import DeviceLike


__all__ = [
    "SWALR",
    "AveragedModel",
    "get_ema_avg_fn",
    "get_ema_multi_avg_fn",
    "get_swa_avg_fn",
    "get_swa_multi_avg_fn",
    "update_bn",
]

_Tensors = list[Tensor] | tuple[Tensor, ...]


def _check_decay(decay: float) -> None:
    if decay < 0.0 or decay > 1.0:
        raise ValueError(
            f"Invalid decay value {decay} provided. Please provide a value in [0,1] range."
        )


def get_ema_multi_avg_fn(
    decay: float = 0.999,
) -> Callable[[list[Tensor], list[Tensor], Tensor], None]:
    """A function that moves a list of averages a (1 - `decay`)th part towards the current ones.

    Parameters:
        decay: how much of the average stays, from 0 to 1.
    Shapes: averages and current values have the same.
    Returns: a function of two lists of tensors and a count, which writes to the first list.
    Raises: ValueError: for a decay outside of these bounds.
    Example:
        >>> mean = torch.tensor([0.0])
        >>> move = torch.optim.swa_utils.get_ema_multi_avg_fn(0.75)
        >>> move([mean], [torch.tensor([1.0])], torch.tensor(1))
        >>> mean
        tensor([0.2500])
    """
    _check_decay(decay)

    @no_grad()
    def update(averages: _Tensors, current: _Tensors, _: Tensor) -> None:
        for average, now in zip(averages, current, strict=True):
            if average.is_floating_point() or average.is_complex():
                average.lerp_(now, 1 - decay)
            else:
                average.copy_(average * decay + now * (1 - decay))

    return update


def get_swa_multi_avg_fn() -> Callable[[list[Tensor], list[Tensor], Tensor], None]:
    """A function that takes the current values into a list of plain averages.

    Shapes: averages and current values have the same.
    Returns: a function of two lists of tensors and of how many values the averages are of; it
        writes to the first list.
    Example:
        >>> mean = torch.tensor([0.0])
        >>> take = torch.optim.swa_utils.get_swa_multi_avg_fn()
        >>> take([mean], [torch.tensor([1.0])], torch.tensor(3))
        >>> mean
        tensor([0.2500])
    """

    @no_grad()
    def update(averages: _Tensors, current: _Tensors, count: Tensor) -> None:
        for average, now in zip(averages, current, strict=True):
            if average.is_floating_point() or average.is_complex():
                average.lerp_(now, 1 / (float(count) + 1))
            else:
                average.add_((now - average) / (count + 1))

    return update


def get_ema_avg_fn(decay: float = 0.999) -> Callable[[Tensor, Tensor, Tensor], Tensor]:
    """A function that gives the exponential average of an average and a current value.

    Parameters:
        decay: how much of the average stays, from 0 to 1.
    Shapes: average and current value have the same.
    Returns: a function of two tensors and a count.
    Raises: ValueError: for a decay outside of these bounds.
    Example:
        >>> mean = torch.optim.swa_utils.get_ema_avg_fn(0.75)
        >>> mean(torch.tensor(0.0), torch.tensor(1.0), torch.tensor(1))
        tensor(0.2500)
    """
    _check_decay(decay)

    @no_grad()
    def update(average: Tensor, current: Tensor, count: Tensor) -> Tensor:
        return decay * average + (1 - decay) * current

    return update


def get_swa_avg_fn() -> Callable[[Tensor, Tensor, Tensor], Tensor]:
    """A function that gives the plain average, of one value more.

    Shapes: average and current value have the same.
    Returns: a function of two tensors and of how many values the average is of.
    Example:
        >>> mean = torch.optim.swa_utils.get_swa_avg_fn()
        >>> mean(torch.tensor(0.0), torch.tensor(1.0), torch.tensor(3))
        tensor(0.2500)
    """

    @no_grad()
    def update(average: Tensor, current: Tensor, count: Any) -> Tensor:
        return average + (current - average) / (count + 1)

    return update


class AveragedModel(Module):
    """A copy of a model whose parameters are averages: by default plain ones.

    `avg_fn(average, current, count)` or `multi_avg_fn(averages, current, count)` say how else;
    `use_buffers` averages the buffers too, which are copied otherwise.

    Shapes: those of the model.
    """

    n_averaged: Tensor

    def __init__(
        self,
        model: Module,
        device: DeviceLike | None = None,
        avg_fn: Callable[[Tensor, Tensor, Tensor], Tensor] | None = None,
        multi_avg_fn: Callable[[list[Tensor], list[Tensor], Tensor], None] | None = None,
        use_buffers: bool = False,
    ) -> None:
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        self.module = deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", f.tensor(0, device=device))
        self.avg_fn = avg_fn
        self.multi_avg_fn = multi_avg_fn
        self.use_buffers = use_buffers

    def forward(self, *args: object, **kwargs: object) -> Any:
        """What the averaged model gives."""
        return self.module(*args, **kwargs)

    def _list_averaged(self, model: Module) -> list[Tensor]:
        if self.use_buffers:
            return list(itertools.chain(model.parameters(), model.buffers()))
        return list(model.parameters())

    def update_parameters(self, model: Module) -> None:
        """Takes the model's present parameters into the averages."""
        averages = [p.detach() for p in self._list_averaged(self.module)]
        current = [p.detach() for p in self._list_averaged(model)]
        if self.n_averaged == 0:
            for average, now in zip(averages, current, strict=True):
                average.copy_(now)
        elif self.avg_fn is not None:
            for average, now in zip(averages, current, strict=True):
                average.copy_(self.avg_fn(average, now, self.n_averaged))
        else:
            update = self.multi_avg_fn or get_swa_multi_avg_fn()
            update(averages, current, self.n_averaged)
        if not self.use_buffers:
            for kept, now in zip(self.module.buffers(), model.buffers(), strict=True):
                kept.detach().copy_(now.detach())
        self.n_averaged += 1


@no_grad()
def update_bn(loader: Iterable[Any], model: Module, device: DeviceLike | None = None) -> None:
    """Computes the batch norm statistics of a model anew, by one pass over the loader's inputs.

    Batches that are lists or tuples hold the input first.

    Parameters:
        loader: batches of inputs.
        model: the model; its other state stays.
        device: where the inputs go; None: they stay.
    Raises: what the model raises.
    Example:
        >>> model = nn.BatchNorm1d(1)
        >>> torch.optim.swa_utils.update_bn([torch.tensor([[1.0], [3.0]])], model)
        >>> model.running_mean
        tensor([2.])
    """
    momenta: dict[Any, Any] = {}
    for module in model.modules():
        if isinstance(module, _BatchNorm):
            module.reset_running_stats()
            momenta[module] = module.momentum
    if not momenta:
        return
    training = model.training
    model.train()
    for module in momenta:
        # A plain average over all batches.
        module.momentum = None
    for batch in loader:
        given = batch[0] if isinstance(batch, (list, tuple)) else batch
        model(given if device is None else given.to(device))
    for module, momentum in momenta.items():
        module.momentum = momentum
    model.train(training)


class SWALR(LRScheduler):
    """Moves each group's rate to `swa_lr` in `anneal_epochs` epochs, and leaves it there."""

    def __init__(
        self,
        optimizer: Optimizer,
        swa_lr: float | list[float] | tuple[float, ...],
        anneal_epochs: int = 10,
        anneal_strategy: str = "cos",
        last_epoch: int = -1,
    ) -> None:
        groups = optimizer.param_groups
        if isinstance(swa_lr, (list, tuple)):
            if len(swa_lr) != len(groups):
                raise ValueError(
                    "swa_lr must have the same length as optimizer.param_groups. swa_lr has "
                    f"{len(swa_lr)} values, param_groups has {len(groups)}."
                )
            rates = list(swa_lr)
        else:
            rates = [swa_lr] * len(groups)
        for group, rate in zip(groups, rates, strict=True):
            group["swa_lr"] = rate
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(
                f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}"
            )
        self._anneal_strategy = anneal_strategy
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}")
        self.anneal_epochs = anneal_epochs
        super().__init__(optimizer, last_epoch)

    def _part(self, step: int) -> float:
        """How far the way to `swa_lr` has been gone after a step."""
        t = max(0.0, min(1.0, step / max(1, self.anneal_epochs)))
        return t if self._anneal_strategy == "linear" else (1 - math.cos(math.pi * t)) / 2

    def get_lr(self) -> list[float | Tensor]:
        if not self._get_lr_called_within_step:
            warnings.warn(
                "To get the last learning rate computed by the scheduler, "
                "please use `get_last_lr()`.",
                UserWarning,
                stacklevel=2,
            )
        step = self._step_count - 1
        if self.anneal_epochs == 0:
            step = max(1, step)
        before, now = self._part(step - 1), self._part(step)
        rates = []
        for group in self.optimizer.param_groups:
            end, rate = group["swa_lr"], group["lr"]
            # The start isn't kept: it follows from the rate and the way gone so far.
            start = end if before == 1 else (rate - before * end) / (1 - before)
            rates.append(end * now + start * (1 - now))
        return rates


_describe_classes(globals(), "optim.swa_utils")
__dir__ = _listed(globals())
