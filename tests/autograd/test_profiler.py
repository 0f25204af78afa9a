"""Profiles: events nest, link backward to forward, and leave nothing behind."""

import gc
import json
import weakref
from pathlib import Path

import pytest

import rushlight as torch
from rushlight.autograd import profiler
from rushlight.profiler import profile, record_function, schedule


def leaf() -> torch.Tensor:
    return torch.tensor([0.5, -1.0, 2.0], requires_grad=True)


def test_without_a_profile_the_fast_path_is_taken() -> None:
    with profiler.profile():
        assert torch._core.mode.current().slow
    with record_function("nothing"):
        assert not torch._core.mode.current().slow


def test_events_nest_in_ranges() -> None:
    with profiler.profile() as p, record_function("outer"), record_function("inner"):
        leaf().exp()
    parents = {e.name: e.cpu_parent.name for e in p.function_events if e.cpu_parent is not None}
    assert parents["aten::exp"] == "inner" and parents["inner"] == "outer"


def test_a_node_has_the_sequence_number_of_its_operation() -> None:
    with profiler.profile() as p:
        leaf().exp().sum().backward()
    numbers = {e.name: e.sequence_nr for e in p.function_events if e.sequence_nr >= 0}
    assert numbers["aten::exp"] == numbers["ExpBackward0"]
    assert numbers["aten::sum"] == numbers["SumBackward0"]


def test_the_times_of_a_range_contain_those_inside() -> None:
    with profiler.profile() as p, record_function("part"):
        for _ in range(5):
            leaf().exp()
    by_name = {e.key: e for e in p.key_averages()}
    assert by_name["part"].cpu_time_total >= by_name["aten::exp"].cpu_time_total
    assert by_name["aten::exp"].count == 5
    assert by_name["part"].self_cpu_time_total <= by_name["part"].cpu_time_total


def test_the_table_is_sorted_and_cut() -> None:
    with profiler.profile(record_shapes=True) as p:
        x = leaf()
        for _ in range(3):
            x.exp()
        x.sin()
    table = p.key_averages(group_by_input_shape=True).table(sort_by="count", row_limit=1)
    lines = table.splitlines()
    assert "aten::exp" in lines[3] and "[[3]]" in lines[3] and len(lines) == 6
    assert lines[-1].startswith("Self CPU time total: ")


def test_gradients_are_the_same_under_a_profile_with_anomaly_mode() -> None:
    x, y = leaf(), leaf()
    (x.exp() * x).sum().backward()
    with torch.autograd.set_detect_anomaly(True), profiler.profile():
        (y.exp() * y).sum().backward()
    assert x.grad.tolist() == y.grad.tolist()


def test_a_trace_has_spans_and_arrows(tmp_path: Path) -> None:
    with profile(record_shapes=True, with_stack=True) as p:
        leaf().exp().sum().backward()
    p.add_metadata("note", "mine")
    p.export_chrome_trace(str(tmp_path / "trace.json"))
    trace = json.loads((tmp_path / "trace.json").read_text())
    phases = [e["ph"] for e in trace["traceEvents"]]
    assert phases.count("s") == phases.count("f") == 2
    assert trace["note"] == "mine"
    p.export_stacks(str(tmp_path / "stacks.txt"))
    assert "test_profiler.py" in (tmp_path / "stacks.txt").read_text()


def test_a_schedule_measures_some_steps_only() -> None:
    cycles: list[list[str]] = []
    plan = schedule(wait=1, warmup=1, active=2, repeat=1)

    def ready(p: profile) -> None:
        cycles.append([e.name for e in p.events() if e.name == "aten::exp"])

    with profile(schedule=plan, on_trace_ready=ready) as p:
        for _ in range(8):
            leaf().exp()
            p.step()
    assert cycles == [["aten::exp", "aten::exp"]]


def test_a_profile_goes_with_its_last_reference() -> None:
    gc.disable()
    try:
        with profiler.profile() as p:
            leaf().exp().sum().backward()
        events = p.function_events
        seen = [weakref.ref(p), weakref.ref(events[0])]
        del p, events
        assert [ref() for ref in seen] == [None, None]
    finally:
        gc.enable()


def test_an_exception_ends_the_profile() -> None:
    with pytest.raises(ValueError), profiler.profile():
        raise ValueError
    assert not torch._core.mode.current().slow


def test_two_profiles_at_once_are_refused() -> None:
    with profiler.profile(), pytest.raises(RuntimeError, match="already enabled"):
        profiler.profile().__enter__()


def test_a_profile_that_is_looked_at_too_early_goes_on() -> None:
    with profile() as p:
        assert p.key_averages() == []
        leaf().exp()
    assert not torch._core.mode.current().slow
    assert [e.name for e in p.events() if e.name == "aten::exp"] == ["aten::exp"]
    with pytest.raises(RuntimeError, match="didn't finish"):
        profiler.profile().export_chrome_trace("nowhere.json")


def test_events_are_tied_by_their_times() -> None:
    from rushlight.autograd.profiler_util import EventList, FunctionEvent, FunctionEventAvg

    times = [(0, 10), (1, 4), (2, 3), (4, 9), (8, 12)]
    events = EventList(FunctionEvent(k, "", 1, a, b) for k, (a, b) in enumerate(times))
    events._populate_cpu_children()
    assert [[c.id for c in e.cpu_children] for e in events] == [[1, 3], [2], [], [], []]
    assert events[2].cpu_parent is events[1] and events[4].cpu_parent is None
    total = FunctionEventAvg()
    for event in events[:2]:
        total.add(event)
    assert total.count == 2 and total.cpu_time_total == 13


def test_a_node_has_the_number_and_the_thread_of_the_call_that_made_it() -> None:
    x = torch.ones(3, requires_grad=True)
    with profiler.profile() as p:
        y = x.exp()
        y.sum().backward()
    events = [e for e in p.function_events if e.name in ("aten::exp", "ExpBackward0")]
    assert [e.sequence_nr for e in events] == [y.grad_fn._sequence_nr()] * 2
    outer = "autograd::engine::evaluate_function: ExpBackward0"
    assert next(e for e in p.function_events if e.name == outer).fwd_thread == events[0].thread


def test_a_span_is_entered_and_left_by_calls() -> None:
    with profiler.profile() as p:
        for enter in ("_record_function_enter", "_record_function_enter_new"):
            handle = getattr(torch.ops.profiler, enter)(enter, None)
            torch.ones(2).exp()
            torch.ops.profiler._record_function_exit(handle)
    assert sum("_record_function_enter" in e.name for e in p.function_events) == 2


def test_a_new_tensor_shows_the_steps_that_make_it() -> None:
    with profiler.profile() as p:
        torch.rand(3)
        torch.zeros_like(torch.empty(2))
    steps = {e.name: [c.name for c in e.cpu_children] for e in p.function_events}
    assert steps["aten::rand"] == ["aten::empty", "aten::uniform_"]
    assert steps["aten::zeros_like"] == ["aten::empty_like", "aten::zero_"]
    assert all(e.sequence_nr == -1 for e in p.function_events)
