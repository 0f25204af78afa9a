"""Compiles the kernels that a package brings along.

`RUSHLIGHT_NATIVE=0 python -m rushlight._compile.kernels_ahead FOLDER SET` writes objects and a C
file for a set of instructions (see `_native.prebuilt`), and prints their paths. `setup.py` runs
this, and links what it made. What this process itself computes it leaves to NumPy.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Iterator
from itertools import product
from pathlib import Path
from typing import Any, Final

from .. import optim
from .._array.kernels import foreseen
from .._array.optimizers.rule import Update
from .._native import prebuilt
from .._native.cpython import builtin_call, guard_checker
from .._native.emitted import skinny_gemm
from .._native.llvm import loader, target
from .._native.llvm.emit import F32, F64
from .._native.llvm.prebuilt_objects import Collected
from .._table import ROWS
from ..nn._ground import f as _f
from . import foreseen_steps
from .assembly import driver, lower
from .assembly.call_frames import group_of, kernel_address, load_pooling
from .assembly.kernel_parts import formulas, primitives
from .lowering import copies, lstm, optimizer_sweeps, rnn_gru

#: The options that choose between an optimizer's formulas, and what they may be.
_OPTIONS: Final[dict[str, tuple[Any, ...]]] = {
    "weight_decay": (0, 0.01), "maximize": (False, True), "momentum": (0, 0.9),
    "dampening": (0, 0.1), "nesterov": (False, True), "amsgrad": (False, True),
    "centered": (False, True), "decoupled_weight_decay": (False, True),
    "betas": ((0.9, 0.999), (0.5, 0.999)), "alpha": (0.99, 0.5),
}  # fmt: skip
#: Those of them that are foreseen in a compiled step.
_STEP_OPTIONS: Final = ("weight_decay", "momentum", "nesterov", "amsgrad", "centered")
#: What an update depends on besides: whether it is the first, how many steps were made, averages.
_KEYS: Final[dict[str, tuple[Any, ...]]] = {
    "SGD": (False, True), "ASGD": ((1.0, 1.0), (1.0, 0.5)), "RAdam": (1.0, 1e4),
    "NAdam": ((1.0, 1.0),),
}  # fmt: skip
#: Windows and steps of the poolings that are foreseen.
_POOLS: Final = (((2, 2), (2, 2)), ((3, 3), (2, 2)), ((3, 3), (1, 1)))


def functions() -> Iterator[Any]:
    """The functions on arrays of the table."""
    for rows in ROWS.values():
        for row in rows:
            yield from (row.op.raw, *row.op.formulas, row.op.joint)


def updates(kinds: Iterable[Any], options: Collection[str]) -> list[Update]:
    """The rules of optimizers, for each choice of the options."""
    found: dict[Update, None] = {}
    for kind in kinds:
        optimizer = kind([_f.zeros(1, requires_grad=True)])
        group = optimizer.param_groups[0]
        asked = [option for option in _OPTIONS if option in options and option in group]
        keys = _KEYS.get(kind.__name__, (1.0,))
        for chosen in product(*[_OPTIONS[option] for option in asked]):
            group.update(zip(asked, chosen, strict=True))
            found.update((optimizer._choose(group, key), None) for key in keys)
    return list(found)


def collect(name: str) -> Collected:
    """The modules of all kernels for a set of instructions. For a process of its own."""
    if target.available():
        raise RuntimeError("kernels are collected with RUSHLIGHT_NATIVE=0: none can be called")
    instructions = prebuilt.sets()[name]
    target.emit_as(instructions.width, instructions.registers)
    collected = Collected()
    loader.record(collected)
    kinds = [kind for kind in vars(optim).values() if getattr(kind, "_rule", None) is not None]
    foreseen.ask(functions(), updates(kinds, _OPTIONS))
    ask_for_steps()
    return collected


def ask_for_steps() -> None:
    """What compiled steps need whatever they compute, and would wait for at their first call."""
    guard_checker.entry()
    builtin_call.start()
    for name in ("run", "gather", "gemm_f32", "gemm_f64", "branch_f32"):  # one of each module
        driver.addresses()[name]
    copies.addresses()
    forms = ("dots", *(f"outer {columns}" for columns in range(1, skinny_gemm.MOST + 1)))
    for kind, form in product((F32, F64), forms):
        skinny_gemm.load(kind, form)
    for update in updates(optimizer_sweeps.SWEPT, _STEP_OPTIONS):
        for dtype in ("f32", "f64"):
            kernel_address(update.kernel.group(dtype), None, ragged=True)
    for group in (*primitives(), *formulas()):
        kernel_address(group, None, False)
    for (formula, kinds), dtype in product((*lstm.FORMS, *rnn_gru.FORMS), ("f32", "f64")):
        kernel_address(group_of(formula, kinds, dtype), None, False)
    for type, (window, step) in product((F32, F64), _POOLS):
        load_pooling(type, window, step)
    for program in foreseen_steps.programs(target.lanes(F32)):
        notes: list[str] = []
        if lower.plan_native(program, notes) is None or notes:
            raise RuntimeError(f"a step that was foreseen isn't native: {notes}")


if __name__ == "__main__":
    for path in collect(sys.argv[2]).write(sys.argv[2], Path(sys.argv[1])):
        print(path)
