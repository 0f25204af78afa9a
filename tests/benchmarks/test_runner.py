"""The benchmark runner's logic, on systems that only pretend: no process, no clock, no torch."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

# `benchmarks` is a folder of the repository, not a part of the installed package.
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks import machine, plot, report
from benchmarks.figures import mismatch, paired_ratio, summarise
from benchmarks.registry import Workload
from benchmarks.runner import Failed, Plan, Ready, Result, Round, Row, measure
from benchmarks.systems import System

TORCH = System("torch", "torch", "torch")
FAST = System("fast", "fast", "torch")
SLOW = System("slow", "slow", "torch")
OTHER = System("other", "other", "another dialect")


def _never(module: Any) -> Any:
    raise AssertionError("the runner itself must not make a job")


def _work(**settings: Any) -> Workload:
    return Workload("w", "pretended work", "op", makers={"torch": _never}, **settings)


class Stage:
    """Where fake systems perform: a script for each, and a log of what happened in which order."""

    def __init__(self) -> None:
        self.log: list[str] = []
        self.costs: dict[str, list[float]] = {}
        self.values: dict[str, list[float]] = {}
        self.fails: dict[tuple[str, str], str] = {}

    def system(self, name: str, costs: Sequence[float], value: Sequence[float] = (1.0,)) -> None:
        self.costs[name], self.values[name] = list(costs), list(value)

    def launch(self, system: System, workload: Workload) -> Fake:
        return Fake(self, system.name)

    def rounds(self) -> list[str]:
        return [entry.split()[1] for entry in self.log if entry.startswith("round")]


class Fake:
    """A runner that follows the script of its stage."""

    def __init__(self, stage: Stage, name: str) -> None:
        self.stage, self.name = stage, name
        self._happens("launch")

    def _happens(self, what: str) -> None:
        self.stage.log.append(f"{what} {self.name}")
        reason = self.stage.fails.get((what, self.name))
        if reason is not None:
            raise Failed(what, reason)

    def start(self) -> Ready:
        self._happens("start")
        return Ready(self.stage.values[self.name], 7)

    def round(self) -> Round:
        self._happens("round")
        return Round(self.stage.costs[self.name].pop(0), None)

    def close(self) -> None:
        self._happens("close")


@pytest.fixture
def stage() -> Stage:
    made = Stage()
    for name in ("torch", "fast", "slow"):
        made.system(name, [2.0] * 100)
    return made


def _still() -> float:
    return 0.0


def _measure(
    stage: Stage,
    systems: Sequence[System],
    *,
    plan: Plan | None = None,
    work: Workload | None = None,
    clock: Callable[[], float] = _still,
    **more: Any,
) -> Result:
    plan = plan or Plan(rounds=3, generations=1)
    return measure(work or _work(), systems, stage.launch, plan, clock=clock, **more)


def test_the_figures_of_an_odd_number_of_values() -> None:
    figures = summarise([5.0, 1.0, 3.0, 2.0, 4.0])
    assert (figures.count, figures.least, figures.median) == (5, 1.0, 3.0)
    assert (figures.lower, figures.upper) == (2.0, 4.0)
    assert figures.spread == 2.0


def test_the_median_of_an_even_number_of_values_lies_between_two() -> None:
    assert summarise([4.0, 1.0, 2.0, 10.0]).median == 3.0


def test_one_value_is_its_own_minimum_and_median() -> None:
    figures = summarise([0.25])
    assert (figures.least, figures.median, figures.spread) == (0.25, 0.25, 0.0)


def test_no_value_has_no_figures() -> None:
    with pytest.raises(ValueError, match="no measurement"):
        summarise([])


def test_a_ratio_is_taken_round_by_round() -> None:
    # The machine was slow in the second round for both: the ratio stays 2 in all of them.
    assert paired_ratio([2.0, 20.0, 4.0], [1.0, 10.0, 2.0]) == 2.0


def test_a_ratio_uses_only_the_rounds_that_both_have() -> None:
    assert paired_ratio([3.0, 3.0, 99.0], [1.0, 1.0]) == 3.0
    assert paired_ratio([], [1.0]) is None


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ([1.0, 2.0], None),
        ([1.0, 2.00001], None),
        ([1.0, 2.1], "check value 1 is 2.1, 2 expected"),
        ([1.0], "1 check values, 2 expected"),
        ([1.0, float("nan")], "check value 1 is nan"),
    ],
)
def test_check_values_are_compared_in_number_and_size(value: list[float], told: str | None) -> None:
    assert mismatch([1.0, 2.0], value, 1e-4) == told


def test_a_check_value_near_zero_is_judged_by_the_largest_one() -> None:
    assert mismatch([100.0, 1e-9], [100.0, -3e-9], 1e-6) is None
    assert mismatch([1e-9], [-3e-9], 1e-6) is not None


def test_systems_take_turns_and_all_have_started_before_the_first_turn(stage: Stage) -> None:
    _measure(stage, [TORCH, FAST, SLOW])
    assert stage.rounds() == ["torch", "fast", "slow"] * 3
    first_round = stage.log.index("round torch")
    assert all(stage.log.index(f"start {name}") < first_round for name in ("torch", "slow"))
    assert stage.log[-3:] == ["close torch", "close fast", "close slow"]


def test_rounds_are_divided_among_generations_of_processes(stage: Stage) -> None:
    result = _measure(stage, [TORCH, FAST], plan=Plan(rounds=5, generations=2))
    assert stage.log.count("launch torch") == stage.log.count("close torch") == 2
    assert len(result.rows["torch"].figures) == len(result.rows["fast"].figures) == 5


def test_fresh_and_long_workloads_have_one_generation(stage: Stage) -> None:
    plan = Plan(rounds=6, generations=3)
    result = _measure(stage, [TORCH], plan=plan, work=_work(most_rounds=4))
    assert (stage.log.count("launch torch"), len(result.rows["torch"].figures)) == (1, 4)
    _measure(stage, [TORCH], plan=plan, work=_work(fresh=True))
    assert stage.log.count("launch torch") == 2


def test_a_generation_ends_when_its_time_is_up_but_not_before_the_fewest_rounds(
    stage: Stage,
) -> None:
    seconds = iter(range(1000))
    plan = Plan(rounds=50, generations=1, budget=0.5, fewest=4)
    result = _measure(stage, [TORCH, FAST], plan=plan, clock=lambda: float(next(seconds)))
    assert len(result.rows["torch"].figures) == len(result.rows["fast"].figures) == 4


def test_a_system_is_left_out_where_no_one_has_written_the_workload_for_it(stage: Stage) -> None:
    result = _measure(stage, [TORCH, OTHER])
    assert list(result.rows) == ["torch"]


@pytest.mark.parametrize("what", ["launch", "start", "round"])
def test_a_failure_is_an_error_row_and_the_others_go_on(stage: Stage, what: str) -> None:
    stage.fails[what, "fast"] = "AttributeError: no such thing"
    result = _measure(stage, [TORCH, FAST, SLOW])
    row = result.rows["fast"]
    assert row.error == f"{what}: AttributeError: no such thing"
    assert row.figures == [] and row.summary is None and result.ratio("fast") is None
    assert len(result.rows["torch"].figures) == len(result.rows["slow"].figures) == 3
    assert ("close fast" in stage.log) == (what != "launch")


def test_a_system_that_failed_is_not_launched_in_the_next_generation(stage: Stage) -> None:
    stage.fails["start", "fast"] = "gone"
    _measure(stage, [TORCH, FAST], plan=Plan(rounds=4, generations=2))
    assert stage.log.count("launch fast") == 1 and stage.log.count("launch torch") == 2


def test_an_unusable_system_has_its_reason_in_every_row_and_is_never_launched(
    stage: Stage,
) -> None:
    result = _measure(stage, [TORCH, FAST], unusable={"fast": "import: ModuleNotFoundError"})
    assert result.rows["fast"].error == "import: ModuleNotFoundError"
    assert "launch fast" not in stage.log


def test_a_wrong_check_value_is_an_error_and_is_not_timed(stage: Stage) -> None:
    stage.system("fast", [1.0] * 9, [1.5])
    result = _measure(stage, [FAST, TORCH, SLOW])
    assert result.reference == "torch"
    assert result.rows["fast"].error == "check: check value 0 is 1.5, 1 expected (from torch)"
    assert "fast" not in stage.rounds()
    assert result.rows["torch"].error is None and result.rows["slow"].error is None


def test_without_torch_the_first_sound_system_is_the_reference(stage: Stage) -> None:
    stage.fails["start", "torch"] = "gone"
    stage.system("slow", [1.0] * 9, [3.0])
    result = _measure(stage, [TORCH, FAST, SLOW])
    assert result.reference == "fast"
    assert result.rows["slow"].error is not None and result.rows["fast"].error is None
    assert result.ratio("fast") is None


def test_a_reference_that_is_not_a_number_fails_itself_and_not_the_others(stage: Stage) -> None:
    stage.system("torch", [1.0] * 9, [float("nan")])
    result = _measure(stage, [TORCH, FAST, SLOW])
    assert result.rows["torch"].error == "check: check value 0 is nan"
    assert result.reference == "fast" and result.rows["slow"].error is None


def test_ratios_say_how_many_times_faster_than_torch(stage: Stage) -> None:
    stage.system("torch", [4.0, 40.0, 4.0])
    stage.system("fast", [2.0, 20.0, 1.0])
    result = _measure(stage, [TORCH, FAST])
    assert result.ratio("fast") == 2.0
    assert result.ratio_of_least("fast") == 4.0
    assert result.ratio("torch") == 1.0


def test_every_process_is_closed_when_the_run_is_interrupted(stage: Stage) -> None:
    def interrupt() -> float:
        if "round slow" in stage.log:
            raise KeyboardInterrupt
        return 0.0

    with pytest.raises(KeyboardInterrupt):
        _measure(stage, [TORCH, SLOW], plan=Plan(fewest=0), clock=interrupt)
    assert stage.log[-2:] == ["close torch", "close slow"]


@pytest.mark.parametrize(
    ("figure", "told"),
    [
        (2.5e-9, "2.50 ns"),
        (1.24e-7, "124 ns"),
        (3.5e-6, "3.50 us"),
        (0.0123, "12.30 ms"),
        (4.5, "4.50 s"),
    ],
)
def test_times_are_told_in_readable_units(figure: float, told: str) -> None:
    assert report.amount(figure) == told


def test_memory_is_told_in_megabytes() -> None:
    assert report.amount(3.5 * 2**20, memory=True) == "3.5 MB"


def test_the_report_shows_errors_beside_figures(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "0")
    stage.system("fast", [1.0] * 9)
    stage.fails["round", "slow"] = "MemoryError"
    printed: list[str] = []
    report.show([_measure(stage, [TORCH, FAST, SLOW])], printed.append)
    lines = "\n".join(printed).splitlines()
    assert any("fast" in line and "1.00 s" in line and "2.00" in line for line in lines)
    assert any(
        "slow" in line and "error" in line and "round: MemoryError" in line for line in lines
    )


def test_the_short_report_has_ratios_peaks_what_is_slower_and_errors(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "0")  # on a wide screen a table has frames
    stage.system("fast", [4.0] * 9)
    stage.fails["round", "slow"] = "MemoryError"
    result = _measure(stage, [TORCH, FAST, SLOW])
    result.rows["torch"].peak, result.rows["fast"].peak = 200 << 20, 40 << 20
    printed: list[str] = []
    report.show([result], printed.append, details=False)
    text = "\n".join(printed)
    assert "geometric mean  0.50 (1)" in text and "Cost of one" not in text
    assert any(line.split() == ["w", "200", "40", "-"] for line in text.splitlines())
    assert "fast is slower in 1: w 0.50" in text
    assert "error: w, slow: round: MemoryError" in text


def test_a_row_below_its_aim_or_unsteady_says_so() -> None:
    rows = {"torch": Row("torch", figures=[1.0, 1.0]), "fast": Row("fast", figures=[0.8, 8.0])}
    told = report.cells(Result(_work(aim={"fast": 2.0}), rows), rows["fast"])
    assert told[-1] == "below aim, unsteady"


def test_growth_compares_the_largest_size_with_the_smallest() -> None:
    results = [
        Result(_work(series="s", size=size), {"torch": Row("torch", figures=[cost])})
        for size, cost in ((10**5, 3e-6), (10**4, 2e-6))
    ]
    ((name, system, ratio, costs),) = report.growth(results)
    assert (name, system, ratio) == ("s", "torch", "1.50")
    assert costs == "1e+04: 2.00 us   1e+05: 3.00 us"


def _document(stage: Stage) -> dict[str, Any]:
    stage.system("fast", [1.0] * 9)
    stage.fails["start", "slow"] = "gone"
    results = [_measure(stage, [TORCH, FAST, SLOW])]
    return report.as_json(results, {"processor": "<a> & b"}, {"threads": 1}, {"torch": {}})


def test_the_document_is_plain_json_and_holds_every_measurement(stage: Stage) -> None:
    document = json.loads(json.dumps(_document(stage)))
    rows = document["workloads"][0]["rows"]
    assert rows["fast"]["figures"] == [1.0, 1.0, 1.0] and rows["fast"]["ratio"] == 2.0
    assert rows["slow"]["error"] == "start: gone" and rows["slow"]["min"] is None


def test_the_picture_by_hand_is_well_formed_and_has_a_dot_for_every_ratio(stage: Stage) -> None:
    from xml.etree import ElementTree

    root = ElementTree.fromstring(plot.svg(_document(stage)))
    told = [dot.text for dot in root.iter("{http://www.w3.org/2000/svg}title")]
    assert told == ["fast 2.00"]


def test_the_marks_of_the_scale_enclose_all_dots() -> None:
    marks = plot.ticks([plot.Dot(0, "a", 0.03), plot.Dot(0, "a", 37.0)])
    assert marks[0] <= 0.03 and marks[-1] >= 37.0


def test_a_busy_machine_is_warned_about_and_this_run_is_not_held_against_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(machine, "cores", lambda: 2)
    assert machine.noise(0.1) is None
    assert machine.noise(1.2, own=1.0) is None
    assert machine.noise(None) is None
    warning = machine.noise(1.2)
    assert warning is not None and "1.20 on 2 cores" in warning
