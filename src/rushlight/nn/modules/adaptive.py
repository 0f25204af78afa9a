"""The adaptive softmax: frequent classes cheap, rare ones in clusters."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from .. import functional as F
from .._ground import Tensor, f
from .container import ModuleList, Sequential
from .linear import Linear
from .module import Module

if TYPE_CHECKING:
    from ..._base.annotations import DeviceLike
    from ..._base.dtypes import dtype


__all__ = ["AdaptiveLogSoftmaxWithLoss"]

_ASMoutput = namedtuple("_ASMoutput", ["output", "loss"])


class AdaptiveLogSoftmaxWithLoss(Module):
    """The log probability of each target and the loss, with classes in clusters by frequency.

    Shapes: input (N, in_features) or (in_features,), target (N,) or (); output like the target,
    loss ().
    Raises: ValueError, RuntimeError for cut-offs and shapes that don't fit.
    Source: E. Grave et al., Efficient softmax approximation for GPUs (2017).
    """

    in_features: int
    n_classes: int
    cutoffs: list[int]
    div_value: float
    head_bias: bool
    head: Linear
    tail: ModuleList

    def __init__(
        self,
        in_features: int,
        n_classes: int,
        cutoffs: Sequence[int],
        div_value: float = 4.0,
        head_bias: bool = False,
        device: DeviceLike | None = None,
        dtype: dtype | None = None,
    ) -> None:
        super().__init__()
        cutoffs = list(cutoffs)
        if not cutoffs:
            raise ValueError("cutoffs should be a sequence of length larger than 0")
        if (
            cutoffs != sorted(cutoffs)
            or min(cutoffs) <= 0
            or max(cutoffs) > n_classes - 1
            or len(set(cutoffs)) != len(cutoffs)
            or any(int(c) != c for c in cutoffs)
        ):
            raise ValueError(
                "cutoffs should be a sequence of unique, positive "
                "integers sorted in an increasing order, where "
                "each value is between 1 and n_classes-1"
            )
        self.in_features = in_features
        self.n_classes = n_classes
        self.cutoffs = [*cutoffs, n_classes]
        self.div_value = div_value
        self.head_bias = head_bias
        self.shortlist_size = self.cutoffs[0]
        self.n_clusters = len(self.cutoffs) - 1
        self.head_size = self.shortlist_size + self.n_clusters
        made: dict[str, Any] = {"device": device, "dtype": dtype}
        self.head = Linear(in_features, self.head_size, bias=head_bias, **made)
        self.tail = ModuleList()
        for i in range(self.n_clusters):
            inner = int(in_features // div_value ** (i + 1))
            size = self.cutoffs[i + 1] - self.cutoffs[i]
            self.tail.append(
                Sequential(
                    Linear(in_features, inner, bias=False, **made),
                    Linear(inner, size, bias=False, **made),
                )
            )

    def reset_parameters(self) -> None:
        """Draws all weights afresh."""
        self.head.reset_parameters()
        for cluster in self.tail:
            for layer in cluster:  # type: ignore[attr-defined]
                layer.reset_parameters()

    def forward(self, input_: Tensor, target_: Tensor) -> Any:
        dims = target_.dim()
        if dims == 1:
            if input_.size(0) != target_.size(0):
                raise RuntimeError(
                    "Input and target should have the same size in the batch dimension."
                )
            if input_.dim() != 2:
                raise RuntimeError(
                    "1D target tensor expects 2D input tensors, but found inputs with size "
                    f"{input_.size()}"
                )
        elif dims == 0:
            if input_.dim() != 1:
                raise RuntimeError(
                    "0D target tensor expects 1D input tensors, but found inputs with size "
                    f"{input_.size()}"
                )
        else:
            raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
        batched = dims > 0
        input = input_ if batched else input_.unsqueeze(0)
        target = target_ if batched else target_.unsqueeze(0)
        used = 0
        batch = target.size(0)
        output = input.new_zeros(batch)
        head_places = target.new_empty(batch)
        bounds = [0, *self.cutoffs]
        for i, (low, high) in enumerate(pairwise(bounds)):
            rows = ((target >= low) & (target < high)).nonzero().squeeze(1)
            if rows.numel() == 0:
                continue
            if i == 0:
                head_places.index_copy_(0, rows, target[rows])
            else:
                cluster = self.tail[i - 1](input.index_select(0, rows))
                head_places.index_fill_(0, rows, self.shortlist_size + i - 1)
                within = (target[rows] - low).unsqueeze(1)
                found = F.log_softmax(cluster, dim=1).gather(1, within)
                output.index_copy_(0, rows, found.squeeze(1))
            used += rows.numel()
        if used != batch:
            raise RuntimeError(
                f"Target values should be in [0, {self.n_classes - 1}], "
                f"but values in range [{target.min().item()}, {target.max().item()}] "
                "were found. "
            )
        head = F.log_softmax(self.head(input), dim=1)
        output = output + head.gather(1, head_places.unsqueeze(1)).squeeze()
        loss = (-output).mean()
        if not batched:
            output = output.squeeze(0)
        return _ASMoutput(output, loss)

    def _get_full_log_prob(self, input: Tensor, head_output: Tensor) -> Tensor:
        """The log probabilities of all classes, from what the head gave."""
        out: Tensor = input.new_empty((head_output.size(0), self.n_classes))
        head = F.log_softmax(head_output, dim=1)
        size = self.shortlist_size
        out[:, :size] = head[:, :size]
        for i, (start, stop) in enumerate(pairwise(self.cutoffs)):
            cluster = F.log_softmax(self.tail[i](input), dim=1)
            out[:, start:stop] = cluster + head[:, size + i].unsqueeze(1)
        return out

    def log_prob(self, input: Tensor) -> Tensor:
        """The log probabilities of all classes: (N, n_classes)."""
        return self._get_full_log_prob(input, self.head(input))

    def predict(self, input: Tensor) -> Tensor:
        """The most probable class of each row; clusters are looked into only where needed."""
        head = self.head(input)
        output: Tensor = f.argmax(head, dim=1)
        inside = output < self.shortlist_size
        if bool(inside.all()):
            return output
        if not bool(inside.any()):
            return f.argmax(self._get_full_log_prob(input, head), dim=1)
        rest = inside.logical_not()
        output[rest] = f.argmax(self._get_full_log_prob(input[rest], head[rest]), dim=1)
        return output
