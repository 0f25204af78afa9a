"""`RuleOptimizer`: the step of every optimizer that treats each parameter by itself."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from .._array.optimizers.rule import Rule, Update, constants
from ._ground import Tensor, dtypes, f
from ._plain import Pieces, Plain, gradient_of, next_step, raw_of, raw_of_piece, with_gradient
from .optimizer import (
    Optimizer,
    check_fused,
    check_not_capturable,
    flat,
    loss_of,
    number,
    recording,
    scalar,
)

if TYPE_CHECKING:
    from .._array.annotations import Array
    from .._base.annotations import Shape, TensorLike
    from .annotations import Hyper, Operand, OptimizerState, ParamGroup


__all__ = ["RuleOptimizer"]


class RuleOptimizer(Optimizer):
    """An optimizer whose `_rule` says how one parameter changes: see `_array.optimizers.rule`.

    `_sweep` updates what it can on raw arrays; what it returns, and every parameter of a
    differentiable group, goes through `_update`, on tensors.
    """

    _rule: Rule

    # What PyTorch's refusal of `capturable` on the CPU lists.
    _capturable_lists = "params and state_steps"
    _capturable_lists_of_foreach = ""
    _capturable_on_xla = True
    _foreach_on_xla = False
    # Whether PyTorch's grouped implementation refuses to be differentiated.
    _refuses_foreach = True
    # Whether the rule takes complex numbers as they are, and not as pairs of real ones.
    _takes_complex = False
    # Whether PyTorch changes a complex parameter through its view as such pairs.
    _writes_pairs = True
    # Whether state tensors with dimensions have their parameter's shape.
    _alike = True
    # The options that groups of older files lack, and what they get.
    _options_since: dict[str, Any] = {}
    # Whether states came from a file, or a step failed, since they were looked at.
    _unchecked = False

    def step(self, closure: Callable[[], Tensor | float] | None = None) -> Tensor | float | None:
        """Updates every parameter that has a gradient; returns what `closure` returned."""
        loss = loss_of(closure)
        if self._unchecked:
            self._check_states()
        try:
            self._step_groups()
        except (ValueError, TypeError) as error:
            # NumPy's words for a state that doesn't fit its parameter.
            if self._alike:
                self._check_states()
            raise error from None
        return loss

    def _step_groups(self) -> None:
        for group in self.param_groups:
            if group.get("capturable") and with_gradient(group["params"]):
                self._refuse_capturable(group)
            if group.get("fused"):
                check_fused(with_gradient(group["params"]))
            if group.get("differentiable"):
                if (
                    self._refuses_foreach
                    and group.get("foreach")
                    and with_gradient(group["params"])
                ):
                    raise AssertionError("_foreach ops don't support autograd")
                others = with_gradient(group["params"])
            else:
                others = self._sweep(group)
            if others:
                with recording(group):
                    for p in others:
                        grad = gradient_of(p)
                        if grad._layered and grad.is_sparse:
                            self._update_rows(p, group)
                        else:
                            self._update(p, group)

    def _check_states(self) -> None:
        """Has every loaded state meet its parameter's gradient, before anything is changed.

        Raises:
            RuntimeError: for a state of another shape or of integers, as in the step itself.
        """
        self._unchecked = True
        for group in self.param_groups:
            for p in with_gradient(group["params"]):
                grad = gradient_of(p)
                if not (p._plain and grad._plain):
                    continue
                if grad._raw.shape != p._raw.shape:
                    p.detach().clone().add_(grad.detach())
                for value in self.state[p].values() if p in self.state else ():
                    if isinstance(value, Tensor) and value.ndim and not _fits(value, p):
                        value.detach().clone().add_(grad.detach())
                        p.detach().clone().add_(value.detach())
        self._unchecked = False

    def _check_others(self, others: list[Tensor], group: ParamGroup) -> None:
        """Refuses a sparse gradient before the other parameters have been changed."""
        for p in others:
            grad = gradient_of(p)
            if grad._layered and grad.is_sparse and self._refuses_rows(group):
                self._update_rows(p, group)

    def _refuses_rows(self, group: ParamGroup) -> bool:
        """Whether `_update_rows` raises, whatever the gradient."""
        return True

    def _refuse_capturable(self, group: ParamGroup) -> None:
        lists, xla = self._capturable_lists, self._capturable_on_xla
        if group["foreach"]:
            lists, xla = self._capturable_lists_of_foreach or lists, self._foreach_on_xla
        check_not_capturable(group, lists, ", 'xla'" if xla else "")

    # What an optimizer says of its rule.

    def _state(self, p: Tensor, group: ParamGroup) -> OptimizerState:
        """The parameter's state, made now if this is its first step."""
        state: OptimizerState = self.state[p]
        if not state:
            self._start_state(state, p, group)
        return state

    def _start_state(self, state: OptimizerState, p: Tensor, group: ParamGroup) -> None:
        """Fills the state of a parameter before its first step."""
        state["step"] = new_count()
        for name in self._rule.states:
            state[name] = zeros_for(p)

    def _keys(
        self, states: list[OptimizerState], counts: list[float], group: ParamGroup
    ) -> list[Any]:
        """For each parameter what its update depends on besides the options: its count of steps."""
        return counts

    def _choose(self, group: ParamGroup, key: Any) -> Update:
        """The rule as the options have it."""
        raise NotImplementedError

    def _numbers(self, group: ParamGroup) -> tuple[Hyper, ...]:
        """The numbers that the rule takes from the options,"""
        raise NotImplementedError

    def _factors(self, group: ParamGroup, key: Any) -> tuple[Hyper, ...]:
        """and those that follow them, which the key decides too."""
        return ()

    def _begin(
        self, params: list[Tensor], group: ParamGroup, count: Callable[[Tensor], float]
    ) -> tuple[list[dict[str, Any]], list[Any]]:
        """The states and keys of parameters for a step, which has been counted."""
        known = self.state
        states = [known[p] or self._state(p, group) for p in params]
        return states, self._keys(states, [count(state["step"]) for state in states], group)

    def _sweep(self, group: ParamGroup) -> list[Tensor]:
        """Updates the plain parameters on their arrays; the others are returned."""
        plain = Plain(group["params"], self, group)
        if plain.params:
            self._run(plain.params, plain.raws, plain.grads, group, raw_of)
            plain.note_write()
        if plain.others and self._alike:
            cut = Pieces(plain.others, self.state, self._rule.states)
            if cut.params:
                self._run(cut.params, cut.raws, cut.grads, group, raw_of_piece)
                cut.note_writes()
            return cut.others
        return plain.others

    def _run(
        self, params: list[Tensor], raws: list[Array], grads: list[Array], group: ParamGroup,
        raw_of: Callable[[Tensor], Array],
    ) -> None:  # fmt: skip
        """Updates parameters of one dtype on arrays; `raw_of` gives those of their states."""
        states, keys = self._begin(params, group, next_step)
        dtype = raws[0].dtype
        numbers = self._numbers(group)
        runs = []
        for start, stop in _equal(keys):
            key = keys[start]
            update = self._choose(group, key)
            lists = [raws, grads]
            for name in update.states:
                lists.append([raw_of(state[name]) for state in states])
            if stop - start < len(keys):
                lists = [each[start:stop] for each in lists]
            own = self._factors(group, key)
            fixed = update.settle(dtype, numbers)
            runs.append((update.run, lists, fixed + constants(dtype, own) if own else fixed))
        for run, lists, given in runs:
            run(*lists, given)

    def _update(self, p: Tensor, group: ParamGroup) -> None:
        """Updates one parameter in tensor operations: differentiable, for any dtype."""
        (state,), (key,) = self._begin([p], group, count_step)
        update = self._choose(group, key)
        numbers = [as_operand(x) for x in (*self._numbers(group), *self._factors(group, key))]
        grad = gradient_of(p)
        held = [p, *(state[name] for name in update.states)]
        if not self._takes_complex:
            grad, *held = as_real(grad, *held)
        # What is recorded needs values that stay; halves are rounded once, at the end.
        olds = [x.clone() for x in held] if group["differentiable"] else held
        p_old, grad, *rest = [_wide(x) for x in (olds[0], grad, *olds[1:])]
        news = update(p_old, grad, *rest, *numbers)
        if p.is_complex() and not self._writes_pairs:
            held[0], news[0] = p, f.view_as_complex(news[0])
        for old, new in zip(held, news, strict=True):
            old.copy_(new)

    def _update_rows(self, p: Tensor, group: ParamGroup) -> None:
        """Updates one parameter whose gradient is a sparse tensor.

        Raises:
            RuntimeError: where the rule has no such step.
        """
        raise RuntimeError(f"{type(self).__name__} does not support sparse gradients")

    def __setstate__(self, given: dict[str, object]) -> None:
        super().__setstate__(given)
        self._unchecked = self._alike
        for group in self.param_groups:
            group.setdefault("maximize", False)
            group.setdefault("foreach", None)
            group.setdefault("differentiable", False)
            for name, value in self._options_since.items():
                group.setdefault(name, value)
            for p in group["params"]:
                state = self.state.get(p)
                # Older files hold the count as a number.
                if state and "step" in state and not isinstance(state["step"], Tensor):
                    state["step"] = f.tensor(float(state["step"]), dtype=dtypes.float32)


