"""The distance to the machine's limits, from a run's figures."""

import importlib
import json
import sys
from pathlib import Path
from typing import Any

import pytest

# `benchmarks` is a folder of the repository, not a part of the installed package.
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks import limits, registry


def test_every_workload_with_known_work_is_there() -> None:
    for family in ("elementwise", "perceptron", "row_operations", "layers", "steps"):
        importlib.import_module(f"benchmarks.workloads.{family}")
    assert set(limits.WORK) <= set(registry.WORKLOADS)


def test_a_layer_counts_its_products() -> None:
    # 10 rows through 3 x 5 and 5 x 7: forward, the weights' gradients, the inputs' gradients.
    assert limits.dense(10, 3, 5, 7) == 3 * 2 * 10 * (15 + 35)
    assert limits.dense(10, 3, 5, 7, first_input=False) == 3 * 2 * 10 * (15 + 35) - 2 * 10 * 15


def test_shares_are_of_the_nearer_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                                        capsys: pytest.CaptureFixture[str]) -> None:  # fmt: skip
    def row(seconds: float | None) -> dict[str, Any]:
        return {"min": seconds}

    document = {
        "workloads": [
            {"name": "a", "unit": "step", "rows": {"torch": row(0.01), "mine": row(0.005)}},
            {"name": "b", "unit": "element", "rows": {"torch": row(1e-9), "mine": row(None)}},
            {"name": "unknown", "unit": "step", "rows": {"torch": row(1.0)}},
        ]
    }
    work = {"a": limits.Work(flops=4e8, bytes=1e7), "b": limits.elements(1e7, 1)}
    monkeypatch.setattr(limits, "WORK", work)
    monkeypatch.setattr(limits, "peak_flops", lambda: 1e11)
    monkeypatch.setattr(limits, "bandwidth", lambda: 1e10)
    file = tmp_path / "run.json"
    file.write_text(json.dumps(document))
    assert limits.main([str(file)]) == 0
    heading, _, first, second = capsys.readouterr().out.splitlines()[1:]
    assert heading == "| workload | limit | by | torch | mine |"
    assert first == "| `a` | 4.00 ms | operations | 40% | 80% |"
    assert second == "| `b` | 4.00 ms | memory | 40% |  |"
