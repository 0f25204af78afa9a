"""Every line of the grid: the layer on torch and on Rushlight, seen from the same seed."""

from __future__ import annotations

import re
from functools import cache

import pytest

torch = pytest.importorskip("torch", reason="the comparison needs torch")

import rushlight  # noqa: E402
from tests.compare.layers import (  # noqa: E402
    CASES,
    KNOWN,
    Known,
    differences,
    matches,
    observed,
    surprises,
)

torch.set_num_threads(1)  # small operations: more threads only wait for each other
pytestmark = pytest.mark.filterwarnings("ignore")


@cache
def _lines(name: str) -> tuple[str, ...]:
    case = CASES[name]
    return tuple(differences(observed(torch, case), observed(rushlight, case)))


def _kinds() -> dict[str, list[str]]:
    """The cases by the class that they build."""
    found: dict[str, list[str]] = {}
    for name in CASES:
        found.setdefault(name.partition("(")[0].removeprefix("nn."), []).append(name)
    return found


KINDS = _kinds()


@pytest.mark.parametrize("kind", KINDS)
def test_a_layer_is_the_same_on_both(kind: str) -> None:
    left = {name: surprises(name, list(_lines(name))) for name in KINDS[kind]}
    assert {name: lines for name, lines in left.items() if lines} == {}


@pytest.mark.parametrize("entry", KNOWN, ids=[f"{entry.case}-{entry.line}" for entry in KNOWN])
def test_what_is_known_to_differ_still_does(entry: Known) -> None:
    if entry.capability not in ("", torch.backends.cpu.get_cpu_capability()):
        pytest.skip(f"PyTorch computes without {entry.capability} here")
    names = [name for name in CASES if re.search(entry.case, name)]
    assert any(matches(entry, name, line) for name in names for line in _lines(name))


def test_every_layer_of_torch_has_cases() -> None:
    called = set(re.findall(r"\bnn\.(\w+)", " ".join(CASES)))
    classes = {
        name
        for name, value in vars(torch.nn).items()
        if isinstance(value, type) and issubclass(value, torch.nn.Module)
    }
    assert classes - called == set()
