"""Adafactor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._array.optimizers import adafactor as arrays
from .._array.types import FLOAT32, FLOAT64
from ._ground import Tensor, bump, f, finfo
from ._plain import gradient_of, next_step, with_gradient
from ._rule import RuleOptimizer, count_step, fits, new_count
from .optimizer import scalar

if TYPE_CHECKING:
    from .annotations import OptimizerState, ParamGroup, Params


__all__ = ["Adafactor"]

#: Of which types arrays are updated as they are.
PLAIN = (FLOAT32, FLOAT64)
_MISSING = (
    "row_var and col_var should be defined when grad is multidimensional",
    "variance should be defined when grad is a vector",
)


def _shapes(grad: Tensor) -> dict[str, tuple[int, ...]]:
    """The averages that are kept, and their shapes."""
    shape = tuple(grad.shape)
    if len(shape) < 2:
        return {"variance": shape}
    return {"row_var": (*shape[:-1], 1), "col_var": (*shape[:-2], 1, shape[-1])}


class Adafactor(RuleOptimizer):
    """Steps scaled by averages of squares of which only the means of rows and columns are kept.

    `beta2_decay` says how the averages lengthen, `d` bounds the root mean square of an update,
    `eps` are the least average square and the least scale of a parameter.

    Source: Shazeer and Stern 2018, algorithms 4 and 5, without momentum.
    """

    _alike = False

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1e-2,
        beta2_decay: float = -0.8,
        eps: tuple[float | None, float] = (None, 1e-3),
        d: float = 1.0,
        weight_decay: float = 0.0,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
    ) -> None:
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        if not 0.0 <= lr:
            raise ValueError(f"Learning rate should be >= 0 but is: {lr}")
        if not 0.0 >= beta2_decay:
            raise ValueError(f"beta2_decay should be <= 0 but is: {beta2_decay}")
        if eps[0] is not None and not 0.0 <= eps[0]:
            raise ValueError(f"epsilon1 should be >= 0 but is: {eps[0]}")
        if not 0.0 <= eps[1]:
            raise ValueError(f"epsilon2 should be >= 0 but is: {eps[1]}")
        if not 1.0 <= d:
            raise ValueError(f"Clipping threshold d should be >= 1 but is: {d}")
        if not 0.0 <= weight_decay:
            raise ValueError(f"weight_decay should be >= 0 but is: {weight_decay}")
        defaults = {
            "lr": lr,
            "beta2_decay": beta2_decay,
            "eps": eps,
            "d": d,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "maximize": maximize,
        }
        super().__init__(params, defaults)

    def __setstate__(self, state: OptimizerState) -> None:
        super().__setstate__(state)
        for group in self.param_groups:
            # What other rules have, and this one hasn't.
            group.pop("differentiable", None)

    def _sweep(self, group: ParamGroup) -> list[Tensor]:
        """Updates contiguous matrices on their arrays, and gives the other parameters: all of them
        once their states have been looked at, so that nothing has been changed before."""
        params = with_gradient(group["params"])
        for p in params:
            if p.is_complex():
                raise RuntimeError("Adafactor does not support complex parameters")
            if gradient_of(p).is_sparse:
                self._update_rows(p, group)
        states = [self.state[p] or self._state(p, group) for p in params]
        for state in states:
            if not isinstance(state["step"], Tensor):
                raise RuntimeError(
                    "`state_steps` argument must contain a list of singleton tensors"
                )
        plain = [self._is_plain(p, state) for p, state in zip(params, states, strict=True)]
        for p, state, whole in zip(params, states, plain, strict=True):
            if whole:
                self._raw_update(p, group, state)
        return [p for p, whole in zip(params, plain, strict=True) if not whole]

    def _is_plain(self, p: Tensor, state: OptimizerState) -> bool:
        """Whether a parameter can be updated on its arrays.

        Raises:
            AssertionError: where a state is missing.
            RuntimeError: for a state of another shape or type.
        """
        grad = gradient_of(p)
        whole = grad.dim() > 1 and p._plain and grad._plain and p._raw.dtype is grad._raw.dtype
        for key, shape in _shapes(grad).items():
            value = state.get(key)
            if value is None:
                raise AssertionError(_MISSING[key == "variance"])
            if not fits(value, grad, shape):
                value.lerp_(grad.new_zeros(shape), 0.0)
                whole = False
        return bool(whole and p._raw.dtype in PLAIN and p._raw.flags.c_contiguous and p._raw.size)

    def _state(self, p: Tensor, group: ParamGroup) -> OptimizerState:
        """The parameter's state, made now if this is its first step."""
        state: dict[str, Any] = self.state[p]
        grad = gradient_of(p)
        if not state:
            state["step"] = new_count()
            if grad.dim() > 1:
                state |= {key: grad.new_zeros(shape) for key, shape in _shapes(grad).items()}
            else:
                state["variance"] = f.zeros_like(grad)
        return state

    def _raw_update(self, p: Tensor, group: ParamGroup, state: OptimizerState) -> None:
        """The same step on arrays, for contiguous matrices."""
        count = next_step(state["step"])
        lr = scalar(group["lr"])
        least, smallest = group["eps"]
        arrays.adafactor_(
            p._raw,
            gradient_of(p)._raw,
            state["row_var"]._raw,
            state["col_var"]._raw,
            lr=lr,
            share=count ** group["beta2_decay"],
            rate=min(lr, 1 / count**0.5),
            least=finfo(p.dtype).eps if least is None else least,
            smallest=smallest,
            longest=group["d"],
            weight_decay=group["weight_decay"],
            maximize=group["maximize"],
        )
        bump(p)

    def _update(self, p: Tensor, group: ParamGroup) -> None:
        state: dict[str, Any] = self.state[p]
        grad = gradient_of(p)
        if group["maximize"]:
            grad = -grad
        count = count_step(state["step"])
        least, smallest = group["eps"]
        if least is None:
            least = finfo(p.dtype).eps
        lr = scalar(group["lr"])
        share = count ** group["beta2_decay"]
        rate = min(lr, 1 / (count**0.5))
        scale = max(smallest, p.norm(2).item() / (p.numel() ** 0.5)) * rate
        if group["weight_decay"] != 0:
            p.mul_(float(1 - lr * group["weight_decay"]))
        if grad.dim() > 1:
            rows, columns = state["row_var"], state["col_var"]
            rows.lerp_(grad.norm(dim=-1, keepdim=True).square_().div_(grad.size(-1)), share)
            columns.lerp_(grad.norm(dim=-2, keepdim=True).square_().div_(grad.size(-2)), share)
            estimate = rows @ columns
            estimate.div_(rows.mean(dim=-2, keepdim=True).clamp_(min=least))
        else:
            state["variance"].lerp_(grad.square(), share)
            estimate = state["variance"].clone()
        update = estimate.clamp_(min=least * least).rsqrt_()
        update.mul_(grad)
        too_long = max(1.0, update.norm(2).item() / ((update.numel() ** 0.5) * group["d"]))
        p.add_(update, alpha=-float(scale / too_long))
