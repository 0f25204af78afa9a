"""Every row of the table that has a native form, on its samples: values and gradients as in eager.

Machine code may differ by 4 units in the last place for each call on arrays.
"""

import functools
from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight._array.elementwise.ufuncs import FORMULAS
from rushlight._base import dtypes as D
from rushlight._compile.assembly import plan
from rushlight._compile.lowering import lowering_rules as meanings
from rushlight._compile.step import CompiledStep
from rushlight._native.llvm import target
from tests.table._samples import CASES, Case

pytestmark = pytest.mark.skipif(not target.available(), reason="no native code: replayed")

#: Rows whose samples are of no use here, each with its reason.
LEFT_OUT = {
    "nextafter": "its result is a unit in the last place",
    "empty_like": "its elements are anything",
    "new_empty": "its elements are anything",
    "empty_permuted": "its elements are anything",
    "resize": "its elements are anything",
}
#: Values that formulas treat in ways of their own.
SPECIAL = [float("nan"), float("inf"), -float("inf"), 0.0, -0.0, 1.0, -1.0, 1e-41, -1e-41, 3e38,
           -3e38, 1e-20, 88.8, -88.8, 0.5, -0.5]  # fmt: skip


#: Element types of which only the first sample is taken.
OTHERS = (D.float64, D.int64, D.bool_)


#: Rows whose eager formula loses digits too, so that both may be further from each other.
LOOSE = {"gelu": "1 + erf(x) below zero"}


def lowered(case: Case) -> bool:
    """Whether the row has a native form."""
    op = case.row.op
    if op.formula is not None or op.raw in FORMULAS:
        return True
    names = (op.name, op.raw.__name__ if hasattr(op.raw, "__name__") else "")
    return any(name in table for name in names for table in _TABLES)


PRODUCTS = ("_linear", "mm", "bmm", "matmul", "_matmul")
_TABLES = (meanings._MAKERS, plan._MAKERS, PRODUCTS)


def groups() -> dict[str, list[Case]]:
    """The cases of each row."""
    found: dict[str, list[Case]] = {}
    for case in CASES:
        name = case.row.schema.text.partition("(")[0]
        wanted = case.dtype is D.float32 or (case.label == "0" and case.dtype in OTHERS)
        if wanted and name not in LEFT_OUT and lowered(case):
            found.setdefault(name, []).append(case)
    return found


GROUPS = groups()


def flat(results: Any) -> list[Any]:
    if isinstance(results, torch.Tensor):
        return [results]
    if isinstance(results, (list, tuple)):
        return [x for r in results for x in flat(r)]
    return []


def forward(case: Case, full: list[Any]) -> Any:
    return functools.partial(case.row, *full)


def with_gradients(case: Case, full: list[Any], inputs: list[Any]) -> Any:
    """A function that gives the results of the row and their gradients."""

    def run() -> Any:
        outs = flat(case.row(*full))
        live = [o for o in outs if o.requires_grad]
        if not live:
            return outs
        weights = [torch.cos(torch.arange(o.numel()) + 1.0).to(o.dtype).reshape(o.shape)
                   for o in live]  # fmt: skip
        grads = torch.autograd.grad(live, inputs, weights, allow_unused=True)
        return [*(o.detach() for o in outs), *(g for g in grads if g is not None)]

    return run


def compiled(run: Any) -> tuple[Any, Any] | None:
    """What the compiled function gives, and its variant; None where none of it is native."""
    step = CompiledStep(run)
    found = None
    for _ in range(3):
        found = flat(step())
    if not step.variants or step.variants[0].machine is None:
        return None
    return found, step.variants[0]


def assert_close(
    name: str, eager: list[Any], found: list[Any], calls: int, exact: int, least: float
) -> None:
    """`exact` results are compared element by element, others by the largest or by `least`."""
    assert len(eager) == len(found)
    for k, (a, b) in enumerate(zip(eager, found, strict=True)):
        x, y = a.detach().numpy(), b.detach().numpy()
        assert x.shape == y.shape and x.dtype == y.dtype, f"{name}, result {k}"
        if x.dtype.kind != "f" or not x.size:
            assert np.array_equal(x, y), f"{name}, result {k}: {x} {y}"
            continue
        each = k < exact
        with np.errstate(all="ignore"):
            bad = np.isnan(x) != np.isnan(y)
            ends = np.isinf(x) | np.isinf(y)
            bad |= ends & (x != y) & ~(np.isnan(x) & np.isnan(y))
            bad |= (x == 0) & (y == 0) & (np.signbit(x) != np.signbit(y)) & each
            finite = np.isfinite(x) & np.isfinite(y)
            tiny = np.finfo(x.dtype).tiny
            size = np.abs(x) if each else np.max(np.abs(x[finite]), initial=least)
            bad |= finite & (np.abs(x - y) > 4 * calls * np.spacing(size.astype(x.dtype)) + tiny)
        assert not bad.any(), f"{name}, result {k}: {x[bad][:4]} {y[bad][:4]}"


@pytest.mark.parametrize("name", GROUPS)
def test_a_compiled_row_gives_what_the_eager_row_gives(name: str) -> None:
    for case in GROUPS[name]:
        check(case)


def check(case: Case) -> None:
    full, inputs = case.tensors(wants=range(len(case.places)))
    try:
        torch.manual_seed(0)
        run = with_gradients(case, full, inputs) if inputs else forward(case, full)
        eager = flat(run())
    except (RuntimeError, NotImplementedError):  # as eager: the table says which
        return
    torch.manual_seed(0)
    if case.random:
        return
    result = compiled(run)
    if result is None:
        return
    found, variant = result
    calls = max(1, len(variant.program.instructions))
    each = case.row.kind == "elementwise" and case.row.op.name not in LOOSE
    exact = len(case.result) if each else 0
    largest = [float(np.max(np.abs(a), initial=0)) for a in case.arrays]
    assert_close(case.id, eager, found, calls, exact, max(largest, default=0.0))


#: Elementwise rows of one or two float tensors, on special values.
ELEMENTWISE = sorted({
    name for name, cases in GROUPS.items()
    if cases[0].row.kind == "elementwise" and len(cases[0].places) in (1, 2)
})  # fmt: skip


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_a_compiled_row_gives_what_the_eager_row_gives_on_special_values(name: str) -> None:
    for case in GROUPS[name][:1]:
        grid = np.array(SPECIAL)
        pairs = [np.repeat(grid, grid.size), np.tile(grid, grid.size)]
        arrays = [p.astype(np.float32) for p in pairs[: len(case.places)]]
        if any(item is not None for _, item in case.places):
            return
        full, _ = case.tensors(arrays)
        try:
            eager = flat(case.row(*full))
        except (RuntimeError, NotImplementedError, ValueError):
            return
        result = compiled(functools.partial(case.row, *full))
        if result is not None and not case.random:
            assert_close(name, eager, result[0], 1, len(eager), 0.0)
