"""Training steps as the benchmarks make them: the jobs, and which systems run them."""

from __future__ import annotations

import importlib
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

# `benchmarks` is a folder of the repository, not a part of the installed package.
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import rushlight
from benchmarks import command, systems, table
from benchmarks.figures import mismatch
from benchmarks.registry import WORKLOADS, Job, Maker
from benchmarks.runner import Plan
from benchmarks.systems import SYSTEMS, Absent, System
from benchmarks.worker import afresh
from benchmarks.workloads import first_call, perceptron, sizes, steps
from benchmarks.workloads.training import compiled, eagerly, fill

TASK = perceptron.Task([3, 8, 2], batch=5, rate=0.01)
ADAM = perceptron.by_modules(TASK, "Adam")


@pytest.mark.parametrize("maker", [eagerly(ADAM), compiled(ADAM)])
def test_a_job_that_is_reset_does_the_same_work_again(maker: Maker) -> None:
    job = maker(rushlight)
    job.run(5)
    assert job.reset is not None
    job.reset()
    job.run(5)
    before = list(job.value())
    job.reset()
    job.run(5)
    assert list(job.value()) == before
    job.run(1)
    assert list(job.value()) != before


def test_a_job_without_a_way_back_is_made_anew() -> None:
    made: list[Job] = []

    def make(module: Any) -> Job:
        made.append(Job(lambda n: None, list))
        return made[-1]

    first = make(None)
    assert afresh(first, make, None) is made[1]
    back = Job(lambda n: None, list, lambda: None)
    assert afresh(back, make, None) is back
    assert len(made) == 2


def test_compiled_steps_have_the_check_values_of_eager_ones() -> None:
    eager, native = eagerly(ADAM)(rushlight), compiled(ADAM)(rushlight)
    for job in (eager, native):
        job.run(5)
    assert mismatch(eager.value(), native.value(), 1e-5) is None


@pytest.mark.parametrize(
    ("prepare", "size"),
    [
        (steps.recurrent, sizes.LSTM),
        (steps.transformer, sizes.GPT),
        (steps.convolutional, sizes.CNN),
        (steps.differential, sizes.ODE),
    ],
)
def test_every_network_has_the_parameters_that_its_size_describes(prepare: Any, size: Any) -> None:
    training = prepare(rushlight)
    assert [tuple(p.shape) for p in training.parameters] == list(size.shapes)
    assert [tuple(x.shape) for x in training.data] == [size.given, size.wanted]
    for parameter, array in zip(training.parameters, size.weights(), strict=True):
        assert (parameter.detach().numpy() == array).all()


def test_weights_of_another_shape_are_refused() -> None:
    with pytest.raises(ValueError, match=r"\(2, 3\) can't start as \(6,\)"):
        fill(rushlight, [rushlight.zeros(2, 3)], [rushlight.zeros(6).numpy()])


