"""`torch._functorch.autograd_function`: contexts around one, gradients laid out like inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..._base.annotations import Shape
    from ..._tensor.tensor import Tensor

__all__ = ["CtxWithSavedTensors", "WrappedCtx", "reductify", "reductify_leaf"]


class WrappedCtx:
    """A `ctx` that reads and writes the attributes of another one."""

    _pt_reserved_attrs: tuple[str, ...] = ("_pt_reserved_attrs", "_pt_inner_ctx")

    def __init__(self, ctx: Any) -> None:
        own = type(self)._pt_reserved_attrs
        if not isinstance(ctx, WrappedCtx) and any(hasattr(ctx, name) for name in own):
            raise RuntimeError(
                f"PyTorch reserves the {own} field on ctx. Please name your fields on ctx "
                "something else to avoid name collision."
            )
        self._pt_inner_ctx = ctx

    def __getattr__(self, name: str) -> Any:
        return getattr(self._pt_inner_ctx, name)

    def __setattr__(self, name: str, value: object) -> None:
        if name in type(self)._pt_reserved_attrs:
            self.__dict__[name] = value
        else:
            setattr(self._pt_inner_ctx, name, value)


class CtxWithSavedTensors(WrappedCtx):
    """A `ctx` whose saved tensors are others."""

    _pt_reserved_attrs = ("_pt_new_saved_tensors", *WrappedCtx._pt_reserved_attrs)

    def __init__(self, ctx: Any, new_saved_tensors: Sequence[Tensor]) -> None:
        super().__init__(ctx)
        self._pt_new_saved_tensors = new_saved_tensors

    @property
    def saved_tensors(self) -> Sequence[Tensor]:
        """The tensors that stand for the saved ones."""
        return self._pt_new_saved_tensors


def reductify(
    grad_input: Any, grad_input_bdim: Any, input_bdim: Any, batch_size: int,
    target_shape_without_bdim_to_reduce_to: Any = None,
) -> tuple[Any, ...]:  # fmt: skip
    """`reductify_leaf` of each gradient, as a tuple."""
    if not isinstance(grad_input, tuple):
        grad_input, grad_input_bdim, input_bdim = (grad_input,), (grad_input_bdim,), (input_bdim,)
    shapes = target_shape_without_bdim_to_reduce_to or (None,) * len(grad_input)
    return tuple(
        reductify_leaf(g, own, wanted, batch_size, shape)
        for g, own, wanted, shape in zip(grad_input, grad_input_bdim, input_bdim, shapes)
    )


def reductify_leaf(
    grad_input: Tensor | None, grad_input_bdim: int | None, input_bdim: int | None,
    batch_size: int, target_shape_without_bdim_to_reduce_to: Shape | None = None,
) -> Any:  # fmt: skip
    """A gradient with the batch where its input has it; summed over the batch where it has none."""
    g: Any = grad_input
    if g is None or (grad_input_bdim is None and input_bdim is None):
        return g
    if input_bdim is None:
        return g.sum(grad_input_bdim)
    if grad_input_bdim is None:
        g = g.unsqueeze(input_bdim)
        g = g.expand(*g.shape[:input_bdim], batch_size, *g.shape[input_bdim + 1 :])
    else:
        g = g.movedim(grad_input_bdim, input_bdim)
    if target_shape_without_bdim_to_reduce_to is None:
        return g
    whole = g.movedim(input_bdim, 0)
    summed = whole.sum_to_size(batch_size, *_pad(whole, target_shape_without_bdim_to_reduce_to))
    return summed.view(batch_size, *target_shape_without_bdim_to_reduce_to).movedim(0, input_bdim)


def _pad(whole: Any, shape: Shape) -> Shape:
    return (1,) * (whole.dim() - 1 - len(shape)) + tuple(shape)
