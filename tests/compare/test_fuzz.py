"""Random programs show the same on PyTorch and on Rushlight, statement by statement.

The long form is `python -m tests.compare.fuzz --programs 30000`. Here some programs of each
generator run from a fixed seed; how many may differ in ways that nobody has named may only shrink.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.compare.fuzz import functions, graphs, views
from tests.compare.fuzz.children import Pair
from tests.compare.fuzz.differences import differences
from tests.compare.fuzz.known import KNOWN
from tests.compare.fuzz.runner import first_difference, minimise, search

pytest.importorskip("torch")

PROGRAMS = 150
#: The programs of seed 0 that differ without a name.
UNNAMED = {"views": 8, "graphs": 8, "functions": 2}


@pytest.mark.parametrize("generator", sorted(UNNAMED))
def test_random_programs_differ_in_named_ways_only(generator: str) -> None:
    findings = search(generator, seed=0, count=PROGRAMS)
    assert findings.programs + findings.torch_ended == PROGRAMS
    shown = [(key, group.program) for key, group in findings.groups.items()]
    assert findings.different <= UNNAMED[generator], shown


@pytest.mark.parametrize("generator", [views, graphs, functions])
def test_a_generator_writes_statements_and_repeats_itself(generator: object) -> None:
    for seed in range(200):
        program = generator.write_program(random.Random(seed))  # type: ignore[attr-defined]
        assert program == generator.write_program(random.Random(seed))  # type: ignore[attr-defined]
        for statement in program:
            compile(statement, "<program>", "exec")


def test_a_crash_costs_one_program_and_is_told() -> None:
    gone = ["import os", "os._exit(1) if 'rushlight' in torch.__file__ else None"]
    kept = ["a = torch.ones(2)", "a.add_(1)"]
    with Pair(seconds=20) as pair:
        seen = pair.run([kept, gone, kept])
    kinds = [[d.kind for d in differences(p, *s)] for p, s in zip((kept, gone, kept), seen)]
    assert kinds == [[], ["crash"], []]


def test_a_difference_is_found_and_made_small() -> None:
    unlike = "d = 1 if 'rushlight' in torch.__file__ else 2"
    program = ["a = torch.ones(2)", "b = a * 2", unlike, "c = b + 1"]
    with Pair(seconds=20) as pair:
        ((theirs, ours),) = pair.run([program])
        found = first_difference(program, theirs, ours)
        assert not isinstance(found, (str, type(None))) and found.kind == "value"
        small = minimise(pair, program[:3], found.key)
    assert small is not None and small[0] == [unlike]


def test_every_generator_is_listed() -> None:
    folder = Path(__file__).parent / "fuzz"
    for name in UNNAMED:
        assert (folder / f"{name}.py").exists()


def test_every_decided_difference_has_its_paragraph() -> None:
    text = Path("docs/notes/differences.md").read_text()
    assert not [n.reason for n in KNOWN if f"**{n.reason}" not in text]
