"""Attacks compiled steps with programs that were thought of, beside an eager run of each.

    python -m tests.attack.written              # all of them
    python -m tests.attack.written names 7      # one program of one file

The files beside are of programs: what prepares a world, `---`, the body of a step of `x`, `---`,
and statements that change the world between its calls, a line each; `===` ends a program. `X` is
what the step is called with. After each call its result, the gradients through it, the state of
random numbers and all that the world's names lead to are compared.
"""

from __future__ import annotations

import collections
import contextvars
import math
import random
import sys
import types
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import rushlight as torch

HERE = Path(__file__).parent / "written"
FILES = ("state", "training", "names", "channels", "containers", "numbers")
PRELUDE = """
import abc, array, collections, collections.abc, contextlib, contextvars, copy, ctypes, dataclasses
import datetime, enum, functools, gc, inspect, io, itertools, json, math, operator, os, queue
import random, string, sys, threading, time, types, warnings, weakref
import numpy as np
import rushlight as torch
from rushlight import nn, optim
from rushlight.nn import functional as F

class Thing:
    pass

def thing(**entries):
    made = Thing()
    made.__dict__.update(entries)
    return made
"""
#: What a step is called with at first.
ARGUMENTS = {
    "plain": lambda: torch.arange(1.0, 5.0),
    "tracked": lambda: torch.arange(1.0, 5.0, dtype=torch.float64).requires_grad_() * 1,
    "strided": lambda: torch.arange(8.0)[1::2],
}
CALLS = 4  # before anything changes
_DEEPEST = 5


class Program(NamedTuple):
    """A program of a file."""

    name: str
    setup: str
    body: str
    changes: list[str]


def programs(file: str) -> Iterator[Program]:
    """The programs of a file."""
    for k, text in enumerate((HERE / f"{file}.txt").read_text().split("===\n")):
        setup, body, changes = text.split("---\n")
        yield Program(f"{file} {k}", setup, body, changes.splitlines())


class World:
    """One of the runs of a program: eager where `native` is None.

    Each has a context of its own, so that a mode which one run enters and leaves at another call
    is never on in the other run, nor after both.
    """

    def __init__(self, program: Program, argument: str, native: bool | None) -> None:
        self.context = contextvars.copy_context()
        self.context.run(self._prepare, program, argument, native)

    def take(self, change: str | None) -> Any:
        """Changes something, calls the step; all that can be seen then."""
        return self.context.run(self._take, change)

    def _prepare(self, program: Program, argument: str, native: bool | None) -> None:
        set_back()
        self.names: dict[str, Any] = {"__name__": "written"}
        execute(PRELUDE, self.names)
        self.given = {*self.names, "step"}
        self.names["X"] = ARGUMENTS[argument]()
        execute(program.setup, self.names)
        lines = "".join(f"    {line}\n" for line in program.body.splitlines())
        execute(f"def step(x):\n{lines}", self.names)
        self.step = self.names["step"]
        if native is not None:
            self.step = torch.compile(self.step, options={"native": native})
        self.settings = settings()

    def _take(self, change: str | None) -> Any:
        put(self.settings)
        try:
            if change:
                execute(change, self.names)
            result = self.step(self.names["X"])
            found = seen(result), seen(self.gradients(result))
        except Exception as error:
            found = type(error).__name__, str(error)
        self.settings = settings()
        state = {k: seen(v) for k, v in self.names.items() if k not in self.given and k[0] != "_"}
        stream, python, numpy, *rest = self.settings
        return found, sorted(state.items()), [stream.tolist(), str(python), str(numpy), str(rest)]

    def gradients(self, result: Any) -> Any:
        """The gradients that come through a result to the tensors of the world."""
        parts = result if isinstance(result, (list, tuple)) else [result]
        ends = [t for t in parts if isinstance(t, torch.Tensor) and t.requires_grad]
        leaves = [t for t in self.names.values() if isinstance(t, torch.Tensor) and t.requires_grad]
        if not ends or not leaves or any(t.is_complex() for t in ends):
            return None
        total = [t.sin().sum() for t in ends]
        return torch.autograd.grad(total, leaves, retain_graph=True, allow_unused=True)


def execute(text: str, names: dict[str, Any]) -> None:
    """Runs statements, whose annotations are no texts."""
    exec(compile(text, "<written>", "exec", dont_inherit=True), names)


def set_back() -> None:
    """The settings as every program finds them."""
    torch.manual_seed(0)
    random.seed(0)
    np.random.seed(0)
    torch.set_default_dtype(torch.float32)


