"""Profiles: which events there are, how they nest, schedules, tables and trace files."""

import importlib
import json
import tempfile
from pathlib import Path

import torch
from observation import outcome

# By the name of the module that stands for torch: submodules are loaded once.
_autograd = importlib.import_module(f"{torch.__name__}.autograd")
profiler = _autograd.profiler
_profiler = importlib.import_module(f"{torch.__name__}.profiler")
ProfilerAction = _profiler.ProfilerAction
ProfilerActivity = _profiler.ProfilerActivity
profile = _profiler.profile
record_function = _profiler.record_function
schedule = _profiler.schedule


def _leaf() -> torch.Tensor:
    return torch.ones(3, requires_grad=True)


def _named(events, *names: str) -> list:
    return [
        (e.name, e.cpu_parent.name if e.cpu_parent else None) for e in events if e.name in names
    ]


def operations_are_events() -> None:
    x = _leaf()
    with profiler.profile() as p:
        x.exp()
        (x * 2).sum()
    tops = [e.name for e in p.function_events if e.cpu_parent is None]
    print(tops)


def ranges_nest() -> None:
    x = _leaf()
    with profiler.profile() as p:
        with record_function("a"), record_function("b"):
            x.exp()
        x.sin()
    print(_named(p.function_events, "a", "b", "aten::exp", "aten::sin"))


def a_range_may_be_a_decorator() -> None:
    @record_function("decorated")
    def double(x):
        return x * 2

    with profiler.profile() as p:
        double(_leaf())
        double(_leaf())
    print(_named(p.function_events, "decorated", "aten::mul"))


def a_range_ends_with_an_exception() -> None:
    x = _leaf()
    with profiler.profile() as p:
        try:
            with record_function("failing"):
                raise ValueError
        except ValueError:
            pass
        x.exp()
    print(_named(p.function_events, "failing", "aten::exp"))


def backward_is_linked_by_sequence_numbers() -> None:
    x = _leaf()
    with profiler.profile() as p:
        (x * 2).exp().sum().backward()
    tops = [e for e in p.function_events if e.cpu_parent is None]
    forward = {
        e.name: e.sequence_nr for e in tops if e.name in ("aten::mul", "aten::exp", "aten::sum")
    }
    nodes = {e.name: e.sequence_nr for e in p.function_events if e.name.endswith("Backward0")}
    for name, node in (("mul", "MulBackward0"), ("exp", "ExpBackward0"), ("sum", "SumBackward0")):
        print(name, forward[f"aten::{name}"] == nodes[node])
    print([e.name for e in tops if "engine" in e.name])


def nodes_run_inside_the_engine() -> None:
    x = _leaf()
    with profiler.profile() as p:
        (x * 2).sum().backward()
    print(
        _named(p.function_events, "MulBackward0", "SumBackward0", "torch::autograd::AccumulateGrad")
    )


def a_linear_layer_is_made_of_two_operations() -> None:
    net = torch.nn.Linear(4, 3)
    with profiler.profile() as p:
        net(torch.ones(2, 4))
    names = ("aten::linear", "aten::t", "aten::addmm")
    print(_named(p.function_events, *names))


def shapes_are_recorded_when_asked_for() -> None:
    x = torch.ones(3, 1)
    with profiler.profile(record_shapes=True) as p:
        x * torch.ones(1, 2)
        torch.mm(x, x.t())
    for e in p.function_events:
        if e.name in ("aten::mul", "aten::mm"):
            print(e.name, e.input_shapes)
    with profiler.profile() as p:
        torch.mm(x, x.t())
    print([e.input_shapes for e in p.function_events if e.name == "aten::mm"])


def averages_by_name_and_by_shape() -> None:
    x, y = torch.ones(3), torch.ones(2)
    with profiler.profile(record_shapes=True) as p:
        for t in (x, x, y):
            t.exp()
    print([(e.key, e.count) for e in p.key_averages() if e.key == "aten::exp"])
    by_shape = p.key_averages(group_by_input_shape=True)
    print([(e.key, e.count, e.input_shapes) for e in by_shape if e.key == "aten::exp"])
    print(p.total_average().key, p.total_average().count)


def products_have_their_operations_counted() -> None:
    with profile(with_flops=True) as p:
        torch.mm(torch.ones(3, 4), torch.ones(4, 5))
        torch.addmm(torch.ones(5), torch.ones(3, 4), torch.ones(4, 5))
    for e in p.events():
        if e.name in ("aten::mm", "aten::addmm"):
            print(e.name, e.flops)


