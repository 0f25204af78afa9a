"""Runs small programs on torch and on Rushlight, and compares what they print.

    python tests/compare/behaviour.py --table [-v] [--only REGEX] [--impl rushlight]

A program is a function of a file in programs/ whose name does not start with an underscore. It
prints what it observes; warnings are printed where they occur. For each implementation one process
imports the module that stands for `torch`, then forks once per program: a crash, a hang or a mode
that is left on touches no other program. `--impl torch` compares torch with itself and so finds
programs that do not repeat.
"""

import argparse
import ast
import contextlib
import difflib
import functools
import importlib
import io
import json
import os
import re
import select
import signal
import subprocess
import sys
import time
import traceback
import warnings
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from observation import masked, told

HERE = Path(__file__).resolve().parent
PROGRAMS = HERE / "programs"
SECONDS_PER_PROGRAM = 20.0
SLOW_IMPORTS = {"torch": ("torch._dynamo", "torch.func", "torch.fx.experimental.proxy_tensor")}


@dataclass(frozen=True)
class Observation:
    """What one program printed, and how it ended: ok, raised, crashed or hung."""

    status: str
    printed: str


def programs(only: str = "", folder: Path = PROGRAMS) -> list[str]:
    """The names `group.program` that match `only`, from the source alone: nothing is imported."""
    names = []
    for path in sorted(folder.glob("*.py")):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
                names.append(f"{path.stem}.{node.name}")
    return [name for name in names if re.search(only, name)]


# Inside the process of an implementation


@functools.cache
def _code(path: Path) -> CodeType:
    return compile(path.read_text(), str(path), "exec")


def _loaded(path: Path, implementation: ModuleType) -> dict[str, Any]:
    """The names of a group's file, executed while `import torch` gives the implementation."""
    module = ModuleType(path.stem)
    sys.modules[path.stem] = module  # pickle and dataclasses look a class's module up by its name
    module.__file__ = str(path)
    sys.modules["torch"] = implementation
    exec(_code(path), module.__dict__)
    return module.__dict__


