"""The quick way into programs: what is looked at in machine code, what is filled in place."""

import gc
import threading
import weakref
from collections.abc import Callable
from typing import Any

import pytest

import rushlight as torch
from rushlight import nn
from rushlight._compile.guards import native_guards as sentry
from rushlight._compile.runtime import fast_entry as entry
from rushlight._core.storage import version_of
from rushlight._native.cpython import object_layout as layout
from rushlight.optim import lr_scheduler

pytest.importorskip("llvmlite")
if sentry.fields() is None:
    pytest.skip("objects lie in a way that isn't known here", allow_module_level=True)


OPTIMIZERS: dict[str, Any] = {
    "SGD": torch.optim.SGD, "Adam": torch.optim.Adam, "AdamW": torch.optim.AdamW,
}  # fmt: skip


class Task:
    """A small perceptron with everything that its step looks at."""

    def __init__(self, optimizer: str = "SGD", **options: Any) -> None:
        torch.manual_seed(0)
        self.model = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 2))
        self.optimizer = OPTIMIZERS[optimizer](self.model.parameters(), **{"lr": 0.1, **options})
        self.x, self.y = torch.randn(5, 3), torch.randint(0, 2, (5,))
        self.rows = [1.5, 2.0]
        self.table = {"a": 0.5, "b": 1.0}
        self.scale: Any = 1.0

    def step(self, x: Any, y: Any) -> Any:
        self.optimizer.zero_grad()
        out = self.model(x) * self.rows[0] + self.table["a"]
        loss = nn.functional.cross_entropy(out, y)
        loss.backward()
        self.optimizer.step()
        return loss

    def params(self) -> list[Any]:
        return list(self.model.parameters())


def warm(task: Task, **options: Any) -> Any:
    compiled = torch.compile(task.step, **options)
    for _ in range(5):
        compiled(task.x, task.y)
    assert len(compiled.variants) == 1, compiled.explain()
    return compiled


def whole(compiled: Any) -> entry.FastEntry:
    """The step as one call, which it must have become."""
    found = compiled.variants[0].run.__globals__["other"].__self__
    assert isinstance(found, entry.FastEntry)
    return found


def quick(compiled: Any, task: Task) -> bool:
    """Whether the builtin passes a call."""
    return not isinstance(whole(compiled).attempt((task.x, task.y), {}), int)


def test_a_small_step_is_one_call_of_a_builtin() -> None:
    task = Task()
    compiled = warm(task)
    assert quick(compiled, task)


def pop_in(container: Any, key: Any, value: Any) -> None:
    container[key] = value


CHANGES: dict[str, Callable[[Task], object]] = {
    "a list's item": lambda t: pop_in(t.rows, 0, 3.0),
    "a dictionary's entry": lambda t: pop_in(t.table, "a", 0.25),
    "an attribute": lambda t: setattr(t, "rows", [2.0, 2.0]),
    "the model": lambda t: setattr(t, "model", nn.Sequential(nn.Linear(3, 8), nn.Linear(8, 2))),
    "a module": lambda t: pop_in(t.model._modules, "1", nn.Tanh()),
    "a new module": lambda t: t.model.append(nn.Tanh()),
    "training": lambda t: t.model.eval(),
    "a parameter": lambda t: setattr(t.model[0], "bias", nn.Parameter(torch.ones(8))),
    "requires_grad": lambda t: t.params()[1].requires_grad_(False),
    "a tensor's hook": lambda t: t.params()[0].register_hook(lambda g: g * 2),
    "a module's hook": lambda t: t.model[0].register_forward_hook(lambda m, a, o: o * 2),
    "a hook of the optimizer": lambda t: t.optimizer.register_step_post_hook(lambda *_: None),
    "a group": lambda t: t.optimizer.add_param_group({"params": [nn.Parameter(torch.ones(1))]}),
    "a group's list": lambda t: t.optimizer.param_groups[0]["params"].pop(),
    "maximize": lambda t: pop_in(t.optimizer.param_groups[0], "maximize", True),
    "weight decay": lambda t: pop_in(t.optimizer.param_groups[0], "weight_decay", 0.1),
    "the step of the optimizer": lambda t: setattr(t.optimizer, "step", lambda: None),
    "a forward": lambda t: setattr(t.model[1], "forward", lambda x: x),
    "a parameter's memory": lambda t: setattr(t.params()[0], "data", torch.ones(8, 3)),
    "a parameter's geometry": lambda t: setattr(t.params()[0], "data", torch.ones(3, 8).t()),
}


