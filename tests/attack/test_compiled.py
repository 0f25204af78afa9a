"""The attack on compiled steps, in short: what it finds, and that it would find something."""

from __future__ import annotations

from typing import Any

import pytest

from tests.attack import compiled, twins
from tests.attack.program import Program

pytestmark = pytest.mark.slow

SECONDS = 12


def test_random_programs_compiled_do_what_they_do_eagerly() -> None:
    report = compiled.attack(programs=60, changes=5, seed=70_000, seconds=SECONDS)
    assert not report.failures(), "\n".join(report.failures())
    assert report.programs and report.calls


@pytest.mark.parametrize("seed", [961_241, 962_226, 2_110_220])
def test_programs_that_were_wrong_once_are_right(seed: int) -> None:
    verdict = twins.tried(Program(seed, changes=10))
    assert not verdict.wrong, verdict.wrong[0]


def test_a_program_is_the_same_for_the_same_seed() -> None:
    assert Program(5).text() == Program(5).text() != Program(6).text()


def test_a_result_that_is_wrong_is_reported_with_its_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    called = twins.World._called

    def spoilt(world: Any, turn: Any) -> Any:
        found = called(world, turn)
        return found if world.mode == "eager" else "another result"

    monkeypatch.setattr(twins.World, "_called", spoilt)
    verdict = twins.tried(Program(3, changes=1), modes=("replayed",))
    assert len(verdict.wrong) == 1 and verdict.wrong[0].startswith("seed 3, replayed, turn 0")


@pytest.mark.parametrize(("text", "kind"), [
    ("import os; os.kill(os.getpid(), 11)", "crashes"), ("import time; time.sleep(60)", "hangs"),
])  # fmt: skip
def test_crashes_and_hangs_are_caught(
    monkeypatch: pytest.MonkeyPatch, text: str, kind: str
) -> None:
    started = compiled.subprocess.Popen

    def spoilt(command: Any, **options: Any) -> Any:
        said = "print('{\"seed\": 7}', flush=True); "
        return started([command[0], "-c", said + text], **options)

    monkeypatch.setattr(compiled.subprocess, "Popen", spoilt)
    report = compiled.attack(programs=1, changes=1, seed=7, patience=3.0)
    assert "seed 7" in getattr(report, kind)[0]