def test_what_was_there_before_is_another_checkout_or_absent(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    # What it mustn't import would be gone from this process for good.
    before = replace(SYSTEMS["rushlight-before"], without=())
    (tmp_path / "build" / "compiled" / "rushlight").mkdir(parents=True)
    monkeypatch.setenv("BENCH_BEFORE", str(tmp_path))
    for installed in (False, True):
        path = systems.environment(before, None, installed=installed)["PYTHONPATH"]
        assert path.split(os.pathsep)[1] == str(tmp_path / "build" / "compiled")
    with pytest.raises(Absent, match="BENCH_BEFORE"):
        systems.load(before)  # this checkout is what was imported
    monkeypatch.delenv("BENCH_BEFORE")
    with pytest.raises(Absent, match="BENCH_BEFORE"):
        systems.load(before)


def test_a_systems_interpreter_may_be_named_in_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("BENCH_JAX_PYTHON", "/elsewhere/python")
    assert SYSTEMS["jax"].python() == "/elsewhere/python"
    assert SYSTEMS["torch"].python() == sys.executable
    monkeypatch.delenv("BENCH_JAX_PYTHON")
    assert SYSTEMS["jax"].python() == sys.executable


def test_a_system_without_what_it_needs_is_absent() -> None:
    with pytest.raises(Absent, match="no_such_module is not installed"):
        systems.load(System("x", "rushlight", "torch", needs=("no_such_module",)))


def test_slow_systems_are_measured_only_when_they_are_named() -> None:
    usual = command.parser().parse_args([]).systems.split(",")
    assert not {"torch-compile", "rushlight", "numpy"} & set(usual)
    assert {"torch", "rushlight-compiled", "rushlight-jit", "rushlight-step"} <= set(usual)
    asked = command.parser().parse_args(["--systems", "torch-compile"]).systems
    assert command.chosen_systems(asked) == [SYSTEMS["torch-compile"]]


def test_without_a_number_of_threads_each_system_has_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    for name in ("torch", "rushlight-compiled", "jax"):
        found = systems.environment(SYSTEMS[name], None, installed=False)
        assert not set(systems.THREAD_VARIABLES) & set(found)
    assert systems.environment(SYSTEMS["torch"], 2, installed=False)["OMP_NUM_THREADS"] == "2"


def test_what_is_hidden_from_a_system_cant_be_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "colorsys", sys)
    systems.load(System("x", "rushlight", "torch", without=("colorsys",)))
    with pytest.raises(ImportError):
        importlib.import_module("colorsys")


@pytest.mark.parametrize(
    ("seconds", "budget", "generations"), [(1e6, 12.0, 2), (400, 10.0, 2), (80, 4.0, 1), (-5, 0, 1)]
)
def test_workloads_share_what_is_left_of_the_time(
    seconds: float, budget: float, generations: int
) -> None:
    plan = command.within(Plan(), seconds, 10)
    assert (plan.budget, plan.generations) == (budget, generations)


def test_jax_gets_the_number_of_threads_that_the_others_get() -> None:
    one = systems.environment(SYSTEMS["jax"], 1, installed=False)
    two = systems.environment(SYSTEMS["jax"], 2, installed=False)
    assert (one["NPROC"], two["NPROC"]) == ("1", "2")
    assert one["XLA_FLAGS"] != two["XLA_FLAGS"]
    assert "XLA_FLAGS" not in systems.environment(SYSTEMS["torch"], 1, installed=False) or (
        "XLA_FLAGS" in os.environ
    )


def test_every_step_is_written_for_eager_compiled_and_jax() -> None:
    names = [name for name in WORKLOADS if name.startswith(("steps/", "first ", "mlp "))]
    assert len(names) > 10
    for name in names:
        assert {"torch", "torch-step", "jax"} <= set(WORKLOADS[name].makers), name


def test_first_calls_use_an_empty_cache_that_is_removed(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*first_call.CACHES, "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS",
                 "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES"):  # fmt: skip
        monkeypatch.setenv(name, "as before")
    seen: list[tuple[str, bool]] = []

    def make(module: Any) -> Job:
        folder = Path(os.environ["RUSHLIGHT_CACHE"]).parent
        return Job(lambda n: seen.append((str(folder), folder.is_dir())), lambda: [1.0])

    reading = first_call.reader(make, warm=False)(lambda: rushlight)
    assert [there for _, there in seen] == [True] * first_call.CALLS
    assert not Path(seen[0][0]).exists()
    assert list(reading.value) == [1.0]
    assert reading.figure > 0


def test_the_table_tells_what_each_system_needs_and_how_they_compare() -> None:
    rows = {
        "torch": {"min": 4e-6, "cpu": [3e-6, 2e-6]},
        "rushlight-step": {"min": 1e-6, "cpu": [1e-6]},
        "jax": {"min": None, "cpu": []},
    }
    work = {"name": "w", "measures": "seconds", "rows": rows}
    assert table.lines({"workloads": [work]}, "rushlight-step") == [
        "| workload | torch | rushlight-step | jax | x torch | x jax |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
        "| w | 4.00 us | 1.00 us | error | 4.00 |  |",
    ]
    by_cpu = table.lines({"workloads": [work]}, "rushlight-step", cpu=True)
    assert by_cpu[2] == "| w | 2.00 us | 1.00 us | error | 2.00 |  |"
