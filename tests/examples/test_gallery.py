"""The gallery's own machinery: what it reads of drivers, compares, fetches and reports."""

from __future__ import annotations

import importlib
import json
import math
import sys
from pathlib import Path

import pytest

GALLERY = Path(__file__).parents[2] / "examples" / "gallery"
MODULES = ("comparison", "packages", "process", "gallery", "worker", "named", "suites", "__main__")


@pytest.fixture(scope="module")
def parts():
    """The gallery's modules, which stand beside each other in its folder, by name."""
    before = dict(sys.modules)
    sys.path.insert(0, str(GALLERY))
    try:
        names = [name for name in MODULES if name != "__main__"]
        found = {name: importlib.import_module(name) for name in names}
        spec = importlib.util.spec_from_file_location("gallery_main", GALLERY / "__main__.py")
        found["main"] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(found["main"])
        yield found
    finally:
        sys.path.remove(str(GALLERY))
        for name in set(sys.modules) - set(before):
            if name in MODULES:
                del sys.modules[name]


def test_every_driver_has_a_record_and_only_drivers_have(parts):
    drivers = {each.name: each for each in parts["gallery"].drivers()}
    records = {path.stem for path in (GALLERY / "recorded").glob("*.json")}
    assert records == set(drivers)
    for name in records:
        page = json.loads((GALLERY / "recorded" / f"{name}.json").read_text())
        assert page["torch"].startswith("2.13.0") and page["numbers"]


def test_every_need_is_pinned_or_left_to_the_environment(parts):
    for driver in parts["gallery"].drivers():
        for need in driver.needs:
            name, _, version = need.partition("==")
            assert parts["packages"].canonical(name) not in parts["packages"].NEVER
            assert version or name in ("scikit-learn", "matplotlib", "mpi4py", "mpich"), need


def test_a_driver_may_not_fetch_torch(parts):
    with pytest.raises(parts["packages"].Unfetched, match="may not ask for torch"):
        parts["packages"].missing(["torch==2.13.0"])


def test_what_a_package_needs_in_turn_is_fetched_once(parts):
    found = parts["packages"].brought(["accelerate", "transformers==5.23.0", "tqdm==4.70.1"])
    assert found[:3] == ["accelerate", "transformers==5.23.0", "huggingface_hub==2.4.0"]
    assert len(found) == len(set(found)) and {"hf-xet==1.8.0", "regex==2026.5.9"} < set(found)


def test_numbers_within_the_tolerance_are_the_same(parts):
    same = parts["comparison"].mismatch
    tolerance = parts["comparison"].Tolerance(rtol=1e-3, atol=1e-6)
    assert same({"a": [1.0, 2.0]}, {"a": [1.0, 2.001]}, tolerance) is None
    assert same({"a": [math.nan, math.inf]}, {"a": [math.nan, math.inf]}, tolerance) is None


@pytest.mark.parametrize(
    ("got", "words"),
    [
        ({"a": [1.0, 2.1]}, "a[1]: 2.1, expected 2"),
        ({"a": [1.0]}, "a: 1 numbers, 2 expected"),
        ({"a": [1.0, math.nan]}, "a[1]: nan, expected 2"),
        ({}, "no 'a'"),
        ({"a": [1.0, 2.0], "b": [1.0]}, "'b' is not recorded"),
    ],
)
def test_what_differs_first_is_told(parts, got, words):
    tolerance = parts["comparison"].Tolerance()
    assert parts["comparison"].mismatch({"a": [1.0, 2.0]}, got, tolerance) == words


def test_a_large_tensor_is_told_by_sums_that_a_permutation_changes(parts):
    import rushlight as torch

    figures = parts["worker"].figures
    x = torch.arange(60.0)
    assert len(figures(x)) == 11
    assert figures(x) != figures(x.flip(0))
    assert figures([torch.tensor(2.0), 3, True]) == [2.0, 3.0, 1.0]


class FakeWorker:
    """Stands for a process: answers with what it was given."""

    def __init__(self, numbers, seconds, error=None):
        self.numbers, self.seconds, self.error = numbers, seconds, error
        self.closed = False

    def answer(self):
        if self.error:
            raise self.error
        return {"numbers": self.numbers, "seconds": self.seconds, "version": "x"}

    def again(self):
        return self.seconds

    def close(self):
        self.closed = True


def outcome_of(parts, tmp_path, ours, theirs):
    path = tmp_path / "some_driver.py"
    path.write_text('"""A driver."""\n\nRTOL = 1e-3\n\n\ndef main():\n    return {}\n')
    driver = parts["gallery"].read(path)
    workers = {"rushlight": ours, "torch": theirs}
    plan = parts["gallery"].Plan(rounds=2)
    made = parts["gallery"].run(driver, plan, beside=True, start=lambda s, d, p: workers[s])
    assert ours.closed and theirs.closed
    return made


def test_the_ratio_is_that_of_the_least_times(parts, tmp_path):
    ours, theirs = FakeWorker({"a": [1.0]}, 0.5), FakeWorker({"a": [1.0]}, 1.0)
    outcome = outcome_of(parts, tmp_path, ours, theirs)
    assert outcome.same and outcome.ratio == 2.0 and outcome.against == "torch"
    assert "1 of 1 run, 1 with the same numbers; 2.00 times" in parts["main"].closing([outcome])


