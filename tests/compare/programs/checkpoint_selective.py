"""Checkpoints: selective ones, early stop, groups of runs, errors."""

import functools
import importlib

import torch
from observation import near, outcome

# By the name of the module that stands for torch: submodules are loaded once.
_checkpoint = importlib.import_module(f"{torch.__name__}.utils.checkpoint")
CheckpointPolicy = _checkpoint.CheckpointPolicy
GraphExecGroup = _checkpoint.GraphExecGroup
checkpoint = _checkpoint.checkpoint
checkpoint_sequential = _checkpoint.checkpoint_sequential
create_selective_checkpoint_contexts = _checkpoint.create_selective_checkpoint_contexts
detach_variable = _checkpoint.detach_variable
set_checkpoint_debug_enabled = _checkpoint.set_checkpoint_debug_enabled
set_checkpoint_early_stop = _checkpoint.set_checkpoint_early_stop

aten = torch.ops.aten


def _square() -> torch.Tensor:
    return torch.linspace(-1, 1, 9).reshape(3, 3).requires_grad_()


def _steps(x: torch.Tensor) -> torch.Tensor:
    return (torch.mm(x, x).sigmoid() * 2).exp()


def _selected(policy, x: torch.Tensor, function=_steps, **options) -> torch.Tensor:
    contexts = functools.partial(create_selective_checkpoint_contexts, policy, **options)
    return checkpoint(function, x, use_reentrant=False, context_fn=contexts)


def a_policy_is_asked_for_each_operation_once() -> None:
    asked = []

    def policy(context, op, *args, **kwargs):
        asked.append((context.is_recompute, str(op), len(args)))
        return CheckpointPolicy.PREFER_RECOMPUTE

    _selected(policy, _square()).sum().backward()
    print(asked)


def kept_results_give_the_same_gradient() -> None:
    x, y = _square(), _square()
    _selected([aten.mm.default], x).sum().backward()
    _steps(y).sum().backward()
    print(torch.equal(x.grad, y.grad))


def policies_may_be_booleans() -> None:
    for answer in (True, False):
        x = _square()
        _selected(lambda context, op, *a, answer=answer, **k: answer, x).sum().backward()
        print(near(x.grad))


def every_policy_gives_the_same_gradient() -> None:
    for policy in CheckpointPolicy:
        x = _square()
        _selected(lambda c, op, *a, policy=policy, **k: policy, x).sum().backward()
        print(policy, near(x.grad, 3))


def a_policy_that_changes_its_mind() -> None:
    def policy(context, op, *args, **kwargs):
        if context.is_recompute:
            return CheckpointPolicy.MUST_SAVE
        return CheckpointPolicy.MUST_RECOMPUTE

    x = _square()
    outcome(lambda: _selected(policy, x).sum().backward())


def a_second_backward_of_a_selective_region_is_refused() -> None:
    y = _selected([aten.mm.default], _square()).sum()
    y.backward(retain_graph=True)
    outcome(y.backward)


def a_kept_result_that_is_written_is_found() -> None:
    def writing(x):
        a = torch.mm(x, x)
        b = a.sin()
        a.mul_(2)
        return b.exp()

    y = _selected([aten.mm.default], _square(), writing)
    outcome(lambda: y.sum().backward())
    y = _selected([aten.mm.default], _square(), writing, allow_cache_entry_mutation=True)
    outcome(lambda: y.sum().backward())


def lists_of_operators_are_checked() -> None:
    outcome(create_selective_checkpoint_contexts, [aten.mm])
    outcome(create_selective_checkpoint_contexts, ["mm"])
    outcome(create_selective_checkpoint_contexts, 3)
    print([type(c).__name__ for c in create_selective_checkpoint_contexts([])])


