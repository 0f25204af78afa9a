"""Programs that were thought of as attacks on compiled steps: a few here, all by `make attack`."""

from __future__ import annotations

from typing import Any

import pytest

from tests.attack import written

#: Those whose compiled run was wrong once, or ended the process, and one of every tenth.
ONCE_WRONG = {
    "state 15", "training 56", "names 0", "names 1", "names 4", "names 6", "names 7", "names 8",
    "names 9", "names 13", "names 14", "names 15", "names 24", "names 29", "names 60", "names 87",
    "channels 17", "channels 39", "channels 40", "channels 78", "channels 99", "channels 122",
    "channels 167", "channels 172", "channels 173", *(f"channels {k}" for k in range(176, 183)),
    *(f"numbers {41 + k}" for k in (1, 2, 3, 5, 8, 9, 11, 12, 17, 19, 24)),
    *(f"containers {k}" for k in (0, 1, 2, 5, 6, 8, 10, 11, 13, 28, 29, 31)),
}  # fmt: skip
EVERY = [p for file in written.FILES for p in written.programs(file)]
SHORT = [p for k, p in enumerate(EVERY) if p.name in ONCE_WRONG or k % 10 == 0]


@pytest.mark.parametrize("native", [False, True], ids=["replayed", "native"])
@pytest.mark.parametrize("program", SHORT, ids=lambda p: p.name)
def test_a_program_does_compiled_what_it_does_eagerly(program: Any, native: bool) -> None:
    assert not written.tried(program, "tracked", native)


def test_a_result_that_is_wrong_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    taken = written.World.take

    def spoilt(world: Any, change: Any) -> Any:
        found = taken(world, change)
        return found if world.step is world.names["step"] else ("another", found)

    monkeypatch.setattr(written.World, "take", spoilt)
    assert "plain, native, turn 0" in written.tried(EVERY[0], "plain", True)
