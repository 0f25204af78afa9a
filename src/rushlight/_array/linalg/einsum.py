"""Einsum equations: parsing them, and the order in which operands are contracted."""

from __future__ import annotations

import functools
import math
import sys
from typing import Any

import numpy as np


def parse(equation: str, ndims: list[int]) -> tuple[list[list[Any]], list[Any]]:
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


def from_sublists(args: tuple[object, ...]) -> tuple[str, list[Any]]:
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


class Pair:
    """One pairwise contraction: which operands, and what is done with each one's dimensions.

    None stands for nothing to do.
    """

    __slots__ = (
        "first", "gone", "order_a", "order_b", "product", "second", "shape", "shape_a", "shape_b",
        "sum_a", "sum_b", "swapped", "new_a", "new_b",
    )  # fmt: skip

    first: int
    second: int
    swapped: bool  # whether the second is the left one
    sum_a: list[int] | None  # dimensions that no other operand and not the output has
    sum_b: list[int] | None
    order_a: list[int] | None
    order_b: list[int] | None
    product: bool  # elementwise with broadcasting, else a product of matrices
    new_a: list[int]  # elementwise: where dimensions of size one are put in
    new_b: list[int]
    gone: list[int] | None  # elementwise: the dimensions of the product to sum over
    shape_a: tuple[int, ...] | None  # of matrices, three-dimensional where there is a batch
    shape_b: tuple[int, ...] | None
    shape: tuple[int, ...] | None  # the result's


class Plan:
    """How an equation is worked out for operands of some shapes."""

    __slots__ = ("extra", "order", "pairs", "repeats", "terms")

    terms: list[list[Any]]  # the letters of each operand
    repeats: list[int]  # the operands in which a letter appears twice
    pairs: list[Pair]  # each contracts two of the operands left; its result comes last
    order: list[int] | None  # of the last operand's dimensions; None where they are in order
    extra: int  # how many of them, at the end, are summed over


@functools.lru_cache(256)
def plan_of(equation: str, shapes: tuple[tuple[int, ...], ...]) -> Plan:
    """The plan of an equation, which is kept for the next call.

    Raises:
        RuntimeError: for an equation that doesn't parse or doesn't fit the operands.
    """
    plan = Plan()
    plan.terms, output = parse(equation, [len(shape) for shape in shapes])
    found = sizes(plan.terms, list(shapes))
    once = [list(dict.fromkeys(term)) for term in plan.terms]
    plan.repeats = [
        k for k, (all_, some) in enumerate(zip(plan.terms, once)) if len(all_) > len(some)
    ]
    plan.pairs = []
    rest = sorted(set(found).difference(output), key=str)
    rank = {c: k for k, c in enumerate((*output, *rest))}
    work = [(some, dict(zip(t, shape))) for some, t, shape in zip(once, plan.terms, shapes)]
    for i, j in path(once, output, found):
        right, left = work.pop(max(i, j)), work.pop(min(i, j))
        keep = set(output).union(*[term for term, _ in work])
        pair, result = _pair(left, right, keep, rank)
        pair.first, pair.second = min(i, j), max(i, j)
        plan.pairs.append(pair)
        work.append(result)
    term = work[0][0]
    gone = [c for c in term if c not in output]
    plan.extra = len(gone)
    # What is an operand itself still becomes a view of it.
    wanted = [*output, *gone]
    plan.order = None if (plan.pairs or gone) and term == wanted else _places(term, wanted)
    return plan


_Operand = tuple[list[Any], dict[Any, int]]  # its letters, and the size of each


def _pair(
    left: _Operand, right: _Operand, keep: set[Any], rank: dict[Any, int]
) -> tuple[Pair, _Operand]:
    """The contraction of two operands, and what comes of it; `keep`: letters needed later.

    Letters come in the order of the result, as `rank` has it. Where all of the right operand's come
    before those of the left one, the operands change places, and the product lies in order.
    """
    pair = Pair()
    (ta, size_a), (tb, size_b) = left, right
    own_a, own_b = (
        [rank[c] for c in t if c not in other and c in keep] for t, other in ((ta, tb), (tb, ta))
    )
    pair.swapped = bool(own_a and own_b) and max(own_b) < min(own_a)
    if pair.swapped:
        (ta, size_a), (tb, size_b) = right, left
    pair.sum_a = [k for k, c in enumerate(ta) if c not in tb and c not in keep] or None
    pair.sum_b = [k for k, c in enumerate(tb) if c not in ta and c not in keep] or None
    ta = [c for c in ta if c in tb or c in keep]
    tb = [c for c in tb if c in ta or c in keep]
    ordered = sorted({*ta, *tb}, key=rank.__getitem__)
    batch = [c for c in ordered if c in ta and c in tb and c in keep]
    summed = [c for c in ordered if c not in keep]
    free_a = [c for c in ordered if c not in tb]
    free_b = [c for c in ordered if c not in ta]
    size = {c: max(size_a.get(c, 1), size_b.get(c, 1)) for c in (*ta, *tb)}
    size.update({c: 0 for c in size if size_a.get(c) == 0 or size_b.get(c) == 0})
    # A size of one against a larger one broadcasts: such letters are multiplied, not matched.
    uneven = any(size_a[c] != size_b[c] for c in batch + summed)
    pair.product = uneven or not summed
    if pair.product:
        pair.order_a = _order(ta, [c for c in ordered if c in ta])
        pair.order_b = _order(tb, [c for c in ordered if c in tb])
        pair.new_a = [k for k, c in enumerate(ordered) if c not in ta]
        pair.new_b = [k for k, c in enumerate(ordered) if c not in tb]
        pair.gone = [k for k, c in enumerate(ordered) if c in summed] or None
        letters = [c for c in ordered if c not in summed]
        return pair, (letters, size)

    def count(letters: list[str]) -> int:
        return math.prod([size[c] for c in letters])

    of_a, of_b = batch + free_a + summed, batch + summed + free_b
    letters = batch + free_a + free_b
    lead = (count(batch),) if batch else ()
    rows, inner, columns = count(free_a), count(summed), count(free_b)
    pair.order_a, pair.order_b = _order(ta, of_a), _order(tb, of_b)
    pair.shape_a = _shape([size[c] for c in of_a], (*lead, rows, inner))
    pair.shape_b = _shape([size[c] for c in of_b], (*lead, inner, columns))
    wanted = tuple([size[c] for c in letters])
    pair.shape = None if wanted == (*lead, rows, columns) else wanted
    return pair, (letters, size)


def _order(term: list[str], wanted: list[str]) -> list[int] | None:
    """The permutation from one order of letters to another; None where they are the same."""
    return None if term == wanted else _places(term, wanted)


def _places(term: list[Any], wanted: list[Any]) -> list[int]:
    return [term.index(c) for c in wanted]


def _shape(have: list[int], wanted: tuple[int, ...]) -> tuple[int, ...] | None:
    return None if tuple(have) == wanted else wanted


def path(terms: list[list[Any]], output: list[str], size: dict[Any, int]) -> list[tuple[int, int]]:
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
    # Without a limit, as what NumPy would refuse to make is made all the same: of two operands that
    # share nothing, in the worst case.
    for step in np.einsum_path(text, *shapes, optimize=("greedy", sys.maxsize))[0][1:]:
        picks = sorted(step)
        while len(picks) > 2:  # NumPy may contract several at once: two at a time
            steps.append((picks[0], picks[1]))
            last = n - len(steps) - 1
            picks = sorted([p - (p > picks[0]) - (p > picks[1]) for p in picks[2:]] + [last])
        steps.append((picks[0], picks[1]))
    return steps
