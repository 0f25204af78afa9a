"""Every program of programs/ prints on Rushlight what it prints on torch."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

import behaviour
from known_differences import KNOWN

pytest.importorskip("torch", reason="the comparison needs torch")


def _marked(name: str) -> object:
    marks = [pytest.mark.xfail(strict=True, reason=KNOWN[name])] if name in KNOWN else []
    return pytest.param(name, marks=marks, id=name)


@pytest.fixture(scope="session")
def observations(
    request: pytest.FixtureRequest,
) -> tuple[dict[str, behaviour.Observation], dict[str, behaviour.Observation]]:
    """What the collected programs print on torch and on Rushlight, each run once."""
    names = [
        item.callspec.params["name"]
        for item in request.session.items
        if isinstance(item, pytest.Function)
        and getattr(item, "callspec", None)
        and item.originalname == "test_a_program_prints_the_same_on_both"
    ]
    return behaviour.observed("torch", names), behaviour.observed("rushlight", names)


@pytest.mark.parametrize("name", [_marked(name) for name in behaviour.programs()])
def test_a_program_prints_the_same_on_both(
    name: str,
    observations: tuple[dict[str, behaviour.Observation], dict[str, behaviour.Observation]],
) -> None:
    wanted, got = observations[0][name], observations[1][name]
    if wanted.status != "ok":
        raise LookupError(f"the program fails on torch itself: {wanted.printed}")
    if got != wanted:
        pytest.fail(behaviour.difference(wanted, got, "rushlight"), pytrace=False)


def test_known_differences_name_programs_that_exist() -> None:
    assert set(KNOWN) <= set(behaviour.programs())