@pytest.mark.parametrize("what", CHANGES)
def test_a_change_is_seen_by_the_builtin_and_the_step_does_what_eager_does(what: str) -> None:
    tasks = [Task(), Task()]
    compiled = warm(tasks[0])
    for _ in range(5):
        tasks[1].step(tasks[1].x, tasks[1].y)
    assert quick(compiled, tasks[0])
    tasks[1].step(tasks[1].x, tasks[1].y)
    for task in tasks:
        torch.manual_seed(3)
        CHANGES[what](task)
    code = whole(compiled).attempt((tasks[0].x, tasks[0].y), {})
    assert code in (entry.UNSURE, entry.STALE, entry.MISS), "nothing has been done"
    for _ in range(6):
        losses = [compiled(tasks[0].x, tasks[0].y), tasks[1].step(tasks[1].x, tasks[1].y)]
        assert abs(losses[0].item() - losses[1].item()) < 1e-6
    for p, q in zip(tasks[0].params(), tasks[1].params(), strict=True):
        assert torch.allclose(p, q, atol=1e-6)


def test_the_same_dictionary_in_another_order_is_seen() -> None:
    task = Task()
    compiled = warm(task)
    first = task.model._modules.pop("0")
    task.model._modules["0"] = first
    assert not quick(compiled, task)


def test_a_change_that_is_taken_back_is_no_change() -> None:
    task = Task()
    compiled = warm(task)
    task.table["a"] = 7.0
    assert not quick(compiled, task)
    task.table["a"] = 0.5
    recorded = compiled.calls["recorded"]
    compiled(task.x, task.y)
    assert quick(compiled, task)
    assert compiled.calls["recorded"] == recorded


def test_entries_that_nobody_looks_at_may_change() -> None:
    task = Task()
    compiled = warm(task)
    task.other = 3  # type: ignore[attr-defined]
    assert quick(compiled, task)


@pytest.mark.parametrize(
    "change", ["shape", "dtype", "strides", "grad", "history", "hook", "class"]
)
def test_arguments_are_looked_at(change: str) -> None:
    task = Task()
    compiled = warm(task)
    x: Any = {
        "shape": lambda: torch.randn(6, 3), "dtype": lambda: task.x.double(),
        "strides": lambda: torch.randn(3, 5).t(),
        "grad": lambda: task.x.clone().requires_grad_(),
        "history": lambda: task.x.clone().requires_grad_() * 1,
        "hook": lambda: task.x.clone(), "class": lambda: nn.Parameter(task.x.clone()),
    }[change]()  # fmt: skip
    if change == "hook":
        x.hooks = {"made": "up"}
    before = [p.clone() for p in task.params()]
    assert isinstance(whole(compiled).attempt((x, task.y), {}), int)
    assert all(torch.equal(p, q) for p, q in zip(before, task.params(), strict=True))


