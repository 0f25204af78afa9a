"""The command line of the benchmarks."""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import perf_counter, strftime
from typing import Any

import benchmarks.workloads  # noqa: F401  (fills the registry)
from benchmarks import machine, plot, report
from benchmarks.process import Setting, identify, launch
from benchmarks.registry import WORKLOADS, Workload
from benchmarks.runner import Failed, Plan, Result, measure
from benchmarks.systems import ROOT, SYSTEMS, System

RESULTS = ROOT / "benchmarks" / "results"
SECONDS = Setting().target
QUICK_SECONDS = 0.008
# What the whole of `make bench` may take, about.
MINUTES = 20
# Seconds of rounds below which one set of processes gets them all.
SHORTEST = 3.0


def parser() -> argparse.ArgumentParser:
    """The options and what they mean."""
    made = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Measures the same work on several systems whose processes take turns.",
    )
    made.add_argument("--only", metavar="REGEX", default="", help="workloads whose name matches")
    made.add_argument(
        "--systems",
        metavar="A,B",
        default=",".join(name for name, system in SYSTEMS.items() if not system.named),
        help="default: %(default)s",
    )
    made.add_argument("--rounds", metavar="N", type=_positive, help="default: 20, with --quick 5")
    made.add_argument(
        "--threads", metavar="N", type=_positive, help="for everyone; default: each system's own"
    )
    made.add_argument(
        "--minutes",
        metavar="N",
        type=_positive,
        default=MINUTES,
        help="how long all may take, about: rounds become fewer; default: %(default)s",
    )
    made.add_argument("--details", action="store_true", help="print all figures, not only ratios")
    made.add_argument("--quick", action="store_true", help="short rounds, no long workloads")
    made.add_argument("--installed", action="store_true", help="not this checkout's src/ folder")
    made.add_argument("--json", metavar="FILE", type=Path, help="default: results/latest.json")
    made.add_argument("--plot", metavar="FILE", type=Path, help="default: results/latest.svg")
    made.add_argument("--list", action="store_true", help="print the workloads and stop")
    made.add_argument(
        "--strict",
        action="store_true",
        help="exit status 1 for an error row (never for a time)",
    )
    return made


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{number} is less than 1")
    return number


def chosen_systems(names: str) -> list[System]:
    """The systems named in a comma-separated list, in that order.

    Raises: SystemExit when there is no such system.
    """
    wanted = [name.strip() for name in names.split(",") if name.strip()]
    unknown = [name for name in wanted if name not in SYSTEMS]
    if unknown or not wanted:
        raise SystemExit(f"no such system: {', '.join(unknown)}; there are {', '.join(SYSTEMS)}")
    return [SYSTEMS[name] for name in dict.fromkeys(wanted)]


def chosen_workloads(pattern: str, *, quick: bool) -> list[Workload]:
    """The workloads whose name matches, less the long ones for a quick run."""
    return [
        workload
        for name, workload in WORKLOADS.items()
        if re.search(pattern, name) and not (quick and workload.long)
    ]


def within(plan: Plan, seconds: float, workloads: int) -> Plan:
    """The plan for the next of so many workloads, which share what is left of the time.

    About half of it goes to starting processes and to their checks.
    """
    share = max(seconds, 0) / workloads
    if share < 2 * plan.generations * SHORTEST:
        plan = replace(plan, generations=1)
    return replace(plan, budget=min(plan.budget, share / (2 * plan.generations)))


def describe_machine(facts: dict[str, Any], threads: int | None) -> None:
    """Prints where this runs."""
    load = facts["load_average"]
    print(
        f"{facts['processor']}, {facts['cores']} cores, {facts['memory_gib']} GiB\n"
        f"{facts['system']}\n"
        f"{facts['python']}, commit {facts['commit'] or 'unknown'}, "
        f"{f'{threads} thread(s) for everyone' if threads else 'default threads'}, load average "
        f"{'unknown' if load is None else f'{load:.2f}'}"
    )
    _warn(machine.noise(load))


def _warn(warning: str | None) -> None:
    if warning is not None:
        print(f"WARNING: {warning}")


def ask_systems(
    systems: Sequence[System], setting: Setting
) -> tuple[list[System], dict[str, Any], dict[str, str]]:
    """Those to be measured, what they say about themselves, and why some of them can't be used."""
    kept: list[System] = []
    described: dict[str, Any] = {}
    unusable: dict[str, str] = {}
    for system in systems:
        try:
            described[system.name] = identify(system, setting)
        except Failed as failure:
            described[system.name] = {"error": str(failure)}
            if system.optional:
                print(f"{system.name}: left out, {failure.reason}")
                continue
            unusable[system.name] = str(failure)
            print(f"{system.name}: can't be used, {failure.reason}")
        else:
            print(f"{system.name}: version {described[system.name]['version']}")
        kept.append(system)
    return kept, described, unusable


def one_line(result: Result) -> str:
    """Progress: the workload's name and each system's least figure."""
    parts = []
    for name, row in result.rows.items():
        figures = row.summary
        told = report.amount(figures.least, memory=result.workload.bytes) if figures else "error"
        parts.append(f"{name} {told}")
    return f"{result.workload.name} ({result.seconds:.0f} s): {', '.join(parts)}"


def main(arguments: Sequence[str]) -> int:
    """Measures what was asked for, prints and writes the results, and returns the exit status."""
    options = parser().parse_args(arguments)
    workloads = chosen_workloads(options.only, quick=options.quick)
    if options.list:
        for workload in workloads:
            print(f"{workload.name} [{workload.unit}] ({', '.join(workload.makers)})")
            print(f"    {workload.about}")
        return 0
    systems = chosen_systems(options.systems)
    setting = Setting(
        threads=options.threads,
        target=QUICK_SECONDS if options.quick else SECONDS,
        installed=options.installed,
    )
    plan = Plan(rounds=options.rounds or 20)
    if options.quick:
        plan = Plan(rounds=options.rounds or 5, generations=1, budget=2.0, fewest=2)
    began = perf_counter()
    facts = machine.facts()
    describe_machine(facts, options.threads)
    systems, described, unusable = ask_systems(systems, setting)
    print()
    results: list[Result] = []
    try:
        for done, workload in enumerate(workloads):
            left = 60 * options.minutes - (perf_counter() - began)
            now = within(plan, left, len(workloads) - done)
            result = measure(workload, systems, partial(launch, setting), now, unusable=unusable)
            if result.rows:
                results.append(result)
                print(one_line(result), flush=True)
    except KeyboardInterrupt:
        print("interrupted: the report covers what was finished")
    if not results:
        print("no workload matches")
        return 1
    report.show(results, print, details=options.details)
    facts["load_average_after"] = machine.load_average()
    # One of this run's processes works at any time, on as many threads as were asked for.
    own = float(options.threads or machine.cores())
    _warn(machine.noise(facts["load_average_after"], own))
    settings = {
        "only": options.only,
        "rounds": plan.rounds,
        "generations": plan.generations,
        "threads": options.threads,
        "quick": options.quick,
        "seconds_per_round": setting.target,
        "started": strftime("%Y-%m-%dT%H:%M:%S"),
        "took": round(perf_counter() - began, 1),
    }
    document = report.as_json(results, facts, settings, described)
    path = options.json or RESULTS / "latest.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    drawn = plot.draw(document, options.plot or RESULTS / "latest.svg")
    print(f"\n{settings['took']} s; {path}, {drawn}")
    failed = any(row.error for result in results for row in result.rows.values())
    return 1 if failed and options.strict else 0
