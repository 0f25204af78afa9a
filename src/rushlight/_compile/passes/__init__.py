"""Passes: each takes a program and gives a better one that computes the same."""

from __future__ import annotations

from ..ir.program import Program
from .common_subexpressions import without_repeats
from .constants import fold_constants
from .copies import without_copies
from .dead_code import without_dead
from .split_allocations import split_roots


def improve(program: Program) -> Program:
    """The program after all passes."""
    split_roots(program)
    fold_constants(program)
    without_repeats(program)
    without_copies(program)
    without_dead(program)
    return program
