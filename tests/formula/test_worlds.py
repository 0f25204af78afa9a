"""One formula, all worlds: what a row's formulas compute is the same wherever they are evaluated.

No row with a formula is left out (a test says so): elementwise ones, made of the formula or by hand
beside it, losses, formulas along rows, norms.

Small arrays, large ones in blocks, native kernels, compiled steps and Tensors, on ordinary and on
special values. A second telling of a formula that drifts from the row's shows up here.
"""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

import numpy as np
import pytest

import rushlight as torch
from rushlight._array import kernels
from rushlight._array.elementwise import generated
from rushlight._array.elementwise.ufuncs import FORMULAS
from rushlight._array.reduce import generated_rows
from rushlight._base import dtypes as D
from rushlight._core.apply import apply_n
from rushlight._core.engine import WORLDS
from rushlight._formula import class_losses
from rushlight._native.llvm import target
from rushlight._table import ROWS, Row
from rushlight._table.nn.normalization import normalise
from rushlight._table.rows.formulas import parameters_of
from tests.table._samples import CASES, Case

#: Rows of norms, which have tests of their own below.
NORMS = ("native_layer_norm", "_rms_norm")
#: How far results may be from one another, in units in the last place of the largest operand or
#: result: exponentials and logarithms of kernels and of NumPy end in other digits.
UNITS = 16
SPECIAL = (0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 3.0, -3.0, 20.0, -20.0, 21.5, 90.0, -90.0, 1e-5, -1e-5,
           1e-30, -1e-30, 1e30, -1e30, np.inf, -np.inf, np.nan)  # fmt: skip
ORDINARY = 64
LARGE = 3 * 16384 + 5


def values(count: int, seed: int, dtype: str) -> Any:
    """Special values and ordinary ones, in an order of the seed; repeated up to `count`."""
    draw = np.random.default_rng(seed)
    few = np.concatenate([SPECIAL, 4 * draw.standard_normal(ORDINARY)])
    return np.resize(draw.permutation(few), count).astype(dtype)


class Told(NamedTuple):
    """A function that a row's formula makes: the result's, or the gradient's of an argument."""

    row: Row
    function: Any
    numbers: tuple[Any, ...]


def told() -> dict[str, Told]:
    """The functions of all rows that are made of a formula, with numbers of the first sample."""
    found: dict[str, Told] = {}
    for case in CASES:
        if case.dtype is not D.float64:
            continue
        op, schema = case.row.op, case.row.schema
        given = {p.name: x for p, x in zip(schema.params, case.args, strict=True)}
        for key, function in {"": op.raw, **case.row.formulas}.items():
            form = getattr(function, "loss", None)
            if form is not None:  # by element: what reductions make of it is no formula
                function = (
                    form.times(form.required, False) if key else form.by_element(form.required)
                )
            if hasattr(function, "numbers") and hasattr(function, "formula"):
                numbers = tuple(given[name] for name in function.numbers)
                found.setdefault(f"{schema.name} {key}".strip(),
                                 Told(case.row, function, numbers))  # fmt: skip
    return found


TOLD = told()


def operands(name: str, count: int, dtype: str) -> list[Any]:
    """The arrays that a function takes; within its domain, where it loses all digits beyond."""
    found = [values(count, 10 + k, dtype) for k in range(len(TOLD[name].function.arrays))]
    return [x.clip(-0.99, 0.99) for x in found] if name == "atanh self" else found


def assert_same(expected: Any, found: Any, given: list[Any]) -> None:
    """Within `UNITS`, and nan, infinities and signs of zeros alike."""
    assert found.dtype == expected.dtype
    if expected.dtype.kind != "f":
        assert np.array_equal(expected, found)
        return
    with np.errstate(all="ignore"):
        size = np.abs(expected)
        for x in given:
            size = np.where(np.isfinite(x), np.maximum(size, np.abs(x)), size)
        near = np.abs(expected - found) <= UNITS * np.spacing(size)
    same = (expected == found) | (np.isnan(expected) & np.isnan(found))
    wrong = np.flatnonzero(~(near | same))
    assert not wrong.size, [
        (*(float(x[i]) for x in given), float(expected[i]), float(found[i])) for i in wrong[:5]
    ]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", TOLD)