def _equal(keys: list[object]) -> list[tuple[int, int]]:
    """Where runs of equal keys begin and end."""
    first = keys[0]
    if keys.count(first) == len(keys):
        return [(0, len(keys))]
    starts = [i for i, key in enumerate(keys) if not i or key != keys[i - 1]]
    return list(pairwise([*starts, len(keys)]))


def _wide(x: Tensor) -> Tensor:
    return x.to(dtypes.float32) if x.dtype in (dtypes.float16, dtypes.bfloat16) else x


def _fits(value: Tensor, p: Tensor) -> bool:
    return bool(value._raw.shape == p._raw.shape and value._raw.dtype == p._raw.dtype)


def fits(value: object, like: Tensor, shape: Shape | None = None) -> bool:
    """Whether something is a dense state of one's type and shape, each element with its memory."""
    if not isinstance(value, Tensor) or not value._plain:
        return False
    raw, own = value._raw, like._raw
    whole = raw.shape == (own.shape if shape is None else shape)
    return bool(whole and raw.dtype == own.dtype and 0 not in raw.strides)


#: How weights decay: not, in the gradient, or by themselves.
NO_DECAY: Final = 0
COUPLED: Final = 1
DECOUPLED: Final = 2


def apply_decay(
    p: TensorLike, g: TensorLike, decay: Operand, kind: int, maximize: bool
) -> tuple[TensorLike, TensorLike]:
    """As a part of formulas: the parameter and the gradient to go against."""
    if maximize:
        g = -g
    if kind == COUPLED:
        g = g + p * decay
    elif kind == DECOUPLED:
        p = p * decay
    return p, g