def test_an_argument_that_is_a_parameters_memory_does_not_pass() -> None:
    model = nn.Linear(3, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def step(x: Any) -> None:
        optimizer.zero_grad()
        model(x).square().sum().backward()
        optimizer.step()

    compiled = torch.compile(step)
    for _ in range(5):
        compiled(torch.ones(3, 3))
    run = whole(compiled)
    assert not isinstance(run.attempt((torch.ones(3, 3),), {}), int)
    assert run.attempt((model.weight.detach(),), {}) == entry.UNSURE
    assert run.attempt((model.weight.detach()[:],), {}) == entry.UNSURE
    assert not isinstance(run.attempt((torch.ones(4, 3)[1:],), {}), int)


def test_batches_that_are_parts_of_one_set_pass() -> None:
    tasks = [Task(), Task()]
    compiled = warm(tasks[0])
    for _ in range(5):
        tasks[1].step(tasks[1].x, tasks[1].y)
    xs, ys = torch.randn(50, 3), torch.randint(0, 2, (50,))
    for start in range(0, 50, 5):
        x, y = xs[start : start + 5], ys[start : start + 5]
        assert not isinstance(whole(compiled).attempt((x, y), {}), int)
        tasks[1].step(x, y)
    for p, q in zip(tasks[0].params(), tasks[1].params(), strict=True):
        assert torch.allclose(p, q, atol=1e-6)


def test_another_mode_does_not_pass() -> None:
    task = Task()
    compiled = warm(task)
    with torch.no_grad():
        assert not quick(compiled, task)
    with torch.inference_mode():
        assert not quick(compiled, task)
    assert quick(compiled, task)


# ---- gradients -----------------------------------------------------------------------------------


def test_gradients_that_nobody_holds_are_filled() -> None:
    known = sentry.fields()
    if known is None or known.before is None:
        pytest.skip("it isn't known here where attributes of a tensor would show")
    task = Task()
    compiled = warm(task)
    compiled(task.x, task.y)
    ids = [id(p.grad._raw) for p in task.params()]
    compiled(task.x, task.y)
    assert [id(p.grad._raw) for p in task.params()] == ids


HOLDERS: dict[str, Callable[[Any], Any]] = {
    "the tensor": lambda g: g,
    "a view": lambda g: g[0],
    "a detached one": lambda g: g.detach(),
    "its array": lambda g: g.numpy(),
    "a part of its array": lambda g: g.numpy()[:1],
    "a buffer": lambda g: memoryview(g.numpy().reshape(-1)),
}


@pytest.mark.parametrize("how", HOLDERS)
def test_a_gradient_that_somebody_holds_stays_as_it_is(how: str) -> None:
    task = Task()
    compiled = warm(task)
    weight = task.params()[0]
    held = HOLDERS[how](weight.grad)
    before = weight.grad.clone()
    shown = [float(v) for v in torch.as_tensor(held).flatten()]
    compiled(task.x, task.y)
    assert [float(v) for v in torch.as_tensor(held).flatten()] == shown
    assert not torch.equal(weight.grad, before)


def test_a_gradient_with_an_attribute_is_replaced() -> None:
    task = Task()
    compiled = warm(task)
    weight = task.params()[0]
    weight.grad.remark = "mine"
    compiled(task.x, task.y)
    assert not hasattr(weight.grad, "remark")
    vars(weight.grad)
    compiled(task.x, task.y)
    assert not vars(weight.grad)


def test_a_gradient_with_a_weak_reference_is_let_go() -> None:
    task = Task()
    compiled = warm(task)
    seen = weakref.ref(task.params()[0].grad)
    compiled(task.x, task.y)
    gc.collect()
    assert seen() is None


def test_a_gradient_that_was_written_begins_anew() -> None:
    task = Task()
    compiled = warm(task)
    weight = task.params()[0]
    weight.grad.mul_(2)
    assert version_of(weight.grad) == 1
    compiled(task.x, task.y)
    assert version_of(weight.grad) == 0


def test_gradients_that_are_none_or_shared_or_odd_are_made_anew() -> None:
    tasks = [Task(), Task()]
    compiled = warm(tasks[0])
    for _ in range(5):
        tasks[1].step(tasks[1].x, tasks[1].y)
    for change in range(4):
        for task in tasks:
            a, b = task.params()[1], task.params()[3]
            if change == 0:
                task.optimizer.zero_grad()
            elif change == 1:
                a.grad = b.grad = None
            elif change == 2:
                a.grad = torch.ones(16)[::2]
            else:
                shared = torch.zeros(8)
                a.grad = shared
                task.kept = shared  # type: ignore[attr-defined]
        compiled(tasks[0].x, tasks[0].y)
        tasks[1].step(tasks[1].x, tasks[1].y)
        for p, q in zip(tasks[0].params(), tasks[1].params(), strict=True):
            assert torch.allclose(p, q, atol=1e-6)
            assert torch.allclose(p.grad, q.grad, atol=1e-6)
    assert tasks[0].kept.tolist() == [0.0] * 8  # type: ignore[attr-defined]


def test_writes_of_parameters_are_counted_as_in_eager() -> None:
    task = Task()
    compiled = warm(task)
    before = [version_of(p) for p in task.params()]
    for _ in range(3):
        compiled(task.x, task.y)
    assert [version_of(p) for p in task.params()] == [n + 3 for n in before]


# ---- numbers -------------------------------------------------------------------------------------

SCHEDULES: dict[str, Callable[[Any], Any]] = {
    "multistep": lambda o: lr_scheduler.MultiStepLR(o, [20, 70, 150], gamma=0.5),
    "cosine": lambda o: lr_scheduler.CosineAnnealingLR(o, T_max=200),
    "one cycle": lambda o: lr_scheduler.OneCycleLR(o, max_lr=0.05, total_steps=400),
}


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("optimizer", ["SGD", "Adam", "AdamW"])
def test_schedules_keep_one_variant_and_do_what_eager_does(schedule: str, optimizer: str) -> None:
    tasks, losses = [], []
    for compile in (False, True):
        # Adam's `eps` keeps it from whole steps along rounding errors, beyond a kink of ReLU.
        options = {"momentum": 0.9} if optimizer == "SGD" else {"eps": 1e-2}
        task = Task(optimizer, **{"lr": 0.01, **options})
        scheduler = SCHEDULES[schedule](task.optimizer)
        step = torch.compile(task.step) if compile else task.step
        found = []
        for _ in range(200):
            found.append(step(task.x, task.y).item())
            scheduler.step()
        if compile:
            assert len(step.variants) == 1, step.explain()
            assert step.calls["recorded"] + step.calls["eager"] <= 4
        tasks.append(task)
        losses.append(found)
    assert all(abs(p - q) <= 1e-5 * max(1, abs(p)) for p, q in zip(*losses, strict=True))
    for p, q in zip(tasks[0].params(), tasks[1].params(), strict=True):
        assert torch.allclose(p, q, atol=2e-5)


def test_options_of_an_optimizer_may_change_between_calls() -> None:
    tasks = [Task("Adam"), Task("Adam")]
    compiled = warm(tasks[0])
    for _ in range(5):
        tasks[1].step(tasks[1].x, tasks[1].y)
    for n in range(8):
        for task in tasks:
            group = task.optimizer.param_groups[0]
            group["lr"], group["eps"] = 0.01 * n, 1e-8 * (n + 1)
            group["betas"] = (0.8 + 0.01 * n, 0.99)
        compiled(tasks[0].x, tasks[0].y)
        tasks[1].step(tasks[1].x, tasks[1].y)
    assert len(compiled.variants) == 1
    for p, q in zip(tasks[0].params(), tasks[1].params(), strict=True):
        assert torch.allclose(p, q, atol=1e-6)


# ---- threads, layouts ----------------------------------------------------------------------------


def test_threads_that_call_one_step_get_their_own_results() -> None:
    weight = torch.randn(6, 6)
    compiled = torch.compile(lambda x: (x @ weight).tanh() * 2)
    inputs = [torch.full((4, 6), float(k)) for k in range(4)]
    for _ in range(5):
        compiled(inputs[0])
    expected = [(x @ weight).tanh() * 2 for x in inputs]
    wrong: list[Any] = []

    def work(k: int) -> None:
        for _ in range(400):
            if not torch.allclose(compiled(inputs[k]), expected[k], atol=1e-5):
                wrong.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_what_changes_in_each_call_is_left_to_python_in_the_end() -> None:
    task = Task()
    compiled = warm(task)
    for n in range(300):
        task.table["a"] = 0.5
        task.table[f"key {n}"] = 1.0
        compiled(task.x, task.y)
    assert len(compiled.variants) <= 8


def test_the_version_of_a_dictionary_is_only_used_where_every_change_shows() -> None:
    offset = layout.version_offset()
    if offset is None:
        pytest.skip("dictionaries have no version here")
    table = {"a": 1}
    before = layout.word(id(table) + offset)
    _ = table["a"]
    assert layout.word(id(table) + offset) == before
    table["a"] = 2
    assert layout.word(id(table) + offset) != before


def test_without_versions_entries_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    found = sentry.fields()
    assert found is not None
    monkeypatch.setattr(found, "clocked", False)
    tasks = [Task("Adam"), Task("Adam")]
    compiled = warm(tasks[0])
    for _ in range(5):
        tasks[1].step(tasks[1].x, tasks[1].y)
    for n in range(6):
        for task in tasks:
            task.table["a"] = 0.5 * (n // 2)
            task.optimizer.param_groups[0]["lr"] = 0.01 * n
        a = compiled(tasks[0].x, tasks[0].y)
        b = tasks[1].step(tasks[1].x, tasks[1].y)
        assert abs(a.item() - b.item()) < 1e-6


def test_a_field_that_cannot_be_told_from_others_is_not_guessed() -> None:
    class Odd:
        def __init__(self) -> None:
            self.a = self.b = 1

    with pytest.raises(layout.Unknown):
        layout.object_field(Odd(), lambda value: None, [object(), object()])
    with pytest.raises(layout.Unknown):
        layout.flag_field(Odd(), lambda value: None)
