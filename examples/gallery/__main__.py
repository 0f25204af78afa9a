"""Other people's packages on Rushlight: does each run, with PyTorch's numbers, and how fast?

`make gallery`, or `python examples/gallery [NAME …]` in an environment with Rushlight; where
PyTorch is installed too, every driver is timed side by side with it. `--record` runs the drivers on
PyTorch and writes `recorded/NAME.json`, which the numbers are held against.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys

from comparison import geometric_mean
from gallery import Driver, Outcome, Plan, drivers, record, run
from packages import STORE, Unfetched
from process import Failed


def arguments(given: list[str] | None) -> argparse.Namespace:
    """What the command line asks for."""
    parser = argparse.ArgumentParser(prog="gallery", description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="drivers to run (default: all)")
    parser.add_argument("--record", action="store_true", help="write down PyTorch's numbers")
    parser.add_argument("--list", action="store_true", help="the drivers and what they do")
    parser.add_argument("--alone", action="store_true", help="without PyTorch beside")
    parser.add_argument("--rounds", type=int, default=Plan.rounds, help="timed runs of each")
    parser.add_argument("--timeout", type=float, default=Plan.timeout, help="seconds for an answer")
    parser.add_argument("--threads", type=int, default=Plan.threads, help="threads of each system")
    return parser.parse_args(given)


def line(outcome: Outcome) -> str:
    """One row of the table."""
    name = outcome.driver.name
    if not outcome.runs:
        return f"{name:<26} {'no':<5} {'':<8} {'':>9} {'':>9} {'':>7}  {outcome.error}"
    same = "yes" if outcome.same else "-" if outcome.against is None else "no"
    cells = [f"{name:<26} {'yes':<5} {same:<8}"]
    for system in ("rushlight", "torch"):
        seconds = outcome.seconds.get(system)
        cells.append(f"{min(seconds):8.3f}s" if seconds else f"{'':>9}")
    ratio = outcome.ratio
    cells.append(f"{ratio:6.2f}x" if ratio is not None else f"{'':>7}")
    note = outcome.difference or (outcome.torch_error and f"on torch: {outcome.torch_error}") or ""
    return " ".join(cells) + (f"  {note}" if note else "")


HEADER = f"{'driver':<26} {'runs':<5} {'numbers':<8} {'rushlight':>9} {'torch':>9} {'':>7}"


def closing(outcomes: list[Outcome]) -> str:
    """How many run, how many give the same numbers, and the mean ratio."""
    ratios = [outcome.ratio for outcome in outcomes if outcome.ratio is not None]
    runs, same = sum(x.runs for x in outcomes), sum(x.same for x in outcomes)
    text = f"{runs} of {len(outcomes)} run, {same} with the same numbers"
    if ratios:
        faster = sum(ratio > 1 for ratio in ratios)
        text += f"; {geometric_mean(ratios):.2f} times PyTorch's speed (geometric mean of "
        text += f"{len(ratios)}), {faster} faster"
    return text


def record_all(chosen: list[Driver], plan: Plan) -> int:
    """Records the drivers; gives the number of those that could not be."""
    failures = 0
    for number, driver in enumerate(chosen, 1):
        print(f"[{number}/{len(chosen)}] {driver.name:<26} ", end="", flush=True)
        try:
            page = record(driver, plan)
            print(f"{page['seconds']:.3f}s, {len(page['numbers'])} results")
        except (Failed, Unfetched) as failure:
            failures += 1
            print(failure)
    return failures


def main(given: list[str] | None = None) -> int:
    """Runs the gallery; gives 0 when everything ran with the same numbers."""
    asked = arguments(given)
    try:
        chosen = drivers(asked.names)
    except KeyError as error:
        print(f"there is no driver {error}; --list tells them", file=sys.stderr)
        return 2
    plan = Plan(rounds=asked.rounds, timeout=asked.timeout, threads=asked.threads)
    if asked.list:
        for driver in chosen:
            print(f"{driver.name:<26} {driver.title}")
        return 0
    beside = importlib.util.find_spec("torch") is not None and not asked.alone
    if asked.record:
        if not beside:
            print("--record runs the drivers on PyTorch, which is not installed", file=sys.stderr)
            return 2
        return 1 if record_all(chosen, plan) else 0
    if not beside:
        print("PyTorch is not beside: numbers are held against the records, times against nothing")
    print(HEADER)
    outcomes = []
    for number, driver in enumerate(chosen, 1):
        if sys.stderr.isatty():
            print(
                f"[{number}/{len(chosen)}] {driver.name} …\r", end="", file=sys.stderr, flush=True
            )
        outcomes.append(run(driver, plan, beside=beside))
        print(line(outcomes[-1]), flush=True)
    print(closing(outcomes))
    if importlib.util.find_spec("matplotlib") is not None and any(x.ratio for x in outcomes):
        from picture import draw

        print(f"picture: {draw(outcomes, STORE / 'gallery.png')}")
    return 0 if all(outcome.same for outcome in outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
