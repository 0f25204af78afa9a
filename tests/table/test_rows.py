"""Declarations: what a row may say, what it may not, and what the whole table keeps to."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from rushlight._array import numpy_namespace as raw
from rushlight._base import dtypes as D
from rushlight._base.schema import REQUIRED, parse
from rushlight._core.engine import WORLDS
from rushlight._core.storage import TensorBase
from rushlight._table import ROWS, Row
from rushlight._table.coverage import has, vocabulary
from rushlight._table.rows import tensor_namespace as traced
from rushlight._table.rows.gradient_kernels import calling, record_gradient
from rushlight._table.rows.node_classes import NODE_CLASSES
from rushlight._table.rows.row import Unsettled, declare, settle, when_settled
from tests.table._expected_failures import EXPECTED
from tests.table._samples import CASES, MARGIN, Case, Maker, all_rows, row_name


@pytest.fixture
def apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows declared in a test do not stay in the table."""
    monkeypatch.setattr("rushlight._table.rows.row.DECLARED", {})
    monkeypatch.setattr("rushlight._table.rows.node_classes.NUMBERS", {})
    monkeypatch.setattr("rushlight._table.rows.node_classes.NODE_CLASSES", {})


TWO = "twofold(Tensor self, Tensor other, int dim=0) -> Tensor"


def two(**declared: Any) -> Row:
    return declare("elementwise", TWO, raw.multiply, **declared)


@pytest.mark.usefixtures("apart")
@pytest.mark.parametrize(
    ("formula", "asked", "nearest"),
    [
        (lambda g, othr: g, "othr", "other"),
        (lambda g, slef: g, "slef", "self"),
        (lambda g, outt: g, "outt", "out"),
        (lambda g, self_shap: g, "self_shap", "self_shape"),
        (lambda g, other_dtyp: g, "other_dtyp", "other_dtype"),
        (lambda g, dims: g, "dims", "dim"),
    ],
)
def test_an_unknown_name_in_a_formula_suggests_the_nearest_legal_one(
    formula: Any, asked: str, nearest: str
) -> None:
    with pytest.raises(ValueError, match=f"asks for '{asked}'.*did you mean '{nearest}'"):
        settle(two(self=formula))


@pytest.mark.usefixtures("apart")
def test_an_unknown_name_that_resembles_nothing_is_refused_without_a_guess() -> None:
    with pytest.raises(ValueError, match=r"asks for 'zzqqxx', which is not a name here$"):
        settle(two(self=lambda g, zzqqxx: g))


@pytest.mark.usefixtures("apart")
def test_a_recorded_gradient_and_its_override_take_the_same_arguments() -> None:
    def gradient(g_low: Any, g_high: Any, self: Any, dim: Any, need: Any) -> Any:
        return "operations", g_low, g_high, self, dim, need

    text = "split(Tensor self, int dim) -> (Tensor low, Tensor high)"
    joint = record_gradient(gradient, override=lambda *args: ("kernel", *args))
    row = declare("general", text, raw.multiply, joint=joint)
    for world, name in ((raw, "kernel"), (traced, "operations")):
        found = row.op.joint(world, [None, 2], 3, 1, [True])
        assert found == (name, None, 2, 3, 1, [True])


@pytest.mark.usefixtures("apart")
def test_a_gradient_calls_a_row_with_arguments_of_the_same_names() -> None:
    text = "widened_backward(Tensor grad, int[] size, int times, bool wide) -> Tensor"
    back = declare("general", text, lambda *args: args)
    row = declare(
        "general", "widened(Tensor self, bool wide, int times) -> Tensor", raw.multiply,
        self=calling(lambda: back, size=lambda self_shape: self_shape[1:]),
    )  # fmt: skip
    gradient = row.op.formulas[0]
    names = gradient.__code__.co_varnames[: gradient.__code__.co_argcount]
    assert names == ("xp", "g", "self_shape", "times", "wide")
    assert gradient(raw, "g", (4, 5), 2, True) == ("g", (5,), 2, True)


@pytest.mark.usefixtures("apart")
def test_the_message_names_the_schema() -> None:
    with pytest.raises(ValueError, match=re.escape(TWO)):
        settle(two(self=lambda g, othr: g))