def test_arrays_kernels_and_tensors_compute_one_formula(
    name: str, dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    each = TOLD[name]
    few, many = (operands(name, n, dtype) for n in (len(SPECIAL) + ORDINARY, LARGE))
    with np.errstate(all="ignore"):
        if target.available():
            native = each.function(*many, *each.numbers)
            assert_same(each.function.formula(*many, *each.numbers), native, many)
        monkeypatch.setattr(kernels, "LEAST", sys.maxsize)
        expected = each.function(*few, *each.numbers)
        tensors = [torch.from_numpy(x) for x in few]
        assert_same(expected, each.function.formula(*tensors, *each.numbers)._raw, few)
        monkeypatch.setattr(generated.LIMITS, "large", 0)
        assert_same(expected, each.function(*many, *each.numbers)[: few[0].size], few)


def by_hand() -> dict[str, list[Case]]:
    """The cases of rows whose forward is a function of arrays beside a formula, or of NumPy's."""
    found: dict[str, dict[str, Case]] = {}
    for case in CASES:
        op = case.row.op
        arrays = [x for x in case.args if isinstance(x, np.ndarray)]
        if hasattr(op.raw, "source") or (op.formula or FORMULAS.get(op.raw)) is None:
            continue
        if case.dtype is D.float64 and all(x.dtype.kind in "fbi" for x in arrays):
            others = [x for x in case.args if not isinstance(x, np.ndarray)]
            found.setdefault(identify(case.row), {}).setdefault(str(others), case)
    return {name: list(cases.values())[:4] for name, cases in found.items()}


def identify(row: Row) -> str:
    """A row's name with its overload."""
    return row.text.partition("(")[0]


BY_HAND = by_hand()


def arguments(case: Case, count: int, dtype: str) -> tuple[list[Any], list[Any]]:
    """The arguments of a case with arrays of special values, and these alone."""
    args, given = list(case.args), []
    for k, x in enumerate(args):
        if isinstance(x, np.ndarray):
            args[k] = values(count, 10 + k, dtype) if x.ndim else np.array(0.7, dtype)
            if x.dtype.kind != "f":
                args[k] = np.nan_to_num(args[k]).clip(-99, 99)
                args[k] = args[k] > 0 if x.dtype.kind == "b" else args[k].astype(x.dtype)
            given.append(args[k] + np.zeros(count, args[k].dtype))
    return args, given


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", BY_HAND)
def test_functions_by_hand_compute_their_formulas(
    name: str, dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for case in BY_HAND[name]:
        raw, formula = case.row.op.raw, case.row.op.formula or FORMULAS[case.row.op.raw]
        few, given = arguments(case, len(SPECIAL) + ORDINARY, dtype)
        many, long = arguments(case, LARGE, dtype)
        with np.errstate(all="ignore"):
            expected = np.asarray(formula(*few))
            tensors = [torch.from_numpy(x) if isinstance(x, np.ndarray) else x for x in few]
            assert_same(expected, formula(*tensors)._raw, given)
            assert_same(np.asarray(formula(*many)), np.asarray(raw(*many)), long)
            monkeypatch.setattr(kernels, "LEAST", sys.maxsize)
            assert_same(expected, np.asarray(raw(*few)), given)
            assert_same(expected, np.asarray(raw(*many))[: expected.size], given)
            monkeypatch.undo()


def along_rows() -> dict[str, Any]:
    """The functions of rows that are made of a formula along rows, and their gradients."""
    found = {}
    for row in (row for rows in ROWS.values() for row in rows):
        for key, function in {"": row.op.raw, **row.formulas}.items():
            if hasattr(function, "rows"):
                found[f"{identify(row)} {key}".strip()] = function
    return found


ALONG_ROWS = along_rows()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", ALONG_ROWS)
def test_functions_along_rows_compute_their_formulas(
    name: str, dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    function = ALONG_ROWS[name]
    form, draw = function.rows, np.random.default_rng(5)
    forward = ALONG_ROWS[name.partition(" ")[0]]
    for width, count in ((40, len(SPECIAL) + 9), (500, 200)):
        known: dict[str, Any] = {"dim": 1, "keepdim": False, "dtype": None}
        for k, (p, kind) in enumerate(zip(form.arrays, form.kinds, strict=True)):
            known[p] = draw.standard_normal((count, width) if kind == "f" else count).astype(dtype)
            if p == "out":
                known[p] = np.asarray(
                    forward(*[known.get(q, known[p]) for q in forward.rows.names])
                )
            elif not k:  # a special value in each of the first rows
                known[p].reshape(count, -1)[: len(SPECIAL), 0] = SPECIAL
        args = [known[p] for p in form.names]
        tensors = [torch.from_numpy(x) if isinstance(x, np.ndarray) else x for x in args]
        sizes = [np.sum(np.abs(x.reshape(count, -1)), 1) for x in args if isinstance(x, np.ndarray)]
        with np.errstate(all="ignore"):
            expected = np.asarray(form.on_values(args))
            for least in (sys.maxsize, 0) if target.available() else (sys.maxsize,):
                monkeypatch.setattr(kernels, "LEAST", least)
                for limit in (0, 1 << 30):
                    monkeypatch.setattr(generated_rows.LIMITS, "rows", limit)
                    assert_rows(expected, function(*args), sizes)
                    columns = [turned(x) for x in args]
                    columns[form.names.index("dim")] = 0
                    assert_rows(expected, turned(function(*columns)), sizes)
            assert_rows(expected, function(*tensors)._raw, sizes)


def turned(x: Any) -> Any:
    """A matrix whose rows are the columns of another; what else there is as it is."""
    return np.ascontiguousarray(x.T) if isinstance(x, np.ndarray) else x


def assert_rows(expected: Any, found: Any, sizes: list[Any]) -> None:
    """`assert_same` of each row, whose digits depend on the sums of its operands."""
    expected = expected.reshape(found.shape)
    count = len(expected)
    flat = expected.reshape(count, -1)
    wide = [np.broadcast_to(s[:, None], flat.shape).reshape(-1) for s in sizes]
    assert_same(expected.reshape(-1), found.reshape(-1), wide)


def test_no_row_with_a_formula_is_left_out() -> None:
    left, compared = [], {cases[0].row.op.raw for cases in BY_HAND.values()}
    for row in (row for rows in ROWS.values() for row in rows):
        name, op = identify(row), row.op
        for key, function in {"": op.raw, **row.formulas}.items():
            told_of = (
                (op.formula or FORMULAS.get(op.raw)) if not key else hasattr(function, "arrays")
            )
            if told_of is None or told_of is False:
                continue
            known = f"{row.schema.name} {key}".strip() in TOLD or (not key and name in BY_HAND)
            known = known or f"{name} {key}".strip() in ALONG_ROWS or row.name in NORMS
            if not known and op.raw not in compared:
                left.append(f"{name} {key}")
    assert not left, left


@pytest.mark.skipif(not target.available(), reason="native code is turned off")
@pytest.mark.parametrize("name", sorted(BY_HAND))
def test_a_compiled_step_computes_what_functions_by_hand_do(name: str) -> None:
    for case in BY_HAND[name][:1]:
        args, given = arguments(case, 100, "float64")
        places = [k for k, x in enumerate(args) if isinstance(x, np.ndarray)]

        def step(*tensors: Any) -> Any:
            full = list(args)  # noqa: B023
            for k, x in zip(places, tensors, strict=True):  # noqa: B023
                full[k] = x
            return apply_n(case.row.op, full)  # noqa: B023

        compiled = torch.compile(step)
        tensors = [torch.from_numpy(args[k]) for k in places]
        with np.errstate(all="ignore"):
            expected = step(*tensors)._raw
            for _ in range(3):
                assert_same(expected, compiled(*tensors)._raw, given)


@pytest.mark.skipif(not target.available(), reason="native code is turned off")
@pytest.mark.parametrize("name", sorted({name.partition(" ")[0] for name in TOLD if " " in name}))
def test_a_compiled_step_computes_the_formula_and_its_gradient(name: str) -> None:
    row = next(each.row for key, each in TOLD.items() if key.partition(" ")[0] == name)
    case = next(c for c in CASES if c.row is row and c.dtype is D.float64)
    places = [k for k, x in enumerate(case.args) if isinstance(x, np.ndarray)]
    arrays = [values(100, 10 + k, "float64") for k in range(len(places) + 1)]
    if name == "binary_cross_entropy":  # which refuses what is no probability
        arrays[1:] = [np.nan_to_num(x).clip(0, 1) for x in arrays[1:]]

    def step(g: Any, *tensors: Any) -> Any:
        names = [p.name for p in row.schema.params]
        args = [0 if p == "reduction" else x for p, x in zip(names, case.args, strict=True)]
        for k, x in zip(places, tensors, strict=True):
            args[k] = x
        y = apply_n(row.op, args)
        return y.detach(), *torch.autograd.grad(y, tensors, g, allow_unused=True)

    compiled = torch.compile(step)
    for _ in range(3):
        tensors = [torch.from_numpy(x).requires_grad_(k > 0) for k, x in enumerate(arrays)]
        with np.errstate(all="ignore"):
            for expected, found in zip(step(*tensors), compiled(*tensors), strict=True):
                assert (expected is None) == (found is None)
                if expected is not None:
                    assert_same(expected._raw, found._raw, arrays)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("count", [3, 40])
@pytest.mark.parametrize("name", ["nll_loss", "_cross_entropy"])
def test_losses_of_classes_and_their_overrides_compute_one_formula(
    name: str, count: int, dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    op, draw = ROWS[name][0].op, np.random.default_rng(4)
    x = 3 * draw.standard_normal((count, 9)).astype(dtype)
    classes = draw.integers(0, 9, count)
    g = draw.standard_normal(count).astype(dtype)
    stem = name.removeprefix("_")
    weight = () if stem == "cross_entropy" else (None,)
    told = class_losses.LOSSES[stem](x, classes, 1)[:, 0]
    slopes = class_losses.GRADIENTS[f"{stem}_backward"](g[:, None], x, classes, 1)
    for least in (sys.maxsize, 0) if target.available() else (sys.maxsize,):
        monkeypatch.setattr(kernels, "LEAST", least)
        assert_same(told, op.raw(x, classes, *weight, 0), [np.abs(x).max(1)])
        found = op.formulas[0](WORLDS.raw, g, x, classes, *weight, 0, -100)
        assert_same(slopes, found, [np.abs(g)[:, None] + np.zeros_like(x)])
    logits = torch.from_numpy(x).requires_grad_(True)
    loss = apply_n(op, [logits, torch.from_numpy(classes), *weight, 0, -100])
    (slope,) = torch.autograd.grad(loss, logits, torch.from_numpy(g), create_graph=True)
    assert_same(slopes, slope.detach().numpy(), [np.abs(g)[:, None] + np.zeros_like(x)])


#: Shapes of arrays and how many dimensions are normalised: few elements, blocks, long rows.
NORMED = [((6, 9), 1), ((3, 4, 5), 2), ((700, 300), 1), ((2, 9000), 1)]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("shape", "count"), NORMED)
@pytest.mark.parametrize("name", ["native_layer_norm", "_rms_norm"])
def test_norms_compute_one_formula(
    name: str, shape: tuple[int, ...], count: int, dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    op, draw = ROWS[name][0].op, np.random.default_rng(4)
    inner = shape[len(shape) - count :]
    x, g = (draw.standard_normal(shape).astype(dtype) for _ in range(2))
    parameters = [draw.standard_normal(inner).astype(dtype) for _ in range(len(op.tensors) - 1)]
    near = 1e-4 if dtype == "float32" else 1e-11

    def close(expected: Any, found: Any) -> None:
        assert found.dtype == dtype and found.shape == expected.shape
        np.testing.assert_allclose(found, expected, near, near * abs(expected).max())

    for given in (parameters, [None] * len(parameters)):
        monkeypatch.setattr(kernels, "LEAST", sys.maxsize)
        args = (x, inner, *given, 1e-5)
        wide = tuple(a.astype("f8") if isinstance(a, np.ndarray) else a for a in args)
        results = op.raw.norm.on_values(wide)
        norm = op.joint.norm
        known = dict(zip((p.name for p in op.row.schema.params), args, strict=True))
        known |= zip(norm.results, [r.astype(dtype) for r in results], strict=True)
        known |= {"g0": g, "need": [True] * len(op.tensors)}
        values = {k: a.astype("f8") if isinstance(a, np.ndarray) else a for k, a in known.items()}
        slopes = norm.on_values([values[p] for p in norm.names])
        for least in (sys.maxsize, 0) if target.available() else (sys.maxsize,):
            monkeypatch.setattr(kernels, "LEAST", least)
            for limit in (0, generated_rows.LIMITS.rows):
                monkeypatch.setattr(generated_rows.LIMITS, "rows", limit)
                for expected, found in zip(results, op.raw(*args), strict=True):
                    close(expected, found)
                for expected, found in zip(slopes, op.joint(*[known[p] for p in norm.names]),
                                           strict=True):  # fmt: skip
                    close(expected, found)


@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("name", ["native_batch_norm", "native_group_norm"])
def test_norms_by_channel_and_their_overrides_compute_one_formula(
    name: str, weighted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    op, draw = ROWS[name][0].op, np.random.default_rng(4)
    x, g = draw.standard_normal((4, 6, 20)), draw.standard_normal((4, 6, 20))
    weight = draw.standard_normal(6) if weighted else None
    args = (x, weight, weight, *((None, None, True, 0.1) if "batch" in name else (3,)), 1e-5)
    known = dict(zip((p.name for p in op.row.schema.params), args, strict=True))
    names = [r.name for r in op.row.schema.returns]
    for least in (sys.maxsize, 0) if target.available() else (sys.maxsize,):
        monkeypatch.setattr(kernels, "LEAST", least)
        known |= zip(names, op.raw(*args), strict=True)
        if "batch" in name:
            scale: Any = None if weight is None else weight[:, None]
            formula = normalise(x, scale, scale, 1e-5, (0, 2), 1 / 80)
            for expected, result in zip(formula, op.raw(*args), strict=True):
                np.testing.assert_allclose(result, expected.reshape(result.shape), 1e-9, 1e-11)
        known |= {"xp": WORLDS.raw, "g0": g, "need": [True, weighted, weighted]}
        found = op.joint(*[known[p] for p in parameters_of(op.joint)])
        tensors = {k: torch.from_numpy(v) if isinstance(v, np.ndarray) else v
                   for k, v in known.items()}  # fmt: skip
        told = op.joint.formula(*[tensors[p] for p in parameters_of(op.joint.formula)])
        for expected, slopes in zip(told, found, strict=True):
            assert (expected is None) == (slopes is None)
            if expected is not None:
                np.testing.assert_allclose(slopes, expected._raw, 1e-9, 1e-11)
