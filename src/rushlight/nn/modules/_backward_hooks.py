"""Backward hooks of a module: identities around `forward` whose graph nodes carry the hooks.

The tensors that enter a module pass through one identity node, the tensors that leave it through
another. A hook on the second sees the gradients of all outputs at once, a hook on the first those
of all inputs: what neighbours in the graph do doesn't matter.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from .._ground import Function, Tensor, is_grad_enabled

if TYPE_CHECKING:
    from ..._base.annotations import Positional

_Hook = Callable[..., Any]


class BackwardHookFunction(Function):
    """The identity: each argument comes out again, as an output of one common node."""

    @staticmethod
    def forward(ctx: Any, *args: Tensor) -> tuple[Tensor, ...]:
        ctx.mark_non_differentiable(*(arg for arg in args if not arg.requires_grad))
        return args

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, ...]:
        return grads


class BackwardHook:
    """One call's full backward hooks: where its tensors were, and the gradients seen so far."""

    def __init__(self, module: object, hooks: Sequence[_Hook], pre_hooks: Sequence[_Hook]) -> None:
        self.module = module
        self.hooks = hooks
        self.pre_hooks = pre_hooks
        self.grad_outputs: tuple[Any, ...] | None = None
        self.input_places: list[int] | None = None
        self.input_count = -1
        self.output_places: list[int] | None = None
        self.output_count = -1

    def setup_input_hook(self, args: Positional) -> tuple[object, ...]:
        """`args` with their tensors passed through the node that will call the hooks."""
        wrapped, places = _through_identity(args, self._watch_input)
        self.input_count = len(args)
        self.input_places = places
        return wrapped

    def setup_output_hook(self, result: Any) -> Any:
        """`result` with its tensors passed through the node that sees the outputs' gradients."""
        bare = not isinstance(result, tuple)
        wrapped, places = _through_identity((result,) if bare else result, self._watch_output)
        self.output_count = len(wrapped)
        self.output_places = places
        return wrapped[0] if bare else wrapped

    def _watch_input(self, node: Any) -> None:
        def on_grad_inputs(grad_inputs: tuple[Tensor | None, ...], _: object) -> Any:
            if self.grad_outputs is None:
                # The gradient reached an input around the module's outputs: no call to report.
                return None
            places = self.input_places or []
            seen = _place(places, grad_inputs, self.input_count)
            for hook in self.hooks:
                answer = hook(self.module, seen, self.grad_outputs)
                if answer is None:
                    continue
                if not isinstance(answer, tuple):
                    answer = (answer,)
                if len(answer) != len(seen):
                    raise RuntimeError(
                        "Backward hook returned an invalid number of grad_input, "
                        f"got {len(answer)}, but expected {len(seen)}"
                    )
                seen = answer
            self.grad_outputs = None
            return tuple(seen[place] for place in places)

        node.register_hook(on_grad_inputs)

    def _watch_output(self, node: Any) -> None:
        def on_grad_outputs(grad_outputs: tuple[Tensor | None, ...]) -> Any:
            places = self.output_places or []
            seen: tuple[Any, ...] = _place(places, grad_outputs, self.output_count)
            for pre_hook in self.pre_hooks:
                answer = pre_hook(self.module, seen)
                if answer is None:
                    continue
                if not isinstance(answer, tuple):
                    answer = (answer,)
                if len(answer) != len(seen):
                    raise RuntimeError(
                        "Backward pre hook returned an invalid number of grad_output, "
                        f"got {len(answer)}, but expected {len(seen)}"
                    )
                seen = answer
            self.grad_outputs = seen
            if self.input_places is None:
                # No input requires a gradient, so no input node will run: the hooks run here.
                warnings.warn(
                    "Full backward hook is firing when gradients are computed with respect to "
                    "module outputs since no inputs require gradients. See "
                    "https://docs.pytorch.org/docs/main/generated/torch.nn.Module.html"
                    "#torch.nn.Module.register_full_backward_hook for more details.",
                    UserWarning,
                    stacklevel=5,
                )
                nothing = (None,) * self.input_count
                for hook in self.hooks:
                    answer = hook(self.module, nothing, seen)
                    if answer is not None and not (
                        isinstance(answer, tuple) and all(part is None for part in answer)
                    ):
                        raise RuntimeError(
                            "Backward hook for Modules where no input requires "
                            "gradient should always return None or None for all gradients."
                        )
                self.grad_outputs = None
            return tuple(seen[place] for place in places)

        node.register_prehook(on_grad_outputs)


def _place(places: list[int], values: Sequence[object], count: int) -> tuple[object, ...]:
    """`values` at `places` in a tuple of `count`; None elsewhere, where no tensors are."""
    placed: list[Any] = [None] * count
    for place, value in zip(places, values, strict=True):
        placed[place] = value
    return tuple(placed)


def _through_identity(
    args: Positional, watch: Callable[[object], None]
) -> tuple[tuple[object, ...], list[int] | None]:
    """`args` with their tensors passed through one identity node, and where the tensors are.

    Where no gradient will flow, `args` as they are and None.
    """
    places = [i for i, arg in enumerate(args) if isinstance(arg, Tensor)]
    tensors = [args[i] for i in places]
    if not (is_grad_enabled() and any(tensor.requires_grad for tensor in tensors)):
        return args, None
    through = BackwardHookFunction.apply(*tensors)
    watch(next(tensor.grad_fn for tensor in through if tensor.grad_fn is not None))
    wrapped = list(args)
    for place, tensor in zip(places, through, strict=True):
        wrapped[place] = tensor
    # A named tuple stays one: its fields are how callers read the result.
    kind: Any = type(args)
    if hasattr(kind, "_make"):
        return kind._make(wrapped), places
    return tuple(wrapped), places