def move_average(average: TensorLike, g: TensorLike, part: Operand, near: bool) -> TensorLike:
    """As a part of formulas: the average moved towards g, by lerp's two formulas, which differ in
    the last digit; `part` is g's, or the average's where this is the smaller one."""
    d = g - average
    return average + d * part if near else g - d * part


def decay_kind(group: ParamGroup) -> int:
    """How the weights of a group decay."""
    if group["weight_decay"] == 0:
        return NO_DECAY
    return DECOUPLED if group.get("decoupled_weight_decay") else COUPLED


def decay_number(group: ParamGroup) -> Tensor | float:
    """What the weights of a group decay by, as their kind of decay takes it."""
    if group["weight_decay"] and group.get("decoupled_weight_decay"):
        return 1 - rate_of(group) * group["weight_decay"]
    return group["weight_decay"]


def rows_of(grad: Any) -> tuple[tuple[Tensor, ...], Tensor]:
    """Where the elements of a sparse gradient are, as an index, and what they are."""
    grad = grad.coalesce()
    return tuple(grad._indices()), grad._values()


def as_real(*tensors: Tensor) -> list[Tensor]:
    """Complex tensors as real ones with a last dimension of 2; real tensors as they are."""
    return [f.view_as_real(tensor) if tensor.is_complex() else tensor for tensor in tensors]


def count_step(count: Tensor) -> float:
    """A step count as a number, after counting one more."""
    count += 1
    return float(count.item())


def rate_of(group: ParamGroup) -> Tensor | float:
    """The learning rate: the tensor given where differentiable, else a number (see `scalar`)."""
    if group["differentiable"]:
        return flat(group["lr"])
    # PyTorch's grouped and fused implementations take the number out first.
    grouped = group["foreach"] or group.get("fused")
    return number(group["lr"]) if grouped else scalar(group["lr"])


def plain_rate_of(group: ParamGroup) -> Tensor | float:
    """The learning rate: the tensor given where differentiable, else Python's number."""
    return flat(group["lr"]) if group["differentiable"] else number(group["lr"])


def as_operand(value: Hyper) -> Tensor | float:
    """What was computed from `rate_of`, as an operand: a tensor, or Python's number."""
    return value if isinstance(value, Tensor) else float(value)


def zeros_for(p: Tensor) -> Tensor:
    """A state tensor of zeros, shaped and laid out like the parameter."""
    return f.zeros_like(p).detach()


def new_count() -> Tensor:
    """A step count that starts at zero."""
    return f.tensor(0.0, dtype=dtypes.float32)
