"""Random programs on PyTorch and on Rushlight; what differs, by class, with the smallest example.

    python -m tests.compare.fuzz --generator views --programs 10000 --seed 0 [--jobs 2]
    python -m tests.compare.fuzz --file program.py

A generator is a module of this package with `write_program(rng) -> list[str]`: the statements of a
small program in which `torch` is imported. Each statement runs in a try, and after each both sides
must show the same: what was raised, warned and printed, and for every tensor its values, dtype,
shape, stride, node, version, gradient and memory. Of each program the first difference counts that
known.py does not name. The exit status is 0 when there is none.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import random
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from tests.compare.fuzz.children import Pair
from tests.compare.fuzz.differences import Difference, differences
from tests.compare.fuzz.known import reason

BATCH = 50
GENERATORS = tuple(
    path.stem
    for path in sorted(Path(__file__).parent.glob("*.py"))
    if "\ndef write_program(" in path.read_text()
)
Key = tuple[str, str, str]


@dataclass
class Group:
    """Differences of one key, with the shortest program that shows one."""

    count: int = 0
    program: list[str] = field(default_factory=list)
    difference: Difference | None = None
    seed: int = 0

    def add(self, program: list[str], difference: Difference, seed: int) -> None:
        self.count += 1
        program = program[: difference.number + 1]
        if self.difference is None or len(program) < len(self.program):
            self.program, self.difference, self.seed = program, difference, seed


@dataclass
class Findings:
    """What a run has found so far."""

    programs: int = 0
    torch_ended: int = 0
    named: Counter[str] = field(default_factory=Counter)
    groups: dict[Key, Group] = field(default_factory=dict)

    def add(self, program: list[str], found: Difference | str | None, seed: int) -> None:
        self.programs += 1
        if isinstance(found, str):
            self.named[found] += 1
        elif found is not None:
            self.groups.setdefault(found.key, Group()).add(program, found, seed)

    @property
    def different(self) -> int:
        return sum(group.count for group in self.groups.values())


def write_programs(generator: str, seed: int, count: int) -> Iterator[tuple[int, list[str]]]:
    """`count` programs, each from a seed of its own that is told along."""
    module = importlib.import_module(f"tests.compare.fuzz.{generator}")
    for number in range(seed * 1_000_000, seed * 1_000_000 + count):
        yield number, module.write_program(random.Random(number))


def first_difference(program: list[str], torch: object, ours: object) -> Difference | str | None:
    """The first difference that has no name; else the reason of one that has; else None."""
    named: str | None = None
    for difference in differences(program, torch, ours):
        why = reason(difference, program)
        if why is None:
            return difference
        named = named or why
    return named


def compare(pair: Pair, programs: list[tuple[int, list[str]]], findings: Findings) -> None:
    """Runs programs on both and notes their first differences."""
    for (seed, program), (torch, ours) in zip(programs, pair.run([p for _, p in programs])):
        if isinstance(torch, str):
            findings.torch_ended += 1
        else:
            findings.add(program, first_difference(program, torch, ours), seed)


def search(generator: str, seed: int, count: int, jobs: int = 1) -> Findings:
    """Runs `count` programs of a generator, on `jobs` pairs of processes."""
    findings = Findings()
    programs = write_programs(generator, seed, count)

    def work(_: int) -> None:
        with Pair() as pair:
            while batch := take(programs, BATCH):
                compare(pair, batch, findings)

    if jobs == 1:
        work(0)
    else:
        programs = iter(list(programs))
        with ThreadPoolExecutor(jobs) as pool:
            list(pool.map(work, range(jobs)))
    return findings


def take(programs: Iterator[tuple[int, list[str]]], count: int) -> list[tuple[int, list[str]]]:
    return [one for _, one in zip(range(count), programs)]


def minimise(pair: Pair, program: list[str], key: Key) -> tuple[list[str], Difference] | None:
    """The program without the statements that its difference doesn't need."""

    def shows(lines: list[str]) -> Difference | None:
        for torch, ours in pair.run([lines]):
            found = None if isinstance(torch, str) else first_difference(lines, torch, ours)
            if isinstance(found, Difference) and found.key == key:
                return found
        return None

    best = shows(program)
    if best is None:
        return None
    number = len(program) - 2
    while number >= 0:
        shorter = program[:number] + program[number + 1 :]
        found = shows(shorter)
        if found is not None:
            program, best = shorter, found
        number -= 1
    return program, best


def report(findings: Findings, shown: int) -> None:
    """Prints the classes, then the groups by size with their smallest examples."""
    kinds: Counter[str] = Counter()
    for (kind, _, _), group in findings.groups.items():
        kinds[kind] += group.count
    print(f"{findings.programs} programs, {findings.different} differ, of which by class:")
    for kind, count in kinds.most_common():
        print(f"{count:>8}  {kind}")
    if findings.torch_ended:
        print(f"{findings.torch_ended:>8}  (PyTorch crashed or hung: not compared)")
    for why, count in findings.named.most_common():
        print(f"{count:>8}  named: {why}")
    groups = sorted(findings.groups.items(), key=lambda item: -item[1].count)
    with Pair() as pair:
        pair.run([["pass"]])
        print(" and ".join(child.file for child in pair.children))
        for key, group in groups[:shown]:
            small = minimise(pair, group.program, key)
            program, difference = small or (group.program, group.difference)
            assert difference is not None
            note = "" if small else "  (did not repeat alone)"
            print(f"\n== {group.count} x {key[0]}: {key[1]}{note}  [seed {group.seed}]")
            for line in program:
                print(f"    {line}")
            if difference.variable:
                print(f"  of {difference.variable}")
            print(f"  torch: {difference.torch}")
            print(f"  ours:  {difference.ours}")
    if len(groups) > shown:
        print(f"\n({len(groups) - shown} smaller groups are not shown)")


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--generator", default="all", help="a module of this package, or all")
    parser.add_argument("--programs", type=int, default=1000, help="of each generator")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1, help="pairs of processes")
    parser.add_argument("--groups", type=int, default=40, help="how many examples are shown")
    parser.add_argument("--file", type=Path, help="one program")
    parser.add_argument("--write", type=int, metavar="SEED", help="print the program of a seed")
    options = parser.parse_args()
    chosen = GENERATORS if options.generator == "all" else (options.generator,)
    if options.write is not None:
        module = importlib.import_module(f"tests.compare.fuzz.{chosen[0]}")
        print("\n".join(module.write_program(random.Random(options.write))))
        return 0
    if options.file:
        return compare_file(options.file)
    total = 0
    for generator in chosen:
        start = time.monotonic()
        findings = search(generator, options.seed, options.programs, options.jobs)
        print(f"\n{generator}, seed {options.seed}, {time.monotonic() - start:.0f} s: ", end="")
        report(findings, options.groups)
        total += findings.different
    return 1 if total else 0


def compare_file(path: Path) -> int:
    """Prints all differences of one program."""
    text = path.read_text()
    program = [ast.get_source_segment(text, node) or "" for node in ast.parse(text).body]
    with Pair() as pair:
        ((torch, ours),) = pair.run([program])
    found = list(differences(program, torch, ours))
    for one in found:
        why = reason(one, program) or "no name"
        print(f"{one.kind} at {one.statement!r} of {one.variable!r} ({why})")
        print(f"  torch: {one.torch}\n  ours:  {one.ours}")
    return 1 if found else 0
