"""Optimizer updates as native sweeps, of plain parameters, by the rules that optimizers tell.

The state stays the optimizer's own: a sweep writes the very arrays that `state_dict` shows, counts
the very step counters. Options are read from the groups at each call, so schedules work; what
decides which formula runs (`maximize`, `nesterov`, whether there is momentum) is a guard. Any other
optimizer is called from Python.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from ..._array.memory import arena
from ...optim import optimizer as rules
from ...optim.adadelta import Adadelta
from ...optim.adagrad import Adagrad
from ...optim.adam import Adam
from ...optim.adamax import Adamax
from ...optim.adamw import AdamW
from ...optim.rmsprop import RMSprop
from ...optim.sgd import SGD
from ..guards.conditions import betas_far, betas_near
from ..guards.records import (
    Attribute,
    ByClass,
    Call,
    Condition,
    Filled,
    Held,
    Is,
    Item,
    NoneOf,
    Writable,
)
from ..ir.iteration_values import in_order
from ..ir.program import Instruction, Value

if TYPE_CHECKING:
    from ..._array.optimizers.rule import Update
    from ..._tensor.tensor import Tensor
    from ...optim.optimizer import Optimizer
    from ..guards.guards import SourceText
    from ..ir.program import Program

#: The optimizers whose steps are swept.
SWEPT: Final = (SGD, Adam, AdamW, RMSprop, Adagrad, Adadelta, Adamax)
_FLAGS: Final = ("maximize", "differentiable", "capturable")
#: Options whose being zero, or false, decides which formula runs.
_CHOICES: Final = ("weight_decay", "momentum", "nesterov", "amsgrad", "centered", "lr_decay",
                   "dampening")  # fmt: skip


class Sweep:
    """The update of all parameters of an optimizer."""

    def __init__(self, optimizer: Optimizer, groups: list[Part], skipped: list[Tensor]) -> None:
        self.optimizer = optimizer
        self.groups = groups
        self.skipped = skipped  # parameters without a gradient
        self.source: Any = None  # the instruction

    def reads(self) -> list[Value]:
        """The parameters and their gradients."""
        return [v for part in self.groups for v in (*part.params, *part.grads)]


class Part:
    """One parameter group of a sweep."""

    def __init__(self, options: Mapping[str, object], leaves: list[Tensor], params: list[Value],
                 grads: list[Value]) -> None:  # fmt: skip
        self.options = options
        self.leaves = leaves
        self.params = params
        self.grads = grads
        self.state: list[list[Any]] = []  # for each parameter the tensors that are swept with it
        self.counts: list[Any] = []
        self.update: Update
        self.numbers: Callable[..., Any] | None = None  # gives `v`, the numbers, for the options
        # Python expressions over `o`, the options, and `v`; None: nobody reads it; "": see `rates`
        self.scalars: list[str | None] = []
        self.rates: list[str] = []  # what the scalars are computed from that differ in each step
        self.fits: Callable[[object], bool] = betas_near  # whether betas are of the formula's kind
        self.before = ""  # a line that computes what they share


def sweep_of(i: Instruction) -> Sweep | None:
    """The native form of an optimizer's step; None where it has none."""
    optimizer = i.holder
    if type(optimizer) not in SWEPT or has_hooks(optimizer):
        return None
    params, grads = i.inputs
    by = {id(v.holder): (v, g) for v, g in zip(params, grads) if v.kind == "tensor"}
    parts = []
    skipped = [v.holder for v, g in by.values() if g is None]
    for options in optimizer.param_groups:
        leaves = [leaf for leaf in options["params"] if not any(leaf is x for x in skipped)]
        if any(options.get(flag) for flag in _FLAGS) or type(options["lr"]) is not float:
            return None
        pairs = [by.get(id(leaf)) for leaf in leaves]
        for leaf, pair in zip(leaves, pairs):
            if pair is None or pair[1] is None or leaf._view is not None:
                return None
            p, g = pair
            if (
                p.dtype.name not in ("float32", "float64") or p.dtype != g.dtype
                or p.shape != g.shape or not in_order(p) or not in_order(g) or 0 in p.shape
            ):  # fmt: skip
                return None
        if leaves:
            part = Part(options, leaves, [q[0] for q in pairs if q], [q[1] for q in pairs if q])
            if not _tell(part, optimizer):
                return None
            parts.append(part)
    return Sweep(optimizer, parts, skipped) if parts else None


