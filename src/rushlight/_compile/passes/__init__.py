"""Passes: each takes a program and gives a better one that computes the same."""

from __future__ import annotations

from ..program import Program
from .apart import held_apart
from .constants import folded
from .copies import without_copies
from .dead import without_dead
from .repeats import without_repeats


def improved(program: Program) -> Program:
    """The program after all passes."""
    held_apart(program)
    folded(program)
    without_repeats(program)
    without_copies(program)
    without_dead(program)
    return program
