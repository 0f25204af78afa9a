"""Tensors that hold a dense tensor of values, and whose gradients are those of the values.

Sparse and nested tensors are such. Their own array is a placeholder; what has a graph, hooks and a
gradient is the tensor of values, and they show it as theirs.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Final

from .tensor import Tensor

if TYPE_CHECKING:
    from typing import Self

    from .._base.annotations import AnyCallable
    from .._base.handles import RemovableHandle


#: Takes the sparse and dense dimensions of gradients that hooks have given with others than their
#: tensor has, where somebody wants to know; they are brought to the places of the tensor.
OTHER_FORMS: Final[ContextVar[list[tuple[int, int]] | None]] = ContextVar(
    "rushlight_other_forms", default=None
)


class TensorOfValues(Tensor):
    """A tensor that shows the history of the values that it holds."""

    held: Any  # a Tensor

    def _with(self, held: Tensor) -> Self:
        """A tensor with other values at the same places.

        Raises:
            NotImplementedError: in this class, which knows no places.
        """
        raise NotImplementedError

    def _gradient(self, found: Tensor) -> Tensor:
        """The gradient of this tensor, from that of its values.

        Raises:
            NotImplementedError: in this class.
        """
        raise NotImplementedError

    def _gradient_of_values(self, given: Any) -> Tensor:
        """The gradient of the values, from one of this tensor.

        Raises:
            RuntimeError: where it is of another size.
        """
        raise NotImplementedError

    @property
    def requires_grad(self) -> bool:
        """Whether gradients are recorded for it: for its values."""
        return bool(self.held.requires_grad)

    @requires_grad.setter
    def requires_grad(self, wanted: bool) -> None:
        self.held.requires_grad = wanted

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """This tensor, its gradients wanted or not."""
        self.held.requires_grad_(requires_grad)
        return self

    @property
    def is_leaf(self) -> bool:
        """Whether no operation made it."""
        return bool(self.held.is_leaf)

    @property
    def grad_fn(self) -> Any:
        """The node that made its values."""
        return self.held.grad_fn

    def register_post_accumulate_grad_hook(self, hook: AnyCallable) -> RemovableHandle:
        """Has `hook(tensor)` called whenever a gradient has been accumulated into this leaf.

        Raises:
            RuntimeError: where the tensor doesn't require grad or isn't a leaf.
        """
        handle: RemovableHandle = self.held.register_post_accumulate_grad_hook(lambda _: hook(self))
        return handle

    def retain_grad(self) -> None:
        """Lets a tensor that isn't a leaf keep its gradient in `.grad`.

        Raises:
            RuntimeError: where the tensor doesn't require grad.
        """
        self.held.retain_grad()

    @property
    def retains_grad(self) -> bool:
        """Whether a tensor that isn't a leaf keeps its gradient."""
        return bool(self.held.retains_grad)

    def detach(self) -> Self:
        """The tensor without its history."""
        return self._with(self.held.detach())
