"""Einsum equations: parsing them, and the order in which operands are contracted."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np


def parsed(equation: str, ndims: list[int]) -> tuple[list[list[Any]], list[Any]]:
    """The letters of each operand and of the output; an ellipsis becomes numbered letters.

    Raises:
        RuntimeError: for an equation that doesn't parse or doesn't fit the operands.
    """
    text = equation.replace(" ", "")
    left, arrow, right = text.partition("->")
    inputs = left.split(",")
    if len(inputs) != len(ndims):
        raise RuntimeError(
            "einsum(): "
            + (
                "more operands were provided than specified in the equation"
                if len(inputs) < len(ndims)
                else "fewer operands were provided than specified in the equation"
            )
        )
    terms: list[list[Any]] = []
    widest = 0
    for k, (term, ndim) in enumerate(zip(inputs, ndims)):
        letters, dots = _letters(term, f"operand {k}")
        named = len([c for c in letters if c != "..."])
        if dots:
            if ndim < named:
                raise RuntimeError(_wrong_count(named, ndim, k, True))
            widest = max(widest, ndim - named)
        elif named != ndim:
            raise RuntimeError(_wrong_count(named, ndim, k, False))
        terms.append(letters)
    full: list[list[Any]] = []
    for letters, ndim in zip(terms, ndims):
        span = ndim - len([c for c in letters if c != "..."])
        out: list[Any] = []
        for c in letters:
            out += list(range(widest - span, widest)) if c == "..." else [c]
        full.append(out)
    if arrow:
        letters, _ = _letters(right, "the output")
        output: list[Any] = []
        for c in letters:
            output += list(range(widest)) if c == "..." else [c]
        for c in output:
            if output.count(c) > 1:
                raise RuntimeError(
                    f"einsum(): output subscript {c} appears more than once in the output"
                )
            if not isinstance(c, int) and not any(c in t for t in full):
                raise RuntimeError(
                    f"einsum(): output subscript {c} does not appear in the equation for any "
                    "input operand"
                )
        return full, output
    every = [c for t in full for c in t]
    output = list(range(widest)) + sorted(
        c for c in set(every) if not isinstance(c, int) and every.count(c) == 1
    )
    return full, output


def _wrong_count(named: int, ndim: int, k: int, dots: bool) -> str:
    return (
        f"einsum(): the number of subscripts in the equation ({named}) "
        f"{'is more than' if dots else 'does not match'} the number of dimensions "
        f"({ndim}) for operand {k}" + (" and no ellipsis was given" if not dots else "")
    )


def _letters(term: str, where: str) -> tuple[list[Any], bool]:
    letters: list[Any] = []
    dots = False
    i = 0
    while i < len(term):
        c = term[i]
        if c == ".":
            if term[i : i + 3] != "..." or dots:
                raise RuntimeError(
                    f"einsum(): found '.' for {where} that is not part of any ellipsis"
                    if not dots
                    else f"einsum(): found '.' for {where} for which an ellipsis was already found"
                )
            dots = True
            letters.append("...")
            i += 3
            continue
        if not c.isalpha():
            raise RuntimeError(
                f"einsum(): invalid subscript given at index {i} in the "
                "equation string, subscripts must be in [a-zA-Z]"
            )
        letters.append(c)
        i += 1
    return letters, dots


def from_sublists(args: tuple[Any, ...]) -> tuple[str, list[Any]]:
    """The equation that interleaved operands and lists of numbers mean."""
    operands = list(args[0 : len(args) - len(args) % 2 : 2])
    lists = list(args[1 : len(args) : 2])
    output = args[-1] if len(args) % 2 else None

    def text(numbers: Any) -> str:
        return "".join("..." if n is Ellipsis else _letter(n) for n in numbers)

    equation = ",".join(text(part) for part in lists)
    return (equation + ("->" + text(output) if output is not None else "")), operands


def _letter(n: int) -> str:
    return chr(ord("A") + n) if n < 26 else chr(ord("a") + n - 26)


def sizes(terms: list[list[Any]], shapes: list[tuple[int, ...]]) -> dict[Any, int]:
    """The size of every letter; a size of one broadcasts.

    Raises:
        RuntimeError: where sizes differ.
    """
    found: dict[Any, int] = {}
    for k, (term, shape) in enumerate(zip(terms, shapes)):
        for c, n in zip(term, shape):
            old = found.get(c, 1)
            if old != 1 and n != 1 and n != old:
                raise RuntimeError(
                    f"einsum(): subscript {c} has size {n} for operand {k} which does not "
                    f"broadcast with previously seen size {old}"
                )
            found[c] = max(old, n) if n != 0 else 0
    return found


@functools.lru_cache(256)
def planned(
    equation: str, shapes: tuple[tuple[int, ...], ...]
) -> tuple[list[list[Any]], list[Any], dict[Any, int], list[tuple[int, int]]]:
    """The operands' letters, the output's, the letters' sizes and the order of contractions.

    Nothing of it may be changed: it is kept for the next call.

    Raises:
        RuntimeError: for an equation that doesn't parse or doesn't fit the operands.
    """
    terms, output = parsed(equation, [len(shape) for shape in shapes])
    found = sizes(terms, list(shapes))
    once = [list(dict.fromkeys(term)) for term in terms]
    return terms, output, found, path(once, output, found)


def path(terms: list[list[Any]], output: list[Any], size: dict[Any, int]) -> list[tuple[int, int]]:
    """Which two operands to contract at each step: greedily; by NumPy's optimiser from three on."""
    n = len(terms)
    if n <= 1:
        return []
    if n == 2:
        return [(0, 1)]
    names = {c: chr(97 + k) if k < 26 else chr(65 + k - 26) for k, c in enumerate(size)}
    if len(names) > 52:
        return [(0, 1)] * (n - 1)
    text = ",".join("".join(names[c] for c in t) for t in terms)
    text += "->" + "".join(names[c] for c in output)
    shapes = [np.broadcast_to(np.zeros(()), [max(size[c], 1) for c in t]) for t in terms]
    steps: list[tuple[int, int]] = []
    for step in np.einsum_path(text, *shapes, optimize="greedy")[0][1:]:
        picks = sorted(step)
        while len(picks) > 2:  # NumPy may contract several at once: two at a time
            steps.append((picks[0], picks[1]))
            last = n - len(steps) - 1
            picks = sorted([p - (p > picks[0]) - (p > picks[1]) for p in picks[2:]] + [last])
        steps.append((picks[0], picks[1]))
    return steps
