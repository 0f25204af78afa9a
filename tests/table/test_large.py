"""What rows compute when their operands are large: the ways of large arrays, in every layout.

Most samples are of a few elements. Here the limits of the array layer are lowered until these are
many (see `_thresholds`), so that blocks, threads and native kernels answer, with odd ends, 0-d and
one-element operands, in every order of memory; the plain ways, tested beside, say what is right.
Elementwise rows are also repeated up to truly large arrays, past all limits as they are.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable
from contextlib import nullcontext, suppress
from typing import Any

import numpy as np
import pytest

from rushlight._base import dtypes as D
from tests.table._closeness import ROUNDING, assert_same
from tests.table._samples import CASES, Case, with_arrays
from tests.table._thresholds import FOLDERS, ROOT, WAYS, limits, lowered
from tests.table.test_values import arrays_of, mapped, reads_memory, spaced, turned

pytestmark = pytest.mark.slow


def shifted(array: Any) -> Any:
    """The same elements, beginning in the midst of a larger memory.

    At an even place: views as complex numbers refuse others, as PyTorch's.
    """
    memory = np.zeros(array.size + 6, array.dtype)
    memory[6:] = array.reshape(-1)
    return memory[6:].reshape(array.shape)


def swapped(array: Any) -> Any:
    """The same elements, the last two dimensions in each other's place in memory."""
    return array.swapaxes(-1, -2).copy().swapaxes(-1, -2) if array.ndim > 1 else array


def channels_last(array: Any) -> Any:
    """The same elements, the second dimension innermost in memory."""
    return np.moveaxis(np.moveaxis(array, 1, -1).copy(), -1, 1) if array.ndim > 2 else array


def as_they_are(array: Any) -> Any:
    return array


ORDERS = (as_they_are, shifted, spaced, turned, swapped, channels_last)

#: Rows whose results are what memory held, or whose draws no layout keeps.
SKIPPED = ("empty", "empty_like", "new_empty", "empty_strided", "new_empty_strided")


Change = Callable[[Any], Any]


def measured(
    case: Case, args: list[Any], laid_out: Change = as_they_are
) -> tuple[list[Any], list[Any]]:
    """The results and gradients of a case for other arrays in its arguments.

    `laid_out` changes the gradients of the results.
    """
    other = case.with_args(args)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = other.value()
        graded = case.differentiable and not case.random
        if not graded:
            return results, []
        return results, other.vjp(
            other.arrays, {k: laid_out(u) for k, u in case.cotangents.items()}
        )


def check(
    case: Case,
    args: list[Any],
    wanted: tuple[list[Any], list[Any]],
    what: str,
    laid_out: Change = as_they_are,
) -> None:
    """Compares results and gradients with those wanted."""
    rounding = ROUNDING[case.dtype.name if case.dtype.name in ROUNDING else "float64"]
    try:
        results, gradients = measured(case, args, laid_out)
    except RuntimeError as refusal:
        if "stride" in str(refusal):
            return  # there is no view of this layout, as PyTorch says
        raise
    for k, (got, want) in enumerate(zip(results, wanted[0], strict=True)):
        assert got.dtype == want.dtype, f"output {k}, {what}: {got.dtype}, not {want.dtype}"
        assert_same(got, want, rounding, f"output {k}, {what}")
    for k, (got, want) in enumerate(zip(gradients, wanted[1], strict=True)):
        assert got.dtype == want.dtype, f"gradient {k}, {what}: {got.dtype}, not {want.dtype}"
        assert_same(got, want, 5 * rounding, f"gradient {k}, {what}")


NAMED = [c for c in CASES if c.row.schema.name not in SKIPPED]


@pytest.mark.parametrize("case", NAMED, ids=[c.id for c in NAMED])
def test_the_ways_of_large_arrays_give_what_the_plain_ways_give(case: Case) -> None:
    plain = measured(case, case.args)
    orders = ORDERS if arrays_of(case.args) and not reads_memory(case.row) else (as_they_are,)
    for way in WAYS:
        with lowered(way):
            for change in orders:
                check(case, mapped(case.args, change), plain, f"{change.__name__}, {way}", change)


GRADED = [c for c in NAMED if c.differentiable]


@pytest.mark.parametrize("case", GRADED, ids=[c.id for c in GRADED])
def test_a_gradient_without_strides_counts_for_all_of_its_elements(case: Case) -> None:
    plain = measured(case, case.args, lambda u: everywhere(u).copy())
    for way in (None, *WAYS):
        with lowered(way) if way else nullcontext():
            check(case, case.args, plain, f"{way}", everywhere)


def everywhere(array: Any) -> Any:
    """The first element, expanded to all places: what the gradient of a sum is."""
    return np.broadcast_to(array.reshape(-1)[:1].reshape(()), array.shape) if array.size else array


# ---- elementwise rows: operands of one element, and truly large ones ----------------------------


def of_one_shape(case: Case) -> bool:
    """Whether a case's arrays are of one shape with several elements, and none is in a list."""
    arrays = [a for a in case.args if isinstance(a, np.ndarray)]
    return (
        case.row.kind == "elementwise"
        and case.label.isdigit()
        and not case.random
        and bool(arrays)
        and arrays[0].size > 1
        and all(a.shape == arrays[0].shape for a in arrays)
        and not any(isinstance(a, list) for a in case.args)
    )