@pytest.mark.usefixtures("apart")
@pytest.mark.parametrize("name", ["others", "dim"])
def test_a_formula_for_what_is_not_a_tensor_argument_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match=f"no tensor argument '{name}' to differentiate"):
        settle(two(**{name: lambda g: g}))


@pytest.mark.usefixtures("apart")
def test_an_unknown_promotion_is_refused() -> None:
    with pytest.raises(KeyError, match="double"):
        two(promote="double")


@pytest.mark.parametrize(
    "text", ["mul", "mul(Tensor self)", "mul(Tensor) -> Tensor", "mul(Tensor self -> Tensor"]
)
def test_a_text_that_is_no_schema_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not a"):
        parse(text)


@pytest.mark.usefixtures("apart")
def test_overloads_are_numbered_in_order_of_declaration() -> None:
    first, second = two(self=lambda g: g), two(self=lambda g: g)
    assert first.op.node_class.__name__ == "TwofoldBackward0"
    assert second.op.node_class.__name__ == "TwofoldBackward1"


@pytest.mark.usefixtures("apart")
def test_a_node_shows_what_its_formulas_read_and_nothing_else() -> None:
    row = two(self=lambda g, other, dim: g * other, other=lambda g, self_shape: g)
    shown = {n for n in dir(row.op.node_class) if n.startswith("_saved_")}
    assert shown == {"_saved_other", "_saved_dim", "_saved_self_sym_sizes"}


@pytest.mark.usefixtures("apart")
def test_none_declares_an_argument_without_a_gradient() -> None:
    row = two(self=lambda g, other: g * other, other=None)
    assert row.op.tensors == (0,) and len(row.op.formulas) == 1


# ---- settling ---------------------------------------------------------------------------------


@pytest.mark.usefixtures("apart")
def test_a_row_is_laid_out_when_its_operation_is_first_asked_for() -> None:
    row = two(self=lambda g, other: g * other)
    assert type(row) is Unsettled and row.name == "twofold" and row.inplace
    op = row.op
    assert type(row) is Row and row.op is op and op.row is row and row.declared is None
    assert not hasattr(type(row), "__getattr__")


@pytest.mark.usefixtures("apart")
def test_all_overloads_of_a_name_settle_together_under_one_function() -> None:
    first, second = two(self=lambda g: g), two(self=lambda g: g)
    assert second.op.function is first.op.function is not None
    third = two(self=lambda g: g)
    assert type(third) is Unsettled and third.op.function is first.op.function


@pytest.mark.usefixtures("apart")
def test_a_row_that_is_wrong_stays_unsettled_and_says_so_each_time() -> None:
    row = two(self=lambda g, zzqqxx: g)
    for _ in range(2):
        with pytest.raises(ValueError, match="zzqqxx"):
            row.op.raw  # noqa: B018
    assert type(row) is Unsettled


@pytest.mark.usefixtures("apart")
def test_what_waits_for_a_row_to_settle_runs_once() -> None:
    row = two(self=lambda g: g)
    seen: list[Any] = []
    when_settled(row, lambda settled: seen.append(settled.op))
    assert seen == []
    assert seen == [row.op] == seen
    when_settled(row, lambda settled: seen.append(settled))
    assert seen == [row.op, row]


@pytest.mark.usefixtures("apart")
def test_threads_that_ask_at_once_get_one_and_the_same_operation() -> None:
    for _ in range(20):
        row, gate = two(self=lambda g: g), threading.Barrier(4)

        def ask(row: Row = row, gate: threading.Barrier = gate) -> Any:
            gate.wait()
            return row.op, row.op.function

        with ThreadPoolExecutor(4) as pool:
            found = [f.result() for f in [pool.submit(ask) for _ in range(4)]]
        assert len(set(found)) == 1 and None not in found[0]


def test_an_attribute_that_rows_do_not_have_is_missing() -> None:
    with pytest.raises(AttributeError, match="no_such"):
        some_row().no_such  # noqa: B018


def some_row() -> Any:
    return next(iter(ROWS.values()))[0]


# ---- the whole table --------------------------------------------------------------------------


@pytest.mark.parametrize("row", all_rows(), ids=row_name)
def test_a_row_settles_as_its_text_says(row: Row) -> None:
    """Formulas that ask for what isn't there are found here: importing doesn't look at them."""
    settle(row)
    assert (row.schema.name, row.schema.overload) == (row.name, row.overload)
    assert row.op.row is row and row.op.function is not None
    assert row.op.node_class.__name__ == row.node