def settings() -> tuple[Any, ...]:
    """The states of random numbers, and what else is the whole process's; then the modes."""
    return (torch.get_rng_state(), random.getstate(), np.random.get_state(),
            torch.get_default_dtype(), torch.is_grad_enabled(),
            torch.is_autocast_enabled("cpu"))  # fmt: skip


def put(kept: tuple[Any, ...]) -> None:
    """Takes up settings again."""
    torch.set_rng_state(kept[0])
    random.setstate(kept[1])
    np.random.set_state(kept[2])
    torch.set_default_dtype(kept[3])


def seen(x: Any, way: tuple[int, ...] = ()) -> Any:
    """What can be seen of a thing, and of what it leads to."""
    if isinstance(x, torch.Tensor):
        grad = seen(x.grad) if x.is_leaf and x.grad is not None else None
        dense = x.layout == torch.strided
        strides = x.stride() if dense else str(x.layout)
        facts = (str(x.dtype), tuple(x.shape), strides, x.requires_grad, x.is_leaf)
        values = "nothing" if x.is_meta else (x.detach() if dense else x.to_dense()).tolist()
        return ("tensor", *facts, str(values) if x.is_complex() else values, grad)
    if isinstance(x, np.ndarray):
        return ("array", str(x.dtype), x.tolist())
    if x is None or isinstance(x, (int, float, complex, str, bytes, np.generic)):
        return (type(x).__name__, float(x) if isinstance(x, float) else repr(x))
    if id(x) in way or len(way) >= _DEEPEST:
        return "..."
    way = (*way, id(x))
    name = type(x).__name__
    if isinstance(x, (list, tuple, collections.deque)):
        return (name, [seen(y, way) for y in type(x).__mro__[-2].__iter__(x)], own(x, way))
    if isinstance(x, (set, frozenset)):
        return (name, sorted(map(repr, x)))
    if isinstance(x, dict):
        return (name, [(seen(k, way), seen(v, way)) for k, v in dict.items(x)], own(x, way))
    if isinstance(x, types.FunctionType):
        return (name, own(x, way), seen(x.__defaults__, way))
    if isinstance(x, type):
        entries = vars(x).items() if x.__module__ == "written" else ()
        return (x.__name__, [(k, seen(v, way)) for k, v in entries if k[0] != "_"])
    mine = type(x).__module__ == "written" or isinstance(
        x, (torch.nn.Module, torch.optim.Optimizer)
    )
    return (name, own(x, way) if mine else None)


def own(x: Any, way: tuple[int, ...]) -> Any:
    """The attributes of a thing, those in slots included."""
    found = {}
    for k, v in getattr(x, "__dict__", {}).items():
        hooks = k.endswith("_hooks") and isinstance(v, dict)
        found[k] = seen([*v.values()] if hooks else v, way)  # hooks have numbers of the process
    for base in type(x).__mro__:
        for name in vars(base).get("__slots__", ()) if base.__module__ == "written" else ():
            if name[0] != "_" and hasattr(x, name):
                found[name] = seen(getattr(x, name), way)
    return sorted(found.items())


def alike(a: Any, b: Any) -> bool:
    """Whether two things that were seen are equal, numbers but for rounding."""
    if isinstance(a, float) and isinstance(b, float):
        near = abs(a - b) <= 2e-5 * max(abs(a), abs(b), 1e-3)
        return a == b or near or (math.isnan(a) and math.isnan(b))
    if type(a) is not type(b):
        return False
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(alike, a, b))
    return bool(a == b)


def tried(program: Program, argument: str, native: bool) -> str:
    """What differs first between an eager run and a compiled one; nothing where they agree."""
    turns: list[str | None] = [None] * CALLS
    for change in program.changes:
        turns += [change, None]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            eager, compiled = World(program, argument, None), World(program, argument, native)
            for turn, change in enumerate(turns):
                expected, found = eager.take(change), compiled.take(change)
                if not alike(expected, found):
                    return (
                        f"{program.name}, {argument}, {'native' if native else 'replayed'}, turn "
                        f"{turn}, after {change!r}:\n  eager    {expected}\n  compiled {found}"
                    )
    finally:
        set_back()
    return ""


def main() -> int:
    """The command line."""
    file, place = [*sys.argv[1:], None, None][:2]
    count = wrong = 0
    for program in (p for f in FILES if file in (None, f) for p in programs(f)):
        if place is not None and program.name != f"{file} {place}":
            continue
        for argument in ARGUMENTS:
            for native in (False, True):
                difference = tried(program, argument, native)
                count += 1
                wrong += bool(difference)
                if difference:
                    print(difference)
    print(f"{count} programs, {wrong} differ")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