def the_heads_of_a_table() -> None:
    with profiler.profile() as p:
        torch.ones(2).exp()
    lines = p.key_averages().table(row_limit=1, header="a title").splitlines()
    print(lines[1], lines[3].split("  ")[-2], len(lines), lines[-1].split(":")[0])
    print([cell.strip() for cell in lines[3].split("  ") if cell.strip()])
    outcome(lambda: p.key_averages().table(sort_by="no_such_number"))


def an_unfinished_profile() -> None:
    p = profiler.profile()
    print(p, repr(p.table()))
    print(profiler.profile(enabled=False).__enter__())


def profiles_are_not_reentrant() -> None:
    p = profiler.profile()
    with p:
        pass
    print(len(p.function_events))
    outcome(p.__enter__)


def a_schedule() -> None:
    plan = schedule(wait=1, warmup=1, active=2, repeat=2, skip_first=1)
    print([plan(k).name for k in range(12)])
    print([schedule(wait=0, warmup=1, active=1)(k).name for k in range(4)])
    print([schedule(wait=1, warmup=1, active=1, skip_first_wait=1)(k).name for k in range(6)])


def bad_schedules() -> None:
    outcome(lambda: schedule(wait=1, warmup=-1, active=2))
    outcome(lambda: schedule(wait=1, warmup=1, active=0))
    outcome(lambda: schedule(wait=0, warmup=0, active=1)(0).name)
    outcome(lambda: schedule(wait=0, warmup=1, active=1)(-1))


def a_handler_gets_each_cycle() -> None:
    x = _leaf()
    seen = []

    def ready(p):
        steps = [e.name for e in p.events() if e.name in ("aten::exp", "ProfilerStep*")]
        seen.append((p.step_num, steps))

    plan = schedule(wait=1, warmup=1, active=2, repeat=2)
    with profile(schedule=plan, on_trace_ready=ready) as p:
        for _ in range(10):
            x.exp()
            p.step()
    print(seen)


def a_cycle_that_is_cut_short() -> None:
    x = _leaf()
    seen = []
    plan = schedule(wait=0, warmup=1, active=5)
    with profile(schedule=plan, on_trace_ready=lambda p: seen.append(p.step_num)) as p:
        for _ in range(3):
            x.exp()
            p.step()
    print(seen)


def a_profile_without_a_schedule() -> None:
    seen = []
    with profile(activities=[ProfilerActivity.CPU], on_trace_ready=lambda p: seen.append(1)) as p:
        _leaf().exp()
    print(seen, [e.name for e in p.events() if e.name == "aten::exp"])


def a_trace_file() -> None:
    x = _leaf()
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "trace.json")
        with profile(record_shapes=True) as p:
            with record_function("part"):
                y = x.exp()
            y.sum().backward()
        p.export_chrome_trace(path)
        trace = json.loads(Path(path).read_text())
    spans = [e for e in trace["traceEvents"] if e["ph"] == "X"]
    print([e["cat"] for e in spans if e["name"] == "part"])
    print([e["args"]["Input Dims"] for e in spans if e["name"] == "aten::exp"])
    kinds = {e["ph"] for e in trace["traceEvents"] if e.get("cat") == "fwdbwd"}
    print(sorted(kinds), all({"ts", "dur", "pid", "tid"} <= set(e) for e in spans))


def optimizers_and_functions_have_events() -> None:
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

    x = _leaf()
    optimizer = torch.optim.SGD([x], lr=0.1)
    with profiler.profile() as p:
        Double.apply(x).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
    print([e.name for e in p.function_events if "Double" in e.name or "Optimizer" in e.name])


def the_actions_and_activities() -> None:
    print(list(ProfilerAction), ProfilerActivity.CPU)
    print(torch.profiler.supported_activities(), torch.profiler.kineto_available())


def nvtx_needs_cuda() -> None:
    outcome(lambda: profiler.emit_nvtx().__enter__())
    outcome(lambda: profiler.emit_nvtx(enabled=False).__enter__())


def gradients_are_the_same_under_a_profile() -> None:
    net = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.Tanh(), torch.nn.Linear(3, 1))
    x = torch.linspace(-1, 1, 8).reshape(2, 4)
    net(x).sum().backward()
    plain = [p.grad.clone() for p in net.parameters()]
    held = [p.grad for p in net.parameters()]
    with profiler.profile():
        net(x).sum().backward()
    print([torch.allclose(p.grad, g * 2) for p, g in zip(net.parameters(), plain)])
    print([p.grad is h for p, h in zip(net.parameters(), held)])