@pytest.mark.parametrize("row", all_rows(), ids=row_name)
def test_a_row_says_what_it_computes(row: Row) -> None:
    first = row.doc.strip().splitlines()[0] if row.doc.strip() else ""
    assert first, "the row has no doc"
    assert "Special:" in first or first[-1] in ".:;?!…`)", f"not a sentence: {first}"


def formulas(row: Row) -> Iterator[Any]:
    """All formulas of a row."""
    yield from (f for f in row.formulas.values() if f is not None)
    if row.joint is not None:
        yield row.joint


@pytest.mark.parametrize("row", [r for r in all_rows() if any(formulas(r))], ids=row_name)
def test_both_namespaces_have_what_formulas_ask_of_them(row: Row) -> None:
    for formula in formulas(row):
        for name in sorted(vocabulary(formula)):
            assert has(WORLDS.raw, name), f"numpy_ns.py lacks {name!r}"
            assert has(WORLDS.traced, name), f"_traced.py lacks {name!r}"


def test_names_asked_of_xp_are_found_in_formulas_and_in_what_they_call() -> None:
    assert vocabulary(lambda xp, g: xp.cos(g) + (lambda: xp.sin(g))()) == {"cos", "sin"}
    assert vocabulary(lambda g: g) == set()


def test_every_node_class_is_named_as_pytorch_names_them() -> None:
    wrong = [
        name
        for name in NODE_CLASSES
        if not re.fullmatch(
            r"[A-Z]\w*Backward(s|\d+(_copy)?)|NotImplemented|Identity|CopySlices", name
        )
    ]
    assert not wrong


def test_rows_of_one_name_do_not_share_a_signature() -> None:
    """Private rows may: the code that calls them chooses."""
    twice = [
        name
        for name, rows in ROWS.items()
        if not name.startswith("_")
        and len({(r.schema.signature, r.dtypes) for r in rows if r.public})
        < sum(r.public for r in rows)
    ]
    assert not twice


def test_a_parameter_with_a_default_is_followed_by_such_parameters_only() -> None:
    for row in all_rows():
        plain = [p.default is REQUIRED for p in row.schema.params if not p.kw_only]
        assert plain == sorted(plain, reverse=True), row.schema.text


# ---- samples ----------------------------------------------------------------------------------


def test_samples_are_the_same_each_time() -> None:
    a, b = Maker(3, D.float64)(3, 4)._raw, Maker(3, D.float64)(3, 4)._raw
    assert (a == b).all()


def test_samples_lie_within_their_bounds_and_away_from_kinks() -> None:
    for bounds in ({}, {"low": 0.5, "high": 2.0}, {"low": -0.8, "high": 0.8}, {"low": 1.0}):
        values = Maker(1, D.float64)(5, 6, **bounds)._raw
        low, high = bounds.get("low", -2.0), bounds.get("high", 3.0)
        assert (values > low).all() and (values < high).all()
        assert (abs(values * 2 - (values * 2).round()) > MARGIN).all()
        assert len(set(values.ravel().tolist())) == values.size


def test_samples_have_the_type_that_is_asked_for() -> None:
    mk = Maker(1, D.float32)
    made = [mk(3), mk(3, dtype=D.float64), mk(3, integer=True), mk(3, dtype=D.bool_)]
    assert all(isinstance(t, TensorBase) for t in made)
    assert [t.dtype for t in made] == [D.float32, D.float64, D.int64, D.bool_]
    integers = mk(50, low=2, high=5, integer=True)._raw
    assert set(integers.tolist()) == {2, 3, 4}


def test_every_case_has_a_name_of_its_own() -> None:
    names = [case.id for case in CASES]
    assert len(names) == len(set(names))


def test_an_expected_failure_names_a_case_that_exists() -> None:
    known = {case.id for case in CASES} | {row_name(row) for row in all_rows()}
    unknown = [
        n for n in EXPECTED if (m := re.search(r"\[(.*)\]$", n)) is None or m[1] not in known
    ]
    assert not unknown


def test_a_case_prints_its_row() -> None:
    case: Case = CASES[0]
    assert case.row.schema.text in repr(case)