def kept_operators_do_not_run_again() -> None:
    ran = []

    class Watch(torch.utils._python_dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            ran.append(str(func))
            return func(*args, **(kwargs or {}))

    y = _selected([aten.mm.default], _square())
    with Watch():
        y.sum().backward()
    print(ran.count("aten.sigmoid.default"), ran[0])


def a_rerun_stops_early_unless_told_otherwise() -> None:
    steps = []

    def counted(x):
        y = x.sin()
        steps.append("sin")
        z = y.exp()
        steps.append("exp")
        w = z * 2
        steps.append("mul")
        return w

    for enabled in (True, False):
        with set_checkpoint_early_stop(enabled):
            y = checkpoint(counted, _square(), use_reentrant=False)
        steps.clear()
        y.sum().backward()
        print(enabled, steps)
    y = checkpoint(counted, _square(), use_reentrant=False, early_stop=False)
    steps.clear()
    y.sum().backward()
    print(steps)


def two_outputs_run_again_once_or_twice() -> None:
    runs = []

    def two(x):
        runs.append(1)
        return x.sin().exp(), x.cos().exp()

    a, b = checkpoint(two, _square(), use_reentrant=False)
    runs.clear()
    (a.sum() + b.sum()).backward()
    print(len(runs))
    a, b = checkpoint(two, _square(), use_reentrant=False)
    runs.clear()
    a.sum().backward(retain_graph=True)
    b.sum().backward()
    print(len(runs))


def a_group_of_runs_shares_a_rerun() -> None:
    runs = []

    def two(x):
        runs.append(1)
        return x.sin().exp(), x.cos().exp()

    with GraphExecGroup():
        a, b = checkpoint(two, _square(), use_reentrant=False)
        runs.clear()
        a.sum().backward(retain_graph=True)
        b.sum().backward()
    print(len(runs), GraphExecGroup._get_current_group())


def groups_do_not_nest() -> None:
    try:
        with GraphExecGroup(), GraphExecGroup():
            pass
    except RuntimeError as error:
        print(str(error).split(" <")[0])


def checkpoints_nest() -> None:
    def inner(x):
        return x.sin().exp()

    def outer(x):
        a = checkpoint(inner, x, use_reentrant=False)
        return checkpoint(inner, a, use_reentrant=False).sin()

    x, y = _square(), _square()
    checkpoint(outer, x, use_reentrant=False).sum().backward()
    inner(inner(y)).sin().sum().backward()
    print(torch.equal(x.grad, y.grad))


def a_checkpoint_has_second_derivatives() -> None:
    x = _square()
    y = checkpoint(lambda t: t.exp().sin(), x, use_reentrant=False)
    (g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    (gg,) = torch.autograd.grad(g.sum(), x)
    print(near(gg, 4))


def backward_twice_through_a_checkpoint() -> None:
    x = _square()
    y = checkpoint(_steps, x, use_reentrant=False).sum()
    y.backward(retain_graph=True)
    first = x.grad.clone()
    y.backward()
    print(torch.equal(x.grad, first * 2))
    outcome(y.backward)


def a_function_that_saves_fewer_tensors() -> None:
    runs = []

    def fewer(x):
        runs.append(1)
        return x.sin().cos().exp() if len(runs) == 1 else x.sin().cos()

    y = checkpoint(fewer, _square(), use_reentrant=False)
    outcome(lambda: y.sum().backward())


def a_function_that_saves_other_shapes() -> None:
    runs = []

    def other(x):
        runs.append(1)
        return (x if len(runs) == 1 else x[:2]).sin().cos().exp().sum()

    y = checkpoint(other, _square(), use_reentrant=False)
    outcome(y.backward)


def debug_lists_the_operations() -> None:
    runs = []

    def fewer(x):
        runs.append(1)
        return (x * 2).sin().cos().exp() if len(runs) == 1 else x.sin().cos()

    for debug in ("argument", "context"):
        runs.clear()
        if debug == "argument":
            y = checkpoint(fewer, _square(), use_reentrant=False, debug=True)
        else:
            with set_checkpoint_debug_enabled(True):
                y = checkpoint(fewer, _square(), use_reentrant=False)
        try:
            y.sum().backward()
        except Exception as error:
            text = str(error)
            print(type(error).__name__, text.splitlines()[1])
            start = text.index("Operations executed during the original forward")
            middle = text.index("Operations executed during recomputation")
            print(text[start:middle])
            print(text[text.index(" ERROR: Detected") :][:700])


def debug_excludes_contexts() -> None:
    contexts = functools.partial(create_selective_checkpoint_contexts, [])
    outcome(checkpoint, _steps, _square(), use_reentrant=False, debug=True, context_fn=contexts)


def arguments_that_a_kind_does_not_take() -> None:
    x = _square()
    outcome(checkpoint, _steps, x, use_reentrant=True, color=1)
    outcome(checkpoint, _steps, x, use_reentrant=False, color=1)
    outcome(checkpoint, _steps, x, use_reentrant=True, debug=True)
    outcome(checkpoint, _steps, x, use_reentrant=False, determinism_check="much")
    outcome(checkpoint, _steps, x, use_reentrant=False, context_fn=5)


def keyword_arguments_reach_the_function() -> None:
    def scaled(x, *, by=1.0):
        return x.exp() * by

    x = _square()
    y = checkpoint(scaled, x, use_reentrant=False, by=3.0)
    y.sum().backward()
    print(near(x.grad, 4))


def an_older_checkpoint_refuses_grad() -> None:
    x = _square()
    outcome(lambda: torch.autograd.grad(checkpoint(_steps, x, use_reentrant=True).sum(), x))


def an_older_checkpoint_without_differentiable_output() -> None:
    y = checkpoint(lambda t: t.detach(), _square(), use_reentrant=True)
    print(y.requires_grad)
    outcome(lambda: y.sum().backward())


def variables_are_detached() -> None:
    outcome(detach_variable, [_square()])
    x = _square()
    for value in detach_variable((x, x * 2, 3)):
        print(value if isinstance(value, int) else (value.requires_grad, value.is_leaf))


def sequential_checkpoints() -> None:
    def step(x):
        return x.sin()

    x, y = _square(), _square()
    checkpoint_sequential([step] * 5, 2, x, use_reentrant=False).sum().backward()
    step(step(step(step(step(y))))).sum().backward()
    print(torch.equal(x.grad, y.grad))
    outcome(lambda: near(checkpoint_sequential([step] * 2, 2, x)))
    outcome(checkpoint_sequential, [step], 1, x, use_reentrant=False, color=1)


def a_checkpoint_under_no_grad_records_nothing() -> None:
    with torch.no_grad():
        for reentrant in (False, True):
            print(checkpoint(_steps, _square(), use_reentrant=reentrant).requires_grad)


def outputs_that_are_no_tensors() -> None:
    y, five, none = checkpoint(lambda t: (t * 2, 5, None), _square(), use_reentrant=False)
    print(y.grad_fn.name(), five, none)
    y, five = checkpoint(lambda t: (t * 2, 5), _square(), use_reentrant=True)
    print(y.grad_fn.name(), five)