def has_hooks(optimizer: Optimizer) -> bool:
    """Whether something else runs around the optimizer's steps."""
    return bool(
        optimizer._optimizer_step_pre_hooks or optimizer._optimizer_step_post_hooks
        or rules._global_optimizer_pre_hooks or rules._global_optimizer_post_hooks
    )  # fmt: skip


# ---- the rules -----------------------------------------------------------------------------------


def _tell(part: Part, optimizer: Any) -> bool:
    """Takes the rule from the optimizer, for parameters that have taken their first step."""
    o = part.options
    if "betas" in o:
        fits = betas_near if betas_near(o["betas"]) else betas_far
        if not fits(o["betas"]) or not arena.routine_of_c("pow"):
            return False
        part.fits = fits
    if o.get("lr_decay"):
        return False
    update = optimizer._choose(o, False)
    part.update = update
    part.numbers = numbers = optimizer._numbers
    count, read = len(numbers(o)), update.read
    part.scalars = [f"v[{k}]" if k in read else None for k in range(len(update.numbers))]
    if "betas" in o:
        part.before = "b1, b2 = o['betas']; lr = o['lr']"
        part.rates = ["lr", "b1", "b2"]
        part.scalars[count:] = [""] * (len(part.scalars) - count)
    elif len(part.scalars) > count:  # the same at each step, under these options
        part.scalars[count:] = ["o['lr']"]
    if not _with_state(part, optimizer):
        return False
    if type(optimizer) is SGD:
        return True
    part.counts = [optimizer.state[leaf].get("step") for leaf in part.leaves]
    return all(t is not None and t._raw.dtype.name == "float32" for t in part.counts)


def _with_state(part: Part, optimizer: Any) -> bool:
    for leaf, p in zip(part.leaves, part.params):
        state = optimizer.state.get(leaf) if part.update.states else {}
        found = [state.get(name) for name in part.update.states] if state is not None else [None]
        for t in found:
            if t is None or not t._plain or t._raw.dtype != p.dtype or t._raw.shape != p.shape:
                return False
            if not t._raw.flags.c_contiguous:
                return False
        part.state.append(found)
    return True


# ---- guards and numbers --------------------------------------------------------------------------


def guard_sweep(sweep: Sweep, program: Program, lines: SourceText) -> None:
    """Checks that an optimizer's state and the options that choose its formula are as they were."""
    optimizer = sweep.optimizer
    given = {id(i.holder) for i in program.instructions if i.kind == "grad"}
    for leaf in sweep.skipped:
        if id(leaf) not in given:
            lines.unless(Is(Attribute(Held(leaf), "_grad"), None))
    hooks = {name: getattr(optimizer, name) for name in
             ("_optimizer_step_pre_hooks", "_optimizer_step_post_hooks")}  # fmt: skip
    lines.unless(*(Is(Attribute(Held(optimizer), name), x) for name, x in hooks.items()))
    everywhere = (rules._global_optimizer_pre_hooks, rules._global_optimizer_post_hooks)
    lines.guard(NoneOf(tuple(Held(x) for x in (*hooks.values(), *everywhere))))
    own = vars(optimizer)
    lines.unless(Is(Item(Held(own), "step", get=True), own.get("step")))
    state = optimizer.state
    lines.unless(Is(Attribute(Held(optimizer), "state"), state))
    for part in sweep.groups:
        options = Held(part.options)
        lines.guard(NoneOf(tuple(Item(options, flag, get=True) for flag in _FLAGS
                                 if flag in part.options)))  # fmt: skip
        lines.unless(ByClass(Item(options, "lr"), float))
        for choice in _CHOICES:
            if choice in part.options:
                lines.unless(Filled(Item(options, choice), bool(part.options[choice])))
        if "betas" in part.options:
            lines.unless(Call(part.fits, Item(options, "betas")))
        if not part.update.states:
            continue
        for k, leaf in enumerate(part.leaves):
            own = state[leaf]
            tensors = dict(zip(part.update.states, part.state[k]))
            if part.counts:
                tensors["step"] = part.counts[k]
            checks: list[Condition] = [Is(Item(Held(state), leaf, get=True), own)]
            for name, t in tensors.items():
                array = Attribute(Held(t), "_raw")
                checks.append(Is(Item(Held(own), name, get=True), t))
                checks += [Is(array, t._raw), Writable(array)]
            lines.unless(*checks)


def address_of(t: Tensor) -> int:
    """Where a tensor's elements lie."""
    return arena.address(t._raw)
