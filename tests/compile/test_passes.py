"""Passes: what each leaves of a program."""

from typing import Any

import pytest

import rushlight as torch
from rushlight._compile.guards.guards import structure_of
from rushlight._compile.passes.common_subexpressions import without_repeats
from rushlight._compile.passes.copies import without_copies
from rushlight._compile.passes.dead_code import without_dead
from rushlight._compile.passes.split_allocations import split_roots
from rushlight._compile.step import CompiledStep


def program_of(function: Any, *args: Any) -> Any:
    """The program of one recording, before any pass."""
    step = CompiledStep(function)
    step(*args)
    assert step.recordings, step.explain()
    return step.recordings[0].program


def names(program: Any) -> list[str]:
    return [i.name for i in program.instructions]


def test_results_that_nobody_reads_are_not_computed() -> None:
    def function(x: Any) -> Any:
        _ = x.exp()
        return x * 2

    program = program_of(function, torch.ones(2))
    assert names(program) == ["exp", "mul"]
    without_dead(program)
    assert names(program) == ["mul"]


def test_what_writes_or_draws_is_kept() -> None:
    def function(x: Any) -> Any:
        torch.rand(3)
        x.add_(1)
        return None

    program = program_of(function, torch.ones(2))
    without_dead(program)
    assert names(program) == ["rand", "add"]


def test_a_step_may_be_the_first_in_its_process_to_draw(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.default_generator, "_stream", None)
    assert names(program_of(lambda x: x + torch.rand(2), torch.ones(2))) == ["rand", "add"]


def test_the_same_call_is_done_once() -> None:
    program = program_of(lambda x: x.exp() * 2 + x.exp(), torch.ones(2))
    assert names(program) == ["exp", "mul", "exp", "add"]
    without_repeats(program)
    assert names(program) == ["exp", "mul", "add"]


def test_a_call_on_memory_that_is_written_is_done_each_time() -> None:
    def function(x: Any) -> Any:
        before = x.exp()
        x.add_(1)
        return before + x.exp()

    program = program_of(function, torch.ones(2))
    kept = names(program)
    without_repeats(program)
    assert names(program) == kept


def test_a_gradient_made_for_one_leaf_isnt_copied() -> None:
    w = torch.ones(2, requires_grad=True)

    def function(x: Any) -> Any:
        w.grad = None
        (w * x).sum().backward()

    program = program_of(function, torch.ones(2))
    assert "in_layout" in names(program)
    without_copies(program)
    assert "in_layout" not in names(program)


def test_views_of_a_gradient_that_isnt_copied_lie_in_memory_that_is_made() -> None:
    kept = torch.randn(3, 4)

    @torch.compile
    def step(b: Any) -> Any:
        w: Any = kept.sum(0).requires_grad_()
        (w * w).sum().backward()
        late = w.grad.view(2, 2)
        return (b * 2).clamp(-1, 1).mean() + late.sum(0)

    for _ in range(4):
        step(torch.randn(4))
    program = step.program
    made = {v.root for v in program.inputs}
    made |= {o.number for i in program.instructions for o in i.outputs if o is not None}
    lost = {v.root for i in program.instructions for v in i.reads()} - made
    assert not lost


def test_a_gradient_that_two_leaves_share_is_copied() -> None:
    a, b = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)

    def function(x: Any) -> Any:
        a.grad = b.grad = None
        ((a + b) * x).sum().backward()

    program = program_of(function, torch.ones(2))
    without_copies(program)
    assert names(program).count("in_layout") == 2


def test_programs_can_be_read() -> None:
    step = torch.compile(lambda x: (x * 2).sum())
    for _ in range(3):
        step(torch.ones(3))
    text = str(step.program)
    assert "float32[3] = argument" in text
    assert "mul" in text and "test_passes.py" in text


def test_tensors_in_nested_arguments_are_found() -> None:
    found: list[Any] = []
    x = torch.ones(1)
    structure_of(([x, {"a": torch.ones(2)}], x, 3), found)
    assert [t.numel() for t in found] == [1, 2]


def test_results_that_share_an_allocation_get_roots_of_their_own() -> None:
    def function(x: Any, w: Any, b: Any) -> Any:
        w.grad = b.grad = None
        y = torch.nn.functional.layer_norm(x, (20,), w, b)
        y.sum().backward()
        return y.detach()

    w, b = torch.ones(20, requires_grad=True), torch.zeros(20, requires_grad=True)
    program = program_of(function, torch.randn(900, 20), w, b)
    made = next(i for i in program.instructions if i.name == "native_layer_norm_joint_gradient")
    outs = [o for o in made.outputs if o is not None]
    split_roots(program)
    assert len({o.root for o in outs}) == len(outs)
    assert not any(o.view for o in outs)


def test_parts_of_an_array_that_something_else_shows_stay_views_of_it() -> None:
    def function(x: Any) -> Any:
        y = x * 2
        first, second = y.split(2)
        return first + second + y[1:3]

    program = program_of(function, torch.ones(4, 3))
    parts = next(i for i in program.instructions if i.name == "split")
    split_roots(program)
    assert all(o.view for o in parts.outputs if o is not None)