ALIKE = [c for c in CASES if of_one_shape(c)]
SEVERAL = [c for c in ALIKE if len(arrays_of(c.args)) > 1 and c.row.op.broadcasts]


def first_of(array: Any) -> Any:
    """The first element, as a 0-d array."""
    return np.array(array.reshape(-1)[0])


#: One operand in place of a whole one: without dimensions, of one element, a row, a column.
SMALLER: dict[str, Change] = {
    "0-d": first_of,
    "one element": lambda a: first_of(a).reshape((1,)),
    "one element of every dimension": lambda a: first_of(a).reshape((1,) * a.ndim),
    "the first along the first dimension": lambda a: a[:1].copy(),
    "the first along the last dimension": lambda a: a[..., :1].copy(),
    "expanded along the first dimension": lambda a: np.broadcast_to(a[:1], a.shape),
    "expanded along the last dimension": lambda a: np.broadcast_to(a[..., :1], a.shape),
    "expanded along all dimensions": lambda a: np.broadcast_to(first_of(a), a.shape),
}


def varied(args: list[Any]) -> list[tuple[str, list[Any]]]:
    """The arguments with each of their arrays in turn made smaller, in all ways."""
    count = len(arrays_of(args))
    found = []
    for what, change in SMALLER.items():
        for place in range(count):
            smaller = with_arrays(args, lambda k, a: change(a) if k == place else a)  # noqa: B023
            found.append((f"operand {place}: {what}", smaller))
    return found


@pytest.mark.parametrize("case", SEVERAL, ids=[c.id for c in SEVERAL])
def test_a_small_operand_beside_a_large_one_counts_for_all_of_its_elements(case: Case) -> None:
    for what, args in varied(case.args):
        plain = measured(case, mapped(args, np.copy))
        for way in WAYS:
            with lowered(way):
                check(case, args, plain, f"{what}, {way}")


#: Elements: past the limits of blocks, kernels and threads, and no multiple of any piece.
LENGTHS = {D.float32: (40_003, 450_007), D.float64: (40_003,), D.complex128: (40_003,)}


def repeated(array: Any, length: int) -> Any:
    """The elements again and again, up to a number of them; a single one as it is."""
    return np.resize(array, length) if array.size > 1 else array


def tangents(case: Case) -> dict[int, Any]:
    return {k: u.reshape(-1) for k, u in case.cotangents.items()} if case.differentiable else {}


LONG = [(c, length) for c in ALIKE for length in LENGTHS.get(c.dtype, ())]


@pytest.mark.parametrize(("case", "length"), LONG, ids=[f"{c.id}-{n}" for c, n in LONG])
def test_a_large_array_is_computed_as_its_elements_are(case: Case, length: int) -> None:
    flat = mapped(case.args, lambda a: a.reshape(-1))
    variants = [("whole operands", flat)]
    if case in SEVERAL:
        variants += [(w, a) for w, a in varied(flat) if "0-d" in w or w.endswith("one element")]
    for what, args in variants:
        small, large = flattened(case, args), flattened(case, mapped(args, lengthened(length)))
        given = tangents(case)
        wide = {k: repeated(u, length) for k, u in given.items()}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            pairs = list(zip(large.value(), small.value(), strict=True))
            if case.differentiable:
                pairs += list(zip(large.vjp(large.arrays, wide), small.vjp(small.arrays, given)))
        for k, (got, want) in enumerate(pairs):
            assert got.dtype == want.dtype, f"{what}, array {k}: {got.dtype}, not {want.dtype}"
            if want.size == 1 < got.size or want.size > 1:
                rounding = ROUNDING.get(case.dtype.name, 1e-11)
                assert_same(got, repeated(want, length), 5 * rounding, f"{what}, array {k}")


def lengthened(length: int) -> Change:
    return lambda a: repeated(a, length)


def flattened(case: Case, args: list[Any]) -> Case:
    return case.with_args(args)


# ---- the limits themselves ----------------------------------------------------------------------


def test_no_size_is_compared_with_a_bare_number() -> None:
    """A limit without a name is one that `lowered` can't lower."""
    bare = []
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Compare) and is_size_against_number(node):
                    bare.append(f"{path.relative_to(ROOT)}:{node.lineno}: {ast.unparse(node)}")
    assert not bare, bare


def is_size_against_number(node: ast.Compare) -> bool:
    """Whether a comparison is of an array's size with a number above 16."""
    sides = [node.left, *node.comparators]
    sized = any(isinstance(s, ast.Attribute) and s.attr in ("size", "nbytes") for s in sides)
    for side in sides:
        with suppress(ValueError, TypeError, SyntaxError):
            value = (
                ast.literal_eval(side) if not isinstance(side, ast.BinOp) else shifted_number(side)
            )
            if sized and type(value) is int and value > 16:
                return True
    return False


def shifted_number(node: ast.BinOp) -> int:
    """The value of `1 << n` or `2**n`."""
    left, right = ast.literal_eval(node.left), ast.literal_eval(node.right)
    return int(left << right if isinstance(node.op, ast.LShift) else left**right)


def test_lowering_reaches_the_limits_of_blocks_threads_and_reductions() -> None:
    known = limits()
    for name in (
        "elementwise.blocked.LARGE",
        "elementwise.blocked.BLOCK",
        "elementwise.blocked._THREADED",
        "reduce.reduce._LARGE",
        "reduce.sort._LARGE",
    ):
        assert f"_array.{name}" in known
    assert len(known) > 60