def _show_inline(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
    text = str(
        message
    )  # torch's modules warn while they are imported, NumPy about torch's protocol
    if "torch.jit.script" not in text and "__array_" not in text:
        if "ComplexHalf support is experimental" in str(message):
            return  # PyTorch says it at each place that makes such a tensor
        print(f"[{category.__name__}: {masked(str(message))}]")


def _observe(name: str, folder: Path, implementation: ModuleType) -> Observation:
    """Runs one program with its prints, warnings and exception collected."""
    group, program = name.split(".")
    text = io.StringIO()
    status = "ok"
    with contextlib.redirect_stdout(text), warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = _show_inline
        try:
            function = _loaded(folder / f"{group}.py", implementation)[program]
            getattr(implementation, "manual_seed", int)(0)
            function()
        except BaseException as error:
            status = "raised"
            frames = traceback.extract_tb(error.__traceback__)
            line = next((f.lineno for f in frames if f.filename.startswith(str(folder))), None)
            print(f"uncaught at line {line} of the group: {told(error)}")
    return Observation(status, masked(text.getvalue()))


def _forked(name: str, folder: Path, implementation: ModuleType, seconds: float) -> Observation:
    """The observation of a program that runs in a fork of this process."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        devnull = os.open(os.devnull, os.O_WRONLY)
        os.dup2(devnull, 1)  # the parent's stdout carries the results
        seen = _observe(name, folder, implementation)
        with os.fdopen(writer, "wb") as pipe:
            pipe.write(json.dumps([seen.status, seen.printed]).encode())
        os._exit(0)
    os.close(writer)
    received = b""
    deadline = time.monotonic() + seconds
    while True:
        ready, _, _ = select.select([reader], [], [], max(0.0, deadline - time.monotonic()))
        piece = os.read(reader, 1 << 16) if ready else b""
        if not piece:
            break
        received += piece
    os.close(reader)
    if not ready:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        return Observation("hung", f"no end within {seconds:g} seconds\n")
    _, code = os.waitpid(child, 0)
    if not received:
        ended = os.waitstatus_to_exitcode(code)
        return Observation("crashed", f"the process ended with {ended}\n")
    return Observation(*json.loads(received))


def _serve(implementation_name: str, folder: Path, seconds: float) -> None:
    """Reads program names from stdin and writes one line of JSON for each."""
    names = sys.stdin.read().split()
    try:
        implementation: ModuleType | None = importlib.import_module(implementation_name)
        problem = ""
        for late in SLOW_IMPORTS.get(implementation_name, ()):  # once here, not once in each fork
            importlib.import_module(late)
    except BaseException as error:
        implementation, problem = None, f"import {implementation_name}: {told(error)}\n"
    warn_always = getattr(implementation, "set_warn_always", None)
    if warn_always is not None:
        warn_always(True)
    for name in names:
        if implementation is None:
            seen = Observation("raised", problem)
        else:
            seen = _forked(name, folder, implementation, seconds)
        print(json.dumps([name, seen.status, seen.printed]), flush=True)


# Outside of it


def observed(
    implementation: str,
    names: list[str],
    folder: Path = PROGRAMS,
    seconds: float = SECONDS_PER_PROGRAM,
) -> dict[str, Observation]:
    """Each program's observation on an implementation, named as one would import it."""
    argv = [sys.executable, str(Path(__file__).resolve()), "--serve", implementation]
    argv += ["--folder", str(folder), "--seconds", str(seconds)]
    limit = 60.0 + seconds * len(names)
    try:
        done = subprocess.run(
            argv, input="\n".join(names), capture_output=True, text=True, timeout=limit
        )
        output, ending = done.stdout, done.stderr[-500:]
    except subprocess.TimeoutExpired as late:
        output, ending = (late.stdout or b"").decode(), f"no end within {limit:g} seconds"
    found = {}
    for line in output.splitlines():
        name, status, printed = json.loads(line)
        found[name] = Observation(status, printed)
    lost = Observation("crashed", f"the process of {implementation} ended early: {ending}\n")
    return {name: found.get(name, lost) for name in names}


def difference(wanted: Observation, got: Observation, implementation: str) -> str:
    """The lines in which two observations differ, as a unified diff; empty when they are equal."""
    lines = difflib.unified_diff(
        wanted.printed.splitlines(),
        got.printed.splitlines(),
        "torch",
        implementation,
        lineterm="",
        n=1,
    )
    return "\n".join(lines) or ("" if wanted == got else f"ended: {wanted.status} / {got.status}")


def verdict(wanted: Observation, got: Observation) -> str:
    """`equal`, `different`, or `error` when one of the two did not reach the program's end."""
    if wanted.status != "ok" or got.status != "ok":
        return "error"
    return "equal" if wanted == got else "different"


def lines_in_common(wanted: Observation, got: Observation) -> tuple[int, int]:
    """How many of torch's lines were printed, in order, and how many there are."""
    lines = wanted.printed.splitlines()
    matcher = difflib.SequenceMatcher(None, lines, got.printed.splitlines(), autojunk=False)
    return sum(block.size for block in matcher.get_matching_blocks()), len(lines)


KINDS = ("equal", "different", "error")


def table(implementation: str, names: list[str], verbose: bool) -> bool:
    """Prints how many programs of each group are equal; true when all are."""
    wanted, got = observed("torch", names), observed(implementation, names)
    counts: dict[str, dict[str, int]] = {}
    for name in names:
        kind = verdict(wanted[name], got[name])
        common, lines = lines_in_common(wanted[name], got[name])
        for group in (name.split(".")[0], "all"):
            row = counts.setdefault(group, dict.fromkeys((*KINDS, "common", "lines"), 0))
            row[kind] += 1
            row["common"] += common
            row["lines"] += lines
        if verbose and kind != "equal":
            print(f"{kind}: {name}")
            print(difference(wanted[name], got[name], implementation) or wanted[name].printed)
            print()
    total = counts.pop("all")
    print(
        f"{'group':<24}{'equal':>8}{'different':>11}{'error':>8}{'programs':>10}{'equal lines':>13}"
    )
    for group, row in [*counts.items(), ("all", total)]:
        share = row["common"] / max(1, row["lines"])
        print(
            f"{group:<24}{row['equal']:>8}{row['different']:>11}{row['error']:>8}"
            f"{sum(row[kind] for kind in KINDS):>10}{share:>12.1%}"
        )
    return total["equal"] == len(names)


def main() -> int:
    """The command line; 0 when every program prints the same."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--table", action="store_true", help="print the table by group (the default)"
    )
    parser.add_argument("--impl", default="rushlight", help="the module under test")
    parser.add_argument("--only", default="", metavar="REGEX", help="programs whose name matches")
    parser.add_argument("-v", action="store_true", dest="verbose", help="print the differences")
    parser.add_argument(
        "--show", metavar="IMPL", help="print what the programs print on one module"
    )
    parser.add_argument("--serve", metavar="IMPL", help=argparse.SUPPRESS)
    parser.add_argument("--seconds", type=float, default=SECONDS_PER_PROGRAM, help="per program")
    parser.add_argument("--folder", type=Path, default=PROGRAMS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        _serve(options.serve, options.folder, options.seconds)
        return 0
    names = programs(options.only)
    if options.show:
        for name, seen in observed(options.show, names, seconds=options.seconds).items():
            print(f"--- {name} ({seen.status})\n{seen.printed}", end="")
        return 0
    return 0 if table(options.impl, names, options.verbose) else 1


if __name__ == "__main__":
    sys.exit(main())