def test_other_numbers_have_no_ratio(parts, tmp_path):
    ours, theirs = FakeWorker({"a": [1.1]}, 0.5), FakeWorker({"a": [1.0]}, 1.0)
    outcome = outcome_of(parts, tmp_path, ours, theirs)
    assert outcome.runs and not outcome.same and outcome.ratio is None
    assert "a: 1.1, expected 1" in parts["main"].line(outcome)


def test_a_driver_that_fails_is_a_line_of_the_table(parts, tmp_path):
    failure = parts["process"].Failed("ValueError: no")
    outcome = outcome_of(
        parts, tmp_path, FakeWorker({}, 0.0, failure), FakeWorker({"a": [1.0]}, 1.0)
    )
    assert not outcome.runs and "ValueError: no" in parts["main"].line(outcome)
    assert parts["main"].closing([outcome]) == "0 of 1 run, 0 with the same numbers"


def test_a_driver_finds_what_lies_beside_it_and_packages_come_first(parts, tmp_path):
    (tmp_path / "beside_it.py").write_text("VALUE = 3.5\n")
    (tmp_path / "json.py").write_text("raise RuntimeError('not the one of Python')\n")
    path = tmp_path / "driver_of_two_files.py"
    path.write_text(
        '"""Two files."""\nimport json\n\ndef main():\n    from beside_it import VALUE\n'
        "    return {'value': json.loads(str(VALUE))}\n"
    )
    worker = parts["process"].Worker("rushlight", path, threads=1, timeout=60)
    try:
        assert worker.answer()["numbers"] == {"value": [3.5]}
    finally:
        worker.close()


def test_a_worker_runs_a_driver_on_rushlight(parts, tmp_path):
    path = tmp_path / "sums.py"
    path.write_text(
        '"""Sums."""\n\n\ndef main():\n    import torch\n\n'
        '    print("noise")\n    return {"sum": torch.ones(3).sum()}\n'
    )
    worker = parts["process"].Worker("rushlight", path, threads=1, timeout=60.0)
    try:
        first = worker.answer()
        assert first["numbers"] == {"sum": [3.0]} and "+rushlight" in first["version"]
        assert worker.again() > 0
    finally:
        worker.close()


def test_a_driver_of_several_processes_says_what_starts_them(parts, tmp_path):
    path = tmp_path / "two.py"
    path.write_text('"""Two."""\n\nRANKS = 2\n\n\ndef main():\n    return {}\n')
    driver = parts["gallery"].read(path)
    assert (driver.ranks, driver.launcher) == (2, "torchrun")
    command, more = parts["process"].launched(driver.launcher, driver.ranks)
    assert command[:2] == ["-m", "torch.distributed.run"] and command[-1] == "2" and not more
    command, more = parts["process"].launched("accelerate", 2)
    assert command[1] == "accelerate.commands.launch" and more == {"ACCELERATE_USE_CPU": "true"}


def test_tests_that_pass_on_torch_alone_are_named(parts):
    theirs = {"a": "passed", "b": "passed", "c": "failed", "d": "skipped"}
    ours = {"a": "passed", "b": "failed", "c": "failed"}
    assert parts["suites"].compare(theirs, ours) == ["b"]


SUITE = """import os

import pytest
import torch


@pytest.mark.parametrize("number", range(6))
def test_adds(number):
    assert (torch.ones(2) + number).sum() == 2 + 2 * number


def test_crashes():
    os._exit(3)


def test_fails():
    assert torch.rand(1) > 1


def test_takes_too_long():
    while True:
        pass
"""


def test_a_suite_goes_on_after_a_crash_and_keeps_what_it_found(parts, tmp_path, monkeypatch):
    suites = parts["suites"]
    monkeypatch.setattr(suites, "STORE", tmp_path)
    (tmp_path / "test_sums.py").write_text(SUITE)
    suite = suites.Suite("sums==1", ("test_sums.py",), most=2, each=0.5, timeout=60.0)
    found = suites.run(suite, "rushlight", tmp_path, None)
    assert {name.partition("::")[2]: end for name, end in found.items()} == {
        "test_adds[0]": "passed",
        "test_adds[3]": "passed",
        "test_crashes": "failed",
        "test_fails": "failed",
        "test_takes_too_long": "failed",
    }
    (tmp_path / "test_sums.py").unlink()
    assert suites.run(suite, "rushlight", tmp_path, None) == found


def test_a_named_test_has_a_reason(parts, monkeypatch):
    named = parts["named"]
    monkeypatch.setattr(named, "NAMED", {"sums": {"tests/a.py::Test": "it asks for a GPU"}})
    assert named.reason("sums", "tests/a.py::Test::test_one") == "it asks for a GPU"
    assert named.reason("sums", "tests/b.py::Test::test_one") is None
    assert named.reason("other", "tests/a.py::Test::test_one") is None


def test_folders_that_hide_other_archives_tests_are_taken_away(parts, tmp_path, monkeypatch):
    packages = parts["packages"]
    monkeypatch.setattr(packages, "PACKAGES", tmp_path)

    def pip(command, **options):
        (tmp_path / "tests").mkdir()
        (tmp_path / "kept").mkdir()
        return packages.subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(packages.subprocess, "run", pip)
    packages.fetch(["kept==1.0"], timeout=1.0)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kept"]
